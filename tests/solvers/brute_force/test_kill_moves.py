"""Kill-moves: every condition of their proof is needed, and graphs beyond it are still solved."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from mutants import is_caught
from oracles import optimum, random_graph, random_order

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph
from memopt.solvers.scheduling import kill_moves
from memopt.solvers.scheduling.kill_moves import Frontier, KillMoves
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.ideals import Walker, renumber


@pytest.fixture(autouse=True)
def _in_python(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """The mutants are of the reference."""
    monkeypatch.setenv("MEMOPT_NATIVE", "0")


def some_answer_is_wrong(rng: random.Random) -> bool:
    graph = random_graph(rng, 7)
    found = search.solve(graph, bound=0, incumbent=random_order(rng, graph), backward=False)
    return found.peak != optimum(graph)


def without_inplace_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KillMoves, "_inplace", ())


def whatever_the_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KillMoves, "covers", True)


def workspace_is_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    old = KillMoves._events.func  # pyright: ignore[reportPrivateUsage]

    def events(self: KillMoves) -> tuple[int, ...]:
        graph = self.graph
        bare = MemoryGraph(
            graph.names, graph.predecessors, graph.groups, (), graph.inplace, graph.alignment
        )
        return old(KillMoves(bare))

    monkeypatch.setattr(KillMoves, "_events", property(events))


def dead_results_are_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    old = KillMoves._events.func  # pyright: ignore[reportPrivateUsage]

    def events(self: KillMoves) -> tuple[int, ...]:
        read = tuple(g if g.readers else replace(g, is_output=True) for g in self.graph.groups)
        return old(KillMoves(replace(self.graph, groups=read)))

    monkeypatch.setattr(KillMoves, "_events", property(events))


def commit_past_a_valley(monkeypatch: pytest.MonkeyPatch) -> None:
    old = KillMoves.moves

    def moves(
        self: KillMoves, done: int, frontier: Frontier, deadline: float | None = None
    ) -> list[tuple[int, int, bool]]:
        return [(move, last, True) for move, last, _ in reversed(old(self, done, frontier))]

    monkeypatch.setattr(KillMoves, "moves", moves)


@pytest.mark.parametrize(
    "mutant",
    [
        without_inplace_branches,
        whatever_the_workspace,
        workspace_is_no_event,
        dead_results_are_no_event,
    ],
)
def test_every_condition_is_needed(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_caught(some_answer_is_wrong, lambda: mutant(monkeypatch), 6000)


def test_only_a_minimal_move_may_be_committed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """b, v in place kills x and y and ends below the start; P wants the valley after v alone."""
    graph = MemoryGraph(
        ("b", "v", "P"),
        ((), (), ()),
        (
            Group("x", 5, readers=(0, 1), is_input=True),
            Group("y", 10, readers=(1,), is_input=True),
            Group("w", 1, readers=(2,), is_input=True),
            Group("p", 8, writers=(0,), is_output=True),
            Group("q", 5, writers=(1,), is_output=True),
            Group("o", 1, writers=(2,), is_output=True),
        ),
        (0, 0, 20),
        (InPlace(1, 4, 0),),
    )
    graph.check()
    start = (2, 0, 1)
    assert search.solve(graph, bound=24, incumbent=start).peak == optimum(graph) == 32
    commit_past_a_valley(monkeypatch)
    assert search.solve(graph, bound=24, incumbent=start).peak == 35


def test_up_to_its_last_operator_a_minimal_move_only_allocates(fuzz: float) -> None:
    rng = random.Random(1)
    for _ in range(int(5000 * fuzz)):
        graph, _ = renumber(random_graph(rng, 8, unread=False))
        walker, done = Walker(graph), 0
        for v in random_order(rng, graph)[: rng.randrange(len(graph))]:
            done |= 1 << v
        start = graph.level(done)
        kills = KillMoves(graph)
        for move, _, minimal in kills.moves(done, kills.advance(kills.start(), done)):
            inner, level = done, start
            while move & (move - 1) and minimal:
                low = move & -move
                _, after = walker.run(inner, level, low.bit_length() - 1)
                assert after >= level, graph
                inner, level, move = inner | low, after, move ^ low


def test_many_minimal_sets_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(300):
        rng = random.Random(seed)
        drawn = [rng.getrandbits(12) | 1 << rng.randrange(12) for _ in range(rng.randint(1, 60))]
        stated = {s for s in drawn if not any(m != s and m & s == m for m in drawn)}
        for few, order in ((100, kill_moves.in_slots(drawn)), (0, sorted(stated))):
            monkeypatch.setattr(kill_moves, "FEW", few)
            in_order = sorted((s for s in order if s in stated), key=int.bit_count)
            assert kill_moves.minimal_sets(drawn) == in_order


@pytest.mark.parametrize(
    ("masks", "slots"),
    [
        ([6, 1, 6, 8], [8, 1, 6]),  # each in its own slot of 8, once
        ([1, 9, 17], [1, 9, 17]),  # 9 goes from slot 1 to 6, 17 to slot 6 and on to 7
        ([40, 9, 3, 8, 32], [32, 3, 40, 9, 8]),  # the fifth makes it 32: 8 goes from slot 8 to 10
        ([1 << 62, 1, 3], [1, 1 << 62, 3]),  # 2^62 is 2
    ],
)
def test_sets_go_by_slots(masks: list[int], slots: list[int]) -> None:
    assert kill_moves.in_slots(masks) == slots


def test_minimal_sets_of_thousands_are_left_when_time_is_over() -> None:
    with pytest.raises(clock.TimeIsOverError):
        kill_moves.minimal_sets([1 << i for i in range(kill_moves.FEW + 1)], clock.now())


def test_events_of_other_rows_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows that have nothing in common an event is compared with those before it in its own
    row alone, however many rows there are; of random graphs the answer is that of all pairs."""
    compared = 0

    class Counted(int):
        def __and__(self, other: int) -> int:
            nonlocal compared
            compared += 1
            return int(self) & other

    rows, length = 40, 5
    number = range(rows * length)
    before = tuple((v - 1,) if v % length else () for v in number)
    groups = tuple(Group("t", 4, (v,), (v + 1,) if (v + 1) % length else ()) for v in number)
    graph = MemoryGraph(("v",) * len(number), before, groups)
    events = KillMoves(graph)._events  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(KillMoves, "_events", tuple(map(Counted, events)))
    assert len(KillMoves(graph).start()) == rows
    assert compared <= 4 * len(events)


def test_blockers_are_the_largest_events_within_an_event(fuzz: float) -> None:
    rng = random.Random(9)
    for _ in range(int(2_000 * fuzz) + 50):
        moves = KillMoves(renumber(random_graph(rng, 9))[0])
        events = moves._events  # pyright: ignore[reportPrivateUsage]
        for e, blockers in enumerate(moves._blockers):  # pyright: ignore[reportPrivateUsage]
            within = [b for b in range(e) if events[b] & events[e] == events[b]]
            largest = {
                b for b in within if not any(b != c and not events[b] & ~events[c] for c in within)
            }
            assert set(blockers) == largest
