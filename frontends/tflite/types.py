"""Tensor types: from a .tflite file's to `tensor<...>` with layout and quantization."""

from functools import lru_cache

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute

from memopt.dialects.attributes import EncodingAttr, RuntimeType
from memopt.formats.tflite import Quantization, Tensor


def _unsigned(bits: int) -> IntegerType:
    return IntegerType(bits, Signedness.UNSIGNED)


ELEMENTS: dict[str, Attribute] = {
    "FLOAT32": Float32Type(),
    "FLOAT16": Float16Type(),
    "INT32": IntegerType(32),
    "UINT8": _unsigned(8),
    "INT64": IntegerType(64),
    "STRING": RuntimeType("string"),
    "BOOL": IntegerType(1),
    "INT16": IntegerType(16),
    "COMPLEX64": ComplexType(Float32Type()),
    "INT8": IntegerType(8),
    "FLOAT64": Float64Type(),
    "COMPLEX128": ComplexType(Float64Type()),
    "UINT64": _unsigned(64),
    "RESOURCE": RuntimeType("resource"),
    "VARIANT": RuntimeType("variant"),
    "UINT32": _unsigned(32),
    "UINT16": _unsigned(16),
    "INT4": IntegerType(4),
    "BFLOAT16": BFloat16Type(),
    "INT2": IntegerType(2),
    "UINT4": _unsigned(4),
    "FLOAT8_E4M3FN": Float8E4M3FNType(),
    "FLOAT8_E5M2": Float8E5M2Type(),
}


@lru_cache(maxsize=4096)
def _encoding(layout: str, quantization: Quantization | None) -> EncodingAttr | None:
    if quantization is None or not quantization.readable:
        return EncodingAttr(layout) if layout else None
    q = quantization
    return EncodingAttr(layout, q.scale, q.zero_point, q.axis)


def tensor_type(tensor: Tensor, layout: str = "") -> TensorType[Attribute]:
    """The IR's type; a scheme of quantization that is not affine leaves no trace in it."""
    encoding = _encoding(layout, tensor.quantization)
    element = ELEMENTS[tensor.type]
    if encoding is None:
        return TensorType(element, tensor.shape)
    return TensorType(element, tensor.shape, encoding)
