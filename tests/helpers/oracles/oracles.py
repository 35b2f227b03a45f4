"""Random problems over every feature of the model, and exhaustive answers to compare with.

The oracles use definitions only (theory.md section 1), nothing of the solvers: `naive_steps` goes
back to live ranges, `optimum` tries all ideals (`exhaustive.py`).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from exhaustive import Bytes
from exhaustive import optimum as optimum

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph


@dataclass
class _Draft:
    """A group while it is drawn."""

    size: int
    writers: set[int] = field(default_factory=set[int])
    readers: set[int] = field(default_factory=set[int])
    is_input: bool = False
    is_output: bool = False


def random_graph(
    rng: random.Random,
    operators: int = 8,
    *,
    inplace: bool = True,
    unread: bool = True,
    negative: bool = True,
) -> MemoryGraph:
    """A well-formed problem of 1 to `operators` operators.

    Storage groups with several writers (read in part too), operators that update what they read,
    several results, dead and live outputs, inputs that are unread, kept, updated, returned, 0-byte
    groups, workspace of either sign, in-place candidates, control edges, alignment.
    """
    n = rng.randint(1, operators)
    width = rng.choice((1, 2, 3, n))
    alignment = rng.choice((1, 1, 1, 4, 16))
    edges: list[set[int]] = [set() for _ in range(n)]
    drafts = [
        _Draft(_size(rng), readers=_some(rng, range(n), 2), is_input=True)
        for _ in range(rng.randint(0, 2))
    ]
    for v in range(n):
        drafts += [_Draft(_size(rng), {v}) for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2)))]
    for v in range(n):
        mine = [d for d in drafts if d.writers and v - 2 * width <= min(d.writers) < v]
        for d in rng.sample(mine, min(len(mine), rng.choice((0, 1, 1, 2, 2, 3)))):
            d.readers.add(v)
            edges[v] |= d.writers
    _join(rng, drafts)
    for d in drafts:
        d.is_output = rng.random() < (0.15 if d.readers else 0.5)
        if rng.random() < 0.05:  # updated by an operator that reads it, or by any other
            w = rng.randrange(n)
            if all(w >= x for x in d.writers):
                edges[w] |= d.writers - {w}
                d.writers.add(w)
    for v in range(1, n):
        if rng.random() < 0.1:
            edges[v].add(rng.randrange(v))
    if not unread:
        for d in drafts:
            if d.is_input and not d.readers and not d.writers:
                d.readers.add(0)
    new = list(range(n))
    if rng.random() < 0.5:
        rng.shuffle(new)

    def moved(operators: set[int]) -> tuple[int, ...]:
        return tuple(new[v] for v in sorted(operators))

    groups = tuple(
        Group(f"g{i}", d.size, moved(d.writers), moved(d.readers), d.is_input, d.is_output)
        for i, d in enumerate(drafts)
    )
    predecessors: list[tuple[int, ...]] = [()] * n
    for v in range(n):
        predecessors[new[v]] = moved(edges[v])
    signs = (0, 0, 0, 0, 1, 1, -1) if negative else (0, 0, 1)
    workspace = tuple(rng.choice(signs) * rng.randint(0, 12) for _ in range(n))
    names = tuple(f"op{v}" for v in range(n))
    graph = MemoryGraph(names, tuple(predecessors), groups, workspace, (), alignment)
    if inplace and rng.random() < 0.6:
        graph = _with_inplace(rng, graph)
    graph.check()
    return graph


def _size(rng: random.Random) -> int:
    return rng.choice((0, 1, 2, 3, 5, 8, 8, 13, 20, rng.randint(0, 40)))


def _some(rng: random.Random, items: Sequence[int], most: int) -> set[int]:
    return set(rng.sample(items, min(len(items), rng.randint(0, most))))


def _join(rng: random.Random, drafts: list[_Draft]) -> None:
    """Zero-copy concat: some written groups become one, with all their writers and readers."""
    if rng.random() < 0.35:
        made = [d for d in drafts if d.writers]
        parts = rng.sample(made, min(len(made), rng.randint(2, 3)))
        for d in parts[1:]:
            parts[0].size += d.size
            parts[0].writers |= d.writers
            parts[0].readers |= d.readers
            drafts.remove(d)


def _inside(graph: MemoryGraph, result: int, operand: int) -> int:
    """Of every second pair where the operand's last bytes begin that the result takes, else 0."""
    above = (graph.sizes[operand] - graph.sizes[result]) // graph.alignment * graph.alignment
    return above if (result + operand) % 2 and above > 0 else 0


