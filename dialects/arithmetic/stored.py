"""Tensors as numpy holds them: the stored type, its limits, what a stored integer stands for."""

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.tensors import encoding_of, shape_of

Array = Any  # numpy.ndarray of any type: numpy is imported only where numbers are computed
Dtype = Any  # numpy.dtype
LEAST_RESULT = 2.0**-125  # scale of a result: 6 / it is a float32


def integer_type(element: Attribute) -> tuple[int, bool] | None:
    """(bits, unsigned) of an integer type, None for any other."""
    if not isinstance(element, IntegerType):
        return None
    type_ = cast("IntegerType[int, Signedness]", element)
    return type_.width.data, type_.signedness.data == Signedness.UNSIGNED


def numpy_dtype(element: Attribute) -> tuple[Dtype, int]:
    """(dtype of the array, bits as stored in a model file) of an element type.

    Sub-byte integers become int8 or uint8. Raises MemoptError for what numpy does not have.
    """
    integer = integer_type(element)
    if integer is not None:
        width, unsigned = integer
        if width == 1:
            return np.dtype(np.bool_), 8
        sign = "uint" if unsigned else "int"
        if width in (8, 16, 32, 64):
            return np.dtype(f"{sign}{width}"), width
        if width in (2, 4):
            return np.dtype(f"{sign}8"), width
    if isinstance(element, ComplexType):
        part = cast("ComplexType[AnyFloat]", element).element_type
        return np.dtype(f"complex{2 * part.bitwidth}"), 2 * part.bitwidth
    if isinstance(element, Float16Type | Float32Type | Float64Type):
        return np.dtype(f"float{element.bitwidth}"), element.bitwidth
    raise MemoptError(f"constants of element type {element} cannot be read")


def element_of(value: SSAValue) -> Attribute:
    """The element type of a tensor."""
    return cast("TensorType[Attribute]", value.type).element_type


def dtype_of(value: SSAValue) -> Dtype:
    """The numpy type that holds a tensor's elements."""
    return numpy_dtype(element_of(value))[0]


def unknown(op: Operation, text: str) -> MemoptError:
    """The error for an operation whose results cannot be said."""
    return MemoptError(f"{op.name} cannot be evaluated: {text}", place_of(op))


def is_stored(value: SSAValue) -> bool:
    """Return whether the tensor's elements are integers that stand for real numbers."""
    return len(encoding_of(value).scale) > 0


def numbers_of(value: SSAValue) -> tuple[tuple[float, ...], tuple[int, ...], int]:
    """(scales, zero points, axis): equal for tensors in which an integer means the same."""
    encoding = encoding_of(value)
    return encoding.scales, encoding.zero_points, encoding.axis.data


def is_unsigned(value: SSAValue) -> bool:
    """Return whether the elements are unsigned integers of 8 bits."""
    return integer_type(element_of(value)) == (8, True)


def is_small_integer(value: SSAValue) -> bool:
    """Return whether the elements are signed integers of 8 or 16 bits."""
    return integer_type(element_of(value)) in ((8, False), (16, False))


def per_tensor(op: Operation, value: SSAValue) -> tuple[float, int]:
    """(scale, zero point) of an activation. Raises MemoptError unless it has one of each, and a
    scale that a result can be divided by."""
    encoding = encoding_of(value)
    scales = encoding.scales
    if len(scales) != 1:
        raise unknown(op, "a stored activation needs exactly one scale")
    _need_numbers(op, value, scales)
    return scales[0], encoding.zero_points[0]


def need_scales(op: Operation, value: SSAValue) -> None:
    """Raise MemoptError for a tensor with a scale that is no finite number from 0 on, and for a
    result with one by which 6 cannot be divided (ReLU6). What runtimes make of such a quotient is
    what the machine happens to do."""
    _need_numbers(op, value, encoding_of(value).scales)


def _need_numbers(op: Operation, value: SSAValue, scales: Sequence[float]) -> None:
    least = LEAST_RESULT if value in op.results else 0.0
    for scale in scales:
        if not least <= scale < math.inf:
            text = f"the scale of {name_of(value)} is {scale:g}, with which nobody can compute"
            raise MemoptError(text, place_of(op))


