"""The `toy` dialect, and what it tells memopt of each operation's memory.

%1 = toy.conv %0 : tensor<64xi8> -> tensor<32xi8>       needs 48 B of workspace
%2 = toy.add %1, %0 : ...                                may write over an operand
%3 = toy.view %2 : ...                                   costs nothing
%4 = toy.call "dsp" %3 workspace 100 : ...               keeps its order among calls
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

from memopt.dialects.interface import Alias, OperatorMemory, register
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.tensors import bytes_of

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
class AddOp(IRDLOperation):
    name = "toy.add"
    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"


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


def _results(op: Operation) -> tuple[int | None, ...]:
    return tuple(bytes_of(r.type) for r in op.results)


def _conv(op: Operation, model: ModelAttr) -> OperatorMemory:
    return OperatorMemory(_results(op), workspace=(CONV_WORKSPACE,))


def _add(op: Operation, model: ModelAttr) -> OperatorMemory:
    fits = tuple((0, i) for i, v in enumerate(op.operands) if v.type == op.results[0].type)
    return OperatorMemory(_results(op), inplace=fits if model.has_inplace else ())


def _view(op: Operation, model: ModelAttr) -> OperatorMemory:
    return OperatorMemory(_results(op), aliases=(Alias(0, 0, "view"),), executes=False)


def _call(op: Operation, model: ModelAttr) -> OperatorMemory:
    assert isinstance(op, CallOp)
    return OperatorMemory(_results(op), workspace=(op.workspace.value.data,), effects=("calls",))


register(ConvOp, _conv)
register(AddOp, _add)
register("toy.view", _view)  # by name works as well
register(CallOp, _call)

TOY = Dialect("toy", [ConvOp, AddOp, ViewOp, CallOp])
