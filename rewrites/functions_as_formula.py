"""Operators that multiply functions of each real number of one tensor are one formula.

A gate multiplies a tensor by a function of it. Exporters write it in parts: SiLU as x * sigmoid(x),
GELU by an error function or a hyperbolic tangent, Mish, and the hard swish in several ways.

Before:
    !x = tensor<1x3x4xf32>
    !c = tensor<1x1x1xf32>
    func.func @main(%x: !x) -> (!x, !x) {
      %three = memgraph.constant dense<3.0> : tensor<f32>
      %c = memgraph.constant dense<6.0> : !c
      %1 = memgraph.logistic %x : (!x) -> !x
      %2 = memgraph.mul %x, %1 {memgraph.names = ["a"]} : (!x, !x) -> !x
      %3 = memgraph.add %x, %three activation<relu6> : (!x, tensor<f32>) -> !x
      %4 = memgraph.mul %3, %x : (!x, !x) -> !x
      %5 = memgraph.div %4, %c : (!x, !c) -> !x
      func.return %2, %5 : !x, !x
    }
After:
    func.func @main(%x: !x) -> (!x, !x) {
      %three = memgraph.constant dense<3.0> : tensor<f32>
      %c = memgraph.constant dense<6.0> : !c
      %2 = memgraph.formula %x "mul(x, logistic(x))" {memgraph.names = ["a"]} : (!x) -> !x
      %5 = memgraph.formula %x "div(mul(relu6(add(x, 3.0)), x), 6.0)" : (!x) -> !x
      func.return %2, %5 : !x, !x
    }

Exact to the bit: each step is what the operator computed, rounded as it rounded. The peak does not
rise: where the last of the operators ran, one more tensor of that size was alive since the first.

What multiplies no two tensors needs no second one as it stands; one operator; two tensors; what
somebody else reads on the way; what broadcasts, or a constant of several numbers; what is no
float32; an activation or an operator that formulas do not have; what the file itself says something
of; a tensor that becomes one of more dimensions:

Left alone:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !h = tensor<1x3x4xf16>
    !y = tensor<1x1x3x4xf32>
    func.func @main(%x: !x, %z: !x, %m: !m, %h: !h)
        -> (!x, !x, !x, !x, !x, !h, !x, !x, !x, !y, !x, !x) {
      %n = memgraph.constant dense<[2.0, 3.0, 4.0, 5.0]> : tensor<4xf32>
      %o = memgraph.constant dense<2.0> : tensor<1x1x1x1xf32>
      %1 = memgraph.logistic %x : (!x) -> !x
      %c = memgraph.constant dense<2.0> : tensor<f32>
      %2 = memgraph.mul %1, %c : (!x, tensor<f32>) -> !x
      %3 = memgraph.mul %2, %z : (!x, !x) -> !x
      %4 = memgraph.exp %x : (!x) -> !x
      %5 = memgraph.mul %4, %x : (!x, !x) -> !x
      %6 = memgraph.logistic %m : (!m) -> !m
      %7 = memgraph.mul %x, %6 : (!x, !m) -> !x
      %8 = memgraph.mul %x, %n : (!x, tensor<4xf32>) -> !x
      %9 = memgraph.mul %x, %8 : (!x, !x) -> !x
      %12 = memgraph.logistic %h : (!h) -> !h
      %13 = memgraph.mul %h, %12 : (!h, !h) -> !h
      %14 = memgraph.logistic %x : (!x) -> !x
      %15 = memgraph.mul %x, %14 activation<relu_n1_to_1> : (!x, !x) -> !x
      %16 = memgraph.elu %x : (!x) -> !x
      %17 = memgraph.mul %x, %16 : (!x, !x) -> !x
      %18 = memgraph.logistic %x {memgraph.alias = [[]]} : (!x) -> !x
      %19 = memgraph.mul %x, %18 : (!x, !x) -> !x
      %20 = memgraph.add %x, %o : (!x, tensor<1x1x1x1xf32>) -> !y
      %21 = memgraph.mul %x, %20 : (!x, !y) -> !y
      %22 = memgraph.add %x, %z : (!x, !x) -> !x
      %23 = memgraph.mul %x, %22 : (!x, !x) -> !x
      %24 = memgraph.mul %x, %x : (!x, !x) -> !x
      func.return %3, %4, %5, %7, %9, %13, %15, %17, %19, %21, %23, %24
        : !x, !x, !x, !x, !x, !h, !x, !x, !x, !y, !x, !x
    }
"""

