"""Forged certificates, by the command line: the checker takes exactly one form, and nothing else.

`certificates/` holds files that an earlier checker accepted, or rounded: hand_*.json, and f1 with
a flow that fits one capacity twice, by arcs that were only equal once they were integers.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memopt.cli import main
from memopt.opt import main as opt
from memopt.solvers.checker import RejectedError, check, parse, schema

HERE = Path(__file__).parent
CASES = HERE / "certificates"
CHECKER = HERE.parents[1] / "solvers" / "checker.py"


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


def change(*where: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    """Sets what is at `where`."""

    def act(found: dict[str, Any]) -> None:
        inside: Any = found
        for key in where[:-1]:
            inside = inside[key]
        inside[where[-1]] = to

    return act


def add(*where: str | int, entry: Any) -> Callable[[dict[str, Any]], None]:
    """Appends to the list at `where`."""

    def act(found: dict[str, Any]) -> None:
        inside: Any = found
        for key in where:
            inside = inside[key]
        inside.append(entry)

    return act


SEARCH: dict[str, Any] = {"kind": "search", "states": [[0, 0]], "commits": [[0, [0]]]}
G = "graph"
FLOW = ("proof", "flows", 0, "flow")
MALFORMED: dict[str, Callable[[dict[str, Any]], None]] = {
    "unknown key": change("note", to=1),
    "unknown key in graph": change(G, "note", to=1),
    "unknown key in group": change(G, "groups", 0, "note", to=1),
    "unknown key in proof": change("proof", "note", to=1),
    "unknown key in flow": change("proof", "flows", 0, "note", to=1),
    "both kinds": change("proof", "states", to=[]),
    "format": change("format", to="memopt certificate 2"),
    "format no text": change("format", to=1),
    "hash no text": change("sha256", to=1),
    "graph no object": change(G, to=[]),
    "order no list": change("order", to={}),
    "order short": change("order", to=[0, 1, 2]),
    "order twice": change("order", to=[0, 1, 2, 2]),
    "order beyond": change("order", to=[0, 1, 2, 4]),
    "peak negative": change("peak", to=-1),
    "peak beyond": change("peak", to=1 << 63),
    "bound negative": change("lower_bound", to=-1),
    "bound null": change("lower_bound", to=None),
    "alignment 0": change(G, "alignment", to=0),
    "alignment true": change(G, "alignment", to=True),
    "names no text": change(G, "names", 0, to=1),
    "names more": add(G, "names", entry="e"),
    "predecessors fewer": change(G, "predecessors", to=[[], [], [0]]),
    "predecessor twice": change(G, "predecessors", 2, to=[0, 0]),
    "predecessors descend": change(G, "predecessors", 3, to=[1, 0]),
    "predecessor negative": change(G, "predecessors", 3, to=[-3]),
    "predecessor beyond": change(G, "predecessors", 3, to=[4]),
    "groups an object": change(G, "groups", to={}),
    "group name": change(G, "groups", 0, "name", to=None),
    "size negative": change(G, "groups", 0, "size", to=-1),
    "size beyond": change(G, "groups", 0, "size", to=1 << 63),
    "flag 1": change(G, "groups", 0, "is_input", to=1),
    "flag null": change(G, "groups", 0, "is_output", to=None),
    "writers twice": change(G, "groups", 1, "writers", to=[0, 0]),
    "readers descend": change(G, "groups", 0, "readers", to=[1, 0]),
    "reader true": change(G, "groups", 0, "readers", to=[0, True]),
    "workspace short": change(G, "workspace", to=[0, 0, 0]),
    "workspace beyond": change(G, "workspace", 0, to=-(1 << 63) - 1),
    "workspace false": change(G, "workspace", 0, to=False),
    "choice of two": change(G, "inplace", to=[[2, 3]]),
    "choice twice": change(G, "inplace", to=[[2, 3, 1], [2, 3, 1]]),
    "choice beyond": change(G, "inplace", to=[[2, 3, 5]]),
    "operator in place beyond": change(G, "inplace", to=[[4, 3, 1]]),
    "kind": change("proof", "kind", to="search"),
    "kind null": change("proof", "kind", to=None),
    "operator beyond": change("proof", "operator", to=4),
    "operator negative": change("proof", "operator", to=-2),
    "operand text": change("proof", "flows", 0, "operand", to="0"),
    "operand false": change("proof", "flows", 0, "operand", to=False),
    "operand beyond": change("proof", "flows", 0, "operand", to=5),
    "operand twice": add("proof", "flows", entry={"operand": None, "flow": []}),
    "arc twice": add(*FLOW, entry=[4, 5, 0]),
    "arc of two": add(*FLOW, entry=[4, 6]),
    "arc of four": add(*FLOW, entry=[4, 6, 0, 0]),
    "arc beyond": add(*FLOW, entry=[4, 16, 0]),
    "arc negative": add(*FLOW, entry=[-1, 5, 0]),
    "amount beyond": change(*FLOW, 0, 2, to=1 << 63),
    "amount true": change(*FLOW, 0, 2, to=True),
    "parent beyond": change("proof", to=SEARCH | {"states": [[1, 0]]}),
    "parent negative": change("proof", to=SEARCH | {"states": [[-1, 0]]}),
    "parent true": change("proof", to=SEARCH | {"states": [[0, 0], [True, 1]]}),
    "state empty": change("proof", to=SEARCH | {"states": [[]]}),
    "state no list": change("proof", to=SEARCH | {"states": [0]}),
    "operators of a state twice": change("proof", to=SEARCH | {"states": [[0, 0, 0]]}),
    "operators of a state beyond": change("proof", to=SEARCH | {"states": [[0, 4]]}),
    "commit twice": change("proof", to=SEARCH | {"commits": [[0, [0]], [0, [0]]]}),
    "commit of one": change("proof", to=SEARCH | {"commits": [[0]]}),
    "commit of none": change("proof", to=SEARCH | {"commits": [[]]}),
    "commit of four": change("proof", to=SEARCH | {"commits": [[0, [0], [], []]]}),
    "commit of nobody": change("proof", to=SEARCH | {"commits": [[2, [0]]]}),
    "operators of a commit twice": change("proof", to=SEARCH | {"commits": [[0, [0, 0]]]}),
    "arc of a commit": change("proof", to=SEARCH | {"commits": [[0, [0], [[4, 5]]]]}),
    "arc of a commit twice": change(
        "proof", to=SEARCH | {"commits": [[0, [0], [[4, 5, 0], [4, 5, 0]]]]}
    ),
    "backward 1": change("proof", to=SEARCH | {"backward": 1}),
    "states missing": change("proof", to={"kind": "search", "commits": []}),
    "proof a list": change("proof", to=["flows"]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_exactly_one_form(name: str) -> None:
    found = parse((CASES / "f1.src.cert").read_text())
    schema(found)
    MALFORMED[name](found)
    for judge in (schema, check):
        with pytest.raises(RejectedError, match="malformed"):
            judge(json.loads(json.dumps(found)))


def test_what_is_no_object_at_all() -> None:
    values: tuple[Any, ...] = (None, [], 1, "", True, {1: 2}, [{}])
    for value in values:
        with pytest.raises(RejectedError, match="malformed"):
            check(value)
