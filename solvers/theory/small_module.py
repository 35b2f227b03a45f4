"""A module in plain numbers: what is asked of thousands of small ones, and is equal for equal ones.

Operators and groups are numbered by their place in the graph, names are left out and bytes are
rounded up, so that repeated cells that are written down in the same way are one to a cache.
"""

from collections.abc import Sequence
from typing import NamedTuple

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, bits
from memopt.solvers.theory.contraction import Contraction


class SmallGroup(NamedTuple):
    """Group in plain numbers; `size` in bytes, rounded up."""

    size: int
    writers: tuple[int, ...]
    readers: tuple[int, ...]
    is_input: bool
    is_output: bool


class SmallModule(NamedTuple):
    """Memory graph in plain numbers; bytes are rounded up, `inplace` is (operator, result,
    operand)."""

    predecessors: tuple[tuple[int, ...], ...]
    groups: tuple[SmallGroup, ...]
    workspace: tuple[int, ...]
    inplace: tuple[tuple[int, int, int], ...]

    @property
    def first_level(self) -> int:
        """Bytes of the module's groups before it runs; somebody in it touches each."""
        return sum(g.size for g in self.groups if g.is_input)

    @property
    def last_level(self) -> int:
        """Bytes of the module's groups after it has run."""
        return sum(g.size for g in self.groups if g.is_output and (g.is_input or g.writers))

    def problem(self) -> MemoryGraph:
        """Return the module as a graph for solvers, without names."""
        return MemoryGraph(
            ("",) * len(self.predecessors),
            self.predecessors,
            tuple(Group("", *g) for g in self.groups),
            self.workspace,
            tuple(InPlace(*c) for c in self.inplace),
        )


def module_of(graph: MemoryGraph) -> SmallModule:
    """Return what levels and steps of a graph depend on: equal for graphs that differ in names and
    in what only their offsets depend on."""
    return SmallModule(
        graph.predecessors,
        tuple(
            [
                SmallGroup(size, g.writers, g.readers, g.is_input, g.is_output)
                for g, size in zip(graph.groups, graph.sizes, strict=True)
            ]
        ),
        graph.extra,
        tuple([(c.operator, c.result, c.operand) for c in graph.inplace]),
    )


def cut_out(
    graph: MemoryGraph | Contraction, operators: Sequence[int], members: int, before: int
) -> tuple[SmallModule, list[int]]:
    """Return the operators (in a legal order, all they hold in the mask `members`) as a problem of
    their own, and the groups of `graph` that they touch.

    What exists after `before`, all that runs before them, is an input; what is touched after them,
    or held, is an output.
    """
    place = {v: i for i, v in enumerate(operators)}
    touched = sorted({g for v in operators for g in graph.touches[v]})
    done = members | before
    groups: list[SmallGroup] = []
    for g in touched:
        group, touchers = graph.groups[g], graph.toucher_masks[g]
        groups.append(
            SmallGroup(
                graph.sizes[g],
                tuple([place[v] for v in bits(graph.writer_masks[g] & members)]),
                tuple([place[v] for v in bits(graph.reader_masks[g] & members)]),
                group.is_input or bool(graph.writer_masks[g] & before),
                group.is_output or touchers & done != touchers,
            )
        )
    inplace: tuple[tuple[int, int, int], ...] = ()
    if graph.inplace:
        index = {g: i for i, g in enumerate(touched)}
        inplace = tuple(
            (place[v], index[c.result], index[c.operand])
            for v in operators
            for c in graph.candidates[v]
            if not groups[index[c.operand]].is_output
        )
    waited = graph.before if isinstance(graph, Contraction) else graph.predecessors.__getitem__
    local = SmallModule(
        tuple([tuple([place[p] for p in waited(v) if p in place]) for v in operators]),
        tuple(groups),
        tuple([graph.extra[v] for v in operators]),
        inplace,
    )
    return local, touched


def is_sequence(local: SmallModule) -> bool:
    """Return whether the operators can run in one order only: each needs the one before it."""
    return all(v - 1 in before for v, before in enumerate(local.predecessors) if v)


def along(local: SmallModule, order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Levels before each step and at the end, and steps, of a legal order in bytes: as `profile`,
    which checks that it is one."""
    touches: list[list[int]] = [[] for _ in order]
    remaining: list[int] = []
    for g, (_, writers, readers, _, _) in enumerate(local.groups):
        touchers = {*writers, *readers}
        remaining.append(len(touchers))
        for v in touchers:
            touches[v].append(g)
    candidates: dict[int, list[tuple[int, int]]] = {}
    for v, result, operand in local.inplace:
        candidates.setdefault(v, []).append((result, operand))
    resident = [g.is_input for g in local.groups]
    level = local.first_level
    levels, steps = [level], list[int]()
    for v in order:
        freed, step = 0, level + local.workspace[v]
        for g in touches[v]:
            size, writers, _, _, is_output = local.groups[g]
            if not resident[g] and v in writers:
                resident[g] = True
                step += size
                level += size
            remaining[g] -= 1
            if not remaining[g] and not is_output:
                freed += size
        for result, operand in candidates.get(v, ()):
            if not remaining[operand]:
                step -= local.groups[result].size
                break
        level -= freed
        levels.append(level)
        steps.append(step)
    return levels, steps


def along_pair(
    graph: MemoryGraph | Contraction, a: int, b: int, before: int
) -> tuple[tuple[int, int, int], tuple[int, int]]:
    """`along` of `cut_out` for two operators that are next to each other for all others, which are
    most of the modules that are asked about. `before` is all that runs before `a`."""
    done = before | 1 << a | 1 << b
    first = middle = last = fresh_a = fresh_b = 0
    live_after: set[int] = set()
    for g in {*graph.touches[a], *graph.touches[b]}:
        size, group, writers = graph.sizes[g], graph.groups[g], graph.writer_masks[g]
        resident = group.is_input or bool(writers & before)
        stays = group.is_output or graph.toucher_masks[g] | done != done
        if stays:
            live_after.add(g)
        if resident:
            first += size
        elif writers >> a & 1:
            resident = True
            fresh_a += size
        if resident and (stays or g in graph.touches[b]):
            middle += size
        if not resident and writers >> b & 1:
            resident = True
            fresh_b += size
        if resident and stays:
            last += size
    steps = [first + fresh_a + graph.extra[a], middle + fresh_b + graph.extra[b]]
    for i, v in enumerate((a, b)):
        for c in graph.candidates[v]:
            if c.operand not in live_after and (v == b or c.operand not in graph.touches[b]):
                steps[i] -= graph.sizes[c.result]
                break
    return (first, middle, last), (steps[0], steps[1])
