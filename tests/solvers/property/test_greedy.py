"""The greedy order against its rule as stated, taken from the definitions at every step."""

import random

from oracles import random_graph

from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling.methods import greedy


def naive(graph: MemoryGraph) -> tuple[int, ...]:
    """Of all ready operators the least (step or peak + rise, change of the level, age, index)."""
    result: list[int] = []
    made = [-1] * len(graph)
    done, level = 0, graph.level(0)
    peak = level
    while len(result) < len(graph):
        ready = [
            v
            for v, before in enumerate(graph.predecessor_masks)
            if not done >> v & 1 and not before & ~done
        ]

        def change(v: int, done: int = done) -> int:
            unread = 0 if done else graph.unread_inputs
            return graph.level(done | 1 << v) - graph.level(done) + unread

        def key(
            v: int, done: int = done, level: int = level, peak: int = peak
        ) -> tuple[int, int, int, int]:
            delta = change(v, done)
            step = max(level + graph.cost(done, v), peak)
            return step + max(delta, 0), delta, -made[v], v

        best = min(ready, key=key)
        peak = max(peak, level + graph.cost(done, best))
        done |= 1 << best
        level = graph.level(done)
        result.append(best)
        for s in graph.successors[best]:
            if not graph.predecessor_masks[s] & ~done:
                made[s] = len(result)
    return tuple(result)


def test_greedy_takes_what_its_rule_says(fuzz: float) -> None:
    for seed in range(max(100, int(5_000 * fuzz))):
        rng = random.Random(f"greedy {seed}")
        graph = random_graph(rng, rng.choice((5, 9, 20)))
        assert greedy.order(graph) == naive(graph), graph


def test_ten_thousand_operators_that_are_all_ready() -> None:
    """A heap, not a look at all of them: else this would take minutes."""
    graph = MemoryGraph(
        tuple(f"op{v}" for v in range(10_000)), ((),) * 10_000, (), tuple(range(10_000, 0, -1))
    )
    assert greedy.order(graph) == tuple(reversed(range(10_000)))
