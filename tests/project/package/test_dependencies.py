"""docs/reference/dependencies.md names the packages of pyproject.toml, with the same ranges."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from places import ROOT

pytestmark = pytest.mark.quick

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GROUPS = {
    "To run": PROJECT["dependencies"],
    "To develop": PROJECT["optional-dependencies"]["dev"],
    "To sweep on a cluster": PROJECT["optional-dependencies"]["dask"],
    "To execute plans in PyTorch": PROJECT["optional-dependencies"]["torch"],
    "To build the site": PROJECT["optional-dependencies"]["docs"],
    "To compare": PROJECT["optional-dependencies"]["peers"],
}


def documented() -> dict[str, dict[str, str]]:
    """Section -> package -> range; every row has two reasons."""
    found: dict[str, dict[str, str]] = {}
    for section in re.split(
        r"^## ", (ROOT / "docs/reference/dependencies.md").read_text(), flags=re.MULTILINE
    )[1:]:
        rows = re.findall(r"^\| ([\w-]+) \| `([^`]+)` \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
        if rows:
            assert all(len(why) > 10 and len(range_) > 10 for _, _, why, range_ in rows)
            title = section.splitlines()[0].split(" (")[0]
            found[title] = {name: specifier for name, specifier, _, _ in rows}
    return found


def test_page_and_project_agree() -> None:
    page = documented()
    assert list(page) == list(GROUPS)
    for group, lines in GROUPS.items():
        parts = [re.fullmatch(r"([\w-]+)(?:\[\w+\])?(.+)", line) for line in lines]
        assert page[group] == {m[1]: m[2] for m in parts if m}


def test_system_tools_are_those_that_the_script_installs() -> None:
    page = (ROOT / "docs/reference/dependencies.md").read_text().split("## From the system")[1]
    script = (ROOT / ".ci/packages").read_text()
    installed = set(" ".join(re.findall(r"missing\+=\(([^)]+)\)", script)).split()) - {"libc6-dev"}
    assert installed == {
        name
        for row in re.findall(r"^\| [^|]+ \| ([a-z0-9+, -]+) \| ", page, re.MULTILINE)
        for name in row.split(", ")
        if name.strip("-")
    }


def test_the_script_asks_for_nothing_when_all_is_there_and_names_what_it_does_not_know() -> None:
    script = str(ROOT / ".ci" / "packages")
    done = subprocess.run([script, "python"], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""
    unknown = subprocess.run([script, "nonsense"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 2 and "nonsense" in unknown.stderr


def test_missing_tools_are_named_where_they_cannot_be_installed(tmp_path: Path) -> None:
    """A machine without compilers, whose user is not root."""
    for tool in ("bash", "env"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    (tmp_path / "id").write_text("#!/usr/bin/env bash\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    done = subprocess.run(
        [str(ROOT / ".ci" / "packages"), "build", "arm"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm" in done.stderr
