"""Types of ONNX values as types of the IR."""

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

from memopt.dialects.attributes import EncodingAttr, RuntimeType


def _unsigned(bits: int) -> IntegerType:
    return IntegerType(bits, Signedness.UNSIGNED)


ELEMENTS: Final[dict[int, Attribute]] = {  # TensorProto.DataType -> element type
    1: Float32Type(),
    2: _unsigned(8),
    3: IntegerType(8),
    4: _unsigned(16),
    5: IntegerType(16),
    6: IntegerType(32),
    7: IntegerType(64),
    8: RuntimeType("string"),
    9: IntegerType(1),
    10: Float16Type(),
    11: Float64Type(),
    12: _unsigned(32),
    13: _unsigned(64),
    14: ComplexType(Float32Type()),
    15: ComplexType(Float64Type()),
    16: BFloat16Type(),
    17: Float8E4M3FNType(),
    18: Float8E4M3FNUZType(),
    19: Float8E5M2Type(),
    20: Float8E5M2FNUZType(),
    21: _unsigned(4),
    22: IntegerType(4),
    23: Float4E2M1FNType(),
    24: Float8E8M0FNUType(),
    25: _unsigned(2),
    26: IntegerType(2),
}
FLOATS: Final = frozenset({1, 10, 11, 16})
STRING: Final = 8


@dataclass(frozen=True)
class Quantization:
    """real = scale * (stored - zero_point); `axis` is -1 where there is one scale only."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int = -1


@lru_cache(maxsize=4096)
def tensor_type(
    element: int, shape: tuple[int, ...], layout: str = "", quantization: Quantization | None = None
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
