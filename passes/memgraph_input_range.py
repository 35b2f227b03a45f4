"""`memgraph-input-range{of="x=-1:1"}`: say between which numbers the elements of an input are.

Before:
    func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> { ... }
After:
    func.func @main(%x: tensor<1x4xf32> {memgraph.range = #memgraph.range<-1.0, 1.0>}) -> ... {

A promise of whoever runs the network, about float32 numbers, both ends included: an infinity or a
NaN is not one. `constant-channels` counts on it, so a network that was rewritten may compute
something else of other inputs. Refused by name: an input that there is not or that is not float32,
ends that are no finite numbers or in the wrong order, a second range.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.attributes.input_range import declare_range
from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.dialects.memgraph.functions import body_of, functions
from memopt.dialects.memgraph.names import name_of
from memopt.passes.plan.option import required

Ranges = Mapping[str, tuple[float, float]]
"""Name of an input -> the least and the greatest that its elements may be."""

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:inf|infinity|nan)"


@dataclass(frozen=True)
class MemgraphInputRangePass(ModulePass):
    """Say between which numbers the elements of an input are, which constant-channels counts on."""

    name = "memgraph-input-range"

    of: str = required('"NAME=LOW:HIGH"')

    def __post_init__(self) -> None:
        try:
            parse_range(self.of)
        except ValueError as error:
            raise PassFailedException(f"{self.name}: {error}") from None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        declare_ranges(op, parse_ranges([self.of]))


def parse_range(text: str) -> tuple[str, float, float]:
    """(name, low, high) of `NAME=-1:1`. Raises ValueError for what is not written so."""
    match = re.fullmatch(rf"(.+)=({NUMBER}):({NUMBER})", text, re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text}: expected NAME=LOW:HIGH, such as x=-1:1")
    return match.group(1), float(match.group(2)), float(match.group(3))


def parse_ranges(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """`NAME=-1:1` as a mapping. Raises ValueError, also for an input with two ranges."""
    ranges: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, *ends = parse_range(text)
        if ranges.setdefault(name, (ends[0], ends[1])) != (ends[0], ends[1]):
            raise ValueError(f"{text}: {name!r} has another range already")
    return ranges


def declare_ranges(module: ModuleOp, ranges: Ranges) -> None:
    """Say them of the inputs of a module. Raises MemoptError for an input that there is not, is not
    float32 or has another range, and for ends that are none."""
    inputs = [(f, i, name_of(a)) for f in functions(module) for i, a in enumerate(body_of(f).args)]
    names = [name for *_, name in inputs]
    for name, (low, high) in ranges.items():
        if name not in names:
            known = ", ".join(names) or "none"
            text = (
                f"--input-range names {name!r}{nearest(name, names)}, but the inputs are: {known}"
            )
            raise MemoptError(text)
        for func, index, input_name in inputs:
            if input_name == name:
                declare_range(func, index, low, high)
