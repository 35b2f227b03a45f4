"""Unsigned bytes that ONNX's operators make are signed ones, as kernels have them.

Every element is less by 128, and so is the zero point: it stands for the same number. Bytes that
come in or go out, and constants, a `quantize` changes.

Before:
    !x = tensor<1x4xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !y = tensor<1x4xui8, #memgraph.encoding<scale = [2.0e+00], zero_point = [130]>>
    !z = tensor<4xui8, #memgraph.encoding<scale = [2.0e+00], zero_point = [130]>>
    !w = tensor<4x4xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [128]>>
    func.func @main(%x: !x, %f: tensor<1x4xf32>) -> (!y, !y, tensor<4xf32>) {
      %w = memgraph.constant dense<130> : !w
      %q = memgraph.quantize %f rounding<onnx_even> : (tensor<1x4xf32>) -> !y
      %1 = memgraph.fully_connected %x, %w rounding<onnx_even> : (!x, !w) -> !y
      %2 = memgraph.add %q, %x rounding<onnx_even> {memgraph.names = ["y"]} : (!y, !x) -> !y
      %3 = memgraph.reshape %1 : (!y) -> !z
      %4 = memgraph.dequantize %3 : (!z) -> tensor<4xf32>
      func.return %1, %2, %4 : !y, !y, tensor<4xf32>
    }
After:
    !a = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [-125]>>
    !b = tensor<1x4xi8, #memgraph.encoding<scale = [2.0e+00], zero_point = [2]>>
    !c = tensor<4xi8, #memgraph.encoding<scale = [2.0e+00], zero_point = [2]>>
    !v = tensor<4x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [0]>>
    func.func @main(%x: !x, %f: tensor<1x4xf32>) -> (!y, !y, tensor<4xf32>) {
      %w = memgraph.constant dense<130> : !w
      %q = memgraph.quantize %f rounding<onnx_even> : (tensor<1x4xf32>) -> !b
      %a = memgraph.quantize %x rounding<onnx_even> : (!x) -> !a
      %v = memgraph.quantize %w rounding<onnx_even> : (!w) -> !v
      %1 = memgraph.fully_connected %a, %v rounding<onnx_even> : (!a, !v) -> !b
      %2 = memgraph.add %q, %a rounding<onnx_even> {memgraph.names = ["y_signed"]} : (!b, !a) -> !b
      %3 = memgraph.reshape %1 : (!b) -> !c
      %4 = memgraph.dequantize %3 : (!c) -> tensor<4xf32>
      %5 = memgraph.quantize %1 rounding<onnx_even> : (!b) -> !y
      %6 = memgraph.quantize %2 rounding<onnx_even> {memgraph.names = ["y"]} : (!b) -> !y
      func.return %5, %6, %4 : !y, !y, tensor<4xf32>
    }

Not what another runtime's operators make, nor what one of them, or one that is not known, reads.

Left alone:
    !x = tensor<1x4xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> (!x, !x) {
      %1 = memgraph.add %x, %x : (!x, !x) -> !x
      %2 = memgraph.add %x, %x rounding<onnx_even> : (!x, !x) -> !x
      %3 = memgraph.opaque "Elu"(%2) : (!x) -> !x
      func.return %1, %3 : !x, !x
    }
"""

from collections.abc import Container

from xdsl.dialects.builtin import TensorType, i8
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.traits import IsTerminator

from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.stored import element_of, integer_type
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import is_named, name_of, rename
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, is_buffer, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp
from memopt.dialects.operators.traits import Moves
from memopt.rewrites import EVERY, FunctionRule
from memopt.rewrites.qdq_fold import HALF, per_tensor, requantized


class SignedBytes(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = EVERY
    applied = "kernels"
    keeps_claims = False

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        unsigned = signed_results(func)
        outside: dict[SSAValue, SSAValue] = {}
        for op in {value.op: None for value in unsigned}:
            self.changed(op, rewriter)
            for k, value in enumerate(op.operands):
                if is_unsigned(value) and value not in unsigned:
                    if value not in outside:
                        outside[value] = requantized(value, signed(value), op, rewriter)
                    op.operands[k] = outside[value]
        for value in unsigned:
            self.retype(value, rewriter)
        return bool(unsigned)

    def retype(self, value: OpResult, rewriter: PatternRewriter) -> None:
        """Let the result be signed; what goes out is changed before it does."""
        name, unsigned = name_of(value) if is_named(value) else None, value.type
        new = rewriter.replace_value_with_new_type(value, signed(value))
        assert isinstance(new, OpResult)
        for use in list(new.uses):
            if not use.operation.has_trait(IsTerminator):
                continue
            back = requantized(new, unsigned, use.operation, rewriter)
            use.operation.operands[use.index] = back
            if name is not None and isinstance(back, OpResult):
                rename(back.op, {0: name})
                rename(new.op, {new.index: f"{name}_signed"})


def is_unsigned(value: SSAValue) -> bool:
    """Return whether the value is of bytes without a sign, of one quantization."""
    unsigned = is_buffer(value.type) and integer_type(element_of(value)) == (8, True)
    return unsigned and per_tensor(value)


def signed(value: SSAValue) -> AnyTensor:
    """The type of the same numbers as signed bytes."""
    old = encoding_of(value)
    encoding = EncodingAttr(old.layout.data, old.scales, (old.zero_points[0] - HALF,))
    return TensorType(i8, shape_of(value), encoding)


def signed_results(func: FuncOp) -> dict[OpResult, None]:
    """The results that can be signed, in block order: their makers and readers do not mind."""
    candidates = {
        result: None
        for op in body_of(func).ops
        if isinstance(op, ComputeOp)
        for result in op.results
        if is_unsigned(result) and not is_border(op, result)
        if not is_constant_expression(result, GENERIC)
    }
    while wrong := [v for v in candidates if not is_free(v, candidates)]:
        for value in wrong:
            del candidates[value]
    return candidates


def is_border(op: ComputeOp, result: SSAValue) -> bool:
    """Return whether the operation only takes the sign away."""
    return isinstance(op, QuantizeOp) and op.input.type == signed(result)


def is_free(value: OpResult, found: Container[SSAValue]) -> bool:
    """Return whether the maker and the readers of the result work on signed bytes as well, if the
    values of `found` are signed."""
    maker = value.op
    if not rounds_even(maker) and not any(v in found for v in maker.operands):
        return False
    return all(
        r in found for op in (maker, *readers(value)) for r in op.results if is_unsigned(r)
    ) and all(
        rounds_even(op)
        or isinstance(op, DequantizeOp)
        or (isinstance(op, ComputeOp) and op.has_trait(Moves))
        for op in readers(value)
    )


def readers(value: SSAValue) -> list[Operation]:
    """Return the operations that read the value, but for the one that returns it."""
    users = [use.operation for use in value.uses]
    return [op for op in users if not op.has_trait(IsTerminator)]
