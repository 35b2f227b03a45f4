"""Tensor types: what every format calls its elements, and `tensor<...>` with its encoding.

A frontend has one table at most, from what its format writes to the names here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute

from memopt.dialects.attributes.operators import EncodingAttr, RuntimeType

ELEMENTS: Final[Mapping[str, Attribute]] = {
    "bool": IntegerType(1),
    **{f"int{n}": IntegerType(n) for n in (2, 4, 8, 16, 32, 64)},
    **{f"uint{n}": IntegerType(n, Signedness.UNSIGNED) for n in (2, 4, 8, 16, 32, 64)},
    "float4_e2m1fn": Float4E2M1FNType(),
    "float8_e4m3fn": Float8E4M3FNType(),
    "float8_e4m3fnuz": Float8E4M3FNUZType(),
    "float8_e5m2": Float8E5M2Type(),
    "float8_e5m2fnuz": Float8E5M2FNUZType(),
    "float8_e8m0fnu": Float8E8M0FNUType(),
    "float16": Float16Type(),
    "bfloat16": BFloat16Type(),
    "float32": Float32Type(),
    "float64": Float64Type(),
    "complex64": ComplexType(Float32Type()),
    "complex128": ComplexType(Float64Type()),
    **{name: RuntimeType(name) for name in ("string", "resource", "variant")},
}
"""Name of an element type -> the IR's; the last three only the run time knows the bytes of."""


@dataclass(frozen=True)
class Quantization:
    """real = scale * (stored - zero_point); `axis` is -1 where there is one scale only."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int = -1


@lru_cache(maxsize=4096)
def tensor_type(
    element: str, shape: tuple[int, ...], layout: str = "", quantization: Quantization | None = None
) -> TensorType[Attribute]:
    """The IR's type of a tensor. `element` is a key of `ELEMENTS`."""
    if quantization is not None:
        q = quantization
        encoding = EncodingAttr(layout, q.scale, q.zero_point, q.axis)
    elif layout:
        encoding = EncodingAttr(layout)
    else:
        return TensorType(ELEMENTS[element], shape)
    return TensorType(ELEMENTS[element], shape, encoding)


def is_quantized(type_: TensorType[Attribute]) -> bool:
    """Return whether the elements are integers that stand for real numbers."""
    return isinstance(type_.encoding, EncodingAttr) and type_.encoding.quantized


def quantization(type_: TensorType[Attribute]) -> EncodingAttr | None:
    """The encoding of a quantized type without its layout, None if it is not quantized."""
    encoding = type_.encoding
    if not is_quantized(type_) or not isinstance(encoding, EncodingAttr):
        return None
    return EncodingAttr("", encoding.scales, encoding.zero_points, encoding.axis.data)
