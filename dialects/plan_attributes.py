"""What was decided for a function: the plan itself.

#memgraph.plan<peak = 5216, lower_bound = 4960, proof = flow, fingerprint = "0f3a...">
"""

from collections.abc import Sequence
from typing import Literal, get_args

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerType, StringAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes import need_counts, need_keys, one_of, parse_int_list, parse_keys

ProofKind = Literal["flow", "search", "ilp", "none"]


@irdl_attr_definition
class PlanAttr(ParametrizedAttribute):
    """What was decided for a function, in bytes. -1 inside stands for not decided yet.

    `proof` says how `lower_bound` was shown; the plan is optimal when there is one and
    peak = lower_bound. With shared objects, `objects` lists their bytes, `arena` is their sum, and
    `objects_lower_bound` is proven for this order alone. The fingerprint makes a plan stale when
    anything it rests on changes.
    """

    name = "memgraph.plan"
    peak: IntAttr
    lower_bound: IntAttr
    proof: StringAttr
    arena: IntAttr
    arena_lower_bound: IntAttr
    fingerprint: StringAttr
    objects: DenseArrayBase[IntegerType]
    objects_lower_bound: IntAttr

    def __init__(
        self,
        peak: int,
        lower_bound: int,
        proof: str,
        arena: int = -1,
        arena_lower_bound: int = -1,
        fingerprint: str = "",
        objects: Sequence[int] = (),
        objects_lower_bound: int = 0,
    ):
        super().__init__(
            IntAttr(peak),
            IntAttr(lower_bound),
            StringAttr(proof),
            IntAttr(arena),
            IntAttr(arena_lower_bound),
            StringAttr(fingerprint),
            DenseArrayBase.from_list(i64, list(objects)),
            IntAttr(objects_lower_bound),
        )

    @property
    def optimal(self) -> bool:
        return self.proof.data != "none" and self.peak.data == self.lower_bound.data

    @property
    def placed(self) -> bool:
        return self.arena.data >= 0

    @property
    def object_sizes(self) -> tuple[int, ...]:
        """Bytes of every shared object; empty if there is one arena."""
        return tuple(int(v) for v in self.objects.get_values())

    def verify(self) -> None:
        one_of(self.proof.data, get_args(ProofKind), "proof")
        sizes = self.object_sizes
        need_counts("plan", self.arena.data, self.arena_lower_bound.data, least=-1)
        need_counts("plan", *sizes, sum(sizes))
        if self.placed != (self.arena_lower_bound.data >= 0):
            raise VerifyException("plan: arena and arena_lower_bound come together")
        if sizes and (min(sizes) < 0 or sum(sizes) != self.arena.data):
            raise VerifyException("plan: arena must be the sum of the objects' bytes")
        if not 0 <= self.objects_lower_bound.data <= sum(sizes):
            raise VerifyException(
                "plan: objects_lower_bound must be between 0 and the objects' sum"
            )
        if self.peak.data < self.lower_bound.data or self.lower_bound.data < 0:
            raise VerifyException("plan: lower_bound must be between 0 and peak")
        need_counts("plan", self.peak.data)
        if self.placed and self.arena.data < self.arena_lower_bound.data:
            raise VerifyException("plan: arena below arena_lower_bound")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        number = parser.parse_integer
        found = parse_keys(
            parser,
            {
                "peak": number,
                "lower_bound": number,
                "proof": parser.parse_identifier,
                "arena": number,
                "arena_lower_bound": number,
                "objects": lambda: parse_int_list(parser),
                "objects_lower_bound": number,
                "fingerprint": parser.parse_str_literal,
            },
        )
        need_keys(parser, found, "peak", "lower_bound", "proof", "fingerprint")
        if "objects" in found:
            need_keys(parser, found, "objects_lower_bound")
        need_counts("plan", *(found[k] for k in ("arena", "arena_lower_bound") if k in found))
        return cls(**found).parameters

    def print_parameters(self, printer: Printer) -> None:
        text = (
            f"peak = {self.peak.data}, lower_bound = {self.lower_bound.data}, "
            f"proof = {self.proof.data}"
        )
        if self.placed:
            text += (
                f", arena = {self.arena.data}, arena_lower_bound = {self.arena_lower_bound.data}"
            )
        if self.object_sizes:
            text += (
                f", objects = {list(self.object_sizes)}, "
                f"objects_lower_bound = {self.objects_lower_bound.data}"
            )
        with printer.in_angle_brackets():
            printer.print_string(f'{text}, fingerprint = "{self.fingerprint.data}"')


PLAN_ATTRIBUTES: tuple[type[Attribute], ...] = (PlanAttr,)
