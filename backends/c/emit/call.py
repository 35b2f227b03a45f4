"""Call of a kernel for one operator: the kernel, its parameters and its operands."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.analysis.constants import Constants as Constants
from memopt.dialects.arithmetic.stored import need_scales, rounding_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.tensors import AnyTensor, element_bits, encoding_of, shape_of

SCRATCH_ALIGNMENT = 4  # bytes: what any element of a kernel's needs
C_TYPES = {
    "s8": "int8_t",
    "f32": "float",
    "u8": "uint8_t",
    "s16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "bool": "uint8_t",
}
KINDS = {
    "i1": "bool",
    "i8": "s8",
    "si8": "s8",
    "ui8": "u8",
    "si32": "i32",
    "i16": "s16",
    "si16": "s16",
}

Array = Any  # numpy.ndarray: numpy is imported only where code is written


@dataclass(frozen=True)
class Table:
    """A constant array in flash: C element type, the values in row-major order. Kernels have code
    for the rare tables that `need` it, where each MEMOPT_WITH_<need> is 1: the others' networks pay
    neither flash nor stack for it. One that `is_looked_up`, at places that the data say or once for
    each row, is no weights: it may lie in faster memory."""

    c_type: str
    values: Array
    needs: tuple[str, ...] = ()
    is_looked_up: bool = False


@dataclass(frozen=True)
class Rows:
    """All rows of a whole tensor, see memopt_rows in kernels/memopt_common.h. Strides in bytes."""

    end: int
    in_stride: int
    out_stride: int

    @staticmethod
    def of(op: Operation, end: int, in_elements: int, out_elements: int) -> "Rows":
        """Strides in elements of the first operand, of the first result."""
        read, written = (bytes_per_element(op, v) for v in (op.operands[0], op.results[0]))
        return Rows(end, in_elements * read, out_elements * written)


@dataclass(frozen=True)
class KernelCall:
    """One call: kernel `memopt_<kernel>`, the fields of its parameters in order, its operands.

    A field that is a call is a pointer to the parameters of that one, which the kernel calls.
    `operands` are the SSA values, or tables, that it reads, and it writes result number `result`,
    or the variable `written`.
    `in_offset` and `out_offset` are bytes to begin at. The call is repeated `batches` times,
    `in_batch` and `out_batch` bytes apart.
    """

    kernel: str
    fields: tuple[tuple[str, "int | float | str | Table | KernelCall"], ...]
    operands: tuple["SSAValue | Table", ...]
    rows: Rows
    batches: int = 1
    in_batch: int = 0
    out_batch: int = 0
    in_offset: int = 0
    out_offset: int = 0
    result: int = 0
    written: SSAValue | None = None

    def serves_rows(self, number: int) -> bool:
        """Return whether each row reads one element of an operand, which lie one behind the
        other."""
        return number < 2 and dict(self.fields).get(f"{'ab'[number]}_row_step") == -1


Lower = Callable[[Any, Constants], "KernelCall | list[KernelCall]"]


def scratch_rounded(size: int) -> int:
    """Bytes of scratch rounded up, so that what lies behind them is aligned."""
    return -(-size // SCRATCH_ALIGNMENT) * SCRATCH_ALIGNMENT


def refuse(op: Operation, text: str) -> MemoptError:
    """The error for an operator that the C backend cannot write."""
    return MemoptError(f"C backend: {text}", place_of(op))


def element_kind(value: SSAValue) -> str:
    """`s8`, `u8`, `s16`, `f32`, or the element type as text."""
    return kind_of(cast("AnyTensor", value.type).element_type)


@lru_cache(64)
def kind_of(element: Attribute) -> str:
    """Return the same of an element type."""
    if isinstance(element, Float32Type):
        return "f32"
    name = str(element)
    return KINDS.get(name, name)


def per_tensor(op: Operation, value: SSAValue) -> tuple[float, int]:
    """(scale, zero point) of an activation. Refuses tensors without exactly one of each, and scales
    that are no finite numbers above 0."""
    encoding = encoding_of(value)
    if len(encoding.scales) != 1:
        raise refuse(op, "an int8 activation needs exactly one scale")
    need_scales(op, value)
    return encoding.scales[0], encoding.zero_points[0]


def activation_of(op: Operation) -> str:
    """The fused activation, "" for none. Refuses those that no kernel applies."""
    attribute = op.properties.get("activation")
    name = cast("str", attribute.data) if attribute is not None else ""  # type: ignore[attr-defined]
    if name not in ("", "relu", "relu6", "relu_n1_to_1"):
        raise refuse(op, f"no fused activation {name}")
    return name


def tensor_or_table(op: Operation, value: SSAValue, constants: Constants) -> "SSAValue | Table":
    """An operand, as a table if it is a constant. Refuses one of what C has no type for."""
    array, kind = constants(value), element_kind(value)
    if array is None:
        return value
    if kind not in C_TYPES:
        raise refuse(op, f"a constant of {kind}")
    return Table(C_TYPES[kind], array)


def need_rounding(op: Operation, roundings: tuple[str, ...]) -> None:
    """Refuse an operation whose arithmetic is none of these, if there are any."""
    name = rounding_of(op)
    if roundings and name not in ("", *roundings):
        raise refuse(op, f"int8 kernels compute {' or '.join(roundings)}, not {name}")


def need_layout(op: Operation, value: SSAValue, *layouts: str) -> None:
    """Refuse a tensor that lies in memory in another order than the kernel reads."""
    layout = encoding_of(value).layout.data
    if layout not in ("", *layouts):
        hint = "; --rewrite=all gives images that layout" if layout == "nchw" else ""
        expected = " or ".join(layouts)
        raise refuse(op, f"the layout {layout} has no kernel, expected {expected}{hint}")


def size_of(value: SSAValue) -> int:
    """Elements of a tensor."""
    return math.prod(shape_of(value))


def bytes_per_element(op: Operation, value: SSAValue) -> int:
    """Bytes of one element of an operand or result. Refuses elements smaller than a byte."""
    element = cast("AnyTensor", value.type).element_type
    if element_bits(element) < 8:
        raise refuse(op, f"elements of {element}, which share a byte")
    return element_bits(element) // 8


def four(sizes: tuple[int, ...], fill: int = 1) -> tuple[int, ...]:
    """Numbers of up to four dimensions as of four, those that are missing in front."""
    return (fill,) * (4 - len(sizes)) + sizes


def split_rows(shape: tuple[int, ...]) -> tuple[int, int]:
    """(rows, elements in each) of an element-wise operator: rows of an image, else one row."""
    if len(shape) < 3:
        return 1, math.prod(shape)
    return math.prod(shape[:-2]), math.prod(shape[-2:])
