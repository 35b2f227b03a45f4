"""Functions as operators and storage groups, hyper-nodes included."""

from collections.abc import Callable, Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from memopt.analysis.hyper_nodes import inner_profile
from memopt.analysis.storage_groups import BlockMemory, block_memory
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.interface import OperatorMemory
from memopt.dialects.memgraph.structure import HyperNode
from memopt.dialects.memgraph.tensors import bytes_of

NOTHING: Mapping[Operation, OperatorMemory] = {}


def function_memory(
    func: FuncOp,
    model: ModelAttr,
    known: Mapping[Operation, OperatorMemory] = NOTHING,
    look: Callable[[], None] | None = None,
) -> BlockMemory:
    """Return the storage groups of a one-block function; what is `known` of its operations is not
    asked again.

    `look`, if given, is called at each operation, to end this by an exception. Raises MemoptError
    if the function has another form.
    """
    block = body_of(func)
    last = block.last_op
    returned = list(last.operands) if last is not None else []
    held_to_end = list(block.args) if model.io.data == "kept" else []

    def behaviour(op: Operation, model: ModelAttr) -> OperatorMemory:
        if look is not None:
            look()
        return known.get(op) or memory_of(op, model)

    return block_memory(block, model, returned, held_to_end, behaviour)


def memory_of(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Return the effect of `op` on memory; for a hyper-node, that of the operations inside it."""
    if not isinstance(op, HyperNode):
        return behaviour_of(op, model)
    hill, level_in, level_out = inner_profile(op, model)
    results = tuple(bytes_of(r.type) for r in op.results)
    return OperatorMemory(results, hill=hill, level_in=level_in, level_out=level_out)


def executing(block: Block, model: ModelAttr) -> list[tuple[Operation, OperatorMemory]]:
    """The operations of a block that execute, in block order, with their memory behaviour.

    Constants, constant expressions, views and terminators do not execute.
    """
    return [(op, m) for op in block.ops if (m := memory_of(op, model)).executes]
