"""The memory graph, its schedules and placements: what every solver takes and answers.

Numbers in, numbers out; no IR. A problem is `check()`ed before it is solved, an answer is
`verify()`ed after, and neither uses anything that a solver computed on the way.

    graph = MemoryGraph(("a", "b"), ((), (0,)), (
        Group("x", 10, readers=(0,), is_input=True),
        Group("t", 4, writers=(0,), readers=(1,)),
        Group("y", 1, writers=(1,), is_output=True)))
    graph.check()
    profile(graph, (0, 1)).peak      # 14

Definitions (theory.md section 1). A storage group is one base and one size, live from the first
write to the last read of any member. For an executed set D (an ideal, as a bit mask):

    level t(D)    bytes of the groups that are an input or have a writer in D, and have a reader or
                  writer outside D or are held to the end
    step s(D, v)  t(D) + what v writes and is not resident yet + workspace of v
                  - what v takes over in place
    peak          max of t({}) and of s over the steps of an order

An input that nobody touches exists through step 0. `c(D, v) = s(D, v) - t(D)` never grows with D.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.masks import bits, mask_of
from memopt.solvers.problems.placement import (
    Buffer,
    Placement,
    PlacementProblem,
    check_sum,
    conflicts,
    round_up,
    rounded,
)

__all__ = [
    "Buffer",
    "Group",
    "InPlace",
    "MemoryGraph",
    "Placement",
    "PlacementProblem",
    "ProblemError",
    "Profile",
    "Proof",
    "Schedule",
    "bits",
    "check_order",
    "conflicts",
    "live_ranges",
    "mask_of",
    "profile",
    "round_up",
    "topological_order",
]

Proof = Literal["flow", "search", "ilp", "none"]


@dataclass(frozen=True, slots=True)
class Group:
    """A storage group: the values that share one base address. `size` in bytes, not rounded."""

    name: str
    size: int
    writers: tuple[int, ...] = ()
    readers: tuple[int, ...] = ()
    is_input: bool = False  # resident from the start
    is_output: bool = False  # resident to the end: a graph output, or an input that is kept
    piece: tuple[int, int] | None = None  # of a part that dies alone: the group, the byte offset
    alignment: int | None = None  # of its offset, in place of the graph's


@dataclass(frozen=True, slots=True)
class InPlace:
    """`operator` can write all of group `result` over group `operand`, if that dies there, `inside`
    bytes from its start; it has to if that is `forced`."""

    operator: int
    result: int
    operand: int
    inside: int = 0
    forced: bool = False


@dataclass(frozen=True)
class MemoryGraph:
    """Operators 0..n-1 with their direct predecessors, and the storage groups they touch.

    `workspace` is bytes that exist while the operator runs; it is negative for a contracted module
    whose hill is below level + outputs (theory.md T3). Every size is rounded up to `alignment`, and
    every offset a multiple of it; of `offset_alignment`, or what its group says, if that is given.
    """

    names: tuple[str, ...]
    predecessors: tuple[tuple[int, ...], ...]
    groups: tuple[Group, ...]
    workspace: tuple[int, ...] = ()
    inplace: tuple[InPlace, ...] = ()
    alignment: int = 1
    offset_alignment: int = 0

    def __post_init__(self) -> None:
        if not self.workspace:
            object.__setattr__(self, "workspace", (0,) * len(self.names))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Rounded bytes per group."""
        return rounded([g.size for g in self.groups], self.alignment)

    @cached_property
    def has_parts(self) -> bool:
        """Return whether a tensor is in parts that come or die alone."""
        return any(g.piece is not None for g in self.groups)

    @cached_property
    def extra(self) -> tuple[int, ...]:
        """Rounded workspace bytes per operator."""
        return rounded(self.workspace, self.alignment)

    @cached_property
    def predecessor_masks(self) -> tuple[int, ...]:
        return tuple(map(mask_of, self.predecessors))

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        result: list[list[int]] = [[] for _ in self.names]
        for v, ps in enumerate(self.predecessors):
            for p in ps if len(ps) < 2 else set(ps):
                result[p].append(v)
        return tuple(map(tuple, result))

    @cached_property
    def topological(self) -> tuple[int, ...]:
        """See `topological_order`."""
        if all(max(ps, default=-1) < v for v, ps in enumerate(self.predecessors)):
            return tuple(range(len(self)))  # as the numbers of most graphs are
        waiting = [len(set(ps)) for ps in self.predecessors]
        ready = [v for v, w in enumerate(waiting) if w == 0]
        order: list[int] = []
        while ready:
            v = heapq.heappop(ready)
            order.append(v)
            for s in self.successors[v]:
                waiting[s] -= 1
                if waiting[s] == 0:
                    heapq.heappush(ready, s)
        return tuple(order)

    @cached_property
    def writer_masks(self) -> tuple[int, ...]:
        return tuple([mask_of(g.writers) for g in self.groups])

    @cached_property
    def reader_masks(self) -> tuple[int, ...]:
        return tuple([mask_of(g.readers) for g in self.groups])

    @cached_property
    def toucher_masks(self) -> tuple[int, ...]:
        """Operators that read or write the group."""
        return tuple(map(mask_of, self.touchers))

    @cached_property
    def writes(self) -> tuple[tuple[int, ...], ...]:
        """Groups that each operator writes."""
        return self._groups_of([g.writers for g in self.groups])

    @cached_property
    def reads(self) -> tuple[tuple[int, ...], ...]:
        """Groups that each operator reads."""
        return self._groups_of([g.readers for g in self.groups])

    @cached_property
    def touches(self) -> tuple[tuple[int, ...], ...]:
        """Groups that each operator reads or writes."""
        return self._groups_of(self.touchers)

    @cached_property
    def touchers(self) -> tuple[tuple[int, ...], ...]:
        """Operators that read or write each group, ascending."""
        return tuple([tuple(sorted({*g.writers, *g.readers})) for g in self.groups])

    @cached_property
    def candidates(self) -> tuple[tuple[InPlace, ...], ...]:
        """In-place candidates of each operator, in the order of preference."""
        result: list[list[InPlace]] = [[] for _ in self.names]
        for c in self.inplace:
            result[c.operator].append(c)
        return tuple(map(tuple, result))

    @cached_property
    def profiled(self) -> "dict[tuple[int, ...], Profile]":
        """The order that was profiled last, with what was found; see `profile`."""
        return {}

    @cached_property
    def of_orders(self) -> dict[str, Any]:
        """Answers about all orders, as bounds are, by their names: each is found once."""
        return {}

    @cached_property
    def first_level(self) -> int:
        """t({}): every input is resident at the start, also one that nobody reads."""
        return sum(s for g, s in zip(self.groups, self.sizes, strict=True) if g.is_input)

    @cached_property
    def unread_inputs(self) -> int:
        """Bytes of the inputs that nobody touches and nobody keeps: they exist through step 0."""
        alone = (g.is_input and not (g.is_output or g.writers or g.readers) for g in self.groups)
        return sum(s for s, is_alone in zip(self.sizes, alone, strict=True) if is_alone)

    def _groups_of(self, operators: Iterable[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        """Per operator the groups at whose place in `operators` it stands."""
        result: list[list[int]] = [[] for _ in self.names]
        for group, members in enumerate(operators):
            for v in members if len(members) < 2 else set(members):
                result[v].append(group)
        return tuple(map(tuple, result))

    def resident(self, group: int, done: int) -> bool:
        """Return whether `group` is resident after executing `done` alone (an ideal as a bit
        mask)."""
        g = self.groups[group]
        if not g.is_input and not self.writer_masks[group] & done:
            return False
        touchers = self.toucher_masks[group]
        if touchers == 0 and not g.is_output:
            return done == 0
        return g.is_output or bool(touchers & ~done)

    def level(self, done: int) -> int:
        """t(D) in bytes."""
        return sum(s for i, s in enumerate(self.sizes) if self.resident(i, done))

    def taken_over(self, done: int, operator: int) -> InPlace | None:
        """The candidate that `operator` uses at `done`: the first whose operand dies there."""
        after, masks = done | 1 << operator, self.toucher_masks
        return next((c for c in self.candidates[operator] if not masks[c.operand] & ~after), None)

    def cost(self, done: int, operator: int) -> int:
        """c(D, v) = s(D, v) - t(D) in bytes; of the empty set without masks, which are large."""
        total = self.extra[operator]
        for g in self.writes[operator]:
            if not self.groups[g].is_input and not (done and self.writer_masks[g] & done):
                total += self.sizes[g]
        used = self.taken_over(done, operator) if self.candidates[operator] else None
        return total - self.sizes[used.result] if used else total

    def step(self, done: int, operator: int) -> int:
        """s(D, v) in bytes."""
        return self.level(done) + self.cost(done, operator)

    def check(self) -> None:
        """Raise ProblemError unless this is a well-formed, acyclic problem."""
        return self._is_checked

    @cached_property
    def _is_checked(self) -> None:
        """Found once: nothing of a graph changes, and whoever takes one checks it."""
        n = len(self.names)
        if len(self.predecessors) != n or len(self.workspace) != n:
            raise ProblemError("names, predecessors and workspace differ in length")
        if self.alignment < 1:
            raise ProblemError(f"alignment {self.alignment} is not positive")
        for v, ps in enumerate(self.predecessors):
            if ps and (min(ps) < 0 or max(ps) >= n or v in ps):
                raise ProblemError(f"operator {self.names[v]!r}: predecessor out of range")
        for index, g in enumerate(self.groups):
            _check_group(self, index, g)
        sizes = zip((g.name for g in self.groups), self.sizes, strict=True)
        check_sum((*sizes, *zip(self.names, map(abs, self.extra), strict=True)))
        for c in self.inplace:
            _check_inplace(self, c)
        order = topological_order(self)
        if len(order) != n:
            raise ProblemError("the operators form a cycle")
        _check_reads(self, order)


def _check_group(graph: MemoryGraph, index: int, group: Group) -> None:
    if group.size < 0:
        raise ProblemError(f"group {group.name!r}: negative size {group.size}")
    touchers = graph.touchers[index]  # ascending
    if touchers and (touchers[0] < 0 or touchers[-1] >= len(graph)):
        raise ProblemError(f"group {group.name!r}: operator out of range")
    if not group.is_input and not group.writers:
        raise ProblemError(f"group {group.name!r}: neither an input nor written")


def _check_reads(graph: MemoryGraph, order: Sequence[int]) -> None:
    """Check that in every order each group is written before it is read, or by its reader.

    Else the group would not be there when it is read, and bounds that count all that an operator
    touches, and integer programs that keep a group from writer to reader, would not hold.
    """
    doubtful: list[tuple[int, int]] = []  # (group, reader) where no direct predecessor writes
    after = graph.successors
    for index, g in enumerate(graph.groups):
        if g.is_input or after[g.writers[0]][-len(g.readers) :] == g.readers:  # as of most rows
            continue
        unknown = set(g.readers).difference(g.writers, *[after[w] for w in g.writers])
        if unknown:
            doubtful += [(index, v) for v in g.readers if v in unknown]
    if not doubtful:
        return
    before = [0] * len(graph)
    for v in order:
        for p in graph.predecessors[v]:
            before[v] |= before[p] | 1 << p
    for index, v in doubtful:
        if not before[v] & graph.writer_masks[index]:
            raise ProblemError(
                f"group {graph.groups[index].name!r}: {graph.names[v]!r} may read it before "
                "anything has written it"
            )


def _check_inplace(graph: MemoryGraph, c: InPlace) -> None:
    count = len(graph.groups)
    if not (0 <= c.operator < len(graph) and 0 <= c.result < count and 0 <= c.operand < count):
        raise ProblemError("in-place candidate out of range")
    result, operand = graph.groups[c.result], graph.groups[c.operand]
    where = f"operator {graph.names[c.operator]!r} in place"
    if c.result == c.operand or result.is_input or set(result.writers) != {c.operator}:
        raise ProblemError(f"{where}: {result.name!r} must be written there and nowhere else")
    if operand.is_output or c.operator not in operand.readers:
        raise ProblemError(f"{where}: {operand.name!r} must be read there and not be kept")
    if c.operator in operand.writers:
        raise ProblemError(f"{where}: {operand.name!r} is written there")
    if graph.sizes[c.result] > graph.sizes[c.operand]:
        raise ProblemError(f"{where}: {result.name!r} is larger than {operand.name!r}")
    aligned = result.alignment or graph.offset_alignment or graph.alignment
    if c.inside % aligned or not 0 <= c.inside <= graph.sizes[c.operand] - graph.sizes[c.result]:
        inside = f"{result.name!r} does not lie {c.inside} B into {operand.name!r}"
        raise ProblemError(f"{where}: {inside}")
    if len({x.result for x in graph.candidates[c.operator]}) > 1:
        raise ProblemError(f"{where}: only one result of an operator may be in place")


def topological_order(graph: MemoryGraph) -> tuple[int, ...]:
    """The order that always takes the ready operator of least index; short if there is a cycle."""
    return graph.topological


@dataclass(frozen=True)
class Profile:
    """Bytes along one order: `levels[i]` before step i (and after the last), `steps[i]` during it,
    with `inplace[i]` in place; `peak` is the greatest of the first level and of all steps."""

    levels: tuple[int, ...]
    steps: tuple[int, ...]
    inplace: tuple[InPlace | None, ...]

    @property
    def peak(self) -> int:
        return max((self.levels[0], *self.steps))


MANY, ARRAYS = 256, "memopt.solvers.problems.array_profile"  # operators of which arrays pay


def profile(graph: MemoryGraph, order: Sequence[int]) -> Profile:
    """Levels and steps of `order` in time linear in the graph.

    Raises ProblemError unless `order` is a topological order of all operators.
    """
    last = graph.profiled  # who asks next often asks about the same order
    wanted = tuple(order)
    if last.get(wanted) is None:
        arrays: Any = import_module(ARRAYS) if len(wanted) >= MANY else None  # when it is needed
        answer = arrays.array_profile(graph, wanted) if arrays else follow(graph, wanted)
        last.clear()
        last[wanted] = answer
    return last[wanted]


def follow(graph: MemoryGraph, order: Sequence[int]) -> Profile:
    """Return the profile of an order by walking through it: a second derivation of `profile`."""
    check_order(graph, order)
    sizes, writes, touches, candidates = graph.sizes, graph.writes, graph.touches, graph.candidates
    remaining = list(map(len, graph.touchers))
    written = [g.is_input for g in graph.groups]
    passing = [0 if g.is_output else s for g, s in zip(graph.groups, sizes, strict=True)]
    level = graph.first_level
    levels, steps = [level], list[int]()
    used: list[InPlace | None] = []
    for v in order:
        fresh = freed = 0
        for g in writes[v]:
            if not written[g]:
                written[g] = True
                fresh += sizes[g]
        for g in touches[v]:
            remaining[g] -= 1
            if not remaining[g]:
                freed += passing[g]
        choice = None
        if candidates[v]:
            choice = next((c for c in candidates[v] if not remaining[c.operand]), None)
        used.append(choice)
        steps.append(level + fresh + graph.extra[v] - (sizes[choice.result] if choice else 0))
        level += fresh - freed - (graph.unread_inputs if len(steps) == 1 else 0)
        levels.append(level)
    return Profile(tuple(levels), tuple(steps), tuple(used))


def check_order(graph: MemoryGraph, order: Sequence[int]) -> None:
    """Raise ProblemError unless `order` lists every operator once, after its predecessors."""
    if sorted(order) != list(range(len(graph))):
        raise ProblemError("the order is not a permutation of the operators")
    position = [0] * len(graph)
    for i, v in enumerate(order):
        position[v] = i
    for v, ps in enumerate(graph.predecessors):
        at = position[v]
        for p in ps:
            if position[p] > at:
                raise ProblemError(
                    f"{graph.names[v]!r} runs before {graph.names[p]!r}, which it needs"
                )


@dataclass(frozen=True)
class Schedule:
    """An order with its peak, a bound on the peak of every order (bytes), and what proves it.

    `states` counts what the method explored; it is for people and for benchmarks.
    """

    order: tuple[int, ...]
    peak: int
    lower_bound: int
    proof: Proof
    states: int = 0

    @property
    def optimal(self) -> bool:
        return self.proof != "none" and self.peak == self.lower_bound

    def verify(self, graph: MemoryGraph) -> None:
        """Raise ProblemError unless the order is legal and has exactly this peak."""
        peak = profile(graph, self.order).peak
        if peak != self.peak:
            raise ProblemError(f"the order's peak is {peak} B, the schedule says {self.peak} B")
        if self.lower_bound > self.peak:
            raise ProblemError(f"bound {self.lower_bound} B above the peak {self.peak} B")


def live_ranges(graph: MemoryGraph, order: Sequence[int]) -> PlacementProblem:
    """The placement problem of `order`: buffer i is group i, then one per positive workspace.

    A workspace is live in its operator's step alone. An in-place result has its operand's base,
    above which it may lie. Parts that die alone have the base of their tensor, which has no bytes
    but theirs and lives as long as any of them.
    """
    steps = max(len(order), 1)
    position = {v: i for i, v in enumerate(order)}
    alignment = graph.offset_alignment or graph.alignment
    over = {c.result: c for c in profile(graph, order).inplace if c}

    def base(group: int) -> tuple[int, int]:
        """The buffer that has the offset of `group`, and bytes from there."""
        inside = 0
        while group in over:
            inside += over[group].inside
            group = over[group].operand
        tensor, above = graph.groups[group].piece or (group, 0)
        return tensor, above + inside

    buffers: list[Buffer] = []
    for i, g in enumerate(graph.groups):
        lower = 0 if g.is_input else min([position[w] for w in g.writers])
        last = max([position[v] for v in graph.touchers[i]], default=0)
        upper = steps if g.is_output else last + 1
        of, at = base(i)
        aligned = 1 if g.piece is not None else g.alignment or alignment
        buffers.append(Buffer(g.name, graph.sizes[i], lower, upper, of, None, aligned, at))
    for i, g in enumerate(graph.groups):
        if g.piece is not None:
            part, tensor = buffers[i], buffers[g.piece[0]]
            lower, upper = min(tensor.lower, part.lower), max(tensor.upper, part.upper)
            buffers[g.piece[0]] = replace(tensor, lower=lower, upper=upper)
    for v in order:
        if graph.extra[v] > 0:
            t = position[v]
            name = f"workspace of {graph.names[v]}"
            buffers.append(Buffer(name, graph.extra[v], t, t + 1, len(buffers), None, alignment))
    return PlacementProblem(tuple(buffers))
