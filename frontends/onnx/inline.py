"""Arrays as inline constants: those whose text reads back as the same bytes."""

from typing import TYPE_CHECKING, Any, Final

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute

from memopt.frontends.core.inline import inline as inline_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

DTYPES: Final = frozenset({"b1", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})


def inline(type_: TensorType[Attribute], array: "Array") -> DenseIntOrFPElementsAttr[Any] | None:
    """The elements as an attribute; None for other types and where text would change them."""
    if array.dtype.str[1:] not in DTYPES:
        return None
    return inline_bytes(type_, array.astype(array.dtype.newbyteorder("<")).tobytes())
