"""Constants inline, where the text of the IR reads back as the same bytes."""

from typing import TYPE_CHECKING, Any, Final, cast

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

DTYPES: Final = frozenset({"b1", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})


def inline(type_: TensorType[Attribute], array: "Array") -> DenseIntOrFPElementsAttr[Any] | None:
    """The elements as an attribute; None where the text would not read back as the same bytes.

    xDSL prints large whole floats, infinities and NaN as bit patterns, which its parser takes for
    integers, and it takes 0.0 and -0.0 for equal.
    """
    import numpy as np

    if array.dtype.str[1:] not in DTYPES:
        return None
    raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
    value: Any = DenseIntOrFPElementsAttr(cast("Any", type_), BytesAttr(raw))
    if array.dtype.kind == "f":
        minus_zero = bool(np.signbit(array[array == 0]).any())
        if (minus_zero and array.size > 1) or not np.isfinite(array).all() or "0x" in str(value):
            return None
    return value
