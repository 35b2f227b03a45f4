"""Partitions, parts and partitioned schedules against definitions and exhaustive search."""

import random
from itertools import combinations

import pytest
from oracles import ideals, optimum, random_graph, ready
from printed_parts import as_printed

from memopt.solvers import partitioning
from memopt.solvers.partitioning import Partition, cut_levels, partition, split
from memopt.solvers.partitioning.coarsen import finest, hierarchy
from memopt.solvers.partitioning.intervals import best_cuts
from memopt.solvers.partitioning.methods import multilevel, naive
from memopt.solvers.partitioning.parts import heaviest_part, price
from memopt.solvers.partitioning.refine import refine
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule, profile
from memopt.solvers.scheduling import partitioned, schedule
from memopt.solvers.scheduling.methods import greedy, rpo, search
from memopt.solvers.theory.bounds import flow_bound

GRAPHS = 10_000
SEEDS = range(4)


def acyclic_quotient(graph: MemoryGraph, part: tuple[int, ...], k: int) -> bool:
    """Whether the parts can be put into an order, whatever their numbers."""
    before = [{part[u] for u in graph.predecessors[v]} - {part[v]} for v in range(len(graph))]
    needs = [set[int]().union(*(b for b, q in zip(before, part, strict=True) if q == p))
             for p in range(k)]  # fmt: skip
    done: set[int] = set()
    while len(done) < k:
        free = [p for p in range(k) if p not in done and needs[p] <= done]
        if not free:
            return False
        done.update(free)
    return True


def random_partition(rng: random.Random, graph: MemoryGraph) -> Partition:
    """Any legal partition: repeated random moves away from the naive one."""
    k = rng.randint(1, min(4, len(graph)))
    part = list(naive.solve(graph, k).part)
    for _ in range(4 * len(graph)):
        v = rng.randrange(len(graph))
        low = max((part[u] for u in graph.predecessors[v]), default=0)
        high = min((part[s] for s in graph.successors[v]), default=k - 1)
        if part.count(part[v]) > 1:
            part[v] = rng.randint(low, high)
    found = Partition(tuple(part), k)
    found.verify(graph)
    return found


def restricted_optimum(graph: MemoryGraph, found: Partition) -> int:
    """The least peak over the orders that keep to the partition, by definition."""
    best = {0: graph.level(0)}
    for done in ideals(graph):  # by size, so every way to `done` is known when it is taken
        if done not in best:
            continue
        left = [p for v, p in enumerate(found.part) if not done >> v & 1]
        for v in ready(graph, done):
            if found.part[v] == min(left):
                child, peak = done | 1 << v, max(best[done], graph.step(done, v))
                best[child] = min(best.get(child, peak), peak)
    return best[(1 << len(graph)) - 1]


def before(found: Partition, part: int) -> int:
    return sum(1 << v for v, p in enumerate(found.part) if p < part)


@pytest.mark.parametrize("seed", SEEDS)
def test_quotients_are_acyclic_and_no_part_is_empty(
    seed: int, fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multilevel, "SMALLEST", 6)  # so that small graphs are coarsened too
    monkeypatch.setattr(multilevel, "COARSE_PER_PART", 2)
    rng = random.Random(seed)
    for i in range(int(GRAPHS * fuzz / len(SEEDS))):
        graph = random_graph(rng, 120 if i % 20 == 0 else 24)
        k = rng.randint(1, min(len(graph), 8))
        balance = rng.choice((0.0, 0.1, 0.5, 1.0))
        found = partition(graph, k, balance=balance)
        plain = partition(graph, k, "naive")
        for p in (found, plain):
            assert acyclic_quotient(graph, p.part, k), graph
            assert sorted(set(p.part)) == list(range(k)), graph
            for v, us in enumerate(graph.predecessors):
                assert all(p.part[u] <= p.part[v] for u in us), graph
        assert max(found.sizes) <= heaviest_part(len(graph), k, balance), graph
        assert max(plain.sizes) - min(plain.sizes) <= 1, graph


def test_every_level_of_coarsening_keeps_prices_and_cycles_away(fuzz: float) -> None:
    """A partition of a coarse graph is legal on the finest one and costs the same there."""
    rng = random.Random(5)
    contracted = 0
    for _ in range(int(GRAPHS * fuzz / 5)):
        graph = random_graph(rng, 40)
        levels = hierarchy(finest(graph), 3, rng.choice((3, 8, len(graph))))
        contracted += len(levels) > 1
        cluster = tuple(range(len(graph)))
        for level in levels:
            cluster = tuple(level.cluster[c] for c in cluster)
            count = len(level.graph)
            assert acyclic_quotient(graph, cluster, count), graph
            assert list(level.weights) == [cluster.count(c) for c in range(count)]
            coarse = random_partition(rng, level.graph)
            fine = Partition(tuple(coarse.part[c] for c in cluster), coarse.k)
            fine.verify(graph)
            assert cut_levels(level.graph, coarse) == cut_levels(graph, fine), graph
    assert contracted > int(GRAPHS * fuzz / 5) // 2


