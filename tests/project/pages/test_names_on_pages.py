"""Flags, names of the IR and keys of JSON graphs on the pages: all exist, and none is missing."""

import argparse
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import build_parser as benchmark_parser
from places import ROOT

import memopt
from memopt.cli import COMMANDS, build_parser
from memopt.cli.opt import build_parser as opt_parser
from memopt.dialects.memgraph.dialect import MEMGRAPH
from memopt.frontends.json.file import nodes_of, tensors_of

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *DOCS]
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
NAME = re.compile(r"(?<![\w.])memgraph\.(?!md\b)[a-z_0-9]+")
OTHERS = {  # flag -> what has it
    "--all": "tests/helpers/style_check.py",
    "--lower": "tests/helpers/style_check.py",
    "--exit-code": "git diff",
    "--strict": "mkdocs",
    "--views": "the option that a patch adds",
    "--buffers": "benchmarks.tables.generator",
    "--live": "benchmarks.tables.generator",
    "--seed": "benchmarks.tables.generator",
    "--operators": "benchmarks.tables.training",
    "--shapes": "benchmarks.tables.training",
    "--mlir-print-op-generic": "mlir-opt and its like",
    "--inline": "mlir-opt",
    "--xla": "XLA, --xla_dump_to",
    "--pass-pipeline": "mlir-opt",
    "--convert-linalg-to-loops": "mlir-opt",
    "--convert-scf-to-cf": "mlir-opt",
    "--buffer-results-to-out-params": "mlir-opt",
}
ROOMS = ("backends", "dialects", "frontends", "passes", "rewrites", "src", "targets", "verify")
JSON_PAGE = (ROOT / "docs/reference/json-graph.md").read_text(encoding="utf-8")


def flags_of(
    parser: argparse.ArgumentParser, commands: Iterable[str], capsys: pytest.CaptureFixture[str]
) -> set[str]:
    """Return the long flags that `--help` of a parser and of its commands shows."""
    for command in ([], *([name] for name in commands)):
        with pytest.raises(SystemExit):
            parser.parse_args([*command, "--help"])
    return set(FLAG.findall(capsys.readouterr().out))


def on_pages(pattern: re.Pattern[str]) -> dict[str, Path]:
    """Return what matches on the pages, with a page that has it."""
    return {
        match: page for page in PAGES for match in pattern.findall(page.read_text(encoding="utf-8"))
    }


def test_every_flag_on_a_page_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    commands = flags_of(build_parser(), COMMANDS, capsys)
    known = commands | flags_of(opt_parser(), (), capsys)
    known |= flags_of(benchmark_parser(), (), capsys)
    assert {"--schedule", "--print-ir-after-all", "--quick"} <= known and not known & {*OTHERS}
    used = on_pages(FLAG)
    assert not {flag: page.name for flag, page in used.items() if flag not in known | {*OTHERS}}
    assert {*OTHERS} <= {*used}
    assert commands - {*used} <= {"--help", "--version", "--output"}


def test_every_name_of_the_ir_on_a_page_is_there() -> None:
    text = "".join(f.read_text() for room in ROOMS for f in (ROOT / room).rglob("*.py"))
    known = {kind.name for kind in (*MEMGRAPH.operations, *MEMGRAPH.attributes)}
    known |= set(re.findall(r'"(memgraph\.[a-z_0-9]+)"', text))
    assert "memgraph.offset" in known and "memgraph.nothing" not in known
    assert not {n: page.name for n, page in on_pages(NAME).items() if n not in known}


class Asked(dict[str, Any]):
    """Object of a graph that remembers which keys it was asked for."""

    def __init__(self, entries: dict[str, Any]) -> None:
        super().__init__(entries)
        self.keys_asked = set[str]()

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_asked.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.keys_asked.add(str(key))
        return super().__contains__(key)


def listed(title: str) -> set[str]:
    """Return the keys in the first column of the table of a section."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", JSON_PAGE, re.DOTALL | re.MULTILINE)
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def test_the_page_of_json_graphs_has_every_key_and_a_graph() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", JSON_PAGE, re.DOTALL)
    graph = json.loads(example)
    assert memopt.peak(graph).peak == 64
    tensors = [Asked(entry) for entry in graph["tensors"]]
    nodes = [Asked(entry) for entry in graph["nodes"]]
    assert tensors_of({"tensors": tensors}, "graph") and nodes_of({"nodes": nodes}, "graph")
    assert listed("Tensors") == set[str]().union(*(t.keys_asked for t in tensors))
    assert listed("Nodes") == set[str]().union(*(n.keys_asked for n in nodes))


def test_a_wrong_name_would_be_noticed() -> None:
    assert FLAG.findall("`--schedule=auto`, a--b, -p --nothing") == ["--schedule", "--nothing"]
    assert NAME.findall("[a](memgraph.md) memopt.dialects.memgraph.x `memgraph.row_op`") == [
        "memgraph.row_op"
    ]
    with pytest.raises(ValueError, match="unpack"):
        listed("Nothing")
