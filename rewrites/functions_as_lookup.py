"""Operators that make a function of each byte of one tensor are a table that is looked up.

Before:
    !x = tensor<1x2x2x2xui8, #memgraph.encoding<scale = [4.0e+00], zero_point = [254]>>
    !y = tensor<1x2x2x2xi8, #memgraph.encoding<scale = [9.6e+01], zero_point = [-128]>>
    !c = tensor<1xi8, #memgraph.encoding<scale = [1.0e+00], zero_point = [0]>>
    !f = tensor<1x2x2x2xf32>
    func.func @main(%x: !x) -> (!y, !y) {
      %c = memgraph.constant dense<96> : !c
      %1 = memgraph.dequantize %x : (!x) -> !f
      %2 = memgraph.dequantize %c : (!c) -> tensor<1xf32>
      %3 = memgraph.mul %1, %2 : (!f, tensor<1xf32>) -> !f
      %4 = memgraph.relu %3 : (!f) -> !f
      %5 = memgraph.quantize %4 rounding<onnx_even> {memgraph.names = ["y"]} : (!f) -> !y
      %6 = memgraph.add %x, %c rounding<onnx_even> : (!x, !c) -> !y
      func.return %5, %6 : !y, !y
    }
After:
    func.func @main(%x: !x) -> (!y, !y) {
      %5 = memgraph.lookup %x table [
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -124
      ] {memgraph.names = ["y"]} : (!x) -> !y
      %6 = memgraph.lookup %x table [
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
        -128, -128, -128, -128, -128, -127, -127, -127, -127, -127, -127, -127, -127, -127,
        -127, -127, -127, -127
      ] : (!x) -> !y
      func.return %5, %6 : !y, !y
    }

Exact to the bit: the table holds what the operators evaluate to of all 256 bytes. A gate as x *
sigmoid(x), between Q/DQ pairs or as a .tflite has it, is so one pass that may write over its
operand; the product with a number needs no multiplication.

What is one table already stays; so does what reads two tensors, or a constant of several numbers;
what broadcasts; what somebody else reads on the way; what is no byte at the beginning, or at the
end; what has a scale for each channel; what the file itself says something of; what cannot be
evaluated of every byte.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i8
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import Constants, constants_beside
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    element_of,
    integer_type,
    is_stored,
    limits_of,
)
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, OfOneOp
from memopt.dialects.operators.lookup import LookupOp
from memopt.dialects.operators.traits import Converts, Elementwise
from memopt.rewrites import FunctionRule, erase_unread


class FunctionsAsLookup(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = (Elementwise,)
    applied = "safe"
    keeps_claims = False
    waits = True

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        operations = list(body_of(func).ops)
        reading = Reading(operations, constants_beside(func))
        gone, changed = set[Operation](), False
        for op in reversed(operations):  # the last first, which most come before
            parts, source = ([], None) if op in gone else reading.widest(op)
            table = reading.table(parts, source) if source is not None else None
            if source is None or table is None:
                continue
            entries = DenseArrayBase.from_list(i8, table.view(np.int8).tolist())
            looked_up = LookupOp.create(
                operands=[source], result_types=[op.results[0].type], properties={"table": entries}
            )
            looked_up.location = op.location
            looked_up.results[0].name_hint = op.results[0].name_hint
            rewriter.insert(looked_up, InsertPoint.before(op))
            before, first = list(op.operands), source.owner
            self.replaced(op, looked_up, rewriter)
            erase_unread(before, rewriter.erase, first.__ne__)
            gone.update(parts)
            changed = True
        return changed


class Reading:
    """Operators of a function and its constants, to find what is a function of one byte."""

    def __init__(self, operations: Sequence[Operation], constants: Constants) -> None:
        self.number = {op: k for k, op in enumerate(operations)}
        self.constants = constants

    def widest(self, op: Operation) -> tuple[list[Operation], SSAValue | None]:
        """Return the most operators up to `op`, in order, that are a function of the bytes of one
        tensor, and that tensor; None if there are none, or it is one table already."""
        widest: tuple[list[Operation], SSAValue | None] = [], None
        if not (_is_part(op) and _is_byte(op.results[0])):
            return widest
        shape, parts = shape_of(op.results[0]), [op]
        while True:
            read = [v for part in parts for v in part.operands if not self._is_number(v)]
            sources = [v for v in dict.fromkeys(read) if v.owner not in parts]
            if any(shape_of(v) != shape for v in sources):
                return widest
            if len(sources) == 1 and _is_byte(sources[0]) and not _is_one_table(parts):
                widest = sorted(parts, key=self.number.__getitem__), sources[0]
            makers = [v.owner for v in sources if all(use.operation in parts for use in v.uses)]
            more = [op for op in makers if isinstance(op, Operation) and _is_part(op)]
            if not more:
                return widest
            parts.append(max(more, key=self.number.__getitem__))

    def _is_number(self, value: SSAValue) -> bool:
        """Return whether a value is one number that is known."""
        known = self.constants(value)
        return known is not None and known.size == 1

    def table(self, parts: Sequence[Operation], source: SSAValue) -> Array | None:
        """Return what the operators make of each byte, the least first; None if nobody knows."""
        least, largest = limits_of(parts[-1], source)
        every = np.arange(least, largest + 1).astype(dtype_of(source))
        ones = (1,) * (len(shape_of(source)) - 1)
        known = {source: every.reshape(*ones, every.size)}

        def of(value: SSAValue) -> Array:
            if value in known:
                return known[value]
            number = self.constants(value)
            assert number is not None
            return number

        try:
            with np.errstate(all="ignore"):
                for part in parts:
                    assert isinstance(part, ComputeOp)
                    (known[part.results[0]],) = part.evaluate([of(v) for v in part.operands])
        except MemoptError:
            return None
        return known[parts[-1].results[0]].reshape(every.size)


def _is_part(op: Operation) -> bool:
    return (
        isinstance(op, ComputeOp)
        and op.has_trait(Elementwise)
        and ALIAS not in op.attributes
        and all(len(encoding_of(v).scale) < 2 for v in (*op.operands, *op.results))
    )


def _is_byte(value: SSAValue) -> bool:
    return is_stored(value) and integer_type(element_of(value)) in ((8, False), (8, True))


def _is_one_table(parts: Sequence[Operation]) -> bool:
    """Return whether operators are, or become, one function of bytes by themselves."""
    functions = [part for part in parts if not part.has_trait(Converts)]
    return not functions or (len(functions) == 1 and isinstance(functions[0], OfOneOp))
