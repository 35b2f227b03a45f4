"""Traits of operations, as xDSL and MLIR have them, each absent unless said.

    class ReluOp(FunctionOp):
        traits = traits_def(AsActivation("relu"))      # besides those of FunctionOp

    ReluOp.has_trait(Pointwise)                        # True: of FunctionOp

The compiler asks for them with `has_trait` and names no operation; an absent trait is the safe
answer. docs/reference/operator-interface.md has an example and a counter-example of each.
"""

from dataclasses import dataclass

from xdsl.traits import OpTrait


class Pointwise(OpTrait):
    """Element i of a result is made of elements i of the operands, broadcast as numpy does."""


class ByChannel(OpTrait):
    """A channel of the results is made of the same channel of the operands, without its number."""


class Alike(OpTrait):
    """Each row of the results is the same function of the rows that it reads."""


class Elementwise(Pointwise, ByChannel, Alike):
    """Element i of a result is the same function of elements i of the operands everywhere."""


class ByPixel(OpTrait):
    """Operand 0 is read pixel by pixel, although it is no image."""


class Monotone(OpTrait):
    """No element of the results falls where an element of an operand rises."""


class Moves(OpTrait):
    """The elements of the results are elements of the operands."""


class View(OpTrait):
    """The result is operand 0 with another shape."""


class Concatenates(OpTrait):
    """The result is its operands one beside the other, so that it need not be a buffer."""


class Flattens(OpTrait):
    """The shape of operand 0 means nothing, only the sequence of its elements."""


class SumsUp(OpTrait):
    """The operands are partial sums, element by element those of the result."""


class Spatial(OpTrait):
    """Operand 0 and result 0 are images."""


@dataclass(frozen=True)
class Weights(OpTrait):
    """The layout of operand 1 beside images of each layout, "" where there are no such."""

    nhwc: str
    nchw: str = ""

    def beside(self, layout: str) -> str | None:
        """Return the layout beside images of `layout`, None if it is not said."""
        return {"nhwc": self.nhwc, "nchw": self.nchw}.get(layout) or None


class Cuts(OpTrait):
    """Each result is elements of operand 0 that lie at even distances, as `lies_at` says."""


class KeepsDimensions(OpTrait):
    """The dimensions of the results stand in the order of the operands'."""


class Converts(OpTrait):
    """Element i of the result is element i of operand 0, in another type or quantization."""


class Folds(OpTrait):
    """The operation is evaluated when code is written, if all of its operands are constants."""


class Written(Folds):
    """No file has the operation, so the writer of any file evaluates it."""


class RealsOnly(OpTrait):
    """No form of stored integers means what ONNX's dequantize, operation, quantize do."""


@dataclass(frozen=True)
class ReadsReals(OpTrait):
    """Operands from `first` on are real numbers beside stored integers, too."""

    first: int


@dataclass(frozen=True)
class AsActivation(OpTrait):
    """The activation that means the same in the operation before."""

    name: str


class IgnoresActivation(OpTrait):
    """Runtimes do not clamp what the operation stores, though it may name an activation."""
