"""The parts of a normalization of the last dimensions are one operator.

Exporters take it apart: the mean, what is left of each number, the mean of its squares, one over
the root of that, a product, the scale and the shift.

Before:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !c = tensor<4xf32>
    func.func @main(%x: !x, %g: !c, %b: !c) -> !x {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %1 = memgraph.mean %x axes [2] keep_dims : (!x) -> !m
      %2 = memgraph.sub %x, %1 : (!x, !m) -> !x
      %3 = memgraph.square %2 : (!x) -> !x
      %4 = memgraph.mean %3 axes [2] keep_dims : (!x) -> !m
      %5 = memgraph.add %4, %e : (!m, tensor<f32>) -> !m
      %6 = memgraph.sqrt %5 : (!m) -> !m
      %7 = memgraph.div %2, %6 : (!x, !m) -> !x
      %8 = memgraph.mul %7, %g : (!x, !c) -> !x
      %9 = memgraph.add %8, %b {memgraph.names = ["y"]} : (!x, !c) -> !x
      func.return %9 : !x
    }
After:
    func.func @main(%x: !x, %g: !c, %b: !c) -> !x {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %9 = memgraph.layer_normalization %x, %g, %b axis 2 epsilon 0.5 form "quotient"
             {memgraph.names = ["y"]} : (!x, !c, !c) -> !x
      func.return %9 : !x
    }

Exact to the bit but for the order of sums: the `form` says which steps were rounded. A factor may
be one over a root, or a reciprocal root; squares may be products, or those of differences, beside
which the numbers that are left are made once more:

Before:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !c = tensor<1x1x4xf32>
    func.func @main(%x: !x) -> (!x, !x) {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %i = memgraph.constant dense<1.0> : tensor<1xf32>
      %g = memgraph.constant dense<[[[2.0, 3.0, 4.0, 5.0]]]> : !c
      %1 = memgraph.mean %x axes [2] keep_dims : (!x) -> !m
      %2 = memgraph.squared_difference %x, %1 : (!x, !m) -> !x
      %3 = memgraph.mean %2 axes [2] keep_dims : (!x) -> !m
      %4 = memgraph.add %e, %3 : (tensor<f32>, !m) -> !m
      %5 = memgraph.rsqrt %4 : (!m) -> !m
      %6 = memgraph.sub %x, %1 : (!x, !m) -> !x
      %7 = memgraph.mul %5, %6 : (!m, !x) -> !x
      %8 = memgraph.mul %g, %7 : (!c, !x) -> !x
      %11 = memgraph.mean %8 axes [1, 2] keep_dims : (!x) -> tensor<1x1x1xf32>
      %12 = memgraph.sub %8, %11 : (!x, tensor<1x1x1xf32>) -> !x
      %13 = memgraph.mul %12, %12 : (!x, !x) -> !x
      %14 = memgraph.mean %13 axes [1, 2] keep_dims : (!x) -> tensor<1x1x1xf32>
      %15 = memgraph.add %14, %e : (tensor<1x1x1xf32>, tensor<f32>) -> tensor<1x1x1xf32>
      %16 = memgraph.sqrt %15 : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
      %17 = memgraph.div %i, %16 : (tensor<1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
      %18 = memgraph.mul %12, %17 : (!x, tensor<1x1x1xf32>) -> !x
      func.return %8, %18 : !x, !x
    }
After:
    func.func @main(%x: !x) -> (!x, !x) {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %i = memgraph.constant dense<1.0> : tensor<1xf32>
      %g = memgraph.constant dense<[[[2.0, 3.0, 4.0, 5.0]]]> : !c
      %r = memgraph.reshape %g : (!c) -> tensor<4xf32>
      %8 = memgraph.layer_normalization %x, %r axis 2 epsilon 0.5 : (!x, tensor<4xf32>) -> !x
      %18 = memgraph.layer_normalization %8 axis 1 epsilon 0.5 : (!x) -> !x
      func.return %8, %18 : !x, !x
    }

Around zero (RMS) there is no mean. Keras multiplies the factor by the scale first, and adds what
that leaves of the mean:

Before:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !c = tensor<4xf32>
    func.func @main(%x: !x, %g: !c, %b: !c) -> (!x, !x, !x) {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %1 = memgraph.mean %x axes [2] keep_dims : (!x) -> !m
      %2 = memgraph.squared_difference %x, %1 : (!x, !m) -> !x
      %3 = memgraph.mean %2 axes [2] keep_dims : (!x) -> !m
      %4 = memgraph.add %3, %e : (!m, tensor<f32>) -> !m
      %5 = memgraph.rsqrt %4 : (!m) -> !m
      %6 = memgraph.mul %5, %g : (!m, !c) -> !x
      %7 = memgraph.mul %x, %6 : (!x, !x) -> !x
      %8 = memgraph.mul %1, %6 : (!m, !x) -> !x
      %9 = memgraph.sub %b, %8 : (!c, !x) -> !x
      %10 = memgraph.add %7, %9 : (!x, !x) -> !x
      %11 = memgraph.square %10 : (!x) -> !x
      %12 = memgraph.mean %11 axes [2] keep_dims : (!x) -> !m
      %13 = memgraph.add %12, %e : (!m, tensor<f32>) -> !m
      %14 = memgraph.rsqrt %13 : (!m) -> !m
      %15 = memgraph.mul %10, %14 : (!x, !m) -> !x
      %16 = memgraph.mul %15, %g : (!x, !c) -> !x
      %21 = memgraph.square %16 : (!x) -> !x
      %22 = memgraph.mean %21 axes [2] keep_dims : (!x) -> !m
      %23 = memgraph.add %22, %e : (!m, tensor<f32>) -> !m
      %24 = memgraph.rsqrt %23 : (!m) -> !m
      %25 = memgraph.mul %24, %g : (!m, !c) -> !x
      %26 = memgraph.mul %25, %16 : (!x, !x) -> !x
      func.return %10, %16, %26 : !x, !x, !x
    }
After:
    func.func @main(%x: !x, %g: !c, %b: !c) -> (!x, !x, !x) {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %10 = memgraph.layer_normalization %x, %g, %b axis 2 epsilon 0.5 form "line"
              : (!x, !c, !c) -> !x
      %16 = memgraph.layer_normalization %10, %g axis 2 epsilon 0.5 around_zero : (!x, !c) -> !x
      %26 = memgraph.layer_normalization %16, %g axis 2 epsilon 0.5 form "line" around_zero
              : (!x, !c) -> !x
      func.return %10, %16, %26 : !x, !x, !x
    }

Left of x may be what it is without another mean, which is normalized around zero; scales of another
shape are multiplied as before:

Before:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !n = tensor<1x1x4xf32>
    !d = tensor<1xf32>
    func.func @main(%x: !x, %y: !x, %d: !d) -> (!x, !x) {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %1 = memgraph.mean %x axes [1] keep_dims : (!x) -> !n
      %2 = memgraph.sub %x, %1 : (!x, !n) -> !x
      %3 = memgraph.square %2 : (!x) -> !x
      %4 = memgraph.mean %3 axes [2] keep_dims : (!x) -> !m
      %5 = memgraph.add %4, %e : (!m, tensor<f32>) -> !m
      %6 = memgraph.rsqrt %5 : (!m) -> !m
      %7 = memgraph.mul %2, %6 : (!x, !m) -> !x
      %8 = memgraph.mul %7, %d : (!x, !d) -> !x
      %11 = memgraph.mean %y axes [2] keep_dims : (!x) -> !m
      %12 = memgraph.sub %x, %11 : (!x, !m) -> !x
      %13 = memgraph.square %12 : (!x) -> !x
      %14 = memgraph.mean %13 axes [2] keep_dims : (!x) -> !m
      %15 = memgraph.add %14, %e : (!m, tensor<f32>) -> !m
      %16 = memgraph.rsqrt %15 : (!m) -> !m
      %17 = memgraph.mul %12, %16 : (!x, !m) -> !x
      func.return %8, %17 : !x, !x
    }
After:
    func.func @main(%x: !x, %y: !x, %d: !d) -> (!x, !x) {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %1 = memgraph.mean %x axes [1] keep_dims : (!x) -> !n
      %2 = memgraph.sub %x, %1 : (!x, !n) -> !x
      %7 = memgraph.layer_normalization %2 axis 2 epsilon 0.5 around_zero : (!x) -> !x
      %8 = memgraph.mul %7, %d : (!x, !d) -> !x
      %11 = memgraph.mean %y axes [2] keep_dims : (!x) -> !m
      %12 = memgraph.sub %x, %11 : (!x, !m) -> !x
      %17 = memgraph.layer_normalization %12 axis 2 epsilon 0.5 around_zero : (!x) -> !x
      func.return %8, %17 : !x, !x
    }

Not where a step has another reader, which would have to be made all the same; of other numbers than
those whose squares were averaged; over other than the last dimensions. More stands in
`tests/rewrites/unit/left_alone/layer-normalization.txt`.

Left alone:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !n = tensor<1x1x4xf32>
    func.func @main(%x: !x, %y: !x) -> (!x, !m, !x, !x) {
      %e = memgraph.constant dense<0.5> : tensor<f32>
      %1 = memgraph.square %x : (!x) -> !x
      %2 = memgraph.mean %1 axes [2] keep_dims : (!x) -> !m
      %3 = memgraph.add %2, %e : (!m, tensor<f32>) -> !m
      %4 = memgraph.rsqrt %3 : (!m) -> !m
      %5 = memgraph.mul %x, %4 : (!x, !m) -> !x
      %11 = memgraph.square %x : (!x) -> !x
      %12 = memgraph.mean %11 axes [2] keep_dims : (!x) -> !m
      %13 = memgraph.add %12, %e : (!m, tensor<f32>) -> !m
      %14 = memgraph.rsqrt %13 : (!m) -> !m
      %15 = memgraph.mul %y, %14 : (!x, !m) -> !x
      %21 = memgraph.square %x : (!x) -> !x
      %22 = memgraph.mean %21 axes [1] keep_dims : (!x) -> !n
      %23 = memgraph.add %22, %e : (!n, tensor<f32>) -> !n
      %24 = memgraph.rsqrt %23 : (!n) -> !n
      %25 = memgraph.mul %x, %24 : (!x, !n) -> !x
      func.return %5, %3, %15, %25 : !x, !m, !x, !x
    }
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects.builtin import Float32Type, FloatAttr, StringAttr, TensorType, UnitAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import Constants, constants_beside
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.binary import AddOp, DivOp, MulOp, SubOp
from memopt.dialects.operators.layer_normalization import LayerNormalizationOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.prelu import SquaredDifferenceOp
from memopt.dialects.operators.real_functions import RsqrtOp, SqrtOp, SquareOp
from memopt.rewrites import FunctionRule, erase_unread

Op = TypeVar("Op", bound=ComputeOp)


class LayerNormalization(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = (SqrtOp, RsqrtOp)
    applied = "safe"
    keeps_claims = False

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        roots = [op for op in body_of(func).ops if isinstance(op, SqrtOp | RsqrtOp)]
        constants = constants_beside(func)
        changed = False
        for root in roots:  # one after the other: each reads what the one before has made
            reading = Reading(root, constants)
            if reading.is_normalization():
                self._replace(reading, rewriter)
                changed = True
        return changed

    def _replace(self, reading: "Reading", rewriter: PatternRewriter) -> None:
        last = reading.parts[-1]
        shape = shape_of(last.results[0])[reading.axis :]
        properties: dict[str, Attribute] = {
            "axis": number(reading.axis),
            "epsilon": FloatAttr(reading.epsilon, f32),
        }
        properties |= {"form": StringAttr(reading.form)} if reading.form else {}
        properties |= {} if reading.mean else {"around_zero": UnitAttr()}
        terms: list[SSAValue] = []
        for term in reading.terms:
            if shape_of(term) != shape:
                reshape = ReshapeOp.create(operands=[term], result_types=[TensorType(f32, shape)])
                rewriter.insert(reshape, InsertPoint.before(last))
                term = reshape.results[0]
            terms.append(term)
        normalization = LayerNormalizationOp.create(
            operands=[reading.x, *terms], result_types=[last.results[0].type], properties=properties
        )
        normalization.location = last.location
        normalization.results[0].name_hint = last.results[0].name_hint
        rewriter.insert(normalization, InsertPoint.before(last))
        before = list(last.operands)
        self.replaced(last, normalization, rewriter)
        erase_unread(before, rewriter.erase, reading.parts.__contains__)


@dataclass
class Reading:
    """A root, the `parts` of a normalization around it in an order in which each is known by the
    ones before it, and what they say."""

    root: SqrtOp | RsqrtOp
    constants: Constants
    parts: list[Operation] = field(default_factory=list[Operation])
    x: SSAValue = field(init=False)
    mean: MeanOp | None = None
    terms: list[SSAValue] = field(default_factory=list[SSAValue])
    axis: int = 0
    epsilon: float = 0.0
    form: str = ""

    def is_normalization(self) -> bool:
        """Read all parts, and return whether they are one, with no other readers."""
        if not self._read_variance() or not self._read_scaling():
            return False
        *inside, last = self.parts
        if shape_of(last.results[0]) != shape_of(self.x):
            return False
        readers = [use.operation for op in inside for v in op.results for use in v.uses]
        return all(reader in self.parts for reader in readers)

    def _take(self, op: Op) -> Op:
        self.parts.append(op)
        return op

    # -- up to the root -------------------------------------------------------------------------
    def _read_variance(self) -> bool:
        """Read `root`(mean(square(x - mean(x))) + epsilon), or without the inner mean."""
        total = made_by(self.root.operands[0], AddOp)
        if total is None:
            return False
        self.parts += [self.root, total]
        for square_mean, epsilon in ((total.lhs, total.rhs), (total.rhs, total.lhs)):
            mean, numbers = made_by(square_mean, MeanOp), self.constants(epsilon)
            if mean and numbers is not None and numbers.size == 1:
                self.epsilon = float(numbers.reshape(()))
                return is_over_last(mean) and self._read_squares(self._take(mean))
        return False

    def _read_squares(self, mean: MeanOp) -> bool:
        rank = len(shape_of(mean.input))
        self.axis = rank - len(mean.numbers)
        squares = mean.input.owner
        self.parts += [squares] if isinstance(squares, Operation) else []
        if isinstance(squares, SquaredDifferenceOp):
            self._read_mean(squares.lhs, squares.rhs, mean)
            return self.mean is not None and isinstance(element_of(self.x), Float32Type)
        rest = squared(squares)
        if rest is None:
            return False
        self.x = rest
        difference = made_by(rest, SubOp)
        if difference:
            self._read_mean(difference.lhs, difference.rhs, mean)
            self.parts += [difference] if self.mean else []
        return isinstance(element_of(rest), Float32Type)

    def _read_mean(self, x: SSAValue, value: SSAValue, like: MeanOp) -> None:
        """Read the mean of x over the same dimensions, if that is what the value is."""
        mean = made_by(value, MeanOp)
        if mean and mean.input is x and mean.properties == like.properties:
            self.x, self.mean = x, self._take(mean)

    # -- from the root on -----------------------------------------------------------------------
    def _read_scaling(self) -> bool:
        """Read a quotient or product of what is left of x, and scale and shift behind it."""
        factor = self.root.results[0]
        if isinstance(self.root, SqrtOp):
            quotient = only_user(factor, DivOp)
            if quotient is None:
                return False
            self._take(quotient)
            if self._is_rest(quotient.lhs):
                self.form = "quotient"
                return self._read_terms(quotient)
            if not self._is_one(quotient.lhs):
                return False
            factor = quotient.result
        product = only_user(factor, MulOp)
        if product and self._is_rest(other(product, factor)):
            return self._read_terms(self._take(product))
        if product and self._fits(other(product, factor)):
            self._take(product)
            self.terms.append(other(product, factor))
            return self._read_line(product.result)
        return False

    def _is_one(self, value: SSAValue) -> bool:
        numbers = self.constants(value)
        return numbers is not None and bool((numbers == 1).all())

    def _is_rest(self, value: SSAValue) -> bool:
        """Return whether a value is x without its mean."""
        if self.mean is None:
            return value is self.x
        op = made_by(value, SubOp)
        if op is None or op.lhs is not self.x or op.rhs is not self.mean.result:
            return False
        self.parts.insert(0, op)
        return True

    def _fits(self, value: SSAValue) -> bool:
        """Return whether a value has a number for each element that is normalized, and lies so, or
        can before run time."""
        shape, wanted = shape_of(value), shape_of(self.x)[self.axis :]
        ones = len(shape) - len(wanted)
        if shape != (1,) * ones + wanted:
            return False
        return not ones or is_constant_expression(value, GENERIC)

    def _read_terms(self, op: ComputeOp) -> bool:
        """Read a scale and a shift, as far as there are some."""
        for kind in (MulOp, AddOp):
            term = only_user(op.results[0], kind)
            if term is None or not self._fits(other(term, op.results[0])):
                break
            self.terms.append(other(term, op.results[0]))
            op = self._take(term)
        return True

    def _read_line(self, factor: SSAValue) -> bool:
        """Read x * `factor` + (shift - mean * `factor`)."""
        self.form = "line"
        products = {other(op, factor): self._take(op) for op in users(factor, MulOp)}
        if self.mean is None or self.x not in products or self.mean.result not in products:
            return self.mean is None and list(products) == [self.x]
        shift = only_user(products[self.mean.result].result, SubOp)
        total = only_user(products[self.x].result, AddOp)
        if shift is None or total is None or not self._fits(shift.lhs):
            return False
        self.terms.append(shift.lhs)
        self.parts += [shift, total]
        return other(total, products[self.x].result) is shift.result


def made_by(value: SSAValue, kind: type[Op]) -> Op | None:
    """Return the operation of that kind, without an activation, that makes a value."""
    op = value.owner
    return op if isinstance(op, kind) and not op.activation_name else None


def users(value: SSAValue, kind: type[Op]) -> Iterator[Op]:
    """Yield the operations of that kind, without an activation, that read a value."""
    for use in value.uses:
        if isinstance(use.operation, kind) and not use.operation.activation_name:
            yield use.operation


def only_user(value: SSAValue, kind: type[Op]) -> Op | None:
    """Return the operation of that kind, without an activation, that alone reads a value."""
    return next(users(value, kind), None) if value.has_one_use() else None


def other(op: Operation, value: SSAValue) -> SSAValue:
    """Return the other operand of an operation of two."""
    return op.operands[1 if op.operands[0] is value else 0]


def is_over_last(mean: MeanOp) -> bool:
    """Return whether it is one over the last dimensions, which stay as 1."""
    rank = len(shape_of(mean.input))
    axes = sorted(mean.numbers)
    return mean.keep_dims is not None and axes == list(range(rank - len(axes), rank))


def squared(op: object) -> SSAValue | None:
    """Return the value that an operation multiplies by itself."""
    if isinstance(op, SquareOp):
        return op.input
    if isinstance(op, MulOp) and op.lhs is op.rhs and not op.activation_name:
        return op.lhs
    return None
