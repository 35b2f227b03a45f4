"""Fixtures that all tests share: where the shared models are, and how many random cases to run."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from shared_path import SharedPath

from memopt.text.usage import collect_rarely

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as it is for a job in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
collect_rarely()  # as the commands do: tests hold models and graphs, which stay

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with models and graphs (`MEMOPT_SHARED`, default `../shared`), or skip."""
    path = SharedPath(os.environ.get("MEMOPT_SHARED", ROOT.parent / "shared"))
    if not (path / "models").is_dir():
        pytest.skip("needs the shared models: set MEMOPT_SHARED")
    return path


@pytest.fixture(scope="session")
def fuzz() -> float:
    """Share of the full random counts to run: `MEMOPT_FUZZ`, 1.0 in `make fuzz`."""
    return float(os.environ.get("MEMOPT_FUZZ", "0.008"))


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
