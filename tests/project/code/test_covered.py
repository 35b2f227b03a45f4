"""`make coverage` prints what the tests cover and fails where it is too little."""

import importlib.util
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

SCRIPT = ROOT / "tests" / "covered.py"


def report(total: float, **modules: float) -> dict[str, Any]:
    files = {
        f"solvers/{name}.py": {"summary": {"percent_covered": part, "num_statements": 9}}
        for name, part in modules.items()
    }
    files["solvers/__init__.py"] = {"summary": {"percent_covered": 0, "num_statements": 0}}
    return {"totals": {"percent_covered": total}, "files": files}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (report(90.0, a=70.0, b=99.0), []),
        (report(89.9, a=70.0), ["in all: 89.9 %"]),
        (report(95.0, a=69.9, b=99.0), ["solvers/a.py: 69.9 %"]),
    ],
)
def test_too_little_is_named_and_fails(
    given: dict[str, Any], said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(given))
    (tmp_path / "shared" / "models").mkdir(parents=True)
    command = [sys.executable, str(SCRIPT), str(path)]
    monkeypatch.setenv("MEMOPT_SHARED", str(tmp_path / "shared"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == bool(said)
    assert f"{given['totals']['percent_covered']} %  in all" in done.stdout
    assert len(done.stderr.splitlines()) == len(said)
    assert all(text in done.stderr for text in said)
    monkeypatch.setenv("MEMOPT_SHARED", str(tmp_path / "none"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and ("not judged: without" in done.stdout) == bool(said)


def test_what_needs_pytorch_is_judged_where_that_is(tmp_path: Path) -> None:
    given = report(95.0, a=99.0)
    entry = {"summary": {"percent_covered": 10.0, "num_statements": 9}}
    given["files"]["src/memopt/torch/graph.py"] = entry
    path, shared = tmp_path / "report.json", tmp_path / "shared"
    path.write_text(json.dumps(given))
    (shared / "models").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(path)],
        env={"MEMOPT_SHARED": str(shared)},
        capture_output=True,
        text=True,
        check=False,
    )
    there = importlib.util.find_spec("torch") is not None
    assert done.returncode == there and ("whose tests need PyTorch" in done.stdout) != there


def test_every_room_is_counted_and_each_file_once() -> None:
    """By the folder that its link leads to: a link would count a file under two names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["run"]
    front = ROOT / "src" / "memopt"
    rooms = {p.resolve().relative_to(ROOT).as_posix() for p in front.iterdir() if p.is_symlink()}
    assert set(settings["source"]) == {"src/memopt", *rooms}
    assert settings["branch"] and "subprocess" in settings["patch"]
    assert importlib.util.find_spec("coverage") is not None


@pytest.mark.deep
def test_a_process_that_a_test_starts_is_counted_wherever_it_works(tmp_path: Path) -> None:
    """Also where it is started by another process, in another folder."""
    inner = "import memopt.dialects.memgraph.errors"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], cwd='/')"
    script = tmp_path / "outer.py"
    script.write_text(outer)
    data = tmp_path / "data"
    coverage = [sys.executable, "-m", "coverage"]
    for step in (
        ["run", f"--data-file={data}", str(script)],
        ["combine", "-q", f"--data-file={data}"],
        ["json", "-q", f"--data-file={data}", "-o", str(tmp_path / "report.json")],
    ):
        subprocess.run([*coverage, *step], cwd=ROOT, check=True, capture_output=True)
    found = json.loads((tmp_path / "report.json").read_text())["files"]
    assert found["dialects/memgraph/errors.py"]["summary"]["covered_lines"] > 0
    assert not [path for path in found if path.startswith("src/memopt/dialects")]
