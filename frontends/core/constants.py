"""Constants: inline where they are few and the text of the IR reads back as the same bytes, else
by reference into the file that they stand in."""

import math
import struct
from typing import Any, Final, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute

from memopt.dialects.attributes.operators import WeightsAttr

INLINE_BYTES: Final = 64  # larger constants are referred to
WHOLE: Final = (1, 8, 16, 32, 64)  # bits of the integers that lie one by one, not packed

Inline: TypeAlias = DenseIntOrFPElementsAttr[Any]
Reference = TypeVar("Reference", WeightsAttr, None, WeightsAttr | None)


def elements(
    type_: TensorType[Attribute], raw: bytes | None, reference: Reference
) -> Inline | Reference:
    """Return the contents of a constant: its bytes if there are few of them or they stand nowhere
    else, and text can say them; else `reference`.

    `raw` is little-endian; None if nobody should look at the bytes.
    """
    if raw is not None and (reference is None or len(raw) <= INLINE_BYTES):
        text = inline(type_, raw)
        if text is not None:
            return text
    return reference


def inline(type_: TensorType[Attribute], raw: bytes) -> Inline | None:
    """Little-endian elements as an attribute; None where text would not read back the same.

    xDSL prints large whole floats, infinities and NaN as bit patterns, which its parser takes for
    integers, and it takes 0.0 and -0.0 for equal. A boolean is one byte, 0 or 1.
    """
    element = type_.element_type
    value: Any = DenseIntOrFPElementsAttr(cast("Any", type_), BytesAttr(raw))
    if isinstance(element, IntegerType):
        bits = cast("IntegerType[int, Any]", element).width.data
        return value if bits in WHOLE and (bits > 1 or max(raw, default=0) <= 1) else None
    if not isinstance(element, Float32Type | Float64Type):
        return None
    width, code = (4, "f") if isinstance(element, Float32Type) else (8, "d")
    if str(value).startswith('dense<"0x'):  # all bytes, of more than a hundred elements
        return value
    values: tuple[float, ...] = struct.unpack(f"<{len(raw) // width}{code}", raw)
    if not all(map(math.isfinite, values)):
        return None
    minus_zero = any(v == 0 and math.copysign(1, v) < 0 for v in values)
    written = str(value).partition(">")[0]  # and not its type, such as tensor<10x2xf32>
    if (minus_zero and len(values) > 1) or "0x" in written:
        return None
    return value
