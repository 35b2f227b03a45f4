"""The site of docs/ is built without a warning, and its API page has every public name; the files
of a release say what they have to."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from places import ROOT

import memopt


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Links within it and their anchors lead somewhere, or mkdocs would warn."""
    pytest.importorskip("mkdocs", reason="needs memopt[docs]")
    pytest.importorskip("mkdocstrings", reason="needs memopt[docs]")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path / "site")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    for page in (ROOT / "docs").rglob("*.md"):
        made = page.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / ("index.html" if page.name == "README.md" else made)).is_file()
    api = (site / "reference/api.html").read_text(encoding="utf-8")
    for name in memopt.__all__:
        if isinstance(getattr(getattr(memopt, name), "__qualname__", None), str):
            assert re.search(rf'id="memopt\.[\w.]+\.{name}"', api), name
    assert "The least peak over all orders of the operators" in api


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert re.search(rf"[\[ ]{re.escape(name)}\b", menu), name


def test_the_workflow_runs_the_gate_and_every_python() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "main/.ci/run" in workflow and ".ci/wheel python" in workflow
    pythons = re.findall(r'"(3\.\d+)"', workflow)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={pythons[0]}"
    assert pythons == ["3.11", "3.12", "3.13"]
    assert os.access(ROOT / ".ci/wheel", os.X_OK)


def test_the_notice_names_every_package_that_is_installed_beside() -> None:
    """And nothing that lies in the project is somebody else's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    for line in project["dependencies"]:
        (name,) = re.findall(r"^[\w-]+", line)
        assert f"{name} (" in notice.replace("\n", " "), name
    assert project["license-files"] == ["LICENSE", "NOTICE"]
    rooms = ["backends", "dialects", "formats", "solvers", "src"]
    for path in (p for room in rooms for p in (ROOT / room).rglob("*") if p.is_file()):
        if path.suffix in (".py", ".c", ".h", ".in", ".S"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"^\W*(Copyright|\(c\) \d)", text, re.MULTILINE), path
