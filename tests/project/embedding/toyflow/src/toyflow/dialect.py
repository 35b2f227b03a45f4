"""The `toy` dialect, and what it tells memopt of each operation's memory.

%1 = toy.conv %0 : tensor<64xi8> -> tensor<32xi8>       needs 48 B of workspace
%2 = toy.add %1, %0 : ...                                may write over an operand
%3 = toy.view %2 : ...                                   costs nothing
%4 = toy.call "dsp" %3 workspace 100 : ...               keeps its order among calls
%5 = toy.mul %4, %3, %6 = toy.relu %5                    may write over an operand, too
%7 = toy.slice %6 from 8 : ...                           lies in its operand
%8 = toy.concat %6, %7 : ...                             its operands lie in it
%9, %10 = toy.split %8 : ...                             what is at even and at odd places
%11 = toy.fill 3 : ...                                   reads nothing
"""

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.interface import Alias, OperatorMemory, register
from memopt.dialects.memgraph.tensors import bytes_of

AnyTensor = TensorType[Attribute]
CONV_WORKSPACE = 48


@irdl_op_definition
class ConvOp(IRDLOperation):
    name = "toy.conv"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"


@irdl_op_definition
class ViewOp(IRDLOperation):
    name = "toy.view"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"


@irdl_op_definition
class CallOp(IRDLOperation):
    name = "toy.call"
    callee = prop_def(StringAttr)
    workspace = prop_def(IntegerAttr[I64])
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    assembly_format = (
        "$callee $input `workspace` $workspace attr-dict `:` type($input) `->` type($result)"
    )


class BinaryOp(IRDLOperation):
    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"


@irdl_op_definition
class AddOp(BinaryOp):
    name = "toy.add"


@irdl_op_definition
class MulOp(BinaryOp):
    name = "toy.mul"


@irdl_op_definition
class ReluOp(IRDLOperation):
    name = "toy.relu"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"


@irdl_op_definition
class SliceOp(IRDLOperation):
    name = "toy.slice"
    start = prop_def(IntegerAttr[I64])
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input `from` $start attr-dict `:` type($input) `->` type($result)"


@irdl_op_definition
class ConcatOp(BinaryOp):
    name = "toy.concat"


@irdl_op_definition
class SplitOp(IRDLOperation):
    name = "toy.split"
    input = operand_def(AnyTensor)
    even = result_def(AnyTensor)
    odd = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `->` type($even) `,` type($odd)"


@irdl_op_definition
class FillOp(IRDLOperation):
    name = "toy.fill"
    value = prop_def(IntegerAttr[I64])
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($result)"


def _results(op: Operation) -> tuple[int | None, ...]:
    return tuple(bytes_of(r.type) for r in op.results)


def _conv(op: Operation, model: ModelAttr) -> OperatorMemory:
    return OperatorMemory(_results(op), workspace=(CONV_WORKSPACE,))


def _pure(op: Operation, model: ModelAttr) -> OperatorMemory:
    return OperatorMemory(_results(op))


def _each(op: Operation, model: ModelAttr) -> OperatorMemory:
    fits = tuple((0, i) for i, v in enumerate(op.operands) if v.type == op.results[0].type)
    return OperatorMemory(_results(op), inplace=fits if model.has_inplace else ())


def _view(op: Operation, model: ModelAttr) -> OperatorMemory:
    return OperatorMemory(_results(op), aliases=(Alias(0, 0, "view"),), executes=False)


def _slice(op: Operation, model: ModelAttr) -> OperatorMemory:
    assert isinstance(op, SliceOp)
    inside = Alias(0, 0, "slice", op.start.value.data)
    return OperatorMemory(_results(op), aliases=(inside,), executes=False)


def _concat(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Free where an operand lies only there; two parts of one buffer are no concatenation."""
    assert isinstance(op, ConcatOp)
    second = Alias(0, 1, "slice", -(bytes_of(op.lhs.type) or 0))
    return OperatorMemory(_results(op), aliases=(Alias(0, 0, "slice", 0), second), executes=False)


def _call(op: Operation, model: ModelAttr) -> OperatorMemory:
    assert isinstance(op, CallOp)
    return OperatorMemory(_results(op), workspace=(op.workspace.value.data,), effects=("calls",))


register(ConvOp, _conv)
register(AddOp, _each)
register(MulOp, _each)
register(ReluOp, _each)
register(SliceOp, _slice)
register(ConcatOp, _concat)
register(SplitOp, _pure)
register(FillOp, _pure)
register("toy.view", _view)  # by name works as well
register(CallOp, _call)

TOY = Dialect(
    "toy",
    [ConvOp, AddOp, MulOp, ReluOp, ViewOp, SliceOp, ConcatOp, SplitOp, FillOp, CallOp],
)
