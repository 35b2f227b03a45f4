"""An operator of real numbers between `DequantizeLinear` and `QuantizeLinear` is one of integers.

Networks quantised for ONNX say with such pairs what is stored; runtimes fuse them, and so does
this: tensors take a quarter of the bytes. What is stored stays; an element may differ by one where
sums of real numbers were rounded (`rounding<onnx_even>`: what onnxruntime's fused kernels compute).

Before:
    !x = tensor<1x2x2x2xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x2x1x1xi8, #memgraph.encoding<oihw, scale = [0.5, 2.], zero_point = [0], axis = 0>>
    !b = tensor<2xi32, #memgraph.encoding<scale = [0.25, 1.], zero_point = [0], axis = 0>>
    !y = tensor<1x2x2x2xi8, #memgraph.encoding<nchw, scale = [2.0e+00], zero_point = [-128]>>
    !f = tensor<1x2x2x2xf32, #memgraph.encoding<nchw>>
    !g = tensor<2x2x1x1xf32, #memgraph.encoding<oihw>>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1]], [[-2]]], [[[30]], [[4]]]]> : !w
      %b = memgraph.constant dense<[10, -20]> : !b
      %1 = memgraph.dequantize %x : (!x) -> !f
      %2 = memgraph.dequantize %w : (!w) -> !g
      %3 = memgraph.dequantize %b : (!b) -> tensor<2xf32>
      %4 = memgraph.conv_2d %1, %2, %3 window<[1, 1]> groups 1 activation<relu>
             : (!f, !g, tensor<2xf32>) -> !f
      %5 = memgraph.quantize %4 rounding<onnx_even> {memgraph.names = ["y"]} : (!f) -> !y
      func.return %5 : !y
    }
After:
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1]], [[-2]]], [[[30]], [[4]]]]> : !w
      %b = memgraph.constant dense<[10, -20]> : !b
      %5 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 activation<relu> rounding<onnx_even>
             {memgraph.names = ["y"]} : (!x, !w, !b) -> !y
      func.return %5 : !y
    }

What several read each of them reads as it is stored; what only moves elements moves integers, of
its result's quantization; and a pair that stands by itself changes the quantization.

Before:
    !x = tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !m = tensor<2x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !y = tensor<2x2xi8, #memgraph.encoding<scale = [1.0e+00], zero_point = [-5]>>
    !f = tensor<4xf32>
    !g = tensor<2x2xf32>
    func.func @main(%x: !x) -> (!y, !y, !f) {
      %1 = memgraph.dequantize %x : (!x) -> !f
      %2 = memgraph.reshape %1 : (!f) -> !g
      %3 = memgraph.quantize %2 rounding<onnx_even> : (!g) -> !m
      %4 = memgraph.dequantize %3 : (!m) -> !g
      %5 = memgraph.quantize %4 rounding<onnx_even> : (!g) -> !y
      %6 = memgraph.mul %4, %4 {memgraph.alias = [[]]} : (!g, !g) -> !g
      %7 = memgraph.quantize %6 rounding<onnx_even> : (!g) -> !y
      %8 = memgraph.relu %1 : (!f) -> !f
      func.return %5, %7, %8 : !y, !y, !f
    }
After:
    func.func @main(%x: !x) -> (!y, !y, !f) {
      %1 = memgraph.dequantize %x : (!x) -> !f
      %3 = memgraph.reshape %x : (!x) -> !m
      %5 = memgraph.quantize %3 rounding<onnx_even> : (!m) -> !y
      %7 = memgraph.mul %3, %3 rounding<onnx_even> : (!m, !m) -> !y
      %8 = memgraph.relu %1 : (!f) -> !f
      func.return %5, %7, %8 : !y, !y, !f
    }

What is stored again as it was is what it was; but each result of a function is made.

Before:
    !x = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !y = tensor<1x4xi8, #memgraph.encoding<scale = [1.0e+00], zero_point = [-5]>>
    !f = tensor<1x4xf32>
    func.func @main(%x: !x) -> (!x, !f, !f) {
      %1 = memgraph.dequantize %x : (!x) -> !f
      %2 = memgraph.quantize %1 rounding<onnx_even> : (!f) -> !x
      %3 = memgraph.quantize %1 rounding<onnx_even> : (!f) -> !x
      %4 = memgraph.opaque "Elu"(%3) : (!x) -> !f
      %5 = memgraph.quantize %1 rounding<onnx_even> : (!f) -> !y
      %6 = memgraph.opaque "Elu"(%5) : (!y) -> !f
      func.return %2, %4, %6 : !x, !f, !f
    }
After:
    func.func @main(%x: !x) -> (!x, !f, !f) {
      %2 = memgraph.quantize %x rounding<onnx_even> : (!x) -> !x
      %4 = memgraph.opaque "Elu"(%x) : (!x) -> !f
      %5 = memgraph.quantize %x rounding<onnx_even> : (!x) -> !y
      %6 = memgraph.opaque "Elu"(%5) : (!y) -> !f
      func.return %2, %4, %6 : !x, !f, !f
    }

Weights may be transposed in between, those of a matrix have a zero point, as weights do that are
quantized twice, and what is moved may have to be requantized before.

Before:
    !x = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !y = tensor<1x4xi8, #memgraph.encoding<scale = [1.0e+00], zero_point = [-5]>>
    !z = tensor<4xi8, #memgraph.encoding<scale = [1.0e+00], zero_point = [-5]>>
    !u = tensor<4xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<4x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [-1]>>
    !f = tensor<1x4xf32>
    !g = tensor<4x4xf32>
    !h = tensor<4xf32>
    !n = tensor<4x2xi8, #memgraph.encoding<scale = [0.5, 1.0], zero_point = [0, 0], axis = 1>>
    !m = tensor<1x2xi8, #memgraph.encoding<scale = [1.0e+00], zero_point = [-5]>>
    func.func @main(%x: !x) -> (!y, !z, !u, !m) {
      %w = memgraph.constant dense<1> : !w
      %n = memgraph.constant dense<1> : !n
      %1 = memgraph.dequantize %x : (!x) -> !f
      %2 = memgraph.dequantize %w : (!w) -> !g
      %3 = memgraph.transpose %2 permutation [1, 0] : (!g) -> !g
      %4 = memgraph.fully_connected %1, %3 : (!f, !g) -> !f
      %5 = memgraph.quantize %4 rounding<onnx_even> : (!f) -> !y
      %6 = memgraph.reshape %1 : (!f) -> !h
      %7 = memgraph.quantize %6 rounding<onnx_even> : (!h) -> !z
      %8 = memgraph.reshape %1 : (!f) -> !h
      %9 = memgraph.quantize %8 rounding<onnx_even> : (!h) -> !u
      %10 = memgraph.dequantize %n : (!n) -> tensor<4x2xf32>
      %11 = memgraph.transpose %10 permutation [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
      %12 = memgraph.fully_connected %1, %11 : (!f, tensor<2x4xf32>) -> tensor<1x2xf32>
      %13 = memgraph.quantize %12 rounding<onnx_even> : (tensor<1x2xf32>) -> !m
      func.return %5, %7, %9, %13 : !y, !z, !u, !m
    }
After:
    !v = tensor<1x4xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !t = tensor<2x4xi8, #memgraph.encoding<scale = [0.5, 1.0], zero_point = [0, 0], axis = 0>>
    func.func @main(%x: !x) -> (!y, !z, !u, !m) {
      %w = memgraph.constant dense<1> : !w
      %n = memgraph.constant dense<1> : !n
      %3 = memgraph.transpose %w permutation [1, 0] : (!w) -> !w
      %5 = memgraph.fully_connected %x, %3 rounding<onnx_even> : (!x, !w) -> !y
      %6 = memgraph.quantize %x rounding<onnx_even> : (!x) -> !y
      %7 = memgraph.reshape %6 : (!y) -> !z
      %8 = memgraph.quantize %x rounding<onnx_even> : (!x) -> !v
      %9 = memgraph.reshape %8 : (!v) -> !u
      %11 = memgraph.transpose %n permutation [1, 0] : (!n) -> !t
      %13 = memgraph.fully_connected %x, %11 rounding<onnx_even> : (!x, !t) -> !m
      func.return %5, %7, %9, %13 : !y, !z, !u, !m
    }

Every element of a transposed convolution meets the weights of a filter, too; a bias of zeros, which
exporters share, is none.

Before:
    !x = tensor<1x2x2x2xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x2x1x1xi8, #memgraph.encoding<iohw, scale = [0.5, 2.], zero_point = [0], axis = 1>>
    !b = tensor<2xi32, #memgraph.encoding<scale = [7.0], zero_point = [0]>>
    !y = tensor<1x2x2x2xi8, #memgraph.encoding<nchw, scale = [2.0e+00], zero_point = [-128]>>
    !f = tensor<1x2x2x2xf32, #memgraph.encoding<nchw>>
    !g = tensor<2x2x1x1xf32, #memgraph.encoding<iohw>>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1]], [[-2]]], [[[30]], [[4]]]]> : !w
      %b = memgraph.constant dense<0> : !b
      %1 = memgraph.dequantize %x : (!x) -> !f
      %2 = memgraph.dequantize %w : (!w) -> !g
      %3 = memgraph.dequantize %b : (!b) -> tensor<2xf32>
      %4 = memgraph.transpose_conv_2d %1, %2, %3 window<[1, 1]> groups 1
             : (!f, !g, tensor<2xf32>) -> !f
      %5 = memgraph.quantize %4 rounding<onnx_even> : (!f) -> !y
      func.return %5 : !y
    }
After:
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1]], [[-2]]], [[[30]], [[4]]]]> : !w
      %b = memgraph.constant dense<0> : !b
      %5 = memgraph.transpose_conv_2d %x, %w window<[1, 1]> groups 1 rounding<onnx_even>
             : (!x, !w) -> !y
      func.return %5 : !y
    }

Before:
    !x = tensor<1x2x2x2xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x2x1x1xi8, #memgraph.encoding<iohw, scale = [0.5], zero_point = [0]>>
    !y = tensor<1x4x2x2xi8, #memgraph.encoding<nchw, scale = [2.0e+00], zero_point = [-128]>>
    !f = tensor<1x2x2x2xf32, #memgraph.encoding<nchw>>
    !r = tensor<1x4x2x2xf32, #memgraph.encoding<nchw>>
    !g = tensor<2x2x1x1xf32, #memgraph.encoding<iohw>>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<1> : !w
      %1 = memgraph.dequantize %x : (!x) -> !f
      %2 = memgraph.dequantize %w : (!w) -> !g
      %3 = memgraph.transpose_conv_2d %1, %2 window<[1, 1]> groups 2 : (!f, !g) -> !r
      %4 = memgraph.quantize %3 rounding<onnx_even> : (!r) -> !y
      func.return %4 : !y
    }
After:
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<1> : !w
      %1 = memgraph.transpose_conv_2d %x, %w window<[1, 1]> groups 2 rounding<onnx_even>
             : (!x, !w) -> !y
      func.return %1 : !y
    }

Views of real numbers are those of integers, as around what is computed over one dimension.

Before:
    !x = tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !y = tensor<4xi8, #memgraph.encoding<scale = [1.0e+00], zero_point = [-5]>>
    func.func @main(%x: !x) -> (!y, !y) {
      %1 = memgraph.dequantize %x : (!x) -> tensor<4xf32>
      %2 = memgraph.reshape %1 : (tensor<4xf32>) -> tensor<2x2xf32>
      %3 = memgraph.tanh %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %4 = memgraph.reshape %3 : (tensor<2x2xf32>) -> tensor<4xf32>
      %5 = memgraph.quantize %4 rounding<onnx_even> {memgraph.names = ["y"]} : (tensor<4xf32>) -> !y
      %6 = memgraph.tanh %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %7 = memgraph.reshape %6 {memgraph.names = ["real"]} : (tensor<2x2xf32>) -> tensor<4xf32>
      %8 = memgraph.quantize %7 rounding<onnx_even> : (tensor<4xf32>) -> !y
      func.return %5, %8 : !y, !y
    }
After:
    !a = tensor<2x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !b = tensor<2x2xi8, #memgraph.encoding<scale = [1.0e+00], zero_point = [-5]>>
    func.func @main(%x: !x) -> (!y, !y) {
      %1 = memgraph.reshape %x : (!x) -> !a
      %2 = memgraph.tanh %1 rounding<onnx_even> : (!a) -> !b
      %3 = memgraph.reshape %2 {memgraph.names = ["y"]} : (!b) -> !y
      %4 = memgraph.reshape %x : (!x) -> !a
      %5 = memgraph.tanh %4 rounding<onnx_even> : (!a) -> !b
      %6 = memgraph.reshape %5 : (!b) -> !y
      func.return %3, %6 : !y, !y
    }

Not where the real numbers have another reader, an operand is none of stored integers, weights have
a zero point or other scales behind a view, a bias of other steps than the sums is not zero, each
group of a transposed convolution has filters of the same scales, or no integers are divided.
"""

