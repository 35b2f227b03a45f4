"""T6: the flow as anyone would check it, in-place candidates, early stop, size."""

import random
from itertools import pairwise, permutations

import pytest
from oracles import naive_steps, optimum, random_graph, random_order

import memopt
from memopt.dialects.memgraph.errors import MemoptError
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, profile
from memopt.solvers.theory.bounds import flow_bound, trivial
from memopt.solvers.theory.ideals import descendants
from memopt.solvers.theory.network import Cut, certificate


def check_flow(graph: MemoryGraph, cut: Cut) -> None:
    """The flow of `cut` fits the network of T6 and has its value. Built from the definition."""
    n, sink = len(graph), len(graph) + 2 * len(graph.groups) + 1
    source = sink - 1
    capacity: dict[tuple[int, int], int | None] = {}  # None: unbounded
    for v, before in enumerate(graph.predecessors):
        capacity |= {(v, p): None for p in before}
    for g, group in enumerate(graph.groups):
        into, out = n + 2 * g, n + 2 * g + 1
        capacity[into, out] = graph.sizes[g]
        capacity |= {(w, into): None for w in group.writers}
        capacity |= {(out, u): None for u in (*group.writers, *group.readers)}
        if group.is_input:
            capacity[source, into] = None
        if group.is_output:
            capacity[out, sink] = None
    ties = set(graph.predecessors[cut.operator])
    results = set(graph.writes[cut.operator])
    if cut.candidate:
        assert cut.candidate.operator == cut.operator
        operand = graph.groups[cut.candidate.operand]
        ties |= {*operand.writers, *operand.readers} - {cut.operator}
        results.discard(cut.candidate.result)
    capacity |= {(source, v): None for v in ties}
    capacity |= {(source, n + 2 * g): None for g in results}
    capacity[cut.operator, sink] = None
    balance = [0] * (sink + 1)
    for tail, head, amount in cut.flow:
        assert amount > 0
        limit = capacity[tail, head]  # KeyError: an arc that is not there
        assert limit is None or amount <= limit
        balance[tail] -= amount
        balance[head] += amount
    assert all(b == 0 for node, b in enumerate(balance) if node not in (source, sink))
    assert balance[sink] == -balance[source] == cut.value - cut.constant
    assert cut.constant == graph.extra[cut.operator]


def test_anyone_can_check_the_flow(fuzz: float) -> None:
    rng = random.Random(0)
    checked = 0
    for _ in range(int(4000 * fuzz)):
        graph = random_graph(rng, 8)
        bound = flow_bound(graph, [random_order(rng, graph)])
        mine = bound.operator
        if mine is None:
            assert bound.value == trivial(graph)
            continue
        cuts = certificate(graph, mine)
        assert min(c.value for c in cuts) == bound.value
        below = descendants(graph)[mine]
        # a candidate whose operand is needed later can never be taken over, and has no cut
        possible = [c for c in graph.candidates[mine] if not graph.toucher_masks[c.operand] & below]
        assert [c.candidate for c in cuts] == [None, *possible]
        for cut in cuts:
            assert cut.operator == mine
            check_flow(graph, cut)
            checked += 1
            level = graph.level(cut.ideal) - (0 if cut.ideal else graph.unread_inputs)
            results = set(graph.writes[mine])
            if cut.candidate:
                results.discard(cut.candidate.result)
            new = sum(graph.sizes[g] for g in results if not graph.resident(g, cut.ideal))
            assert level + new + graph.extra[mine] == cut.value, graph
    assert checked


def test_early_stop_does_not_change_the_bound(fuzz: float) -> None:
    rng = random.Random(1)
    for _ in range(int(4000 * fuzz)):
        graph = random_graph(rng, 8)
        orders = [random_order(rng, graph) for _ in range(3)]
        full = flow_bound(graph, orders[:1]).value
        assert flow_bound(graph, orders).value == full
        assert trivial(graph) <= flow_bound(graph, orders, max_flows=1).value <= full
        assert full <= optimum(graph)


