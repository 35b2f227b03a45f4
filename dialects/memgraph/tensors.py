"""Tensor types: their bytes, their shape, how they lie in memory."""

from collections.abc import Iterable
from math import isfinite, prod
from operator import attrgetter
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.operators import EncodingAttr, RuntimeType
from memopt.dialects.memgraph.errors import MemoptError

MAX_BYTES = 1 << 62
MOST_ROWS = 1 << 15  # that a tensor is cut into, each of which is an operation
NUMBER = attrgetter("data")  # of a dimension; in one go, since shapes are asked for most
NO_ENCODING = EncodingAttr()  # made once: xDSL checks every one that is made
_float_bits: dict[type[Attribute], int] = {}  # by class: to ask what an element is takes long


def is_buffer(type_: Attribute) -> bool:
    """Return whether values of this type occupy an address in the arena."""
    return isinstance(type_, TensorType) and not isinstance(
        cast("TensorType[Attribute]", type_).element_type, RuntimeType
    )


def element_bits(element: Attribute) -> int:
    """Bits of one element as stored: booleans take a byte, `index` eight."""
    if element.__class__ in _float_bits:
        return _float_bits[element.__class__]
    if isinstance(element, IntegerType):
        width = cast("IntegerType", element).width.data
        return 8 if width == 1 else width
    if isinstance(element, AnyFloat):
        _float_bits[element.__class__] = element.bitwidth
        return element.bitwidth
    if isinstance(element, IndexType):
        return 64
    if isinstance(element, ComplexType):
        return 2 * element_bits(cast("ComplexType[AnyFloat]", element).element_type)
    raise MemoptError(f"element type {element} has no size in bytes")


def stored_bytes(element: Attribute, shape: Iterable[int]) -> int:
    """Bytes of that many elements one after the other, of less than a byte packed."""
    return packed_bytes(element, prod(shape))


def packed_bytes(element: Attribute, count: int) -> int:
    """Return the bytes of `count` elements, packed."""
    return (count * element_bits(element) + 7) // 8


def bytes_of(type_: Attribute) -> int | None:
    """Bytes of a tensor type, None if it is no buffer. Raises MemoptError without a fixed size."""
    if not isinstance(type_, TensorType):  # asked of every value, many times, so in one piece
        return None
    tensor = cast("TensorType[Attribute]", type_)
    element = tensor.element_type
    known = element.__class__ is IntegerType or element.__class__ in _float_bits
    if not known and isinstance(element, RuntimeType):
        return None
    count = 1
    for dimension in tensor.shape.data:
        if dimension.data < 0:
            raise MemoptError(f"{tensor} has a dynamic dimension; fix it with --shape")
        count *= dimension.data
    size = (count * element_bits(element) + 7) // 8
    if size > MAX_BYTES:
        bits = size.bit_length()
        many = str(size) if bits < 1000 else f"2^{bits - 1}"  # of which Python writes no text
        raise MemoptError(f"{tensor} has {many} bytes, which overflows 64-bit sizes")
    return size


AnyTensor = TensorType[Attribute]


def encoding_of(value: SSAValue) -> EncodingAttr:
    """The encoding of a tensor value; an empty one if the type has none."""
    type_: Attribute = value.type
    encoding = cast("AnyTensor", type_).encoding if isinstance(type_, TensorType) else None
    return encoding if type(encoding) is EncodingAttr else NO_ENCODING


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Elements per dimension. Raises VerifyException if it is no tensor."""
    type_: Attribute = value.type
    if not isinstance(type_, TensorType):
        raise VerifyException("expected a ranked tensor")
    return tuple(map(NUMBER, cast("AnyTensor", type_).shape.data))


def rows_of(value: SSAValue) -> int | None:
    """Rows of an image: places along dimension 1, each one stretch of memory. None if it has none:
    several images, channels first, a vector."""
    shape = shape_of(value)
    if len(shape) < 3 or shape[0] != 1:
        return None
    return shape[1] if encoding_of(value).layout.data in ("", "nhwc") else None


def has_few_rows(value: SSAValue) -> bool:
    """Return whether an image may be cut into its rows: it has at most MOST_ROWS."""
    return (rows_of(value) or 0) <= MOST_ROWS


def elements_of(value: SSAValue) -> int:
    """Number of elements of a tensor."""
    return prod(shape_of(value))


def channel_axis(value: SSAValue) -> int:
    """The dimension of the channels: the second of NCHW, else the last, -1 of a scalar."""
    return 1 if encoding_of(value).layout.data == "nchw" else len(shape_of(value)) - 1


def channels_of(value: SSAValue) -> int:
    """Elements of the channel dimension; a scalar is one channel."""
    shape = shape_of(value)
    return shape[channel_axis(value)] if shape else 1


def same_channels(before: SSAValue, after: SSAValue) -> tuple[int, ...] | None:
    """The channel of one tensor that each channel of another is, where both count them in one
    dimension; that of a tensor of one channel is each. None where they have others."""
    ends = [len(shape_of(v)) - channel_axis(v) for v in (before, after)]
    if ends[0] != ends[1] or not shape_of(before):
        return None
    count, least = channels_of(after), channels_of(before)
    return tuple(range(count)) if least == count else (0,) * count if least == 1 else None


def print_constant(printer: Printer, value: Attribute) -> None:
    """Print the elements of a constant, as bytes where xDSL would not read them again as they are:
    infinite floats, and those that are no numbers."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        printer.print_attribute(value)
        return
    dense = cast("DenseIntOrFPElementsAttr[Any]", value)
    is_real = isinstance(dense.get_element_type(), AnyFloat)
    if is_real and not all(map(isfinite, dense.get_values())):
        printer.print_string(f'dense<"0x{dense.data.data.hex()}"> : ')
        printer.print_attribute(dense.type)
    else:
        printer.print_attribute(dense)