from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from memopt.analysis.stored_operands import Stored, is_of_sums, is_zero, like, moved_type
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.stored import element_of, integer_type, is_stored, numbers_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.names import is_named, name_of, rename
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.movement import TransposeOp
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp
from memopt.dialects.operators.reordering import is_width_lost
from memopt.dialects.operators.traits import Folds, ReadsReals, RealsOnly, View
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.dialects.operators.weighing import WeighingOp
from memopt.rewrites import NAMES, SOURCE, Rule, erase_unread

EVEN = RoundingAttr("onnx_even")

HALF = 128  # what stands for 0 in the middle of unsigned bytes
SUMS = (WeighingOp, TransposeConv2DOp)


class QdqFold(Rule):
    """The rule above."""

    exact = "rounding"
    needs = (QuantizeOp,)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: QuantizeOp, rewriter: PatternRewriter) -> None:
        if not rounds_even(op) or not isinstance(op.input, OpResult):
            return
        producer = op.input.op
        if isinstance(producer, DequantizeOp):
            if not self.reading and per_tensor(producer.input) and per_tensor(op.result):
                self._join(op, producer, rewriter)
        elif isinstance(producer, ComputeOp) and (not self.reading or is_one(producer)):
            new = fold(producer, rewriter) or view_of_stored(op, producer, rewriter)
            if new is not None:
                self.changed(new, rewriter)

    def _join(self, op: QuantizeOp, before: DequantizeOp, rewriter: PatternRewriter) -> None:
        """Read what is stored again as it was stored first, or store it in other steps."""
        self.changed(op, rewriter)
        same = before.input.type == op.result.type
        if same and not any(use.operation.has_trait(IsTerminator) for use in op.result.uses):
            rewriter.replace(op, [], [before.input])
        else:
            op.operands[0] = before.input
        erase_unread([before.result], rewriter.erase, folds)


