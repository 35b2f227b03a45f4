"""One ONNX node on its way into the IR."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from memopt.frontends.core import node as core
from memopt.frontends.core.typed import NotTyped, need
from memopt.frontends.core.types import quantization

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass(frozen=True)
class Node(core.Node):
    """An operator. `constant(i)` gives the elements of operand i where they are known;
    `transpose(i)` is a constant of two dimensions with these exchanged; `outputs` are those that
    the file names."""

    outputs: Sequence[bool]
    is_constant: Callable[[int], bool]
    transpose: Callable[[int], SSAValue]
    elements: "Callable[[int], Array | None]"

    def constant(self, index: int) -> "Array":
        """The elements of operand `index`. Raises NotTyped if they are not known."""
        need(self.has(index), f"operand {index} is left out")
        array = self.elements(index)
        if array is None:
            raise NotTyped(f"operand {index} is computed at run time (a constant has one)")
        return array

    def integers(self, index: int) -> list[int]:
        array = self.constant(index)
        need(
            array.dtype.kind in "iu" and array.ndim <= 1, f"operand {index} is no list of integers"
        )
        return [int(v) for v in array.reshape(-1)]

    @property
    def result(self) -> TensorType[Attribute]:
        need(self.outputs[0], "its first result is left out")
        return super().result


def plain(node: Node) -> None:
    """Raise NotTyped if anything is quantized."""
    types = [t for t in (*node.types, *node.results) if t is not None]
    need(all(quantization(t) is None for t in types), "integers with a scale (reals have one)")
