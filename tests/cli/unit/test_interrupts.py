"""Ctrl-C or SIGTERM while an integer program is solved: exit code 130 or 143, nothing is written.

Ctrl-C is a real signal to the whole group of the command, as a terminal sends it, SIGTERM one to it
alone, once the process that solves is there.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from deep import deep_but
from processes import HANG, gone

PYTHON = "import sys; from memopt.{} import main; sys.exit(main(sys.argv[1:]))"
SAYS_WHEN_IT_SEARCHES = """
import signal, sys
def say(number, frame):
    while frame is not None:
        if frame.f_code.co_name == "solve" and "solvers" in frame.f_code.co_filename:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            print("searches", flush=True)
            return
        frame = frame.f_back
signal.signal(signal.SIGVTALRM, say)
signal.setitimer(signal.ITIMER_VIRTUAL, 0.5, 0.5)  # of CPU time
"""


def graph(operators: int, seed: int) -> str:
    """Layers that all methods take long for: every operator reads three earlier ones."""
    rng = random.Random(seed)
    sizes = [rng.randint(100, 1000) for _ in range(operators)]
    tensors = [{"name": f"t{v}", "bytes": size} for v, size in enumerate(sizes)]
    nodes = [
        {
            "name": f"n{v}",
            "op": "Mix",
            "inputs": [f"t{u}" for u in rng.sample(range(max(0, v - 25), v), min(v, 2))] or ["x"],
            "outputs": [f"t{v}"],
        }
        for v in range(operators)
    ]
    read = {name for node in nodes for name in node["inputs"]}
    outputs = [t["name"] for t in tensors if t["name"] not in read]
    tensors.append({"name": "x", "bytes": 64})
    names = {"name": "hard", "graph_inputs": ["x"], "graph_outputs": outputs}
    return json.dumps({**names, "tensors": tensors, "nodes": nodes})


def buffers(count: int) -> str:
    """Live ranges and sizes that leave gaps between the least load and any placement."""
    rng = random.Random(3)
    lines = ["id,lower,upper,size"]
    for i in range(count):
        lower = rng.randrange(count)
        lines.append(f"b{i},{lower},{lower + rng.randint(5, 60)},{rng.randint(1, 10_000)}")
    return "\n".join(lines) + "\n"


def sums(count: int) -> str:
    """Return a network of sums that all kernels compute, and whose order methods take long for."""
    rng = random.Random(3)
    lines = ["!t = tensor<1x1x1x64xf32>", "func.func @main(%x: !t, %y: !t) -> !t {"]
    values, unread = ["%x", "%y"], ["%x", "%y"]
    while len(values) < count or len(unread) > 1:
        one, other = rng.sample(values[-25:], 2) if len(values) < count else unread[:2]
        values.append(f"%{len(values)}")
        unread = [*(v for v in unread if v not in (one, other)), values[-1]]
        lines.append(f"  {values[-1]} = memgraph.add {one}, {other} : (!t, !t) -> !t")
    return "\n".join([*lines, f"  func.return {unread[0]} : !t", "}"])


def children(pid: int) -> list[int]:
    """Its child processes."""
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def foreground() -> None:
    """SIGINT as at a terminal: after a shell's `&` it is ignored, by every process below."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def command(
    module: str, arguments: list[str], folder: Path, before: str = ""
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", before + PYTHON.format(module), *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=foreground,
    )


def solving(process: "subprocess.Popen[str]", grandchildren: bool = False) -> int:
    """Wait for the process that solves; 0 if the command ends without one."""
    end = time.monotonic() + HANG
    while process.poll() is None and time.monotonic() < end:
        found = children(process.pid)
        if grandchildren:
            found = [g for c in found for g in children(c)]
        if found:
            time.sleep(0.3)  # into the solver
            return found[0]
        time.sleep(0.05)
    return 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hard")
    (path / "hard.json").write_text(graph(120, 1))
    (path / "other.json").write_text(graph(120, 2))
    (path / "hard.csv").write_text(buffers(200))
    (path / "hard.mlir").write_text(sums(120))
    return path


OPT = ["--model=alignment=1", "hard.json", "-o", "out"]


INTERRUPTED = [
    ("cli.opt", ["--schedule=ilp", *OPT]),
    ("cli.opt", ["--schedule=ilp-olla", *OPT]),
    ("cli.opt", ["-p", "memgraph-schedule{method=ilp solver=highs}", "hard.json", "-o", "out"]),
    ("cli", ["place", "hard.csv", "--strategy=cp-sat", "-o", "out"]),
    ("cli.opt", ["--schedule=source", "--place=ilp", *OPT]),
    ("cli.opt", ["--schedule=source", "--place=shared-objects-exact", *OPT]),
    ("cli", ["report", "hard.json", "--no-fuse", "--schedule=ilp", "--html", "out"]),
    ("cli", ["compile", "hard.mlir", "--rows=none", "--no-fuse", "--schedule=ilp", "-o", "folder"]),
]
CASES = [(number, *case) for number in (signal.SIGINT, signal.SIGTERM) for case in INTERRUPTED]


