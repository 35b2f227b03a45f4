"""Work that a sequence of 512 steps takes where each query reads all keys."""

from memopt.solvers.problems.memory_graph import Group, MemoryGraph
from memopt.solvers.theory.ideals import Walker, ancestors, descendants

STEPS = 512


def attention() -> MemoryGraph:
    """Keys one after the other, then queries one after the other, each of which reads all keys."""
    keys = range(STEPS)
    before = [(k - 1,) if k else () for k in keys]
    before += [(*keys, q - 1) if q > STEPS else tuple(keys) for q in range(STEPS, 2 * STEPS)]
    groups = [Group(f"k[{k}]", 64, (k,), tuple(range(STEPS, 2 * STEPS))) for k in keys]
    return MemoryGraph(tuple(map(str, range(2 * STEPS))), tuple(before), tuple(groups))


def test_a_key_ends_with_the_last_query_alone() -> None:
    """A step of a search looks at what may end with it, and not at all that it reads."""
    graph = attention()
    ends = Walker(graph)._freed  # pyright: ignore[reportPrivateUsage]
    assert sum(map(len, ends)) == STEPS
    assert len(ends[-1]) == STEPS
    assert sum(map(len, graph.touches)) == STEPS * (STEPS + 1)


def test_all_before_and_behind() -> None:
    graph = attention()
    assert ancestors(graph) == [(1 << v) - 1 for v in range(len(graph))]
    behind = [(1 << len(graph)) - (2 << v) for v in range(len(graph))]
    assert descendants(graph) == behind
