"""From IR to the memory graph: the only place where operations become numbers.

Operator i of the graph is `memory.operations[i]`, in block order; values outside the arena
(constants, the caller's buffers) have no group.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import gcd

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.function_memory import function_memory
from memopt.analysis.rederived import Seen, rederived
from memopt.analysis.storage_groups import BlockMemory, Storage, reads_other_part
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, callee_scratch, read_values
from memopt.dialects.memgraph.interface import BARRIER, WORLD
from memopt.dialects.memgraph.names import name_of, operator_name, place_of
from memopt.dialects.memgraph.plan import CHOSEN, PARTITION, is_move, model_of
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, ProblemError, round_up
from memopt.targets.core.planned_for import target_of


@dataclass(frozen=True)
class Extracted:
    """A function as a memory graph. `group_of[g]` is the graph's group of the block's group g,
    `shared[i, k]` that of the k-th scratch of operator i where other operators work in the same
    bytes."""

    func: FuncOp
    model: ModelAttr
    memory: BlockMemory
    graph: MemoryGraph
    group_of: tuple[int | None, ...]
    shared: Mapping[tuple[int, int], int]
    seen: Seen
    assume_pure: bool
    any_order: bool

    @cached_property
    def block_groups(self) -> dict[int, int]:
        """Return the block's group of each of the graph's."""
        return {g: k for k, g in enumerate(self.group_of) if g is not None}

    def again(self) -> "Extracted":
        """Return the memory graph of the function as it stands now, which is derived from this one
        where operations have another order, lie on others or work in other scratch, and nothing
        else has changed. Raises MemoptError as `extract`."""
        func, model = self.func, model_of(self.func)
        body_of(func)
        now, how = Seen.of(func, model), (self.assume_pure, self.any_order)
        memory = rederived(self.memory, self.seen, now, func)
        if memory is self.memory:
            return self
        return extract(func, *how) if memory is None else _extracted(func, now, memory, *how)

    @property
    def is_partitioned(self) -> bool:
        """Return whether an operation names its part of the function, or one inside it does."""
        inner = (x for op in self.memory.operations for x in op.walk())
        return any(PARTITION in op.attributes for op in inner)

    def refuse_partition(self, who: str, method: str) -> None:
        """Raise PassFailedException for a partitioned function, whose order `method` may change."""
        if self.is_partitioned:
            text = f"{method} may change the order, which the partition fixes"
            raise PassFailedException(f"{who}: @{self.func.sym_name.data}: {text}")

    def refuse_parts(self, who: str) -> None:
        """Raise MemoptError if a tensor is in parts, which `who` cannot put anywhere."""
        for g in self.graph.groups:
            if g.piece is not None:
                text = f"{who}: {g.name} is a part of a tensor, which is placed in one arena only"
                raise MemoptError(text, f"@{self.func.sym_name.data}")


def refuse_virtual(memory: BlockMemory, who: str, place: str) -> None:
    """Raise MemoptError if a tensor is virtual, or added up in place, which `who` does not know."""
    sums = [(total.values[0], "added to in place") for total in memory.sums]
    for value, what in (*sums, *((v, "a virtual tensor") for v in memory.virtual)):
        raise MemoptError(f"{who}: {name_of(value)} is {what}, which is not modelled", place)


def extract(
    func: FuncOp, assume_pure: bool = False, any_order: bool = False, deadline: float | None = None
) -> Extracted:
    """The memory graph of a function; raises TimeIsOverError at `deadline`.

    With `assume_pure`, operations of which nothing is known may move. With `any_order` partial sums
    of reals, too, are added in any order, which rounds otherwise. Raises MemoptError for what
    cannot be planned: unknown sizes, contradicting aliases, in-place chains without an order.
    """
    memory = function_memory(func, model_of(func), _look_of(func, deadline))
    return _extracted(func, Seen.of(func, model_of(func)), memory, assume_pure, any_order)


@dataclass(frozen=True)
class Grouped:
    """A function as a memory graph, as `Extracted`, without what keeps it up to date."""

    func: FuncOp
    memory: BlockMemory
    graph: MemoryGraph
    group_of: tuple[int | None, ...]
    shared: Mapping[tuple[int, int], int]
    any_order: bool

    def extracted(self) -> Extracted:
        """Return what `extract` does of the function, which nothing has changed since."""
        model = model_of(self.func)
        known = self.memory, self.graph, self.group_of, self.shared
        return Extracted(self.func, model, *known, Seen.of(self.func, model), False, self.any_order)


def grouped(func: FuncOp, any_order: bool, deadline: float | None) -> Grouped:
    """Return the memory graph of a function; see `extract`."""
    memory = function_memory(func, model_of(func), _look_of(func, deadline))
    return Grouped(func, memory, *_graph(func, model_of(func), memory, False, any_order), any_order)


def _look_of(func: FuncOp, deadline: float | None) -> Callable[[], None] | None:
    """Return what raises when time is over."""
    target_of(func)  # who plans must know the rules
    return None if deadline is None else lambda: clock.raise_if_late(deadline)


def _extracted(
    func: FuncOp, seen: Seen, memory: BlockMemory, assume_pure: bool, any_order: bool
) -> Extracted:
    """Return what is known of a function with these storage groups."""
    graph, group_of, shared = _graph(func, seen.model, memory, assume_pure, any_order)
    return Extracted(
        func, seen.model, memory, graph, group_of, shared, seen, assume_pure, any_order
    )


def _graph(
    func: FuncOp, model: ModelAttr, memory: BlockMemory, assume_pure: bool, any_order: bool
) -> tuple[MemoryGraph, tuple[int | None, ...], dict[tuple[int, int], int]]:
    """Return the memory graph of a function with these storage groups, the graph's group of each,
    and those of scratch that operators share."""
    group_of: list[int | None] = []
    groups: list[Group] = []
    for g in memory.groups:
        if not g.in_arena:
            group_of.append(None)
            continue
        group_of.append(len(groups))
        touched = tuple(g.writers), tuple(g.readers)
        groups.append(Group(g.name, g.size, *touched, g.is_input, g.is_output))
    for index, g in zip(group_of, memory.groups, strict=True):
        if index is not None and g.piece is not None:
            base = group_of[g.piece[0]]
            assert base is not None  # in the arena, as its parts are
            groups[index] = replace(groups[index], piece=(base, g.piece[1]))
    predecessors = _data_predecessors(memory)
    _add_effects(memory, predecessors, assume_pure)
    _add_readers(memory, predecessors)
    if not any_order:
        _add_sums(memory, predecessors)
    inplace = _forced(memory, predecessors, group_of) + _candidates(memory, group_of, groups)
    alignment = model.alignment.data
    workspace = [_workspace(memory, i, groups, group_of, model) for i in range(len(predecessors))]
    at_one_place, shared = _shared_scratch(memory, len(groups))
    for i, k in shared:
        workspace[i] -= round_up(memory.memory[i].workspace[k], alignment)
    arena = [g for g in memory.groups if g.in_arena]
    alike = all(g.alignment == alignment for g in arena)
    if not alike:  # then each is rounded up for itself
        groups = [_aligned(g, s) for g, s in zip(groups, arena, strict=True)]
        workspace = [round_up(w, alignment) for w in workspace]
        at_one_place = [replace(g, size=round_up(g.size, alignment)) for g in at_one_place]
    graph = MemoryGraph(
        tuple(operator_name(op) for op in memory.operations),
        tuple(tuple(ps) for ps in predecessors),
        (*groups, *at_one_place),
        tuple(workspace),
        tuple(inplace),
        alignment if alike else 1,
        alignment,
    )
    try:
        graph.check()
    except ProblemError as error:
        raise MemoptError(str(error), f"@{func.sym_name.data}") from error
    return graph, tuple(group_of), shared


def _aligned(g: Group, storage: Storage) -> Group:
    """Return a group of its rounded size, and of its alignment unless it is a part."""
    alignment = storage.alignment if storage.piece is None else None
    touched = g.writers, g.readers
    return Group(g.name, storage.taken, *touched, g.is_input, g.is_output, g.piece, alignment)


def _data_predecessors(memory: BlockMemory) -> list[dict[int, None]]:
    """For each operation the producers of its operands, in operand order, seen through views."""
    # the operation itself, or those that a view shows
    made_by: dict[Operation, tuple[int, ...]] = {op: (i,) for i, op in enumerate(memory.operations)}
    answer: list[dict[int, None]] = []
    block = memory.operations[0].parent if memory.operations else None
    for op in block.ops if block else ():
        producers: dict[int, None] = {}
        for v in read_values(op) if op.regions else op.operands:
            if isinstance(v, OpResult):
                for i in made_by.get(v.op, ()):
                    producers[i] = None
        mine = made_by.get(op)
        if mine is not None:
            producers.pop(mine[0], None)
            answer.append(producers)
        elif producers:
            made_by[op] = tuple(producers)
    return answer


def _add_effects(memory: BlockMemory, predecessors: list[dict[int, None]], pure: bool) -> None:
    """Operations that share an effect keep their order; nothing passes a barrier."""
    last: dict[object, int] = {}
    barrier: int | None = None
    since: list[int] = []
    for i, m in enumerate(memory.memory):
        for effect in m.effects:
            if effect == WORLD and pure:
                continue
            if effect in last:
                predecessors[i][last[effect]] = None
            last[effect] = i
        if barrier is not None:
            predecessors[i][barrier] = None
        if BARRIER in m.effects:
            predecessors[i].update(dict.fromkeys(since))
            barrier, since = i, []
        else:
            since.append(i)


def _add_readers(memory: BlockMemory, predecessors: list[dict[int, None]]) -> None:
    """Let operations that overwrite state run after all that read it."""
    if not any(m.after for m in memory.memory):
        return
    number = {op: i for i, op in enumerate(memory.operations)}
    for i, m in enumerate(memory.memory):
        predecessors[i].update(dict.fromkeys(number[op] for op in m.after if op in number))


def _add_sums(memory: BlockMemory, predecessors: list[dict[int, None]]) -> None:
    """Let operations that add reals, which are rounded, run in the order of the operands."""
    ordered = [added.values for added in memory.sums if added.in_order]
    number = {op: i for i, op in enumerate(memory.operations)} if ordered else {}
    for values in ordered:
        makers = [number[v.op] for v in values if isinstance(v, OpResult)]
        for before, after in pairwise(makers):
            predecessors[after][before] = None


def _forced(
    memory: BlockMemory, predecessors: list[dict[int, None]], group_of: list[int | None]
) -> list[InPlace]:
    """In-place aliases written in the IR: all other users of the operand run before."""
    answer: list[InPlace] = []
    seen: set[int] = set()
    for v, result, operand in memory.overwrites:
        outer = memory.groups[operand]
        if is_move(memory.operations[v]):
            text = f"{outer.name} is moved by a plan that no longer holds; --place makes another"
            raise MemoptError(text, place_of(memory.operations[v]))
        if operand in seen:
            raise MemoptError(f"{outer.name} is overwritten twice", place_of(memory.operations[v]))
        seen.add(operand)
        a, b = group_of[result], group_of[operand]
        if memory.groups[result].piece is not None:
            text = f"{memory.groups[result].name} is a part of a tensor, so it lies nowhere else"
            raise MemoptError(text, place_of(memory.operations[v]))
        if a is None or b is None or outer.is_output:
            raise MemoptError(
                f"{memory.groups[result].name} cannot take the place of {outer.name}, which is "
                "kept or not in the arena",
                place_of(memory.operations[v]),
            )
        for user in (*outer.writers, *outer.readers):
            if user != v:
                predecessors[v][user] = None
        answer.append(InPlace(v, a, b, memory.inside(v, operand), forced=True))
    return answer


def _candidates(
    memory: BlockMemory, group_of: list[int | None], groups: list[Group]
) -> list[InPlace]:
    """Return the pairs in place that operations offer, where the result is a whole group and fits.

    What is a part of a tensor comes last: a result in its place keeps bytes from coming free there
    in one stretch.
    """
    decided = {v for v, _, _ in memory.overwrites}
    decided |= {v for v, op in enumerate(memory.operations) if CHOSEN in op.attributes}
    in_parts = {g.piece[0] for g in groups if g.piece is not None}  # these have no bytes themselves
    answer: list[InPlace] = []
    for v, (op, m) in enumerate(zip(memory.operations, memory.memory, strict=True)):
        for result, operand in () if v in decided else m.inplace:
            at = memory.of_value.get(op.results[result]), memory.of_value.get(op.operands[operand])
            if at[0] is None or at[1] is None or at[0][1]:
                continue
            into = at[1][1]
            if reads_other_part(op, op.operands[operand], memory):
                continue
            a, b = group_of[at[0][0]], group_of[at[1][0]]
            if a is None or b is None or a == b or a in in_parts:
                continue
            inner, outer = groups[a], groups[b]
            fits = _fits_at(memory, memory.groups[at[0][0]], memory.groups[at[1][0]], into)
            is_whole_group = (
                inner.piece is None
                and inner.writers == (v,)
                and not inner.is_input
                and v not in outer.writers
            )
            candidate = InPlace(v, a, b, into)
            if fits and is_whole_group and not outer.is_output and candidate not in answer[-4:]:
                answer.append(candidate)
    answer.sort(key=lambda c: (c.operator, groups[c.operand].piece is not None))
    return answer


def _fits_at(memory: BlockMemory, result: Storage, operand: Storage, into: int) -> bool:
    """Return whether a result can lie `into` bytes behind the start of an operand."""
    if operand.piece is not None:  # it lies where its tensor has it
        base, inside = operand.piece
        aligned = gcd(memory.groups[base].alignment, inside + into) % result.alignment == 0
        return aligned and into + result.taken <= operand.size
    aligned = gcd(operand.alignment, into) % result.alignment == 0
    fits = into + result.size <= operand.size and into + result.taken <= operand.taken
    return aligned and fits


def _shared_scratch(
    memory: BlockMemory, count: int
) -> tuple[list[Group], dict[tuple[int, int], int]]:
    """Return groups behind the first `count`, and which scratch (operator, index) each is: of
    functions that several operators run one without bytes, and parts of it, one for each of these
    operators, which live while it runs and lie where the functions have their tensors."""
    users: dict[int, list[tuple[int, int]]] = {}
    names: dict[int, str] = {}
    for i, op in enumerate(memory.operations):
        blocks = callee_scratch(op)
        if len(blocks) == len(memory.memory[i].workspace):
            for k, block in enumerate(blocks):
                if block.level is not None:
                    users.setdefault(block.level, []).append((i, k))
                    name = f"arena of @{block.functions[0].sym_name.data}"
                    names.setdefault(block.level, name)
    groups: list[Group] = []
    shared: dict[tuple[int, int], int] = {}
    for level, places in users.items():
        if len(places) > 1:
            base = count + len(groups)
            groups.append(Group(names[level], 0, tuple(i for i, _ in places)))
            for i, k in places:
                shared[i, k] = count + len(groups)
                size = memory.memory[i].workspace[k]
                groups.append(Group(names[level], size, (i,), piece=(base, 0)))
    return groups, shared


def _workspace(
    memory: BlockMemory,
    index: int,
    groups: list[Group],
    group_of: list[int | None],
    model: ModelAttr,
) -> int:
    """Bytes of workspace; for a hyper-node its hill without its results, which may be negative."""
    op, m = memory.operations[index], memory.memory[index]
    alignment = model.alignment.data
    if m.hill < 0:  # no hyper-node
        if not m.workspace:
            return 0
        return sum(round_up(w, alignment) for w in m.workspace)
    written = {memory.of_value[r][0] for r in op.results if r in memory.of_value}
    known = [groups[g] for w in written if (g := group_of[w]) is not None]
    return m.hill - sum(round_up(g.size, alignment) for g in known)
