"""Forged certificates, by the command line: the checker takes exactly one form, and nothing else.

`certificates/` holds files that an earlier checker accepted, or rounded: hand_*.json, and f1 with
a flow that fits one capacity twice, by arcs that were only equal once they were integers.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.solvers.checker import RejectedError, check

HERE = Path(__file__).parent
CASES = HERE / "certificates"
CHECKER = ROOT / "solvers" / "checker.py"


def run_alone(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", str(CHECKER), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


FORGED = sorted([*CASES.glob("hand_*.json"), *CASES.glob("f1.forged*.cert")], key=lambda p: p.name)


@pytest.mark.parametrize("path", FORGED, ids=[p.name for p in FORGED])
def test_the_file_alone_calls_it_malformed(path: Path) -> None:
    done = run_alone(path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("rejected: malformed: ")
    assert done.stderr.count("\n") == 1


def test_all_reproducers_are_there() -> None:
    assert len(FORGED) == 20


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """f1 in its own order: a peak of 25, where 20 is possible."""
    path = tmp_path / "f1.src.mlir"
    assert opt([str(CASES / "f1.mlir"), "--schedule=source", "--place=auto", "-o", str(path)]) == 0
    return path


def test_20_is_possible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f1.auto.mlir"
    assert opt([str(CASES / "f1.mlir"), "--schedule=auto", "-o", str(path)]) == 0
    assert main(["verify", str(path)]) == 0
    assert "peak 20 B" in capsys.readouterr().out


@pytest.mark.parametrize("forged", ["f1.forged.cert", "f1.forged_str.cert"])
@pytest.mark.parametrize("claim", [False, True])
def test_a_plan_of_25_is_not_proven(
    planned: Path, forged: str, claim: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `claim` the plan itself says so, too."""
    if claim:
        text = planned.read_text()
        assert "lower_bound = 16" in text
        planned.write_text(text.replace("lower_bound = 16", "lower_bound = 25", 1))
    assert main(["verify", str(planned), "--certificate", str(CASES / forged)]) == 1
    out, error = capsys.readouterr()
    assert "proven" not in out
    assert "rejected: malformed: flow is no integer" in error


def test_the_honest_one_says_gap(planned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    honest = CASES / "f1.src.cert"
    assert run_alone(honest).stdout == "accepted: peak 25 B, no order below 16 B (flow)\n"
    assert main(["verify", str(planned), "--certificate", str(honest)]) == 0
    assert "gap, no order is below 16 B (flow)" in capsys.readouterr().out


def test_a_key_twice_and_numbers_beyond_reason(
    planned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (CASES / "f1.src.cert").read_text()
    path = tmp_path / "c.cert"
    for old, new in (
        ('"lower_bound":16', '"lower_bound":25,"lower_bound":16'),
        ('"alignment":1', '"alignment":2,"alignment":1'),
        ('"lower_bound":16', f'"lower_bound":1{"0" * 5000}'),
        ('"lower_bound":16', '"lower_bound":9223372036854775808'),
        ('"lower_bound":16', '"lower_bound":NaN'),
        ('"lower_bound":16', '"lower_bound":Infinity'),
        ('"lower_bound":16', '"lower_bound":-Infinity'),
        ('"lower_bound":16', '"lower_bound":1.6e1'),
        ('"lower_bound":16', f'"lower_bound":{"[" * 100_000}'),
        ('"inplace":[]', f'"inplace":{"[" * 900}{"]" * 900}'),
        ('"names":["wide (a)"', f'"names":[{"[" * 900}{"]" * 900}'),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        assert run_alone(path).stderr.startswith("rejected: malformed: "), new[:60]
        assert main(["verify", str(planned), "--certificate", str(path)]) == 1
        error = capsys.readouterr().err
        assert "the certificate is rejected: malformed: " in error and error.count("\n") == 1


def test_what_is_no_object_at_all() -> None:
    values: tuple[Any, ...] = (None, [], 1, "", True, {1: 2}, [{}])
    for value in values:
        with pytest.raises(RejectedError, match="malformed"):
            check(value)