def _with_inplace(rng: random.Random, graph: MemoryGraph) -> MemoryGraph:
    candidates: list[InPlace] = []
    for v in range(len(graph)):
        results = [
            g
            for g in graph.writes[v]
            if set(graph.groups[g].writers) == {v} and not graph.groups[g].is_input
        ]
        if not results:
            continue
        result = rng.choice(results)
        candidates += [
            InPlace(v, result, x, _inside(graph, result, x))
            for x in graph.reads[v]
            if x != result
            and not graph.groups[x].is_output
            and v not in graph.groups[x].writers
            and graph.sizes[result] <= graph.sizes[x]
            and rng.random() < 0.8
        ]
    rng.shuffle(candidates)
    return MemoryGraph(
        graph.names,
        graph.predecessors,
        graph.groups,
        graph.workspace,
        tuple(candidates),
        graph.alignment,
    )


def naive_steps(graph: MemoryGraph, order: Sequence[int]) -> list[int]:
    """Bytes during each step of `order`, from the live range of each group."""
    place = {v: i for i, v in enumerate(order)}
    ranges: list[tuple[int, int]] = []  # first and last step of each group, inclusive
    for g in graph.groups:
        touched = [place[v] for v in (*g.writers, *g.readers)]
        first = 0 if g.is_input else min(place[w] for w in g.writers)
        last = len(order) - 1 if g.is_output else max(touched, default=0)
        ranges.append((first, last))
    steps: list[int] = []
    for i, v in enumerate(order):
        live = sum(size for size, (a, b) in zip(graph.sizes, ranges, strict=True) if a <= i <= b)
        dying = [c for c in graph.candidates[v] if ranges[c.operand][1] == i]
        saved = graph.sizes[dying[0].result] if dying else 0
        steps.append(live + graph.extra[v] - saved)
    return steps


def ideals(graph: MemoryGraph) -> Iterator[int]:
    """All ideals as masks, each after its subsets of one operator less."""
    seen = {0}
    wave = [0]
    while wave:
        yield from wave
        following: list[int] = []
        for done in wave:
            for v in ready(graph, done):
                child = done | 1 << v
                if child not in seen:
                    seen.add(child)
                    following.append(child)
        wave = following


def ready(graph: MemoryGraph, done: int) -> list[int]:
    """Operators that can run at the ideal `done`."""
    return [
        v
        for v, before in enumerate(graph.predecessor_masks)
        if not done >> v & 1 and not before & ~done
    ]


def random_order(rng: random.Random, graph: MemoryGraph) -> tuple[int, ...]:
    """A legal order, drawn step by step."""
    order: list[int] = []
    done = 0
    while len(order) < len(graph):
        v = rng.choice(ready(graph, done))
        order.append(v)
        done |= 1 << v
    return tuple(order)


def optimum_in_blocks(graph: MemoryGraph, blocks: Sequence[Sequence[int]]) -> int | None:
    """The least peak over the orders that run each block in one go, in its order; None if none."""
    block_of = {v: tuple(b) for b in blocks for v in b}
    of = Bytes(graph)
    best = {0: of.at_start}
    for done in ideals(graph):  # by size, so every way to `done` is known when it is taken
        if done not in best:
            continue
        for v in ready(graph, done):
            run = block_of.get(v, (v,))
            if run[0] != v:
                continue
            child, peak = done, best[done]
            for u in run:
                if graph.predecessor_masks[u] & ~child:
                    break
                peak = max(peak, of.level(child) + of.cost(child, u))
                child |= 1 << u
            else:
                best[child] = min(best.get(child, peak), peak)
    return best.get((1 << len(graph)) - 1)
