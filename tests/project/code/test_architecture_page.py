"""Pages name files, modules and functions: all of them exist."""

import re
from pathlib import Path

import pytest
from places import ROOT

pytestmark = pytest.mark.quick

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BUILT = {line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
FOLDERS = sorted(
    p.name for p in ROOT.iterdir() if p.is_dir() and p.name.isidentifier() and p.name not in BUILT
)
PATH = re.compile(rf"(?<![\w/.<-])(?:{'|'.join(FOLDERS)})/[\w./*<>-]*[\w>*/]")
FILE = re.compile(r"(?<![\w/.<*-])[\w-]+\.py\b")
MODULE = re.compile(r"(?<![.\w])memopt(?:\.[a-z_]\w*)+")
COUNT = re.compile(r"^\|.*\| ([\d,]+) \| `([\w/]+\.py):(\w+)` \|$", re.MULTILINE)
MEMBER = re.compile(r"`([\w/]+\.py):(\w+)`")
OTHERS = {"checker.py", "setup.py"}  # copied alone to where a certificate is read; of the checkout


def exists(path: str) -> bool:
    """A file or folder of the checkout; `<name>` and `*` stand for any that is there."""
    pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
    return any(ROOT.glob(pattern)) if "*" in pattern else (ROOT / pattern).exists()


def is_module(name: str) -> bool:
    """`memopt.a.b`, or `memopt.a.b.name` with a name that the module's text has."""
    folder = ROOT / "src"
    for part in name.split("."):
        if not (folder / part).is_dir():
            file = folder / f"{part}.py"
            text = folder / "__init__.py"
            return file.is_file() or bool(re.search(rf"\b{part}\b", text.read_text()))
        folder /= part
    return True


def without_output(text: str) -> str:
    """A page without what programs print, write and read."""
    return re.sub(
        r"^```(?:console|mlir|sh|c|text|toml)\n.*?^```", "", text, flags=re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_what_a_page_names_exists(page: Path) -> None:
    text = without_output(page.read_text(encoding="utf-8"))
    missing = [path for path in PATH.findall(text) if not exists(path)]
    files = {p.name for folder in FOLDERS for p in (ROOT / folder).rglob("*.py")}
    missing += [name for name in FILE.findall(text) if name not in files | OTHERS]
    missing += [name for name in MODULE.findall(text) if not is_module(name)]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_what_a_page_says_is_in_a_file_is_there(page: Path) -> None:
    missing = [
        f"{path}:{name}"
        for path, name in MEMBER.findall(page.read_text(encoding="utf-8"))
        if not re.search(rf"^(?:(?:def|class) )?{name}\b", (ROOT / path).read_text(), re.MULTILINE)
    ]
    assert not missing


def test_a_missing_name_would_be_noticed() -> None:
    assert exists("passes/memgraph_<name>.py") and exists("docs/") and exists("solvers/checker.py")
    assert not exists("passes/nothing.py") and not exists("targets/<board>.txt")
    assert is_module("memopt.dialects.memgraph.interface") and is_module("memopt.peak")
    assert not is_module("memopt.dialects.memory") and not is_module("memopt.rooms.x")


def test_the_counts_of_random_cases_are_those_of_the_tests() -> None:
    counts = COUNT.findall((ROOT / "docs/architecture.md").read_text(encoding="utf-8"))
    assert len(counts) > 10
    for count, path, name in counts:
        text = (ROOT / path).read_text(encoding="utf-8")
        (stated,) = re.findall(rf"^{name} = ([\d_]+)", text, re.MULTILINE)
        assert int(stated) == int(count.replace(",", "")), path