def fold(op: ComputeOp, rewriter: PatternRewriter) -> ComputeOp | None:
    """The operation as one that reads and makes integers, if those before and after allow that."""
    after = [only_quantized(result) for result in op.results]
    count = reals.first if (reals := op.get_trait(ReadsReals)) else None
    sources = [stored(value) for value in op.operands[:count]]
    writes, read = [q for q in after if q], [v for v in sources if v]
    if None in after or None in sources or not is_integer_form(op, read, writes):
        return None
    properties: dict[str, Attribute] = dict(op.properties)
    if isinstance(op, SUMS) and not is_of_sums(read):
        read = read[:2]  # without a bias of zeros
    operands = [operand(v, op, rewriter) for v in read]
    if op.takes_stored:
        operands = [as_stored(v, writes[0].result, op, rewriter) for v in operands]
    else:
        properties["rounding"] = EVEN
    new = type(op).create(
        operands=[*operands, *op.operands[len(sources) :]],
        result_types=[q.result.type for q in writes],
        properties=properties,
        attributes={k: v for k, v in op.attributes.items() if k != ALIAS},
    )
    new.location = op.location
    rewriter.insert(new, InsertPoint.before(op))
    for q, result in zip(writes, new.results, strict=True):
        result.name_hint = q.result.name_hint
    named = {k: name_of(q.result) for k, q in enumerate(writes) if is_named(q.result)}
    for q, result in zip(writes, new.results, strict=True):
        rewriter.replace(q, [], [result])
    if named:
        rename(new, named)
    before = list(op.operands)
    rewriter.erase(op)
    erase_unread(before, rewriter.erase, folds)
    return new


