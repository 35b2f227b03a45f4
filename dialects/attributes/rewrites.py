"""Record of the rewrite rules that were applied to a function.

memgraph.rewrites = [#memgraph.rewritten<"gather", sites = 3, left = 1, peak = [512, 384] proven>]

`gather` changed 3 operations and could have changed one more, with which the least peak of whole
operators would have risen; it fell from 512 to 384 bytes, both proven.
"""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntAttr, IntegerType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.operators import number_of
from memopt.dialects.attributes.quick import numbers

REWRITES = "memgraph.rewrites"
CHANGED = "memgraph.changed"
"""In place of `memgraph.source`: the operator of the file that a rule changed."""

FIGURES = ("weights", "macs", "peak")

Pair = tuple[int, int]
"""Before and after."""


@irdl_attr_definition
class RewrittenAttr(ParametrizedAttribute):
    """Record of one rule.

    `sites` are operations that it changed, `left` those that it left, since the least peak would
    have risen or no time was left to tell. `figures` are before and after: bytes of weights,
    multiplications, bytes of the least peak of whole operators where the rule was applied by it;
    `proven` says that no order has less.
    """

    name = "memgraph.rewritten"
    rule: StringAttr
    sites: IntAttr
    left: IntAttr
    weights: DenseArrayBase[IntegerType]
    macs: DenseArrayBase[IntegerType]
    peak: DenseArrayBase[IntegerType]
    proven: IntAttr

    def __init__(
        self,
        rule: str,
        sites: int,
        left: int = 0,
        weights: Pair | None = None,
        macs: Pair | None = None,
        peak: Pair | None = None,
        proven: bool = False,
    ):
        figures = [numbers(p or ()) for p in (weights, macs, peak)]
        super().__init__(
            StringAttr(rule), IntAttr(sites), IntAttr(left), *figures, IntAttr(int(proven))
        )

    def figure(self, name: str) -> Pair | None:
        """Return one of `FIGURES` before and after, None if not known or of no matter."""
        pair = [int(n) for n in getattr(self, name).get_values()]
        return (pair[0], pair[1]) if pair else None

    def verify(self) -> None:
        if any(len(getattr(self, name)) not in (0, 2) for name in FIGURES):
            raise VerifyException("rewritten: a figure before and one after")
        if self.sites.data < 0 or self.left.data < 0:
            raise VerifyException("rewritten: no fewer than 0 operations")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        keys: dict[str, Any] = {}
        with parser.in_angle_brackets():
            rule = parser.parse_str_literal()
            while parser.parse_optional_punctuation(","):
                key = parser.parse_identifier()
                if key not in ("sites", "left", *FIGURES) or key in keys:
                    parser.raise_error(f"{key!r} is no other key of what a rule did")
                parser.parse_punctuation("=")
                if key not in FIGURES:
                    keys[key] = parser.parse_integer(allow_boolean=False, allow_negative=False)
                    continue
                square = parser.Delimiter.SQUARE
                keys[key] = parser.parse_comma_separated_list(square, number_of(parser))
                if key == "peak" and parser.parse_optional_keyword("proven"):
                    keys["proven"] = True
        return cls(rule, keys.pop("sites", 0), **keys).parameters

    def print_parameters(self, printer: Printer) -> None:
        texts = [f"sites = {self.sites.data}"]
        texts += [f"left = {self.left.data}"] if self.left.data else []
        pairs = [(name, self.figure(name)) for name in FIGURES]
        texts += [f"{name} = {list(pair)}" for name, pair in pairs if pair is not None]
        with printer.in_angle_brackets():
            printer.print_string_literal(self.rule.data)
            printer.print_string(f", {', '.join(texts)}{' proven' if self.proven.data else ''}")


def rewrites_of(func: FuncOp) -> tuple[RewrittenAttr, ...]:
    """Return the records of the rules that were applied to a function, the first one first."""
    records = func.attributes.get(REWRITES)
    listed = cast("ArrayAttr[Attribute]", records).data if isinstance(records, ArrayAttr) else ()
    return tuple(a for a in listed if isinstance(a, RewrittenAttr))


def rewrites_list(func: FuncOp) -> list[dict[str, Any]]:
    """Return the records of `rewrites_of` for JSON: bytes, multiplications; None where a figure is
    not known."""
    rows: list[dict[str, Any]] = []
    for did in rewrites_of(func):
        row: dict[str, Any] = {
            "rule": did.rule.data,
            "sites": did.sites.data,
            "left": did.left.data,
        }
        for name in FIGURES:
            row[f"{name}_before"], row[f"{name}_after"] = did.figure(name) or (None, None)
        row["peaks_proven"] = bool(did.proven.data)
        rows.append(row)
    return rows


REWRITE_ATTRIBUTES: tuple[type[Attribute], ...] = (RewrittenAttr,)
