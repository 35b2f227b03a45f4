"""Fixtures that all tests share: where the shared models are, and how many random cases to run."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from memopt.text.usage import collect_rarely

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as it is for a job in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
collect_rarely()  # as the commands do: tests hold models and graphs, which stay

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with models and graphs (`MEMOPT_SHARED`, default `../shared`), or skip."""
    path = Path(os.environ.get("MEMOPT_SHARED", ROOT.parent / "shared"))
    if not (path / "models").is_dir():
        pytest.skip("needs the shared models: set MEMOPT_SHARED")
    return path


@pytest.fixture(scope="session")
def fuzz() -> float:
    """Share of the full random counts to run: `MEMOPT_FUZZ`, 1.0 in `make fuzz`."""
    return float(os.environ.get("MEMOPT_FUZZ", "0.008"))


def is_traced(item: pytest.Item) -> bool:
    """Whether it is counted what the test covers."""
    return item.get_closest_marker("traced") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what stands in the files that `TRACED` names, but what is `long`, and puts it first:
    the lines that define what a module has run once, where it is imported."""
    traced = {ROOT / name for name in os.environ.get("TRACED", "").split()}
    for item in items:
        if item.path in traced and item.get_closest_marker("long") is None:
            item.add_marker("traced")
    items.sort(key=lambda item: not is_traced(item))


class Counting:
    """What counts the lines that run in this process, if anything does: it can stop and go on."""

    def __init__(self) -> None:
        loaded = sys.modules.get("coverage")
        self.coverage: Any = loaded and loaded.Coverage.current()
        self.on = self.coverage is not None
        self.for_processes: dict[str, str] = {}  # what tells them that they are counted

    def switch(self, on: bool) -> None:
        if self.coverage is None or self.on is on:
            return
        self.on = on
        if on:
            os.environ.update(self.for_processes)
            self.coverage.start()
        else:
            self.coverage.stop()
            names = [name for name in os.environ if name.startswith("COVERAGE_")]
            self.for_processes = {name: os.environ.pop(name) for name in names}

    def end(self) -> None:
        """Writes what was counted now: a process of xdist is killed soon after it has ended."""
        if self.coverage is not None:
            self.switch(False)
            self.coverage.save()


counting = Counting()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Only what is traced is counted, with the processes that it starts."""
    counting.switch(is_traced(item))


def pytest_sessionfinish() -> None:
    counting.end()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was held against exhaustive search: problems, and on how many something was decided; and
    operators of random networks, how many of each were cut into rows."""
    counts: dict[str, list[int]] = {}
    operators: dict[str, dict[str, list[int]]] = {"cut": {}, "cut in C": {}}
    for report in terminalreporter.getreports("passed"):
        for key, value in report.user_properties:
            if key == "brute force":
                name, problems, telling = value
                row = counts.setdefault(name, [0, 0])
                row[0], row[1] = row[0] + problems, row[1] + telling
            elif key in operators:
                for name, numbers in value.items():
                    row = operators[key].setdefault(name, [0, 0])
                    row[0], row[1] = row[0] + numbers[0], row[1] + numbers[1]
    if counts:
        terminalreporter.section("random problems without a difference from brute force")
    for name, (problems, telling) in sorted(counts.items()):
        terminalreporter.write_line(f"{name:34}{problems:>10,}  ({telling:,} telling)")
    for key, found in operators.items():
        if found:
            terminalreporter.section(f"operators of random networks in rows, of all: {key}")
        for name, (in_rows, of_all) in sorted(found.items()):
            share = f"({in_rows / max(of_all, 1):.1%})"
            terminalreporter.write_line(f"{name:34}{in_rows:>8,} of {of_all:>8,} {share}")
