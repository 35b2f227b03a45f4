"""`memgraph-int8-io`: real numbers at the border of a function become stored ones.

Before:
    func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
      %0 = memgraph.quantize %x : (tensor<1x4xf32>) -> !q
      %1 = memgraph.relu %0 : (!q) -> !q
      %2 = memgraph.dequantize %1 : (!q) -> tensor<1x4xf32>
      func.return %2 : tensor<1x4xf32>
    }
After:
    func.func @main(%x: !q) -> !q {
      %1 = memgraph.relu %x : (!q) -> !q
      func.return %1 : !q
    }

The caller has to quantize and dequantize instead; the types, and the header of the C, say with
what scale and zero point. What is stored already stays. The function loses its plan and, as its
operators are no longer those of the file, its `memgraph.source`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.attributes.input_range import drop_range
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, functions
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import drop_plan
from memopt.dialects.memgraph.tensors import is_buffer
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp


@dataclass(frozen=True)
class MemgraphInt8IoPass(ModulePass):
    """Take and return stored integers instead of real numbers."""

    name = "memgraph-int8-io"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            store_border(func)


def store_border(func: FuncOp) -> bool:
    """Let a function take and return stored integers; whether anything was real. Raises MemoptError
    for what is needed as a real number."""
    block, place = body_of(func), f"@{func.sym_name.data}"
    taken = [_take_stored(block, k, place) for k in range(len(block.args))]
    changed = any([*taken, _return_stored(block, place)])
    if changed:
        border_changed(func)
    return changed


def _take_stored(block: Block, k: int, place: str) -> bool:
    """Let argument `k` be what it is quantized to; whether it was real. Raises MemoptError."""
    value = block.args[k]
    readers = [use.operation for use in value.uses]
    if is_stored(value) or not is_buffer(value.type):
        return False
    quantized = [op for op in readers if isinstance(op, QuantizeOp)]
    if not readers or quantized != readers or len({op.result.type for op in quantized}) > 1:
        text = f"the input {name_of(value)} is not just quantized, so it is needed as it is"
        raise MemoptError(f"memgraph-int8-io: {text}", place)
    stored = block.insert_arg(quantized[0].result.type, k)
    stored.name_hint = value.name_hint
    for op in quantized:
        op.result.replace_all_uses_with(stored)
        Rewriter.erase_op(op)
    block.erase_arg(value)
    func = block.parent_op()
    assert isinstance(func, FuncOp)
    drop_range(func, k)  # it was one of real numbers
    return True


def _return_stored(block: Block, place: str) -> bool:
    """Return what is dequantized last; whether anything was real. Raises MemoptError."""
    last = block.last_op
    assert last is not None
    real = [k for k, v in enumerate(last.operands) if is_buffer(v.type) and not is_stored(v)]
    for k in real:
        value: SSAValue = last.operands[k]
        producer = value.op if isinstance(value, OpResult) else None
        if not isinstance(producer, DequantizeOp) or not is_stored(producer.input):
            text = f"the output {name_of(value)} is not dequantized last, so it is real"
            raise MemoptError(f"memgraph-int8-io: {text}", place)
        last.operands[k] = producer.input
        if not list(producer.result.uses):
            Rewriter.erase_op(producer)
    return bool(real)


def border_changed(func: FuncOp) -> None:
    """Update the function's type after its arguments or results changed, and drop the attributes
    about them."""
    func.update_function_type()
    drop_plan(func)
    func.attributes.pop("memgraph.source", None)
