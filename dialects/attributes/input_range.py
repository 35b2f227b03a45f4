"""Between which numbers the elements of an input are, as whoever runs the network promises.

func.func @main(%x: tensor<1x4xf32> {memgraph.range = #memgraph.range<-1.0, 1.0>})

Only of float32. Both ends belong to it; an end that no float32 is stands for the next one outwards,
so the float32 nearest to it is always within. An infinity or a NaN is not.
"""

from collections.abc import Sequence
from math import isfinite

from xdsl.dialects.builtin import Float32Type, FloatData
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, ParametrizedAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import argument_attributes, set_argument_attributes
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import is_buffer

RANGE = "memgraph.range"
LARGEST = 3.4028234663852886e38
"""The largest float32."""


@irdl_attr_definition
class RangeAttr(ParametrizedAttribute):
    """The least and the greatest that elements may be."""

    name = "memgraph.range"
    low: FloatData
    high: FloatData

    def __init__(self, low: float, high: float):
        super().__init__(FloatData(low), FloatData(high))

    @property
    def ends(self) -> tuple[float, float]:
        return self.low.data, self.high.data

    def verify(self) -> None:
        if wrong := wrong_range(*self.ends):
            raise VerifyException(f"range: {wrong}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            low = float(parser.parse_number())
            parser.parse_punctuation(",")
            high = float(parser.parse_number())
        return FloatData(low), FloatData(high)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(", ".join(map(number_text, self.ends)))


def number_text(number: float) -> str:
    """A real number as the parser of MLIR reads it: with a point, also before an exponent."""
    text = repr(float(number))
    return text if "." in text else text.replace("e", ".0e")


def wrong_range(low: float, high: float) -> str | None:
    """Return the text of the error in a range, None if it has none."""
    if not isfinite(low) or not isfinite(high):
        return f"{low} to {high}: both ends must be finite numbers"
    if low > high:
        return f"{low} to {high}: the first end is above the second"
    if max(abs(low), abs(high)) > LARGEST:
        return f"{low} to {high}: no float32 is that large"
    return None


def declared_ranges(func: FuncOp) -> list[tuple[float, float] | None]:
    """The range of each argument of a function of one block, None where none is declared. Raises
    MemoptError for one of what is no float32."""
    ranges: list[tuple[float, float] | None] = []
    for value, attributes in zip(func.body.block.args, argument_attributes(func), strict=True):
        declared = attributes.get(RANGE)
        if declared is not None and not isinstance(declared, RangeAttr):
            raise MemoptError(f"{RANGE} is no #memgraph.range", f"input {name_of(value)!r}")
        if declared is not None and not _is_real(value.type):
            raise MemoptError(_of_reals(value.type), f"input {name_of(value)!r}")
        ranges.append(None if declared is None else declared.ends)
    return ranges


def declared_range(value: SSAValue) -> tuple[float, float] | None:
    """The range of an argument of a function, None where none is declared."""
    block = value.owner
    func = block.parent_op() if isinstance(block, Block) else None
    if not isinstance(func, FuncOp) or not isinstance(value, BlockArgument):
        return None
    return declared_ranges(func)[value.index]


def declare_range(func: FuncOp, index: int, low: float, high: float) -> None:
    """Say between which numbers an argument is. Raises MemoptError where that is none, for an
    argument that is not float32, and where another range stands already."""
    value, attributes = func.body.block.args[index], argument_attributes(func)
    place = f"input {name_of(value)!r}"
    if wrong := wrong_range(low, high):
        raise MemoptError(f"a range of {wrong}", place)
    if not _is_real(value.type):
        raise MemoptError(_of_reals(value.type), place)
    present = attributes[index].setdefault(RANGE, RangeAttr(low, high))
    if present != RangeAttr(low, high):
        raise MemoptError("has another range already", place)
    set_argument_attributes(func, attributes)


def drop_range(func: FuncOp, index: int) -> None:
    """Take back what is said of an argument's range, which is another argument now."""
    attributes = argument_attributes(func)
    if attributes[index].pop(RANGE, None) is not None:
        set_argument_attributes(func, attributes)


def _is_real(type_: Attribute) -> bool:
    return is_buffer(type_) and isinstance(getattr(type_, "element_type", None), Float32Type)


def _of_reals(type_: Attribute) -> str:
    return f"is {getattr(type_, 'element_type', type_)}; a range is declared of float32 only"


RANGE_ATTRIBUTES: tuple[type[Attribute], ...] = (RangeAttr,)
