"""Moving operations of a block into a new order, and opening hyper-nodes."""

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from memopt.analysis.storage_groups import BlockMemory
from memopt.dialects.memgraph.functions import body_of, read_values
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.structure import HyperNode, YieldOp

# On a view or constant inside a hyper-node: the same one stands elsewhere too, for others.
REPEATED = "memgraph.repeated"


def reorder(memory: BlockMemory, order: Sequence[int]) -> bool:
    """Put the executing operations into `order` (indices into `memory.operations`).

    What does not execute (constants, views) goes right before its first user; what nobody uses
    goes to the end. True if an operation or a view now stands elsewhere among them.
    """
    if not memory.operations:
        return False
    block = memory.operations[0].parent
    assert block is not None
    present = list(block.ops)
    last = block.last_op
    if present[:-1] == [memory.operations[i] for i in order]:
        return False  # nothing but these, as they stand
    executing = set(memory.operations)
    sequence: list[Operation] = []
    done: set[Operation] = set()

    def emit(op: Operation) -> None:
        stack = [op]
        while stack:
            current = stack[-1]
            missing = [
                v.op
                for v in (read_values(current) if current.regions else current.operands)
                if isinstance(v, OpResult)
                and v.op.parent is block
                and v.op not in done
                and v.op not in executing
            ]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if current not in done:
                done.add(current)
                sequence.append(current)

    for index in order:
        emit(memory.operations[index])
    for op in present:
        if op not in done and op is not last:
            emit(op)
    if last is not None and last not in done:
        sequence.append(last)
    if sequence == present:
        return False
    _keep_copies(memory, present, sequence)
    for op in sequence:
        op.detach()
    block.add_ops(sequence)
    counted = executing.union(memory.views)
    before, after = ([op for op in ops if op in counted] for ops in (present, sequence))
    return before != after


def _keep_copies(
    memory: BlockMemory, before: Sequence[Operation], after: Sequence[Operation]
) -> None:
    """Write down which views copy, since they would tie together buffers of the caller, where the
    view that they would tie them to comes later now: that one would be read as the copy."""
    copies = [op for op, m in zip(memory.operations, memory.memory, strict=True) if not m.executes]
    if not copies:
        return
    was, now = ({op: at for at, op in enumerate(ops)} for ops in (before, after))

    def groups(values: Iterable[SSAValue]) -> set[int]:
        return {memory.of_value[v][0] for v in values if v in memory.of_value}

    for op in copies:
        passed = [v for v in memory.views if was[v] < was[op] and now[op] < now[v]]
        tied = groups((*op.operands, *op.results))
        if any(tied & groups(view.results) for view in passed):
            op.attributes[ALIAS] = ArrayAttr([ArrayAttr([])] * len(op.results))


def inline_hyper_nodes(func: FuncOp) -> None:
    """Replace every hyper-node by the operations inside it, in their order.

    Each operation's operands are changed once: one operand of thousands takes as long to change as
    all of them.
    """
    block = body_of(func)
    nodes = [op for op in block.ops if isinstance(op, HyperNode)]
    stands: dict[SSAValue, SSAValue] = {}  # an argument or result of a node, and what it stands for
    for node in reversed(nodes):
        inner = node.body.block
        end = inner.last_op
        assert isinstance(end, YieldOp)
        for argument, operand in zip(inner.args, node.inputs, strict=True):
            _stand_for(argument, operand, stands)
        values = [stands.get(v, v) for v in end.values]
        end.detach()
        end.drop_all_references()
        moved = list(inner.ops)
        for op in moved:
            op.detach()
        block.insert_ops_before(moved, node)
        for result, value in zip(node.outputs, values, strict=True):
            _stand_for(result, value, stands)
    for op in dict.fromkeys([use.operation for v in stands for use in v.uses]):
        if not isinstance(op, HyperNode):
            op.operands = [_origin(v, stands) for v in op.operands]
    for node in reversed(nodes):  # the last first, so that nothing of a node is still in use
        node.detach()
        node.erase()
    _merge_repeated(block)


def _stand_for(value: SSAValue, origin: SSAValue, stands: dict[SSAValue, SSAValue]) -> None:
    """Note that `value` is `origin`, which takes over its name if it has none."""
    stands[value] = origin
    if origin.name_hint is None:
        origin.name_hint = value.name_hint


def _origin(value: SSAValue, stands: Mapping[SSAValue, SSAValue]) -> SSAValue:
    while value in stands:
        value = stands[value]
    return value


def _merge_repeated(block: Block) -> None:
    """Views and constants that hyper-nodes had copies of, made one again."""
    if not any(REPEATED in op.attributes for op in block.ops):
        return
    first_of: dict[object, Operation] = {}
    for op in list(block.ops):
        attributes = frozenset((k, a) for k, a in op.attributes.items() if k != REPEATED)
        types = tuple(r.type for r in op.results)
        key = (op.name, tuple(op.operands), types, frozenset(op.properties.items()), attributes)
        first = first_of.setdefault(key, op)
        if first is op or not (REPEATED in op.attributes or REPEATED in first.attributes):
            continue
        if REPEATED not in op.attributes:  # the one that stood outside
            del first.attributes[REPEATED]
        for old, new in zip(op.results, first.results, strict=True):
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()
    for op in first_of.values():
        op.attributes.pop(REPEATED, None)
