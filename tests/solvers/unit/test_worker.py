"""The process that solves integer programs: reused, replaced, never in the way of the run."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from ortools.sat.python import cp_model
from processes import HANG, gone

from memopt.solvers import clock, joint
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, live_ranges
from memopt.solvers.programs import cp_solver, mathopt, worker
from memopt.solvers.programs.cp_solver import Limit, helper, solve, start_from
from memopt.solvers.programs.mathopt import fulfils, new_model
from memopt.solvers.scheduling import schedule

GRAPHS = sorted((Path(__file__).parent / "joint").glob("*.json"))
CHAIN = MemoryGraph(
    ("a", "b"), ((), (0,)), (Group("x", 4, (0,), (1,)), Group("y", 4, (1,), is_output=True))
)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No process is left by another test, nor for it."""
    worker.stop()
    yield
    worker.stop()


def easy() -> tuple[cp_model.CpModel, Any]:
    model = cp_model.CpModel()
    x = model.new_int_var(0, 9, "x")
    model.add(2 * x >= 5)
    model.minimize(x)
    return model, x


def stub(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let another program answer: it has said that it is ready."""
    ready = "import sys, os, time; from memopt.solvers.programs.messages import write;"
    ready += "write(sys.stdout.buffer, ('ready',));"
    path = f"import sys; sys.path[:] = {sys.path!r};"
    monkeypatch.setattr(worker, "command", lambda: [sys.executable, "-c", path + ready + code])


def test_one_process_is_reused_for_both_solvers() -> None:
    model, x = easy()
    assert solve(model, Limit()).value(x) == 3
    (pid,) = worker.running()
    for solver in ("cp-sat", "highs"):
        program = new_model(solver)
        y = program.new_int_var(2, 5, "y")
        assert program.minimize(y).bound == 2
        assert worker.running() == [pid]


def test_what_native_code_prints_does_not_disturb_the_answer() -> None:
    model, _ = easy()
    noise = "log_search_progress: true log_to_stdout: true"
    text = worker.ask("cp-sat", (str(model.proto), noise), None)
    answer = helper.CpSolverResponse()
    assert answer.parse_text_format(text) and answer.objective_value == 3


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("print('F00 a.cc:7] Check failed: x', file=sys.stderr); os.abort()", "SIGABRT, F00 a.cc"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("sys.exit(3)", "exit code 3"),
        ("write(sys.stdout.buffer, ('failed', 'ValueError: no'))", "ValueError: no"),
    ],
)
def test_its_death_is_one_line_and_no_proof(
    code: str, why: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stub(monkeypatch, code)
    found = schedule(CHAIN, "ilp", bound="none", warm_start="none")
    assert (found.order, found.peak, found.proof) == ((0, 1), 8, "none")
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("memopt: the process that solves integer programs died (") and why in err
    assert worker.running() == []


def test_the_next_program_gets_another_process() -> None:
    model, x = easy()
    solve(model, Limit())
    (pid,) = worker.running()
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert solve(model, Limit()).value(x) == 3
    assert worker.running() != [pid]


def test_a_process_that_cannot_be_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(worker, "command", lambda: ["/nowhere/python"])
    assert solve(easy()[0], Limit()).status == "UNKNOWN"
    assert "it cannot be started" in capsys.readouterr().err


def test_who_does_not_answer_in_time_is_ended(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It has the program and tells of an incumbent; then the limit and the grace pass."""
    stub(
        monkeypatch,
        "sys.stdin.buffer.read(8);"
        "write(sys.stdout.buffer, ('told', float(os.getpid()), 0.0)); time.sleep(1e6)",
    )
    seconds, told = [0.0], list[int]()

    def pass_by(objective: float, bound: float) -> None:
        told.append(int(objective))
        seconds[0] = 100 + worker.grace(100)

    with clock.reading(lambda: seconds[0]):
        assert solve(easy()[0], Limit(100), told=pass_by).status == "UNKNOWN"
    assert len(told) == 1 and gone(told[0])
    assert capfd.readouterr() == ("", "")


def test_no_time_is_no_process() -> None:
    assert solve(easy()[0], Limit(0.0)).status == "UNKNOWN"
    assert worker.running() == []


def test_ctrl_c_while_the_waiting_processes_end_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[int] = []

    class Interrupted:
        def close(self) -> None:
            closed.append(1)
            raise KeyboardInterrupt

    monkeypatch.setattr(worker, "_idle", [Interrupted(), Interrupted()])
    worker.stop()
    assert len(closed) == 2


def test_the_grace_is_within_what_a_limit_promises() -> None:
    assert all(worker.grace(s) <= 0.1 * s + 1 for s in (0, 0.1, 1, 10, 1000))


ENDLESS = """
import sys
from random import Random
from ortools.sat.python import cp_model
from memopt.solvers.programs import worker
from memopt.solvers.programs.cp_solver import Limit, solve
worker.stop()
hard, r = cp_model.CpModel(), Random(1)
x = [hard.new_int_var(0, 10_000, "") for _ in range(300)]
for i in range(300):
    for j in range(i):
        hard.add_no_overlap([hard.new_fixed_size_interval_var(v, r.randint(1, 90), "")
                             for v in (x[i], x[j])])
top = hard.new_int_var(0, 20_000, "")
hard.add_max_equality(top, x)
hard.minimize(top)
"""


@pytest.mark.deep
def test_it_ends_with_its_parent_also_while_it_solves() -> None:
    """No main guard either: a script of the user is not run again."""
    code = ENDLESS + (
        "old = worker.Worker.__init__\n"
        "def note(self, arguments):\n"
        "    old(self, arguments); print(self.pid, flush=True)\n"
        "worker.Worker.__init__ = note\n"
        "solve(hard, Limit())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.5)
        parent.kill()
    assert gone(pid)


@pytest.mark.parametrize("flags", [["-I"], []])
def test_a_script_without_a_main_guard_beside_files_of_other_names(
    flags: list[str], tmp_path: Path
) -> None:
    """Run once, from a folder whose files have the names of modules that are needed."""
    for name in ("json", "pickle", "ortools", "memopt"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong file')")
    script = tmp_path / "sub" / "script.py"
    script.parent.mkdir()
    script.write_text(
        f"import sys\nsys.path[:] = {sys.path!r}\nprint('once')\n"
        "from memopt.solvers.problems.memory_graph import Group, MemoryGraph\n"
        "from memopt.solvers.scheduling import schedule\n"
        f"print(schedule({CHAIN!r}, 'ilp', bound='none', warm_start='none').proof)\n"
    )
    done = subprocess.run(
        [sys.executable, *flags, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG,
    )
    assert (done.stdout, done.stderr) == ("once\nilp\n", "")


# -- hints --------------------------------------------------------------------------------------


def arranged() -> tuple[cp_model.CpModel, list[Any]]:
    """Every kind of constraint that the programs are made of."""
    model = cp_model.CpModel()
    a, b = model.new_bool_var("a"), model.new_bool_var("b")
    x, y, z = (model.new_int_var(0, 9, n) for n in "xyz")
    model.add(x + y <= 9)
    model.add_exactly_one([a, b])
    model.add_implication(a, ~b)
    model.add_bool_or([a, ~b])
    model.add_at_most_one([a, b])
    enforced: Any = model.add(z >= 5)
    enforced.only_enforce_if(a)
    spans = [model.new_fixed_size_interval_var(v, 3, "") for v in (x, y)]
    model.add_no_overlap(spans)
    there = [model.new_optional_fixed_size_interval_var(z, 2, a, "")]
    there.append(model.new_fixed_size_interval_var(1, 2, ""))
    flat = [model.new_fixed_size_interval_var(v, 3, "") for v in (x, y)]
    model.add_no_overlap_2d(there, flat)
    return model, [a, b, x, y, z]


@pytest.mark.parametrize(
    ("values", "good"),
    [
        ((1, 0, 0, 3, 5), True),
        ((1, 0, 3, 0, 5), True),
        ((1, 0, 3, 7, 5), False),  # x + y
        ((1, 0, 0, 2, 5), False),  # overlap
        ((1, 0, 0, 3, 4), False),  # z, as a is true
        ((1, 1, 0, 3, 5), False),  # exactly one
        ((0, 1, 0, 3, 5), False),  # a, or not b
        ((1, 0, 0, 3, 10), False),  # out of range
    ],
)
def test_a_hint_is_held_against_every_constraint(values: tuple[int, ...], good: bool) -> None:
    model, variables = arranged()
    assert start_from(model, zip(variables, values, strict=True)) is good
    program: Any = model.proto
    assert len(program.solution_hint.vars) == (5 if good else 0)
    fixed, same = arranged()
    for variable, value in zip(same, values, strict=True):
        if 0 <= value <= 9:
            fixed.add(variable == value)
    solved = cp_model.CpSolver().solve(fixed) == cp_model.OPTIMAL
    assert solved is good or 10 in values


def test_a_hint_for_some_variables_is_none() -> None:
    model, variables = arranged()
    assert not start_from(model, [(variables[0], 1)])
    assert not start_from(model, [])


def test_a_hint_is_held_against_constraints_until_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look at the clock takes a second: a program of five constraints is not even sent."""
    asked: list[str] = []

    def ask(kind: str, *_: object) -> None:
        asked.append(kind)

    monkeypatch.setattr(worker, "ask", ask)
    for seconds in (0.0, 2.0, 1_000.0):
        model, variables = arranged()
        ticks = count()
        with clock.reading(lambda: float(next(ticks))):  # noqa: B023
            answer = solve(model, Limit(seconds), zip(variables, (1, 0, 0, 3, 5), strict=True))
        assert answer.status == "UNKNOWN"
        assert len(asked) == (seconds == 1_000.0)


def test_rectangles_that_meet_are_no_solution() -> None:
    model = cp_model.CpModel()
    x, y = model.new_int_var(0, 9, "x"), model.new_int_var(0, 9, "y")
    times = [model.new_fixed_size_interval_var(v, 2, "") for v in (x, 4)]
    spaces = [model.new_fixed_size_interval_var(v, 3, "") for v in (y, 5)]
    model.add_no_overlap_2d(times, spaces)
    for (a, b), good in {(2, 5): True, (3, 5): False, (3, 2): True, (5, 7): False}.items():
        assert start_from(model, [(x, a), (y, b)]) is good
        program: Any = model.proto
        program.clear_solution_hint()


@pytest.mark.parametrize("method", ["ilp", "ilp-olla"])
def test_a_known_order_is_a_solution_of_the_programs(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every variable of a program is told, so the order that is known is where it starts."""
    heard: list[bool] = []

    def hint(model: Any, pairs: Any, deadline: float | None) -> bool:
        heard.append(start_from(model, pairs, deadline))
        return heard[-1]

    def fulfilled(program: Any, values: list[float]) -> bool:
        heard.append(fulfils(program, values))
        return heard[-1]

    monkeypatch.setattr(cp_solver, "start_from", hint)
    monkeypatch.setattr(mathopt, "fulfils", fulfilled)
    for path in GRAPHS:
        graph, order = read_graph(path)
        for solver in ("cp-sat", "highs"):
            found = schedule(graph, method, warm_start=tuple(order), bound="none", solver=solver)
            assert found.proof == "ilp"
    assert heard == [True] * (2 * len(GRAPHS))


# -- the joint program --------------------------------------------------------------------------


def read_graph(path: Path) -> tuple[MemoryGraph, list[int]]:
    """A memory graph as its fields, with an order of it."""
    data: Any = json.loads(path.read_text())
    graph: dict[str, Any] = data["graph"]
    groups = tuple(
        Group(
            g["name"],
            g["size"],
            tuple(g["writers"]),
            tuple(g["readers"]),
            g["is_input"],
            g["is_output"],
        )
        for g in graph["groups"]
    )
    inplace = tuple(InPlace(*c) for c in graph["inplace"])
    before = tuple(tuple[int, ...](p) for p in graph["predecessors"])
    extra = tuple(graph["workspace"])
    names = tuple(graph["names"])
    return MemoryGraph(names, before, groups, extra, inplace, graph["alignment"]), data["order"]


@pytest.mark.parametrize("path", GRAPHS, ids=[p.stem for p in GRAPHS])
def test_joint_of_graphs_that_made_cp_sat_abort(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """From any order, and whatever is known of the peak."""
    graph, order = read_graph(path)
    for bound in (0, schedule(graph, "auto").lower_bound):
        found = joint.solve(graph, order, bound)
        found.placement.verify(live_ranges(graph, found.order))
        assert found.settled
    assert capfd.readouterr() == ("", "")