def test_heuristic_peak_is_that_of_the_parts_alone(fuzz: float) -> None:
    """It is found on the whole graph; each part as a problem of its own says the same."""
    rng = random.Random(11)
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng, 12)
        found = random_partition(rng, graph)
        orders = partitioned.start_orders(graph)
        peaks: list[int] = []
        for part in split(graph, found):
            place = {v: i for i, v in enumerate(part.operators)}
            inner = [[place[v] for v in order if v in place] for order in orders]
            peaks.append(min(profile(part.graph, order).peak for order in inner))
        assert partitioned.heuristic_peak(graph, found, orders) == max(peaks), graph


def test_cut_levels_are_levels_and_parts_have_the_steps_of_the_whole(fuzz: float) -> None:
    """All features: in place, several writers, negative workspace, unread inputs, alignment."""
    rng = random.Random(6)
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng, 12)
        found = random_partition(rng, graph)
        levels = [graph.level(before(found, p)) for p in range(1, found.k)]
        assert list(cut_levels(graph, found)) == levels, graph
        order: list[int] = []
        steps: list[int] = []
        for part in split(graph, found):
            part.graph.check()
            inner = greedy.order(part.graph)
            facts = profile(part.graph, inner)
            steps += facts.steps
            assert facts.levels[0] == graph.level(sum(1 << v for v in order)), graph
            order += [part.operators[i] for i in inner]
        assert tuple(steps) == profile(graph, order).steps, graph


@pytest.mark.parametrize("seed", SEEDS)
def test_part_peaks_and_schedules_equal_brute_force(seed: int, fuzz: float) -> None:
    rng = random.Random(10 + seed)
    for _ in range(int(GRAPHS * fuzz / len(SEEDS))):
        graph = random_graph(rng, 8, negative=False)
        found = random_partition(rng, graph)
        best = restricted_optimum(graph, found)
        least = optimum(graph)
        peaks = [search.solve(p.graph).peak for p in split(graph, found)]
        assert peaks == [optimum(p.graph) for p in split(graph, found)], graph
        assert max(peaks) == best, graph
        for method in ("auto", "search"):
            answer = partitioned.solve(graph, found, method)
            assert answer.peak == best, (graph, found, method)
            assert [found.part[v] for v in answer.order] == sorted(found.part)
            assert answer.lower_bound <= least <= best, (graph, found)
            # proven is only what T6 proves of all orders
            bound = flow_bound(graph, [answer.order])
            assert answer.optimal == (bound.value == best), (graph, found)
            assert answer.proof == (bound.proof if answer.optimal else "none")


