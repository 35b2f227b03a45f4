"""One ONNX node on its way into the IR, and the small helpers that build attributes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from memopt.dialects.attributes import EncodingAttr
from memopt.frontends.core.typed import NotTyped, need

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass(frozen=True)
class Node:
    """An operator. `types[i]` is the type of operand i, None where it is left out; `operand(i)`
    brings the value into the IR, `constant(i)` gives its elements where they are known and few;
    `transposed(i)` is a constant of two dimensions with these exchanged."""

    kind: str
    opset: int
    attributes: dict[str, Any]
    types: Sequence[TensorType[Attribute] | None]
    results: Sequence[TensorType[Attribute]]
    outputs: Sequence[bool]
    is_constant: Callable[[int], bool]
    value: Callable[[int], SSAValue]
    transpose: Callable[[int], SSAValue]
    elements: "Callable[[int], Array | None]"

    def has(self, index: int) -> bool:
        return index < len(self.types) and self.types[index] is not None

    def type(self, index: int) -> TensorType[Attribute]:
        found = self.types[index] if index < len(self.types) else None
        if found is None:
            raise NotTyped
        return found

    def shape(self, index: int) -> tuple[int, ...]:
        return self.type(index).get_shape()

    def operand(self, index: int) -> SSAValue:
        need(self.has(index))
        return self.value(index)

    def optional(self, index: int) -> SSAValue | None:
        return self.value(index) if self.has(index) else None

    def constant(self, index: int) -> "Array":
        """The elements of operand `index`. Raises NotTyped if they are not known."""
        need(self.has(index))
        array = self.elements(index)
        if array is None:
            raise NotTyped
        return array

    def integers(self, index: int) -> list[int]:
        array = self.constant(index)
        need(array.dtype.kind in "iu" and array.ndim <= 1)
        return [int(v) for v in array.reshape(-1)]

    @property
    def result(self) -> TensorType[Attribute]:
        need(len(self.results) == 1 and self.outputs[0])
        return self.results[0]

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)


def quantization(type_: TensorType[Attribute]) -> EncodingAttr | None:
    """The encoding of a quantized type without its layout, None if it is not quantized."""
    encoding = type_.encoding
    if not isinstance(encoding, EncodingAttr) or not encoding.quantized:
        return None
    return EncodingAttr("", encoding.scales, encoding.zero_points, encoding.axis.data)


def plain(node: Node) -> None:
    """Nothing here is quantized. Raises NotTyped."""
    types = [t for t in (*node.types, *node.results) if t is not None]
    need(all(quantization(t) is None for t in types))