from collections.abc import Sequence
from typing import ClassVar, TypeGuard

from xdsl.dialects.builtin import Float32Type, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import Constants, constants_beside
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.formula import CALLS, PRODUCTS, FormulaOp, registers_of, steps_of
from memopt.rewrites import Applied, Exact, FunctionRule, erase_unread

LONGEST = 2000  # characters of a formula


class FunctionsAsFormula(FunctionRule):
    """The rule above."""

    exact: ClassVar[Exact] = "bits"
    needs = PRODUCTS
    applied: ClassVar[Applied] = "safe"
    waits: ClassVar[bool] = True

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        operations = list(body_of(func).ops)
        number = {op: k for k, op in enumerate(operations)}
        constants, gone = constants_beside(func), set[Operation]()
        for op in reversed(operations):  # the last first, which most come before
            formula = None if op in gone else Formula(op, number, constants)
            if formula is None or formula.source is None:
                continue
            computed = FormulaOp.create(
                operands=[formula.source],
                result_types=[op.results[0].type],
                properties={"formula": StringAttr(formula.text)},
            )
            computed.location = op.location
            computed.results[0].name_hint = op.results[0].name_hint
            rewriter.insert(computed, InsertPoint.before(op))
            before = list(op.operands)
            self.replaced(op, computed, rewriter)
            gone.update(formula.parts)
            erase_unread(before, rewriter.erase, gone.__contains__)
        return bool(gone)


class Formula:
    """The most operators up to one that are a formula of one tensor, the `source`."""

    def __init__(self, op: Operation, number: dict[Operation, int], constants: Constants) -> None:
        self.source: SSAValue | None = None
        self.text = ""
        self.parts: list[ComputeOp] = []
        self._constants = constants
        parts: list[ComputeOp] = [op] if self._is_part(op) else []
        while parts:
            read = [v for part in parts for v in part.operands if self._number(v) is None]
            sources = [v for v in dict.fromkeys(read) if v.owner not in parts]
            if any(shape_of(v) != shape_of(op.results[0]) for v in sources):
                return
            if len(sources) == 1 and len(parts) > 1 and any(map(self._is_gate, parts)):
                self._take(sorted(parts, key=number.__getitem__), sources[0])
            makers = [v.owner for v in sources if all(use.operation in parts for use in v.uses)]
            more = [op for op in makers if self._is_part(op)]
            if not more:
                return
            parts.append(max(more, key=number.__getitem__))

    def _take(self, parts: Sequence[ComputeOp], source: SSAValue) -> None:
        """Take operators in order, if there is a formula of them."""
        text, terms = "x", {source: "x"}
        for part in parts:
            operands = (
                terms[v] if number is None else repr(number)
                for v in part.operands
                for number in (self._number(v),)
            )
            text = f"{part.name.removeprefix('memgraph.')}({', '.join(operands)})"
            text = f"{part.activation_name}({text})" if part.activation_name else text
            if len(text) > LONGEST:
                return
            terms[part.results[0]] = text
        try:
            registers_of(steps_of(text))
        except ValueError:
            return
        self.source, self.text, self.parts = source, text, list(parts)

    def _number(self, value: SSAValue) -> float | None:
        """Return the only number of a constant."""
        array = self._constants(value)
        return float(array.reshape(())) if array is not None and array.size == 1 else None

    def _is_gate(self, op: Operation) -> bool:
        """Return whether it is a product or a quotient of two tensors."""
        return isinstance(op, PRODUCTS) and {None} == set(map(self._number, op.operands))

    def _is_part(self, op: Operation | Block) -> TypeGuard[ComputeOp]:
        return (
            isinstance(op, tuple(CALLS.values()))
            and ALIAS not in op.attributes
            and all(isinstance(element_of(v), Float32Type) for v in (*op.operands, *op.results))
        )
