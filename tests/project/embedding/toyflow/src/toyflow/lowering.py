"""toyflow's operations in memory: linalg where that has the same, else calls of its runtime.

%2 = toy.add %0, %1     ->   linalg.add ins(%a, %b) outs(%c)
%2 = toy.conv %0        ->   func.call @toy_conv(%a, %c, %workspace), each bytes, memref<?xi8>
"""

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects import func, memref
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, i8
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.passes.memref.lowering import Placed, lowered_by
from toyflow.dialect import AddOp, CallOp, ConvOp, FillOp, MulOp, ReluOp, SplitOp

BYTES = MemRefType(i8, [DYNAMIC_INDEX])


def _runtime(name: str, values: Sequence[SSAValue]) -> list[Operation]:
    """A call of the runtime, which takes bytes of any number."""
    made: list[Operation] = []
    given: list[SSAValue] = []
    for value in values:
        size = prod(cast("MemRefType[Attribute]", value.type).get_shape())
        flat = memref.ReinterpretCastOp(value, [], [], [], [0], [size], [1], MemRefType(i8, [size]))
        open_ = memref.CastOp.get(flat, BYTES)
        made += [flat, open_]
        given.append(open_.dest)
    return [*made, func.CallOp(f"toy_{name}", given, [])]


def _called(op: Operation, at: Placed) -> list[Operation]:
    name = op.callee.data if isinstance(op, CallOp) else op.name.removeprefix("toy.")
    return _runtime(name, [*at.operands, *at.results, *at.scratch])


def _add(op: Operation, at: Placed) -> list[Operation]:
    return [linalg.AddOp(at.operands, at.results, ())]


def _mul(op: Operation, at: Placed) -> list[Operation]:
    return [linalg.MulOp(at.operands, at.results, ())]


def _fill(op: Operation, at: Placed) -> list[Operation]:
    assert isinstance(op, FillOp)
    value = ConstantOp(IntegerAttr(op.value.value.data, i8))
    return [value, linalg.FillOp([value.result], at.results, ())]


lowered_by(AddOp, _add)
lowered_by(MulOp, _mul)
lowered_by(FillOp, _fill)
for called in (ConvOp, ReluOp, SplitOp, CallOp):
    lowered_by(called, _called)
