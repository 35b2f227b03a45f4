"""Expansions of operators that onnxruntime's optimisers write (`com.microsoft`) into ONNX's own."""

from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import Scope


@expands("com.microsoft.FusedConv")
def fused_conv(s: Scope) -> bool:
    """A convolution, perhaps a sum, and an activation."""
    of_convolution = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
    given = {k: v for k, v in s.attributes.items() if k in of_convolution}
    operands = [s.x, s.input(1), *([s.input(2)] if s.has(2) else [])]
    name = s.add("Conv", *operands, **given)
    if s.has(3):
        name = s.add("Add", name, s.input(3))
    return _activated(s, name)


def _activated(s: Scope, name: str) -> bool:
    """The activation that a fused operator names, with its numbers."""
    kind, numbers = s.get("activation", ""), list(s.get("activation_params", []))
    match kind:
        case "":
            return s.done("Identity", name)
        case "Relu" | "Sigmoid" | "Tanh":
            return s.done(kind, name)
        case "LeakyRelu":
            alpha = numbers[0] if numbers else s.get("activation_alpha", 0.01)
            return s.done(kind, name, alpha=alpha)
        case "HardSigmoid" if len(numbers) == 2:
            return s.done(kind, name, alpha=numbers[0], beta=numbers[1])
        case "Clip" if len(numbers) == 2:
            return s.done(kind, name, s.const(numbers[0]), s.const(numbers[1]))
        case _:
            return s.lacks(f"activation {kind} with {len(numbers)} numbers")


@expands("com.microsoft.FusedGemm")
def fused_gemm(s: Scope) -> bool:
    """A product and an activation."""
    given = {k: v for k, v in s.attributes.items() if k in ("alpha", "beta", "transA", "transB")}
    return _activated(s, s.add("Gemm", *s.node.input, **given))


@expands("com.microsoft.FusedMatMul")
def fused_matmul(s: Scope) -> bool:
    """A product of matrices of which some are transposed, times a number."""
    if s.get("transBatchA", 0) or s.get("transBatchB", 0):
        return s.lacks("transBatchA or transBatchB = 1 (0 has one)")
    names: list[str] = []
    for index, letter in enumerate("AB"):
        rank = len(s.shape(index))
        order = [*range(rank - 2), rank - 1, rank - 2]
        name = s.input(index)
        names.append(s.transposed(name, order) if s.get(f"trans{letter}", 0) else name)
    product, alpha = s.add("MatMul", *names), s.get("alpha", 1.0)
    if alpha == 1:
        return s.done("Identity", product)
    return s.done("Mul", product, s.const(alpha))
