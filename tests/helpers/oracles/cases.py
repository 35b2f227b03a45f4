"""Small graphs written by hand, and the papers' methods as printed, to compare with.

`printed_*` are deliberately wrong: they follow the papers to the letter, so that the tests show
which sentence fails on which graph.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from oracles import optimum, optimum_in_blocks

from memopt.solvers.problems.memory_graph import Group, MemoryGraph, profile
from memopt.solvers.scheduling import schedule
from memopt.solvers.theory.fusion import Sides, contract, expand, module_of, modules

cp_model: Any = import_module("ortools.sat.python.cp_model")


def make(
    inputs: dict[str, int],
    operators: list[tuple[Any, ...]],
    outputs: str = "",
    joined: str = "",
) -> MemoryGraph:
    """A graph from `(name, "reads", "writes:bytes ...", workspace)`; names separated by spaces.

    Without `outputs` every tensor that nobody reads is one. `joined` tensors are one storage group
    (zero-copy concat): each operand is written by its own operator, readers read the group.
    """
    sizes = dict(inputs)
    reads: list[list[str]] = []
    writes: list[list[str]] = []
    workspace: list[int] = []
    for _, ins, outs, *extra in operators:
        reads.append(ins.split())
        writes.append([])
        for item in outs.split():
            name, size = item.split(":")
            sizes[name] = int(size)
            writes[-1].append(name)
        workspace.append(int(extra[0]) if extra else 0)
    whole = joined.split()
    readers = {t: tuple(v for v, ins in enumerate(reads) if t in ins) for t in sizes}
    writers = {t: tuple(v for v, outs in enumerate(writes) if t in outs) for t in sizes}
    held = outputs.split() or [t for t in sizes if not readers[t] and t not in inputs]
    groups = [
        Group(t, sizes[t], writers[t], readers[t], t in inputs, t in held)
        for t in sizes
        if t not in whole
    ]
    if whole:
        groups.append(
            Group(
                "+".join(whole),
                sum(sizes[t] for t in whole),
                tuple(w for t in whole for w in writers[t]),
                tuple(sorted({r for t in whole for r in readers[t]})),
                is_output=any(t in held for t in whole),
            )
        )
    return MemoryGraph(
        tuple(o[0] for o in operators),
        tuple(tuple(dict.fromkeys(w for t in ins for w in writers[t])) for ins in reads),
        tuple(groups),
        tuple(workspace),
    )


def exact(graph: MemoryGraph) -> int:
    """The optimum, on which brute force and all exact methods must agree."""
    best = optimum(graph)
    for method in ("auto", "search", "dp", "liberis", "ilp", "ilp-olla"):
        found = schedule(graph, method)
        assert (found.peak, found.optimal) == (best, True), method
    small, members = contract(graph, modules(graph))
    assert profile(graph, expand(schedule(small, "search").order, members)).peak == best
    return best


def forced(graph: MemoryGraph, *operators: int) -> int | None:
    """The optimum when `operators` run in one go, in that order, legal or not."""
    return optimum_in_blocks(graph, [operators])


def refused(graph: MemoryGraph, *operators: int) -> bool:
    """Whether fusion leaves `operators` apart."""
    return module_of(graph, sum(1 << v for v in operators), Sides.of(graph)) is None


def with_edges(graph: MemoryGraph, edges: list[tuple[int, int]]) -> MemoryGraph:
    """The graph with each (first, then) as a control edge."""
    before = [
        (*ps, *(v for v, anchor in edges if anchor == w)) for w, ps in enumerate(graph.predecessors)
    ]
    return MemoryGraph(
        graph.names,
        tuple(before),
        graph.groups,
        graph.workspace,
        graph.inplace,
        graph.alignment,
    )


def liberis_figure_1() -> MemoryGraph:
    """Liberis Figure 1: operators 1 to 7 are 0 to 6 here."""
    return make(
        {"t0": 1568},
        [
            ("1", "t0", "t1:3136"),
            ("2", "t1", "t2:1568"),
            ("3", "t2", "t3:512"),
            ("4", "t1", "t4:512"),
            ("5", "t3", "t5:256"),
            ("6", "t4", "t6:256"),
            ("7", "t5 t6", "t7:512"),
        ],
    )


def printed_liberis(graph: MemoryGraph) -> int:
    """Liberis Algorithm 1 to the letter; a constant that is still to be read is added each time."""

    def mem(tensors: frozenset[int]) -> int:
        constants = sum(graph.sizes[t] for t in tensors if graph.groups[t].is_input)
        made = [t for t in tensors if not graph.groups[t].is_input]
        if not made:
            return constants
        best = 1 << 60
        for x in made:
            rest = frozenset(made) - {x}
            operator = graph.groups[x].writers[0]
            if any(_before(graph, operator, graph.groups[r].writers[0]) for r in rest):
                continue
            needed = rest | frozenset(graph.reads[operator])
            here = sum(graph.sizes[t] for t in needed | {x})
            best = min(best, max(mem(needed), here))
        return constants + best

    return mem(frozenset(i for i, g in enumerate(graph.groups) if g.is_output))


def _before(graph: MemoryGraph, a: int, b: int) -> bool:
    return a in graph.predecessors[b] or any(_before(graph, a, p) for p in graph.predecessors[b])


def _below(graph: MemoryGraph, v: int) -> set[int]:
    return {w for w in range(len(graph)) if _before(graph, v, w)}


@dataclass(frozen=True)
class Printed:
    """How to read Zhong's program: `last` is the function in (10), or None to leave (10) out."""

    last: str | None = None  # "max" as printed, "min" for all tensors, "min-inner" not for outputs
    keeps: bool = False  # T >= O for what an operator makes, and outputs to the end


