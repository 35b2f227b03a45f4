"""The line on a terminal: only for what takes its time, with what is known by then."""

import random
import threading
from io import StringIO
from pathlib import Path

import pytest
import rich.console
from oracles import random_graph

from memopt.cli import main
from memopt.solvers import clock
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, live_ranges
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.solvers.scheduling import schedule
from memopt.text.progress import Spinner

GRAPHS = 2_000


def test_what_is_quick_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    before = threading.active_count()
    with Spinner("memgraph-schedule", delay=3600):
        pass
    assert threading.active_count() == before
    assert capsys.readouterr() == ("", "")


def test_what_takes_longer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, said = threading.Event(), list[str]()

    class Status:
        def __enter__(self) -> "Status":
            shown.set()
            return self

        def __exit__(self, *_: object) -> None:
            said.append("cleared")

        def update(self, text: object) -> None:
            shown_line(text)

    def shown_line(text: object) -> None:
        out = StringIO()
        terminal(file=out, width=100).print(text)
        said.append(out.getvalue())

    class Console:
        def __init__(self, stderr: bool) -> None:
            assert stderr  # stdout is for results

        def status(self, text: object) -> Status:
            shown_line(text)
            return Status()

    terminal = rich.console.Console
    monkeypatch.setattr("rich.console.Console", Console)
    with Spinner("auto net[bold].csv", delay=0):
        assert shown.wait(60)
    assert said[0].startswith("auto net[bold].csv")
    assert said[-1] == "cleared"


def test_nothing_is_shown_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A log has no lines of the kind."""

    shown = list[Spinner]()

    def enter(self: Spinner) -> Spinner:
        shown.append(self)
        return self

    def leave(_: Spinner, *error: object) -> None:
        pass

    monkeypatch.setattr(Spinner, "__enter__", enter)
    monkeypatch.setattr(Spinner, "__exit__", leave)
    path = tmp_path / "net.mlir"
    path.write_text("no network")
    (tmp_path / "x.csv").write_text("1\n")
    assert main(["profile", str(path), "--target=cortex-m4"]) == 1
    assert main(["validate", str(path), "--data", str(tmp_path / "x.csv")]) == 1
    assert main(["explore", str(path)]) == 1
    assert not shown


def test_the_line_says_the_best_so_far_the_bound_and_what_is_left() -> None:
    now = 0.0
    with clock.reading(lambda: now):
        spinner = Spinner("memgraph-schedule", deadline=30.0)
        now = 12.0
        assert spinner.line() == "memgraph-schedule 12 s, 18 s left"
        with clock.watched("peak"):
            clock.tell(1_024, 896)
            with clock.watched("peak"):  # of a part
                clock.tell(1, 1)
            text = "memgraph-schedule 12 s, peak 1,024 B, at least 896 B, 18 s left"
            assert spinner.line() == text
            clock.tell(2_000, 1_024)
            closed = "memgraph-schedule 12 s, peak 1,024 B, the least, 18 s left"
            assert spinner.line() == closed
            clock.tell(1_024)  # nor is a bound forgotten, or a higher one
            clock.tell(1_024, 512)
            assert spinner.line() == closed
        now = 40.0
        assert spinner.line() == "memgraph-schedule 40 s, 0 s left"


def test_the_line_of_many_things_says_how_many_a_second() -> None:
    now = 0.0
    with clock.reading(lambda: now):
        spinner = Spinner("graphs", total=1_000)
        now = 4.0
        assert spinner.line() == "graphs 4 s, 0 of 1,000"
        spinner.done = 250
        assert spinner.line() == "graphs 4 s, 250 of 1,000, 62.5 a second, 12 s left"


def test_searches_tell_what_they_know(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[clock.Standing | None]()

    def tell(best: int, bound: int | None = None) -> None:
        keep(best, bound)
        told.append(clock.standing())

    keep = clock.tell
    monkeypatch.setattr(clock, "tell", tell)
    groups = (
        Group("x", 10, readers=(0,), is_input=True),
        Group("y", 4, writers=(0,), is_output=True),
    )
    schedule(MemoryGraph(("a",), ((),), groups))
    assert told[-1] == clock.Standing("peak", 14, 14)
    place(PlacementProblem((Buffer("a", 8, 0, 1, 0), Buffer("b", 4, 0, 2, 1))))
    assert told[-1] == clock.Standing("arena", 12, 12)
    assert clock.standing() is None


def test_nothing_is_told_that_the_answer_does_not_keep(
    monkeypatch: pytest.MonkeyPatch, fuzz: float
) -> None:
    """A peak that no order of the whole has, or a bound that is one of a part."""
    told, rng, counts = list[clock.Standing](), random.Random(7), list[int]()
    keep = clock.tell

    def tell(best: int, bound: int | None = None) -> None:
        keep(best, bound)
        standing = clock.standing()
        assert standing is not None
        told.append(standing)

    monkeypatch.setattr(clock, "tell", tell)
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng, rng.randint(10, 40))
        told.clear()
        ordered = schedule(graph)
        counts.append(len(told))
        assert all((s.bound or 0) <= ordered.peak <= (s.best or 0) for s in told)
        problem = live_ranges(graph, ordered.order)
        told.clear()
        arena = place(problem).arena
        assert all((s.bound or 0) <= arena <= (s.best or 0) for s in told)
    assert max(counts) > 2
