"""The folder of `memopt compile`: new, empty or memopt's own; no file of the user's is lost."""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import Forge, schema

from memopt.cli import main
from memopt.compile import stages
from memopt.compile.files import folder
from memopt.compile.files.folder import MANIFEST

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One operator: what is written counts here, not what of."""
    forge = Forge(np.random.default_rng(1), True)
    source = forge.input([1, 8])
    kind = schema.BuiltinOperator.RELU
    forge.operator(kind, [source], forge.activation([1, 8], source), None, 0)
    return forge.save(tmp_path_factory.mktemp("model") / "small.tflite")


def compiled(model: Path, goal: Path, *more: str, target: str = "tflm") -> int:
    planning = ("--schedule=source", "--place=greedy-by-size")
    return main(["compile", str(model), f"--target={target}", *planning, "-o", str(goal), *more])


def tree(path: Path) -> dict[str, bytes]:
    """Name -> bytes of every file, of links where they lead."""
    return {
        p.relative_to(path).as_posix(): str(p.readlink()).encode()
        if p.is_symlink()
        else p.read_bytes()
        for p in sorted(path.rglob("*"))
        if p.is_symlink() or p.is_file()
    }


def listed(goal: Path) -> dict[str, str]:
    manifest = json.loads((goal / MANIFEST).read_text())
    assert manifest["format"] == 1
    return {row["name"]: row["sha256"] for row in manifest["files"]}


def refused(capsys: Capture, model: Path, goal: Path, *more: str, target: str = "tflm") -> str:
    """The one line of an error that left everything as it was."""
    before = tree(goal)
    capsys.readouterr()
    assert compiled(model, goal, *more, target=target) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert tree(goal) == before
    return error


def test_a_folder_of_the_user_is_refused_and_nothing_in_it_touched(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    goal = tmp_path / "project"
    for name in ("README.md", "Makefile", "main.c", "kernels/mine.c", "platform/mine.c"):
        (goal / name).parent.mkdir(parents=True, exist_ok=True)
        (goal / name).write_text("mine")
    monkeypatch.chdir(goal)
    for target in ("host", "tflm"):
        for more in ((), ("--force",)):
            error = refused(capsys, model, Path(), *more, target=target)
            assert "not made by memopt" in error
            assert "Makefile" in error
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / ".git").mkdir()
    assert ".git" in refused(capsys, model, hidden)


def test_new_empty_and_own_folders_are_written(model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    for goal in (tmp_path / "a" / "b", tmp_path / "empty", tmp_path / "link"):
        for _ in range(2):
            assert compiled(model, goal) == 0
            found = {n: hashlib.sha256(d).hexdigest() for n, d in tree(goal).items()}
            found.pop(MANIFEST)
            assert found == listed(goal)
            assert sorted(found) == ["plan.mlir", "report.json", "small.tflite"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "empty", "link"]


def test_the_working_directory_if_it_is_empty(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inode = tmp_path.stat().st_ino
    assert compiled(model, Path()) == 0
    assert tmp_path.stat().st_ino == inode  # a shell stands in it
    assert "plan.mlir" in listed(tmp_path)


def test_what_is_no_longer_made_goes_and_what_is_the_users_stays(
    model: Path, tmp_path: Path
) -> None:
    goal = tmp_path / "out"
    assert compiled(model, goal, target="host") == 0
    run = ["make", "-s", "-C", str(goal), f"IN={model}"]
    subprocess.run(run, check=True, capture_output=True)
    (goal / "kernels" / "mine.c").write_text("mine")
    (goal / "notes.txt").write_text("mine")
    objects = {n: d for n, d in tree(goal).items() if n.startswith("build/")}
    assert objects
    times = (goal / "main.c").stat().st_mtime_ns
    assert compiled(model, goal, target="host") == 0
    assert (goal / "main.c").stat().st_mtime_ns == times  # make has nothing to do again
    assert compiled(model, goal) == 0
    left = tree(goal)
    assert {n: left[n] for n in objects} == objects
    assert set(left) - set(objects) == {
        *(MANIFEST, "kernels/mine.c", "notes.txt"),
        *("plan.mlir", "report.json", "small.tflite"),
    }
    assert not (goal / "platform").exists()


def test_an_edited_file_is_refused_by_name_and_force_overwrites_it(
    model: Path, tmp_path: Path, capsys: Capture
) -> None:
    goal = tmp_path / "out"
    assert compiled(model, goal, target="host") == 0
    original = (goal / "main.c").read_bytes()
    (goal / "main.c").write_text("edited")
    error = refused(capsys, model, goal, target="host")
    assert "main.c" in error
    assert "--force" in error
    assert "main.c" in refused(capsys, model, goal)  # it would be removed
    assert compiled(model, goal, "--force", target="host") == 0
    assert (goal / "main.c").read_bytes() == original
    (goal / "main.c").write_text("edited")
    assert compiled(model, goal, "--force") == 0
    assert (goal / "main.c").read_text() == "edited"  # only what is listed and unedited goes
    assert "main.c" not in listed(goal)
    assert not (goal / "Makefile").exists()
    for more in ((), ("--force",)):
        error = refused(capsys, model, goal, *more, target="host")
        assert "main.c" in error
        assert "not written by memopt" in error


def test_a_file_that_the_user_removed_comes_back(model: Path, tmp_path: Path) -> None:
    goal = tmp_path / "out"
    assert compiled(model, goal) == 0
    (goal / "small.tflite").unlink()
    assert compiled(model, goal) == 0
    assert (goal / "small.tflite").exists()


def rows(*pairs: tuple[Any, Any]) -> str:
    return json.dumps({"format": 1, "files": [{"name": n, "sha256": s} for n, s in pairs]})


SECRET = b"secret"
HASH = hashlib.sha256(SECRET).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        *(rows((name, HASH)) for name in ("../secret", "/etc/passwd", "a/../../secret", "a//b")),
        *(rows((name, HASH)) for name in ("", ".", "..", "./x", "x/", "a\0b", "\ud800", MANIFEST)),
        *(rows((name, HASH)) for name in (1, None, True, ["x"], {"x": 1})),
        *(rows(("x", digest)) for digest in ("", "0", HASH.upper(), HASH + "\n", 1, None)),
        *("", "{}", "[]", "1", "null", "{", "[" * 100_000, "\xff", '{"format": 1}'),
        *('{"format": 2, "files": []}', '{"format": true, "files": []}'),
        *('{"format": 1.0, "files": []}', '{"format": 1, "files": {}}'),
        *('{"format": 1, "files": [1]}', '{"format": 1, "files": [], "more": 1}'),
        '{"format": 1, "files": [{"name": "x"}]}',
    ],
)
def test_a_manifest_that_is_none_makes_the_folder_the_users(
    text: str, model: Path, tmp_path: Path, capsys: Capture
) -> None:
    goal = tmp_path / "out"
    goal.mkdir()
    (tmp_path / "secret").write_bytes(SECRET)
    (goal / MANIFEST).write_text(text, encoding="latin-1" if text == "\xff" else "utf-8")
    for more in ((), ("--force",)):
        assert "is no manifest of memopt" in refused(capsys, model, goal, *more)
    assert (tmp_path / "secret").read_bytes() == SECRET


def test_nothing_is_read_or_written_through_a_link(
    model: Path, tmp_path: Path, capsys: Capture
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    (outside / "plan.mlir").write_bytes(SECRET)
    goal = tmp_path / "out"
    goal.mkdir()
    (goal / "folder").symlink_to(outside)
    (goal / "plan.mlir").symlink_to(outside / "plan.mlir")
    (goal / "stale").symlink_to(outside / "secret")
    os.mkfifo(goal / "pipe")
    names = ("folder/secret", "stale", "pipe")
    (goal / MANIFEST).write_text(rows(*((n, HASH) for n in names)))
    error = refused(capsys, model, goal)
    assert all(name in error for name in names)
    assert "plan.mlir: error: is a link" in refused(capsys, model, goal, "--force")
    (goal / "plan.mlir").unlink()
    assert compiled(model, goal, "--force") == 0
    assert tree(outside) == {"secret": SECRET, "plan.mlir": SECRET}
    assert (goal / "stale").is_symlink() and (goal / "folder").is_symlink()
    (goal / MANIFEST).rename(outside / "manifest")
    (goal / MANIFEST).symlink_to(outside / "manifest")
    assert "is a link" in refused(capsys, model, goal, "--force")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    assert "no folder" in refused(capsys, model, tmp_path / "dangling")


def test_generated_folders_behind_links_are_not_written(
    model: Path, tmp_path: Path, capsys: Capture
) -> None:
    goal, outside = tmp_path / "out", tmp_path / "outside"
    outside.mkdir()
    assert compiled(model, goal, target="host") == 0
    for file in (goal / "platform").iterdir():
        file.unlink()
    (goal / "platform").rmdir()
    (goal / "platform").symlink_to(outside)
    for more in ((), ("--force",)):
        assert "platform" in refused(capsys, model, goal, *more, target="host")
    assert not tree(outside)


def test_the_model_itself_survives(model: Path, tmp_path: Path, capsys: Capture) -> None:
    goal = tmp_path / "out"
    assert compiled(model, goal) == 0
    for name in ("small.tflite", "plan.mlir"):
        for more in ((), ("--force",)):
            error = refused(capsys, goal / name, goal, *more, target="host")
            assert f"{name}: error: is read by this run" in error


@pytest.mark.parametrize(
    ("first", "second", "moves"),
    [("host", "tflm", 0), ("host", "tflm", 3), *(("tflm", "host", n) for n in (0, 1, 2, 9))],
)
def test_an_interrupted_run_is_repaired_by_the_next(
    first: str,
    second: str,
    moves: int,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    goal = tmp_path / "out"
    assert compiled(model, goal, target=first) == 0
    publish = folder.publish

    def until(action: Any, left: list[int]) -> Any:
        def call(self: Path, *arguments: Any, **options: Any) -> Any:
            if MANIFEST not in self.name:
                if not left[0]:
                    raise KeyboardInterrupt
                left[0] -= 1
            return action(self, *arguments, **options)

        return call

    def interrupted(*arguments: Any) -> None:
        left = [moves]
        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", until(Path.unlink, left))
            patch.setattr(Path, "replace", until(Path.replace, left))
            publish(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(stages, "publish", interrupted)
        assert compiled(model, goal, target=second) == 130
    assert tree(goal)
    assert compiled(model, goal, target=second) == 0, capsys.readouterr().err
    found = tree(goal)
    assert compiled(model, tmp_path / "fresh", target=second) == 0
    assert sorted(found) == sorted(tree(tmp_path / "fresh"))
    assert {n: hashlib.sha256(d).hexdigest() for n, d in found.items() if n != MANIFEST} == listed(
        goal
    )


def test_a_failure_leaves_no_folder_behind(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stages, "publish", fail)
    (tmp_path / "empty").mkdir()
    for goal in ("a/b/c", "empty"):
        assert compiled(model, tmp_path / goal) == 1
    assert [p.name for p in tmp_path.rglob("*")] == ["empty"]