def finite(op: Operation, *reals: float) -> tuple[float, ...]:
    """`reals`, computed from the scales of an operation. Raises MemoptError if one overflows."""
    if not all(map(math.isfinite, reals)):
        values = [v for v in (*op.operands, *op.results) if encoding_of(v).quantized]
        text = ", ".join(f"{name_of(v)} ({encoding_of(v).scales[0]:g})" for v in values)
        raise MemoptError(f"scales too far apart to compute with: {text}", place_of(op))
    return reals


def scales_of(op: Operation, value: SSAValue) -> tuple[Array, Array]:
    """(scale, zero point) as arrays that broadcast over the tensor. Raises MemoptError without."""
    encoding = encoding_of(value)
    if not encoding.quantized:
        raise unknown(op, "between quantizations, of which one is none")
    shape = [1] * len(shape_of(value))
    if encoding.axis.data >= 0:
        shape[encoding.axis.data] = len(encoding.scales)
    return (
        np.array(encoding.scales, dtype=np.float32).reshape(shape),
        np.array(encoding.zero_points, dtype=np.int32).reshape(shape),
    )


def limits_of(op: Operation, value: SSAValue) -> tuple[int, int]:
    """The least and the largest integer of the tensor's type. Raises MemoptError if it has none."""
    bits_and_sign = integer_type(element_of(value))
    if bits_and_sign is None or bits_and_sign[0] not in (8, 16, 32):
        raise unknown(op, f"numbers quantized as {element_of(value)}")
    bits, unsigned = bits_and_sign
    return (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


def rounding_of(op: Operation) -> str:
    """Return how the operation's integers are rounded, "" where it does not say."""
    rounding = op.properties.get("rounding")
    return rounding.value.data if isinstance(rounding, RoundingAttr) else ""


def need_double_rounding(op: Operation) -> None:
    """Raise MemoptError unless the operation's integers are rounded as `tflm_double` says."""
    name = rounding_of(op)
    if name not in ("", "tflm_double"):
        raise unknown(op, f"its integers are computed as tflm_double, not {name}")


def need_rounding(op: Operation) -> None:
    """Raise MemoptError unless it is known how the operation's integers are rounded: twice, or
    those of uint8 once."""
    if integer_type(element_of(op.results[0])) != (8, True) or not rounds_once(op):
        need_double_rounding(op)


def rounds_once(op: Operation) -> bool:
    """Return whether the operation's integers are rounded once, as TensorFlow Lite's may be."""
    return rounding_of(op) == "tflite_single"


def may_round_once(op: Operation) -> bool:
    """Return whether a runtime may round the operation's integers once: TensorFlow Lite has kernels
    of uint8 that do so beside those that round twice, and takes the one or the other."""
    unsigned = any(integer_type(element_of(v)) == (8, True) for v in op.results)
    return rounds_once(op) or (unsigned and rounding_of(op) == "tflm_double")


def stored_bits(op: Operation, *values: SSAValue, unsigned: bool = False) -> int:
    """8 or 16, the bits of the signed integers that all of `values` are stored as; of those that
    are not signed only 8, and where `unsigned` says so. Raises MemoptError for any others."""
    kinds = set[tuple[int, bool] | None]()
    for value in values:
        kinds.add(integer_type(element_of(value)) if is_stored(value) else None)
    for bits, is_unsigned in ((8, False), (16, False), *(((8, True),) if unsigned else ())):
        if kinds == {(bits, is_unsigned)}:
            return bits
    types = " and ".join(sorted({str(element_of(v)) for v in values}))
    raise unknown(op, f"arithmetic of {types}, which no runtime of ours has")


def need_zero_points_of_zero(op: Operation, bits: int, *values: SSAValue) -> None:
    """Raise MemoptError for a zero point of int16, if the integers have 16 `bits`."""
    if bits == 16 and any(per_tensor(op, v)[1] for v in values):
        raise unknown(op, "int16 with a zero point other than 0")


def need_same_numbers(op: Operation, *values: SSAValue) -> None:
    """Raise MemoptError unless stored integers mean the same in all of `values`."""
    if len({numbers_of(v) for v in values}) > 1:
        raise unknown(op, "tensors of different quantization")


def need_reals(op: Operation, *arrays: Array) -> None:
    """Raise MemoptError unless all arrays hold numbers of one type that stand for themselves."""
    types = sorted({str(a.dtype) for a in arrays})
    if len(types) > 1:
        raise unknown(op, f"a hybrid of {' and '.join(types)}")