def test_bounds_above_32_bits() -> None:
    big = 3 << 40
    graph = MemoryGraph(
        ("a", "b", "c"),
        ((), (), (0, 1)),
        (
            Group("x", 1, readers=(0,), is_input=True),
            Group("p", big, writers=(0,), readers=(2,)),
            Group("q", big, writers=(1,), readers=(2,)),
            Group("y", 1, writers=(2,), is_output=True),
        ),
    )
    assert flow_bound(graph, [(0, 1, 2)]).value == 2 * big + 1


def test_ten_thousand_operators() -> None:
    """Two long chains side by side that exchange tensors now and then."""
    rng = random.Random(2)
    n = 10_000
    edges: list[set[int]] = [set() for _ in range(n)]
    for chain in (range(0, n, 2), range(1, n, 2)):
        for a, b in pairwise(chain):
            edges[b].add(a)
    for v in range(100, n, 97):
        edges[v].add(v - rng.randrange(1, 60))
    readers: list[list[int]] = [[] for _ in range(n)]
    for v, before in enumerate(edges):
        for p in before:
            readers[p].append(v)
    groups = tuple(
        Group(f"t{v}", rng.randint(1, 1000), (v,), tuple(readers[v]), is_output=not readers[v])
        for v in range(n)
    )
    names = tuple(f"op{v}" for v in range(n))
    graph = MemoryGraph(names, tuple(tuple(sorted(e)) for e in edges), groups)
    order = tuple(range(n))
    bound = flow_bound(graph, [order], max_flows=20)
    assert trivial(graph) <= bound.value <= profile(graph, order).peak
    assert bound.operator is not None
    (cut,) = certificate(graph, bound.operator)
    assert cut.value == bound.value
    check_flow(graph, cut)


def reads_at_random(rng: random.Random) -> MemoryGraph:
    """A graph whose operators read groups whether or not these are written before."""
    n = rng.randint(1, 5)
    groups = tuple(
        Group(
            f"g{i}",
            rng.randint(0, 5),
            tuple(rng.sample(range(n), rng.randint(0, min(2, n)))),
            tuple(rng.sample(range(n), rng.randint(0, min(2, n)))),
            is_input=rng.random() < 0.2,
            is_output=rng.random() < 0.2,
        )
        for i in range(rng.randint(1, 4))
    )
    groups = tuple(g for g in groups if g.is_input or g.writers)
    before = tuple(
        tuple(p for p in range(v) if rng.random() < 0.5) if rng.random() < 0.8 else ()
        for v in range(n)
    )
    return MemoryGraph(tuple(f"op{v}" for v in range(n)), before, groups)


def reads_early(graph: MemoryGraph, order: tuple[int, ...]) -> bool:
    """Whether an operator of `order` reads what neither it nor one before it has written."""
    return any(
        not g.is_input and min(map(order.index, g.writers)) > order.index(r)
        for g in graph.groups
        for r in g.readers
    )


def test_what_may_be_read_before_it_is_written_is_refused(fuzz: float) -> None:
    """Exactly that, by all orders; T6 of the others is a bound of all orders."""
    rng = random.Random(8)
    refused = bounded = 0
    for _ in range(max(300, int(4000 * fuzz))):
        graph = reads_at_random(rng)
        legal = [
            order
            for order in permutations(range(len(graph)))
            if all(
                order.index(p) < order.index(v)
                for v, ps in enumerate(graph.predecessors)
                for p in ps
            )
        ]
        early = any(reads_early(graph, order) for order in legal)
        try:
            graph.check()
        except ProblemError as error:
            assert early and "may read it before anything has written it" in str(error), graph
            refused += 1
            continue
        assert not early, graph
        best = min(max(naive_steps(graph, o), default=0) for o in legal)
        start = sum(g.size for g in graph.groups if g.is_input)
        assert flow_bound(graph, legal[:1]).value <= max(start, best), graph
        bounded += 1
    assert refused > 50 and bounded > 50


def test_the_api_refuses_what_is_read_before_it_is_written() -> None:
    """It said 4 B, proven by a flow, where the order 1, 2, 0 needs 3 B."""
    groups = (Group("g0", 3, (2,), (1,)), Group("g1", 1, (0,), (0, 1), False, True))
    with pytest.raises(MemoptError, match="group 'g0': 'b' may read it before"):
        memopt.peak(MemoryGraph(("a", "b", "c"), ((), (), ()), groups))
