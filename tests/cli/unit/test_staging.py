"""Files that a killed run leaves are removed by the next, and nothing else is."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from forge_model import Forge, schema
from processes import HANG

from memopt.cli import main
from memopt.compile.files.folder import MANIFEST
from memopt.compile.files.staging import OWNER, remove_leftovers, staging
from memopt.dialects.memgraph.errors import MemoptError

BETWEEN = """
import sys, time
from memopt.cli import main
from memopt.compile import stages
def wait(*_):
    print("staged", flush=True)
    time.sleep(1000)
stages.publish = wait
from memopt.text.usage import answering
with answering("memopt") as answer:
    answer.code = main(sys.argv[1:])
sys.exit(answer.code)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    forge = Forge(np.random.default_rng(1), True)
    source = forge.input([1, 8])
    forge.operator(schema.BuiltinOperator.RELU, [source], forge.activation([1, 8], source), None, 0)
    return forge.save(tmp_path_factory.mktemp("model") / "small.tflite")


def arguments(model: Path, goal: Path) -> list[str]:
    steps = ["--schedule=source", "--place=greedy-by-size"]
    return ["compile", str(model), "--target=tflm", *steps, "-o", str(goal)]


def stopped(model: Path, goal: Path, number: signal.Signals) -> int:
    """The exit code of a run that gets a signal when its files are there and not yet in `goal`."""
    command = [sys.executable, "-c", BETWEEN, *arguments(model, goal)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None and process.stdout.readline() == b"staged\n"
        process.send_signal(number)
        return process.wait(HANG)


@pytest.mark.deep
@pytest.mark.parametrize("exists", [True, False], ids=["an empty folder", "a new one"])
def test_sigterm_leaves_nothing(exists: bool, model: Path, tmp_path: Path) -> None:
    if exists:
        (tmp_path / "out").mkdir()
    assert stopped(model, tmp_path / "out", signal.SIGTERM) == 143
    assert [p.name for p in tmp_path.rglob("*")] == ["out"] * exists


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["empty", "new", "own"])
def test_the_run_after_a_killed_one(kind: str, model: Path, tmp_path: Path) -> None:
    """SIGKILL leaves the files where they waited; the next run writes as if it had not been."""
    goal = tmp_path / "out"
    if kind == "empty":
        goal.mkdir()
    elif kind == "own":
        assert main(arguments(model, goal)) == 0
    assert stopped(model, goal, signal.SIGKILL) == -signal.SIGKILL
    assert [p.name for p in tmp_path.rglob(".memopt-*")]
    assert main(arguments(model, goal)) == 0
    assert not [p.name for p in tmp_path.rglob(".memopt-*")]
    assert sorted(p.name for p in goal.iterdir()) == [
        *(MANIFEST, "plan.mlir", "report.json", "small.tflite")
    ]


def leftover(folder: Path, **other: object) -> Path:
    """Make what a killed run leaves in a folder."""
    path = folder / ".memopt-abcd_123"
    (path / "out/kernels").mkdir(parents=True)
    (path / "out/kernels/memopt_copy.c").write_text("made")
    said = {"format": 1, "name": path.name, "inode": path.stat().st_ino}
    (path / OWNER).write_text(json.dumps(said | other))
    return path


def test_it_goes(tmp_path: Path) -> None:
    leftover(tmp_path)
    (tmp_path / ".memopt-empty__0").mkdir()
    (tmp_path / "file").write_text("mine")
    remove_leftovers(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_an_empty_folder_may_be_gone_before_its_owner_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a folder that another run removes, as a leftover or because both go into it."""
    folders: list[Path] = []
    make = tempfile.mkdtemp

    def raced(**where: Path) -> str:
        folders.append(Path(make(dir=where["dir"], prefix=".memopt-")))
        if len(folders) == 1:
            remove_leftovers(folders[0].parent)
        elif len(folders) == 2:
            folders[1].rmdir()
            folders[1].parent.rmdir()
        return str(folders[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", raced)
    goal = tmp_path / "new/out"
    with staging(goal) as staged:
        assert staged.parent == folders[2] and len(folders) == 3
    assert [p.name for p in tmp_path.rglob("*")] == ["new"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(MemoptError, match="No such file"), staging(Path("/proc/none/out")):
        pass


def no_owner(path: Path) -> None:
    (path / OWNER).unlink()


def a_file_of_the_users(path: Path) -> None:
    (path / "notes.txt").write_text("mine")


def a_link(path: Path) -> None:
    (path / "out/link").symlink_to("kernels")


def a_pipe(path: Path) -> None:
    os.mkfifo(path / "out/pipe")


def another_name(path: Path) -> None:
    path.rename(path.with_name(".memopt-abcd_124"))


def no_json(path: Path) -> None:
    (path / OWNER).write_text("{")


@pytest.mark.parametrize(
    "change", [no_owner, a_file_of_the_users, a_link, a_pipe, another_name, no_json]
)
def test_what_is_not_provably_memopts_stays(
    change: "object", model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(leftover(tmp_path))  # type: ignore[operator]
    before = sorted(tmp_path.rglob("*"))
    remove_leftovers(tmp_path)
    assert main(arguments(model, tmp_path)) == 1
    error = capsys.readouterr().err
    assert "not made by memopt" in error and "name a new folder, or remove that" in error
    assert sorted(tmp_path.rglob("*")) == before


def test_a_copy_of_a_folder_stays(tmp_path: Path) -> None:
    path = leftover(tmp_path, inode=1)
    remove_leftovers(tmp_path)
    assert path.exists()


def test_what_a_run_works_in_stays(tmp_path: Path) -> None:
    """Its lock ends with the process, so that no time limit is needed."""
    with staging(tmp_path) as staged:
        (staged / "file").write_text("made")
        remove_leftovers(tmp_path)
        with staging(tmp_path) as other:
            assert other.is_dir() and staged.is_dir()
        assert (staged / "file").exists()
    assert not list(tmp_path.iterdir())
