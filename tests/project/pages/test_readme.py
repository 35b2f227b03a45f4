"""The README and the first steps: their commands run and print what the pages say.

The README's table is what its command prints, and the page of figures what the planner finds.
Every link and heading of every page is followed.
"""

import os
import re
import socket
import sys
import tempfile
from pathlib import Path

import pytest
import readme_table
import row_pictures
import warm
from console import normal, pattern, run_page
from deep import deep_but
from demo_model import demo_model
from places import ROOT

from memopt.cli import main
from memopt.cli.opt import main as memopt_opt

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
STEPS = (ROOT / "docs/guides/first-steps.md").read_text(encoding="utf-8")
FIGURES = (ROOT / "docs/reference/figures.md").read_text(encoding="utf-8")
LINES = 150  # of the README, at most


@pytest.mark.deep
@pytest.mark.parametrize(
    ("page", "commands"), [(TEXT, 5), pytest.param(STEPS, 20, marks=pytest.mark.deep)]
)
def test_the_commands_print_what_the_page_says(page: str, commands: int, tmp_path: Path) -> None:
    for name in ("benchmarks", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = os.environ | {"PATH": path, "COLUMNS": "200"}
    tools = Path(tempfile.mkdtemp(prefix="memopt-tools-"))  # a short name, as of a socket
    warm.start(tools, environment)
    with socket.socket(socket.AF_UNIX) as gone:
        gone.connect(str(tools / "socket"))  # a caller that ends before it asks for anything
    environment["PATH"] = os.pathsep.join((str(tools), path))
    assert run_page(page, tmp_path, environment) >= commands


def test_the_readme_is_short() -> None:
    assert TEXT.count("\n") <= LINES


def test_a_wrong_output_would_be_noticed() -> None:
    assert re.fullmatch(pattern("a ... d\n...\nend"), normal("a   b c d\nx\ny\nend\n"))
    assert not re.fullmatch(pattern("a ... d\n...\nend"), normal("a b c\nend\n"))
    assert not re.fullmatch(pattern("peak = 5"), normal("peak = 55\n"))
    assert not re.fullmatch(pattern(""), normal("more\n"))


def figures() -> list[tuple[str, int, int, int]]:
    rows = re.findall(
        r"^\| (\w+)[^|]*\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", FIGURES, re.MULTILINE
    )

    def number(text: str) -> int:
        return int(text.replace(",", ""))

    return [(name, number(a), number(b), number(c)) for name, a, b, c in rows]


def test_the_table_has_its_rows() -> None:
    assert len(figures()) == 5


@pytest.mark.deep
@pytest.mark.parametrize(("name", "before", "after", "bound"), figures())
def test_the_figures_are_what_the_planner_finds(
    name: str,
    before: int,
    after: int,
    bound: int,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name == "demo_model":
        model = tmp_path / "demo_model.tflite"
        model.write_bytes(demo_model())
    else:
        model = request.getfixturevalue("shared") / "models" / f"{name}.tflite"
    assert main(["report", str(model), "--target=tflm", "--json"]) == 0
    printed = capsys.readouterr().out
    entries = re.findall(r'"(arena|arena_lower_bound)": (\d+)', printed)
    assert [int(value) for _, value in entries][:3] == [before, after, bound]


SOURCE = ["--model=target=tflm", "--schedule=source", "--place=tflm"]
BEST = ["--model=target=tflm", "--fuse", "--schedule=auto", "--place=joint"]


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("before", SOURCE),
        ("after", BEST),
        ("fragments-exact", ["--schedule=auto", "--place=exact"]),
        ("fragments-joint", ["--schedule=auto", "--place=joint"]),
    ],
)
def test_the_pictures_are_of_these_plans(name: str, passes: list[str], tmp_path: Path) -> None:
    """Their titles, which say arena, peak and proof; boxes may lie elsewhere."""
    model, drawn = tmp_path / "model.tflite", tmp_path / "drawn.svg"
    if name.startswith("fragments"):
        model = ROOT / "docs/examples/fragments.mlir"
    else:
        model.write_bytes(demo_model())
    assert memopt_opt([*passes, str(model), "-t", "svg", "-o", str(drawn)]) == 0
    kept = ROOT / "docs" / "pictures" / f"{name}.svg"
    titles = [re.findall(r"<title>(\w+: arena .*?)</title>", f.read_text()) for f in (kept, drawn)]
    assert len(titles[0]) == 1
    assert titles[0] == titles[1]


