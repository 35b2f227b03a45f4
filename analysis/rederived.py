"""Storage groups of a function whose operations have another order, place or scratch by now.

What else a group depends on is compared with what it was: operands, types, properties and all other
attributes of each operation. So nothing that is handed on can be stale.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.analysis.function_memory import memory_of
from memopt.analysis.storage_groups import BlockMemory, check_sum, overwritten
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.interface import SUCCEED, OperatorMemory
from memopt.dialects.memgraph.plan import ALIAS, CHOSEN, FAST, OFFSET, ORDER, PARTITION, SCRATCH

CHOICES = (ALIAS, SCRATCH, CHOSEN)
NO_CHOICES = (None,) * len(CHOICES)
WITHOUT_EFFECT = frozenset((*CHOICES, FAST, OFFSET, ORDER, PARTITION))


@dataclass(frozen=True)
class Seen:
    """State of a function: of each operation what its memory depends on, and its choices."""

    model: ModelAttr
    arguments: tuple[Attribute, ...]
    operations: Mapping[Operation, tuple[object, ...]]
    choices: tuple[tuple[Operation, tuple[Attribute | None, ...]], ...]

    @staticmethod
    def of(func: FuncOp, model: ModelAttr) -> "Seen":
        """Return the state of a function of one block."""
        block = func.body.block
        choices = [
            (op, NO_CHOICES if op.attributes.keys().isdisjoint(CHOICES) else _choices(op))
            for op in block.ops
        ]
        states = {op: _state(op) for op in block.ops}
        return Seen(model, tuple([a.type for a in block.args]), states, tuple(choices))

    def chosen_since(self, before: "Seen") -> list[Operation] | None:
        """Return the operations that lie or work elsewhere than before; None where more than that
        and their order has changed."""
        if (self.model, self.arguments) != (before.model, before.arguments):
            return None
        if self.operations != before.operations:
            return None
        earlier = dict(before.choices)
        return [op for op, choices in self.choices if choices != earlier[op]]


def _choices(op: Operation) -> tuple[Attribute | None, ...]:
    return tuple([op.attributes.get(key) for key in CHOICES])


def _state(op: Operation) -> tuple[object, ...]:
    """Return one tuple, as there are two for each operation of a large function."""
    attributes = [pair for pair in op.attributes.items() if pair[0] not in WITHOUT_EFFECT]
    inside = [part for region in op.regions for inner in region.walk() for part in _parts(inner)]
    return (*_parts(op, attributes), *inside)


def _parts(
    op: Operation, attributes: Iterable[tuple[str, Attribute]] | None = None
) -> Iterator[object]:
    """Yield what the memory of an operation depends on, with None behind each kind of it."""
    yield from op.operands
    yield None
    yield from op.result_types
    yield None
    yield from chain.from_iterable(op.attributes.items() if attributes is None else attributes)
    yield None
    yield from chain.from_iterable(op.properties.items())
    yield None


def rederived(memory: BlockMemory, before: Seen, now: Seen, func: FuncOp) -> BlockMemory | None:
    """Return the groups of a function that had others `before`; None where more has changed than
    the order, and what operations overwrite and work in."""
    chosen = now.chosen_since(before)
    if chosen is None:
        return None
    if now.choices == before.choices:
        return memory
    effects = dict(zip(memory.operations, memory.memory, strict=True))
    for op in chosen:
        effect = memory_of(op, now.model)
        if op not in effects or _fixed(effect) != _fixed(effects[op]):
            return None
        effects[op] = effect
    place = {op: i for i, op in enumerate(now.operations)}
    results = [r for op in now.operations for r in op.results]
    values: list[SSAValue] = [*func.body.block.args, *results]
    position = {v: i for i, v in enumerate(values)}
    order = sorted(memory.operations, key=place.__getitem__)
    number = {op: i for i, op in enumerate(order)}
    step = [number[op] for op in memory.operations]
    members = [sorted(g.members, key=lambda m: position[m[0]]) for g in memory.groups]
    sequence = sorted(range(len(members)), key=lambda g: position[members[g][0][0]])
    index = {g: i for i, g in enumerate(sequence)}
    groups = [
        replace(
            memory.groups[g],
            members=members[g],
            writers=sorted([step[i] for i in memory.groups[g].writers]),
            readers=sorted([step[i] for i in memory.groups[g].readers]),
            piece=piece and (index[piece[0]], piece[1]),
        )
        for g in sequence
        for piece in (memory.groups[g].piece,)
    ]
    answer = BlockMemory(
        order,
        [effects[op] for op in order],
        groups,
        {v: (i, offset) for i, g in enumerate(groups) for v, offset in g.members},
        [],
        sorted(memory.views, key=place.__getitem__),
        {v: memory.virtual[v] for v in sorted(memory.virtual, key=position.__getitem__)},
        sorted(memory.sums, key=lambda total: place[total.op]),
    )
    check_sum(answer, now.model)
    for i, op in enumerate(order):
        overwritten(answer, i, op, effects[op])
    return answer


def _fixed(effect: OperatorMemory) -> OperatorMemory:
    """Return an effect without what may be chosen: scratch, and operands to lie on."""
    tied = tuple([a for a in effect.aliases if a.kind not in SUCCEED])
    return replace(effect, aliases=tied, workspace=())
