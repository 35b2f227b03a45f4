"""Constants inline, where the text of the IR reads back as the same bytes."""

import math
import struct
from typing import Any, cast

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute


def inline(type_: TensorType[Attribute], raw: bytes) -> DenseIntOrFPElementsAttr[Any] | None:
    """Little-endian elements as an attribute; None where text would not read back the same.

    xDSL prints large whole floats, infinities and NaN as bit patterns, which its parser takes for
    integers, and it takes 0.0 and -0.0 for equal.
    """
    element = type_.element_type
    value: Any = DenseIntOrFPElementsAttr(cast("Any", type_), BytesAttr(raw))
    if isinstance(element, IntegerType):
        return value
    if not isinstance(element, Float32Type | Float64Type):
        return None
    width, code = (4, "f") if isinstance(element, Float32Type) else (8, "d")
    values: tuple[float, ...] = struct.unpack(f"<{len(raw) // width}{code}", raw)
    if not all(map(math.isfinite, values)):
        return None
    minus_zero = any(v == 0 and math.copysign(1, v) < 0 for v in values)
    if (minus_zero and len(values) > 1) or "0x" in str(value):
        return None
    return value