@pytest.mark.deep
def test_the_pictures_of_rows_are_of_these_plans(shared: Path) -> None:
    """Their titles, as above; `make docs/pictures` writes them."""
    assert shared.exists()
    titles = {
        name: re.search("<title>(main: arena .*?)</title>", text)
        for name, text in row_pictures.pictures().items()
    }
    for name, title in titles.items():
        kept = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text()
        assert title and title[0] in kept
        arena = re.search(r"arena ([\d,]+ B)", title[1])
        assert arena and f"[arena over time, {arena[1]}](docs/pictures/{name}.svg)" in TEXT


ROW = r"^\| (\w+) \| (?:[\d,]+ \| ){3}[\d,]+ \|$"
IN_TABLE = re.findall(ROW, TEXT, re.MULTILINE)


def test_the_table_of_rows_has_its_rows() -> None:
    assert readme_table.HEAD in TEXT
    assert len(IN_TABLE) == 4


@pytest.mark.deep
@pytest.mark.parametrize("name", deep_but(["resnet8_int8", "dscnn_kws_int8"], IN_TABLE))
def test_the_table_is_what_its_command_prints(name: str, shared: Path) -> None:
    """Each peak is proven: the command marks what is not."""
    assert readme_table.row(shared / "models" / f"{name}.tflite") in TEXT


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as sites of pages make them."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", t).strip().lower().replace(" ", "-") for t in titles}


def broken(page: Path, text: str) -> list[str]:
    """Return the relative links of a page's text whose file or heading is not there."""
    lost: list[str] = []
    for name, anchor in LINK.findall(text):
        target = page.parent / name if name else page
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            lost.append(f"{name}#{anchor}")
    return lost


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert not broken(page, page.read_text(encoding="utf-8"))


def test_a_broken_link_would_be_noticed() -> None:
    index = ROOT / "docs" / "README.md"
    assert not broken(index, "[a](../README.md) [b](#documentation) [c](https://x.org/y)")
    assert broken(index, "[a](nowhere.md) [b](#nothing)") == ["nowhere.md#", "#nothing"]


def test_every_page_is_in_the_index() -> None:
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    pages = {p.relative_to(docs).as_posix() for p in docs.rglob("*.md")} - {"README.md"}
    assert pages == set(re.findall(r"\]\(([\w/-]+\.md)\)", index))


GENERATED = {"channels.md", "onnx-nodes.md", "operators.md", "options.md", "rules.md"}
PROSE = [page for page in PAGES if page.name not in GENERATED | {"architecture.md"}]
WIDE, LONG = 130, 5  # characters of a line, lines of a paragraph or an item, at most


def long_paragraphs(text: str) -> list[str]:
    """Return the first lines of the paragraphs and items of a page that are too long to read."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", re.sub(r"(?ms)^```.*?^```", "", text)):
        if paragraph.lstrip().startswith("|"):
            continue
        for item in re.split(r"^(?=\s*(?:[-*]|\d+\.) )", paragraph.strip("\n"), flags=re.MULTILINE):
            lines = item.rstrip("\n").split("\n")
            if len(lines) > LONG or any(len(line) > WIDE for line in lines):
                found.append(lines[0])
    return found


@pytest.mark.parametrize("page", PROSE, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_paragraphs_are_short(page: Path) -> None:
    assert not long_paragraphs(page.read_text(encoding="utf-8"))


def test_a_long_paragraph_would_be_noticed() -> None:
    assert long_paragraphs("a\n" * 5 + "\nb\n" * 2) == []
    assert long_paragraphs("a\n" * 6) == ["a"]
    assert long_paragraphs("- one\n- two\n  " + "x" * WIDE) == ["- two"]


def test_the_changelog_is_short() -> None:
    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").count("\n") <= 100