def view_of_stored(op: QuantizeOp, view: ComputeOp, rewriter: PatternRewriter) -> ComputeOp | None:
    """A view of real numbers that are stored then as a view of stored ones, so that what makes them
    is next to what stores them; of what is a function's argument nothing changes, nor of what is
    an image one pixel wide from then on, which sequences-as-images turns the other way."""
    source, producer = view.operands[0], view.operands[0].owner
    if not view.has_trait(View) or only_quantized(view.results[0]) is not op:
        return None
    is_made = isinstance(producer, ComputeOp) and not isinstance(producer, DequantizeOp)
    if not is_made or source.has_more_than_one_use() or is_width_lost(view.results[0], source):
        return None
    attributes = {k: v for k, v in op.attributes.items() if k not in NAMES}
    numbers = requantized(source, like(op.result, source), view, rewriter)
    assert isinstance(numbers, OpResult)
    numbers.op.attributes.update(attributes)
    new = type(view).create(
        operands=[numbers],
        result_types=[op.result.type],
        properties=view.properties,
        attributes={k: v for k, v in view.attributes.items() if k not in (ALIAS, *NAMES)},
    )
    new.location = view.location
    new.results[0].name_hint = op.result.name_hint
    if is_named(op.result):
        rename(new, {0: name_of(op.result)})
    rewriter.insert(new, InsertPoint.before(op))
    rewriter.replace(op, [], [new.results[0]])
    rewriter.erase(view)
    return new


