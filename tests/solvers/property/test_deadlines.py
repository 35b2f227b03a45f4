"""Time limits on clocks of our own: no seconds of this machine are in here.

One clock counts work (calls of functions), so that a limit of so much work is kept or not, however
fast the machine is. Another one strikes at any moment.
"""

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import count

import pytest
from benchmarks.tables.generator import planted
from deep import deep_but
from exhaustive import optimum
from oracles import random_graph, random_order
from row_chains import rows_of_a_chain
from work_clock import work_of

from memopt.solvers import clock, joint
from memopt.solvers.errors import ProblemError
from memopt.solvers.partitioning import Partition, partition
from memopt.solvers.placement import first_answer, place, prove
from memopt.solvers.placement.methods import auto as auto_placement
from memopt.solvers.placement.methods import best_fit, cp_sat
from memopt.solvers.placement.neighbours import pairs_of
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, live_ranges, profile
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.solvers.programs import worker
from memopt.solvers.programs.mathopt import new_model
from memopt.solvers.published.placement import ilp
from memopt.solvers.scheduling import partitioned, schedule
from memopt.solvers.scheduling.both_ends import BothEnds
from memopt.solvers.shared_objects import METHODS as SHARED
from memopt.solvers.shared_objects import share
from memopt.solvers.theory.chains import chains
from memopt.solvers.theory.ideals import renumber

LIMITS = (0.05, 0.4)