def printed_zhong(graph: MemoryGraph, how: Printed) -> int | None:
    """The optimum of Zhong's (1)-(10) in bytes; None if infeasible. One result per operator."""
    n = len(graph)
    model: Any = cp_model.CpModel()
    o = {(v, j): model.new_bool_var("") for v in range(n) for j in range(n)}
    t = {(g, j): model.new_bool_var("") for g in range(len(graph.groups)) for j in range(-1, n)}
    mem = model.new_int_var(0, 1 << 40, "mem")
    for i in range(n):
        model.add_exactly_one(o[i, j] for j in range(n))
        model.add_exactly_one(o[v, i] for v in range(n))
    for g, group in enumerate(graph.groups):
        if not group.is_input:
            model.add(t[g, -1] == 0)
        for j in range(n):
            model.add(t[g, j] <= t[g, j - 1] + sum(o[w, j] for w in group.writers))
            for v in group.readers:
                model.add(o[v, j] <= t[g, j])
            if how.keeps:
                for w in group.writers:
                    model.add(o[w, j] <= t[g, j])
        if how.keeps and group.is_output:
            model.add(t[g, n - 1] == 1)
        below = [len(_below(graph, v)) for v in group.readers]
        if how.last and (how.last != "min-inner" or not group.is_output):
            choose = max if how.last == "max" else min
            for j in range(n - choose(below, default=n), n):
                model.add(t[g, j] == 0)
    for j in range(n):
        load = sum(t[g, j] * graph.sizes[g] for g in range(len(graph.groups)))
        for k in range(n):
            model.add(load + graph.extra[k] * o[k, j] <= mem)
    model.minimize(mem)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return int(solver.objective_value) if solver.solve(model) == cp_model.OPTIMAL else None


def printed_olla(graph: MemoryGraph) -> int:
    """The optimum of OLLA's (1)-(5), (13), (14) in bytes; inputs are made by nobody at step 0."""
    n = len(graph)
    model: Any = cp_model.CpModel()
    edges = range(len(graph.groups))
    c = {(e, j): model.new_bool_var("") for e in edges for j in range(n)}
    p = {(e, j): model.new_bool_var("") for e in edges for j in range(n)}
    mem = model.new_int_var(0, 1 << 40, "mem")
    for e, group in enumerate(graph.groups):
        model.add_exactly_one(c[e, j] for j in range(n))
        for j in range(n):
            model.add(p[e, j] + c[e, j] <= 1)
            model.add(p[e, j] <= (p[e, j - 1] + c[e, j - 1] if j else 0))
            for w in group.writers:
                for f in graph.reads[w]:
                    model.add(c[e, j] <= p[f, j])
                for s in graph.writes[w]:
                    model.add(c[s, j] == c[e, j])
    for j in range(n):
        model.add(sum((c[e, j] + p[e, j]) * graph.sizes[e] for e in edges) <= mem)
    model.minimize(mem)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return int(solver.objective_value)


def olla_function_5(spans: list[tuple[int, int]], *, printed: bool) -> list[int]:
    """Edges that OLLA's Function 5 stacks, by their (first use, last use), in that order.

    As printed the next interval is the one of the last edge visited; it must be the chosen one's.
    """
    low, high = 0, 1 << 60
    stacked: list[int] = []
    while high > low:
        chosen, longest = -1, 0
        first = last = 0
        for e, (first, last) in enumerate(spans):
            if first < low or last > high or e in stacked:
                continue
            if last - first > longest:
                chosen, longest = e, last - first
        if chosen < 0:
            break
        stacked.append(chosen)
        low, high = (first, last) if printed else spans[chosen]
    return stacked