@pytest.mark.deep
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
@pytest.mark.parametrize(
    ("number", "module", "arguments"),
    deep_but([CASES[0], CASES[-1]], CASES, several=True),  # each signal, each command once
)
def test_a_signal_ends_the_command_and_writes_nothing(
    number: signal.Signals, module: str, arguments: list[str], folder: Path
) -> None:
    (folder / "out").write_text("as it was")
    with command(module, arguments, folder) as process:
        worker = solving(process)
        send = os.killpg if number == signal.SIGINT else os.kill
        send(process.pid, number)
        out, err = process.communicate(timeout=HANG)
    assert worker, err
    name = "memopt-opt" if module == "cli.opt" else "memopt"
    code, said = (130, "interrupted") if number == signal.SIGINT else (143, "terminated")
    assert (process.returncode, out, err) == (code, "", f"{name}: {said}\n")
    assert (folder / "out").read_text() == "as it was"
    assert sorted(p.name for p in folder.iterdir()) == [
        "hard.csv",
        "hard.json",
        "hard.mlir",
        "other.json",
        "out",
    ]
    assert gone(worker)


@pytest.mark.deep
@pytest.mark.parametrize(
    "arguments",
    [
        *([f"--schedule={method}"] for method in ("auto", "search", "dp", "liberis")),
        ["--schedule=source", "--place=joint"],
    ],
    ids=" ".join,
)
def test_a_search_in_python_ends_at_ctrl_c(
    arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMOPT_NATIVE", "0")
    with command("cli.opt", [*arguments, *OPT], folder, SAYS_WHEN_IT_SEARCHES) as process:
        assert process.stdout is not None and process.stdout.readline() == "searches\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=HANG)
    assert (process.returncode, out, err) == (130, "", "memopt-opt: interrupted\n")


@pytest.mark.deep
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("cli.opt", ["--schedule=ilp", *OPT]),
        ("cli", ["place", "hard.csv", "--strategy=cp-sat", "-o", "out"]),
    ],
)
def test_a_limit_leaves_no_process_behind(module: str, arguments: list[str], folder: Path) -> None:
    with command(module, [*arguments, "--time-limit=8"], folder) as process:
        worker = solving(process)
        _, err = process.communicate(timeout=HANG)
    assert worker and process.returncode == 0, err
    assert gone(worker)


@pytest.mark.deep
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_killed_solver_is_a_line_and_no_proof(folder: Path) -> None:
    (folder / "out").write_text("as it was")
    with command("cli.opt", ["--schedule=ilp", *OPT, "--stats=json"], folder) as process:
        worker = solving(process)
        assert worker, process.communicate(timeout=HANG)  # 0 would be this process and its group
        os.kill(worker, signal.SIGKILL)
        _, err = process.communicate(timeout=HANG)
    said = err.splitlines()
    assert process.returncode == 0, err
    assert [line for line in said if line.startswith("memopt: the process that solves")] == [
        "memopt: the process that solves integer programs died (signal SIGKILL); what was known "
        "before is the answer, proof = none"
    ]
    last = [line for line in said if line.startswith("{")][-1]
    assert json.loads(last)["proof"] == "none"


@pytest.mark.deep
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
@pytest.mark.parametrize(
    ("send", "number"),
    [(os.killpg, signal.SIGINT), (os.kill, signal.SIGINT), (os.kill, signal.SIGTERM)],
    ids=["a terminal's", "to it alone", "term"],
)
def test_a_signal_ends_a_sweep_with_its_processes(
    send: Callable[[int, int], None], number: signal.Signals, folder: Path
) -> None:
    with command("cli", ["sweep", "hard.json", "other.json", "--jobs=2"], folder) as process:
        end = time.monotonic() + HANG
        while len(children(process.pid)) < 3 and time.monotonic() < end:  # a tracker is one
            time.sleep(0.05)
        started = children(process.pid)
        send(process.pid, number)
        out, err = process.communicate(timeout=HANG)
    code, said = (130, "interrupted") if number == signal.SIGINT else (143, "terminated")
    assert (process.returncode, out) == (code, "")
    assert f"memopt: {said}\n" in err  # Python's own words where a process was just starting
    assert len(started) >= 2
    assert all(map(gone, started))