def is_one(op: ComputeOp) -> bool:
    """Return whether the operation and those around it were one operator."""
    source = op.attributes.get(SOURCE)
    around = [v.owner for v in op.operands] + [u.operation for r in op.results for u in r.uses]
    known = [o.attributes.get(SOURCE, source) for o in around if isinstance(o, Operation)]
    return source is not None and set(known) == {source}


def only_quantized(value: SSAValue) -> QuantizeOp | None:
    """The `quantize` that alone reads a result, as ONNX rounds."""
    use = value.get_user_of_unique_use()
    return (
        use if isinstance(use, QuantizeOp) and rounds_even(use) and per_tensor(use.result) else None
    )


def per_tensor(value: SSAValue) -> bool:
    """Return whether the tensor stores integers of 8 bits, in one quantization."""
    kind = integer_type(element_of(value))
    return kind is not None and kind[0] == 8 and len(encoding_of(value).scales) == 1


def stored(value: SSAValue) -> Stored | None:
    """The integers that a real tensor is made of."""
    moved = transposition(value) or viewed(value)
    op = value.owner if moved is None else moved.operands[0].owner
    if not isinstance(op, DequantizeOp) or not is_stored(op.input):
        return None
    return None if moved and not keeps_axis(op.input, moved) else Stored(op.input, moved)


