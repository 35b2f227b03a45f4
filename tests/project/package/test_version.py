"""The version of a build is that of the tag, as setup.py says."""

import importlib.util
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version
from places import ROOT


@pytest.fixture
def setup(tmp_path: Path) -> Any:
    """setup.py in a folder of its own."""
    copy = tmp_path / "setup.py"
    copy.write_bytes((ROOT / "setup.py").read_bytes())
    spec = importlib.util.spec_from_file_location("setup_of_memopt", copy)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(folder: Path, *command: str) -> str:
    who = {f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME",)}
    who |= {"GIT_AUTHOR_EMAIL": "x@x", "GIT_COMMITTER_EMAIL": "x@x"}
    done = subprocess.run(
        ["git", *command],
        cwd=folder,
        env=os.environ | who,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "commit", "-q", "--allow-empty", "-m", "a change")
    return git(folder, "rev-parse", "--short", "HEAD")


def test_the_version_is_that_of_the_tag(setup: Any, tmp_path: Path) -> None:
    """And before, between and behind tags one that sorts so."""
    git(tmp_path, "init", "-q")
    found = [setup.version()]
    assert found[-1] == "0.1.0.dev0"  # no commit yet
    first = commit(tmp_path)
    found.append(setup.version())
    assert found[-1] == f"0.1.0.dev1+g{first}"
    for tag in ("v0.1.0", "v0.1.9", "v0.2.0"):
        commit(tmp_path)
        git(tmp_path, "tag", tag)
        found.append(setup.version())
        assert found[-1] == tag[1:]
        git(tmp_path, "tag", f"{tag}-of-somebody")
        commit(tmp_path)
        found.append(setup.version())
        major, minor, patch = tag[1:].split(".")
        assert found[-1].startswith(f"{major}.{minor}.{int(patch) + 1}.dev1+g")
    ordered = [Version(text) for text in found]
    assert ordered == sorted(set(ordered))


def test_without_git(setup: Any, tmp_path: Path) -> None:
    assert setup.version() == "0.1.0.dev0"
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: memopt\nVersion: 3.4.5\n")
    assert setup.version() == "3.4.5"