def test_automatic_parts_are_never_worse_than_the_whole(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither parts along the best order nor any other: what the method finds alone is the most."""
    monkeypatch.setattr(partitioning, "OPERATORS_PER_PART", 3)
    rng = random.Random(12)
    better = restricted = 0
    for _ in range(max(100, int(GRAPHS * fuzz / 20))):
        graph = random_graph(rng, 9, negative=False)
        least = optimum(graph)
        along, other = partition(graph), random_partition(rng, graph)
        answer = partitioned.solve_automatic(graph, along)
        assert answer.peak == answer.lower_bound == least == restricted_optimum(graph, along)
        assert along.holds(answer.order) and along.k == max(1, -(-len(graph) // 3))
        for method in ("greedy", "rpo", "search"):
            limits = {"max_states": 1} if method == "search" else {}
            whole = schedule(graph, method, **limits).peak
            best = partitioned.solve_automatic(graph, other, method, **limits)
            within = (
                partitioned.solve(graph, other, method, **limits).peak if other.k > 1 else whole
            )
            assert max(least, best.lower_bound) <= best.peak == min(whole, within), (graph, other)
            better += within < whole
            restricted += within > whole
        assert partitioned.solve_automatic(graph, other, "dp").peak == restricted_optimum(
            graph, other
        )
    assert better and restricted


def test_an_option_of_one_method_chooses_it() -> None:
    graph = random_graph(random.Random(2), 9, negative=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitioning, "OPERATORS_PER_PART", 3)
        assert partition(graph, seed=3) == partition(graph, method="multilevel", seed=3)
        assert partition(graph, balance=0.5) == partition(graph, method="best-order", balance=0.5)


@pytest.mark.parametrize("bound", [3, 4])
def test_what_is_not_proven_is_asked_again_within_a_limit(
    bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a graph that came from a file would get another answer than one that was partitioned."""
    graph, asked = random_graph(random.Random(1), 5), list[float | None]()

    def counted(graph: MemoryGraph, _: str, time_limit: float | None) -> Schedule:
        asked.append(time_limit)
        return Schedule(graph.topological, 4, bound, "search" if bound == 4 else "none")

    monkeypatch.setattr(partitioned, "schedule", counted)
    for limit in (None, None, 1.0, None):
        partitioned.schedule_whole(graph, limit)
    assert asked == ([None] if bound == 4 else [None, 1.0])


@pytest.mark.parametrize("method", ["greedy", "rpo", "fwd-rpo", "dp", "ilp"])
def test_other_methods_keep_to_the_partition(method: str, fuzz: float) -> None:
    rng = random.Random(method)
    for _ in range(int(GRAPHS * fuzz / 50)):
        graph = random_graph(rng, 6, negative=False)
        found = random_partition(rng, graph)
        answer = partitioned.solve(graph, found, method)
        best = restricted_optimum(graph, found)
        assert answer.peak >= best and [found.part[v] for v in answer.order] == sorted(found.part)
        if method in ("dp", "ilp"):
            assert answer.peak == best, (graph, found)


def test_only_parts_that_can_hold_the_peak_are_solved(fuzz: float) -> None:
    """What is left to a heuristic never decides, and something is left to it."""
    rng = random.Random(7)
    left = 0
    for _ in range(int(GRAPHS * fuzz / 10)):
        graph = random_graph(rng, 10, negative=False)
        found = random_partition(rng, graph)
        answer = partitioned.solve_parts(graph, found, "search")
        assert answer.exact and profile(graph, answer.order).peak == max(answer.peaks)
        assert all(answer.peaks[p] <= max(answer.peaks[q] for q in answer.solved)
                   for p in range(found.k))  # fmt: skip
        left += found.k - len(answer.solved)
    assert left > 0


def test_algorithm_2_as_printed_is_never_better_and_sometimes_worse(fuzz: float) -> None:
    """A part that was left to the reverse post-order can hold the new peak."""
    rng = random.Random(11)
    worse = 0
    for _ in range(max(200, int(GRAPHS * fuzz / 10))):
        graph = random_graph(rng, 8, negative=False)
        found = random_partition(rng, graph)
        printed = as_printed(graph, found, "search")
        ours = partitioned.solve_parts(graph, found, "search")
        peak = profile(graph, printed.order).peak
        assert [found.part[v] for v in printed.order] == sorted(found.part)
        assert peak == max(printed.peaks) >= max(ours.peaks) == restricted_optimum(graph, found)
        whole = profile(graph, rpo.order(graph))
        holders = {found.part[v] for v, step in zip(rpo.order(graph), whole.steps, strict=True)
                   if step == max(whole.steps)}  # fmt: skip
        assert set(printed.solved) == holders
        worse += peak > max(ours.peaks)
    assert worse


def test_the_best_cuts_of_an_order_are_the_best(fuzz: float) -> None:
    rng = random.Random(8)
    for _ in range(int(GRAPHS * fuzz)):
        n = rng.randint(1, 9)
        k = rng.randint(1, n)
        levels = [rng.randint(0, 9) for _ in range(n)]
        weights = [rng.randint(1, 4) for _ in range(n)]
        heaviest = rng.randint(1, 2 * sum(weights) // k + 1)
        prices = [
            sum(levels[c] for c in cuts)
            for cuts in combinations(range(1, n), k - 1)
            if all(
                sum(weights[a:b]) <= heaviest for a, b in zip((0, *cuts), (*cuts, n), strict=True)
            )
        ]
        found = best_cuts(levels, weights, k, heaviest)
        if found is None:
            assert not prices
        else:
            assert sum(levels[c] for c in found) == min(prices)
            assert len(found) == k - 1 and found == sorted(set(found))
            ends = zip((0, *found), (*found, n), strict=True)
            assert all(0 < sum(weights[a:b]) <= heaviest for a, b in ends)


def test_refinement_never_costs_and_often_saves(fuzz: float) -> None:
    rng = random.Random(9)
    saved = 0
    for _ in range(int(GRAPHS * fuzz / 4)):
        graph = random_graph(rng, 16)
        old = random_partition(rng, graph)
        heaviest = max(old.sizes)
        part = refine(graph, (1,) * len(graph), old.part, old.k, heaviest)
        new = Partition(tuple(part), old.k)
        new.verify(graph)
        assert max(new.sizes) <= heaviest
        gain = price(graph, old) - price(graph, new)
        assert gain >= 0, (graph, old)
        saved += gain > 0
    assert saved > GRAPHS * fuzz / 40