def transposition(value: SSAValue) -> TransposeOp | None:
    """Return the operation that transposes a constant; None where there is none."""
    op = value.owner
    if isinstance(op, TransposeOp) and is_constant_expression(value, GENERIC):
        return op
    return None


def viewed(value: SSAValue) -> ComputeOp | None:
    """Return the operation that gives a tensor another shape; None where there is none."""
    op = value.owner
    return op if isinstance(op, ComputeOp) and op.has_trait(View) else None


def keeps_axis(value: SSAValue, moved: ComputeOp) -> bool:
    """Return whether the dimension along which scales stand is at the same place behind a view."""
    ahead = encoding_of(value).axis.data + 1
    same = shape_of(value)[:ahead] == shape_of(moved.results[0])[:ahead]
    return same or not moved.has_trait(View)


def is_integer_form(op: ComputeOp, read: list[Stored], made: list[QuantizeOp]) -> bool:
    """Return whether the operation has a meaning of these integers."""
    if op.takes_stored:
        meanings = {(element_of(q.result), numbers_of(q.result)) for q in made}
        is_one = len(meanings) == 1 and not op.activation_name
        return is_one and all(per_tensor(v.value) for v in read)
    known = op.get_irdl_definition().properties
    if op.has_trait(RealsOnly) or "rounding" not in known or "rounding" in op.properties:
        return False
    if not isinstance(op, SUMS):
        return all(per_tensor(v.value) for v in read)
    source, result = read[0].value, made[0].result
    alike = per_tensor(source) and element_of(source) == element_of(result)
    return alike and has_weights(op, read)


def operand(stored: Stored, op: Operation, rewriter: PatternRewriter) -> SSAValue:
    """The integers, transposed or of another shape if need be, before `op`."""
    if stored.moved is None:
        return stored.value
    moved = type(stored.moved).create(
        operands=[stored.value],
        result_types=[moved_type(stored.value, stored.moved)],
        properties=stored.moved.properties,
    )
    rewriter.insert(moved, InsertPoint.before(op))
    return moved.results[0]


def as_stored(
    value: SSAValue, pattern: SSAValue, op: Operation, rewriter: PatternRewriter
) -> SSAValue:
    """The integers in the quantization of another tensor, before `op`."""
    if element_of(value) == element_of(pattern) and numbers_of(value) == numbers_of(pattern):
        return value
    return requantized(value, like(pattern, value), op, rewriter)


def requantized(
    value: SSAValue, type_: Attribute, op: Operation, rewriter: PatternRewriter
) -> SSAValue:
    """The integers as another type has them, before `op`."""
    properties = {"rounding": EVEN}
    new = QuantizeOp.create(operands=[value], result_types=[type_], properties=properties)
    rewriter.insert(new, InsertPoint.before(op))
    return new.result


def has_weights(op: WeighingOp | TransposeConv2DOp, read: list[Stored]) -> bool:
    """Return whether weights are constant integers around zero, of a scale or one per filter, or of
    a matrix with one scale, and the bias is of the sums' steps, or zeros."""
    _, weights, *bias = read
    kind, encoding = integer_type(element_of(weights.value)), weights.encoding
    middle = HALF if kind == (8, True) and len(encoding.scales) == 1 else 0
    is_off = any(z != middle for z in encoding.zero_points)
    if kind is None or kind[0] != 8:
        return False
    if is_off and (len(encoding.scales) > 1 or not op.OFFSET_WEIGHTS):
        return False
    if encoding.axis.data not in (-1, op.filter_axis):
        return False
    if isinstance(op, TransposeConv2DOp) and encoding.axis.data != -1 and op.groups.value.data > 1:
        return False  # a scale for the filters of each group
    if not all(is_constant_expression(v.value, GENERIC) for v in (weights, *bias)):
        return False
    return is_of_sums(read) or is_zero(bias[0])


def folds(op: Operation) -> bool:
    """Return whether the operation could be computed before run time; constants stay."""
    return isinstance(op, ComputeOp) and op.has_trait(Folds)