@pytest.fixture(autouse=True)
def _in_python(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """The clock counts calls of Python."""
    monkeypatch.setenv("MEMOPT_NATIVE", "0")


def butterfly(stages: int) -> MemoryGraph:
    """As of a Fourier transform of 2**stages points: all that is wide stays so."""
    points = 1 << stages
    before: list[tuple[int, ...]] = []
    readers: list[list[int]] = [[] for _ in range(points * (stages + 1))]
    for stage in range(stages):
        for i in range(points):
            v = stage * points + i
            sources = (i, i ^ 1 << stage)
            for s in sources:
                readers[stage * points + s].append(v)
            before.append(tuple((stage - 1) * points + s for s in sources) if stage else ())
    groups = tuple(
        Group(
            f"t{g}",
            8,
            (g - points,) if g >= points else (),
            tuple(read),
            is_input=g < points,
            is_output=not read,
        )
        for g, read in enumerate(readers)
    )
    return MemoryGraph(tuple(f"v{v}" for v in range(len(before))), tuple(before), groups)


def meeting(chains: int, length: int, seed: int) -> MemoryGraph:
    """Parallel chains of random sizes that meet in one operator."""
    rng = random.Random(seed)
    last = chains * length
    before: list[tuple[int, ...]] = [(v - 1,) if v % length else () for v in range(chains * length)]
    before.append(tuple(range(length - 1, last, length)))
    groups = [Group("x", 64, (), tuple(range(0, last, length)), is_input=True)]
    for v in range(last):
        ends = v % length == length - 1
        size = rng.randint(1, 64) if ends else rng.randint(1, 4096)
        groups.append(Group(f"t{v}", size, (v,), (last,) if ends else (v + 1,)))
    groups.append(Group("y", 64, (last,), (), is_output=True))
    return MemoryGraph(tuple(f"v{v}" for v in range(last + 1)), tuple(before), tuple(groups))


@cache
def thousands(buffers: int, live: int) -> PlacementProblem:
    """A packing from which every tenth buffer was taken."""
    whole = planted(buffers, live).problem.buffers
    kept = [b for i, b in enumerate(whole) if i % 10]
    return PlacementProblem(
        tuple(Buffer(b.name, b.size, b.lower, b.upper, i) for i, b in enumerate(kept))
    )


GRAPHS = {
    "butterfly": butterfly(7),
    "chains": meeting(150, 5, 0),
    "rows": rows_of_a_chain(random.Random(4), (48,) * 10 + (24,) * 30)[0],
}


@cache
def overhead(name: str) -> float:
    """What one order and its check take, by the clock of work: less than that cannot be asked."""
    return work_of(lambda: schedule(GRAPHS[name], "source"))


@cache
def least(buffers: int, live: int, method: str) -> float:
    """What a greedy placement takes, by the clock of work."""
    solve = share if method in SHARED else prove
    return work_of(lambda: solve(thousands(buffers, live), method))


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", deep_but("rows", GRAPHS))
@pytest.mark.parametrize("method", ["auto", "search", "dp", "liberis"])
def test_schedules(method: str, name: str, limit: float) -> None:
    graph = GRAPHS[name]
    taken = work_of(lambda: schedule(graph, method, limit))
    assert taken <= 1.1 * limit + 5 * overhead(name), (taken, limit)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", deep_but("rows", GRAPHS))
def test_fusion(name: str, limit: float) -> None:
    graph = GRAPHS[name]
    taken = work_of(lambda: chains(graph, time_limit=limit))
    assert taken <= 1.1 * limit + 3 * overhead(name), (taken, limit)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("k", [4, 60])
@pytest.mark.parametrize("name", deep_but("rows", GRAPHS))
def test_partitions(name: str, k: int, limit: float) -> None:
    graph = GRAPHS[name]
    least = work_of(lambda: partition(graph, k, time_limit=0.0))
    taken = work_of(lambda: partition(graph, k, time_limit=limit))
    assert taken <= 1.1 * limit + least + 3 * overhead(name), (taken, limit, least)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", deep_but("rows", GRAPHS))
def test_schedules_of_parts(name: str, limit: float) -> None:
    graph = GRAPHS[name]
    parts = partition(graph, 60, "naive")
    schedule(graph, "source")  # what is loaded at first use
    once = work_of(lambda: schedule(graph, "source"))
    taken = work_of(lambda: partitioned.solve(graph, parts, "auto", limit))
    # The same work as three times `once` before orders counted edges to many readers once.
    assert taken <= 1.1 * limit + 4.25 * once, (taken, limit, once)


@pytest.mark.parametrize("name", deep_but("rows", GRAPHS))
def test_whenever_the_limit_strikes_the_partition_is_no_worse_than_the_naive_one(name: str) -> None:
    graph = GRAPHS[name]
    orders = partitioned.start_orders(graph)

    def peak(found: Partition) -> int:
        return partitioned.heuristic_peak(graph, found, orders)

    naive = peak(partition(graph, 9, "naive"))
    for limit in (0, 1, 3, 10, 100, 1_000, 10_000):
        ticks = count()
        with clock.reading(lambda: float(next(ticks))):  # noqa: B023
            found = partition(graph, 9, time_limit=float(limit))
        assert peak(found) <= naive


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("method", ["ilp", "ilp-olla"])
def test_integer_programs_are_stated_in_time(method: str, limit: float) -> None:
    graph = GRAPHS["chains"]
    new_model()  # OR-Tools is loaded
    taken = work_of(lambda: schedule(graph, method, limit))
    assert taken <= 1.1 * limit + 6 * overhead("chains"), (taken, limit)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize(
    ("method", "buffers", "live"),
    [
        *(
            (m, *size)
            for m in ("auto", "cp-sat", "ejection", "exact", "hill-climb")
            for size in ((600, 60), (2_600, 100))
        ),
        ("ilp", 600, 60),
    ],
)
def test_placements(method: str, limit: float, buffers: int, live: int) -> None:
    new_model()  # OR-Tools is loaded
    problem = thousands(buffers, live)
    greedy = least(buffers, live, "greedy-by-size")
    taken = work_of(lambda: prove(problem, method, limit))
    assert taken <= 1.1 * limit + 2 * greedy, (taken, limit, greedy)


@pytest.mark.parametrize("limit", [0.001, 0.005])
@pytest.mark.parametrize("method", ["auto", "ejection"])
def test_more_than_the_greedy_strategies_place_in_time(
    method: str, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Best fit comes first, and others begin where there is time for them."""
    monkeypatch.setattr(first_answer, "LARGE_ITEMS", 100)
    monkeypatch.setattr(auto_placement, "SEARCHED_ITEMS", 100)
    problem = thousands(600, 60)
    fitted = work_of(lambda: best_fit.solve(problem))
    taken = work_of(lambda: place(problem, method, limit))
    assert taken <= 1.1 * limit + 1.5 * fitted, (taken, limit, fitted)


@pytest.mark.parametrize("method", ["cp-sat", "ilp"])
def test_a_program_is_begun_where_there_is_time_to_state_it(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock stands still: what takes how long is told by the size alone."""
    asked: list[str] = []

    def ask(kind: str, *_: object) -> None:
        asked.append(kind)

    monkeypatch.setattr(worker, "ask", ask)
    problem = thousands(100, 20)
    greedy = prove(problem, "greedy-by-size").placement.arena
    size, module = (90, cp_sat) if method == "cp-sat" else (pairs_of(problem.items), ilp)
    with clock.reading(lambda: 0.0):
        for share, begun in ((0.9, 0), (1.1, 1)):
            limit = share * size / module.PER_SECOND
            assert prove(problem, method, limit).placement.arena <= greedy
            assert len(asked) == begun


@pytest.mark.parametrize("limit", LIMITS)
def test_blocks_one_upon_another_are_peeled_in_time(limit: float) -> None:
    """Buffers that live to the end, each spanning all that begin later, below what is no puzzle for
    a greedy strategy."""
    steps, puzzle = 3_000, thousands(60, 20).buffers
    end = steps + max(b.upper for b in puzzle)
    stairs = [Buffer(f"s{i}", 1 << 20, i, end, i) for i in range(steps)]
    moved = [
        replace(b, base=i, lower=b.lower + steps, upper=b.upper + steps)
        for i, b in enumerate(puzzle, steps)
    ]
    problem = PlacementProblem((*stairs, *moved))
    greedy = work_of(lambda: prove(problem, "greedy-by-size"))
    taken = work_of(lambda: prove(problem, "exact", limit))
    assert prove(problem, "greedy-by-size").placement.arena > problem.load
    assert taken <= 1.1 * limit + 3 * greedy, (taken, limit, greedy)


def test_what_an_integer_program_refuses_is_refused_before_it_is_placed() -> None:
    problem = thousands(2_600, 100)
    greedy = least(2_600, 100, "greedy-by-size")
    with pytest.raises(ProblemError, match="pairs of buffers, at most 200,000 can be stated"):
        prove(problem, "ilp", 60.0)

    def refused() -> None:
        with suppress(ProblemError):
            prove(problem, "ilp", 60.0)

    assert work_of(refused) <= greedy / 4


@pytest.mark.deep
@pytest.mark.parametrize("method", ["auto", "ejection", "exact", "hill-climb"])
@pytest.mark.parametrize(("buffers", "live"), [(60, 20), (600, 60), (2_600, 100)])
def test_whenever_the_limit_strikes_the_answer_is_no_worse_than_greedy(
    method: str, buffers: int, live: int
) -> None:
    """Check limits on a clock that goes on whenever it is looked at: a limit is so many looks."""
    problem = thousands(buffers, live)
    greedy = prove(problem, "greedy-by-size").placement.arena
    for limit in (0, 1, 3, 10, 100, 1_000):
        ticks = count()
        with clock.reading(lambda: float(next(ticks))):  # noqa: B023
            assert prove(problem, method, float(limit)).placement.arena <= greedy


@pytest.mark.parametrize("limit", [0, 1, 10, 100])
@pytest.mark.parametrize("name", deep_but("rows", GRAPHS))
def test_whenever_the_limit_strikes_the_arena_is_no_larger_than_without_another_order(
    name: str, limit: int
) -> None:
    graph = GRAPHS[name]
    order = tuple(range(len(graph)))
    known = place(live_ranges(graph, order), "greedy-by-size")
    ticks = count()
    with clock.reading(lambda: float(next(ticks))):
        answer = joint.solve(graph, order, 0, float(limit), known=known)
    assert answer.placement.arena <= known.arena


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", deep_but("rows", GRAPHS))
def test_orders_for_a_smaller_arena(name: str, limit: float) -> None:
    graph = GRAPHS[name]
    order = tuple(range(len(graph)))
    work_of(lambda: joint.solve(graph, order, 0, 0.0))  # what is loaded at first use
    least = work_of(lambda: joint.solve(graph, order, 0, 0.0))
    taken = work_of(lambda: joint.solve(graph, order, 0, limit))
    assert taken <= 1.1 * limit + 2 * least, (taken, limit, least)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("method", ["shared-objects", "shared-objects-exact"])
@pytest.mark.parametrize(("buffers", "live"), [(300, 60)])
def test_shared_objects(method: str, limit: float, buffers: int, live: int) -> None:
    share(thousands(60, 6), "shared-objects-exact")  # the process that solves is there
    problem = thousands(buffers, live)
    greedy = least(buffers, live, "shared-objects-by-size")
    taken = work_of(lambda: share(problem, method, limit))
    assert taken <= 1.1 * limit + 3 * greedy, (taken, limit, greedy)


def test_the_improved_greedy_is_greedy_by_size_where_time_is_over() -> None:
    """Each look at the clock takes a second here; without a limit the answer is another one."""
    problem = thousands(300, 60)
    greedy = share(problem, "shared-objects-by-size").total
    assert share(problem, "shared-objects-improved").total != greedy
    ticks = count()
    with clock.reading(lambda: float(next(ticks))):
        found = share(problem, "shared-objects-improved", 20.0)
        assert next(ticks) <= 25
    assert found.total == greedy


def test_no_state_is_lost_when_time_is_over(fuzz: float) -> None:
    """A search that is stopped at any moment, and goes on, finds the optimum and proves it."""
    rng = random.Random(3)
    for _ in range(int(5_000 * fuzz)):
        graph, _ = renumber(random_graph(rng))
        incumbent = random_order(rng, graph)
        search = BothEnds.of(graph, 0, profile(graph, incumbent).peak)
        ticks: Iterator[int] = count()
        with clock.reading(lambda: float(next(ticks))):  # noqa: B023
            for _ in range(10_000):
                if search.exhausted:
                    break
                search.run(None, clock.now() + rng.randint(2, 12), 1 << 40)
        assert search.exhausted
        order = search.order or incumbent
        assert profile(graph, order).peak == optimum(graph), graph


@pytest.mark.deep
def test_a_capacity_is_found_without_being_told() -> None:
    """Three quarters of the work went to the bound: the rest found 858, and 847 is there."""
    whole, rng = planted(200, 40, 1024, 9), random.Random(9)
    sizes = [max(1, int(b.size * rng.uniform(0.6, 1))) for b in whole.problem.buffers]
    problem = PlacementProblem(
        tuple(
            Buffer(b.name, size, b.lower, b.upper, i)
            for i, (b, size) in enumerate(zip(whole.problem.buffers, sizes, strict=True))
        )
    )
    assert prove(problem, "exact", nodes=240_000).placement.arena <= 850


@pytest.mark.deep
def test_what_is_needed_for_a_capacity_that_is_not_met() -> None:
    """The search goes on above the capacity: 'the best found' is no greedy answer."""
    whole, rng = planted(200, 40, 1024, 1), random.Random(1)
    problem = PlacementProblem(
        tuple(
            Buffer(b.name, max(1, int(b.size * rng.uniform(0.6, 1))), b.lower, b.upper, i)
            for i, b in enumerate(whole.problem.buffers)
        )
    )
    greedy = min(prove(problem, m).placement.arena for m in ("greedy-by-size", "best-fit"))
    found = prove(problem, "exact", capacity=problem.load, nodes=100_000)
    assert problem.load < found.placement.arena < greedy
