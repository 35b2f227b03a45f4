"""docs/reference/memgraph.md and passes.md: every example runs, every table is the code's."""

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
from operator_cases import GENERATORS, KINDS
from places import ROOT
from scripts import loaded
from xdsl.ir import ParametrizedAttribute

from memopt.cli.opt import main
from memopt.dialects.attributes.operators import ActivationAttr
from memopt.dialects.memgraph.dialect import MEMGRAPH
from memopt.dialects.memgraph.old_forms import OLD_FORMS
from memopt.dialects.operators.unary import FunctionOp
from memopt.passes.plan.option import METHOD, texts
from memopt.plugin import PASSES

pytestmark = pytest.mark.quick

OLD = {a.name for a in OLD_FORMS}  # refused wherever they stand

DIALECT = (ROOT / "docs/reference/memgraph.md").read_text()
OPERATORS = (ROOT / "docs/reference/operators.md").read_text()
PASS_PAGE = (ROOT / "docs/reference/passes.md").read_text()
GOLDEN = (ROOT / "tests/filecheck/roundtrip.mlir").read_text()

BLOCK = r"```mlir\n((?:(?!```).)*)```"
EXAMPLES = re.findall(BLOCK + r"\n\n```sh\n(.*?)\n```\n\n" + BLOCK, PASS_PAGE, re.DOTALL)


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    code = main(arguments)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return printed.out


@pytest.mark.parametrize(("before", "command", "after"), EXAMPLES)
def test_pass_example(
    before: str, command: str, after: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(before)
    words = shlex.split(command)
    assert words[0] == "memopt-opt"
    assert run([str(path) if w == "in.mlir" else w for w in words[1:]], capsys) == after


def test_every_pass_is_explained() -> None:
    """By a section, and a row with its options; those of methods by `--list-passes`."""
    table = loaded("pass_table")
    assert table.page(PASS_PAGE) == PASS_PAGE, "stale: make docs/reference/passes.md"
    for name, factory in PASSES.items():
        assert f"\n## {name}\n" in PASS_PAGE, name
        for option in (f.name for f in fields(factory()) if METHOD in f.metadata):
            assert len(texts(factory())[option].partition(": ")[2]) > 9, f"{name}: {option}"
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("text", re.findall(BLOCK, DIALECT, re.DOTALL))
def test_dialect_example(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(text)
    once = run([str(path)], capsys)
    path.write_text(once)
    assert run([str(path)], capsys) == once
    assert "memgraph.plan" in run([str(path), "--schedule=auto", "--verify-plan"], capsys)


def test_tables_are_those_of_the_code() -> None:
    """Operators have a page of their own, which is made from the code (test_operator_matrix.py)."""
    listed = set(re.findall(r"^\| `(memgraph\.\w+)` \|", DIALECT, re.MULTILINE))
    listed |= {f"memgraph.{n}" for n in re.findall(r"^\| `(\w+)` \|", OPERATORS, re.MULTILINE)}
    assert {op.name for op in MEMGRAPH.operations} == listed - {
        "memgraph.plan",
        "memgraph.chosen_inplace",
        "memgraph.again",
        "memgraph.automatic_partition",
    }
    attributes = set(re.findall(r"^\| `[#!](memgraph\.\w+)` \|", DIALECT, re.MULTILINE))
    assert {a.name for a in MEMGRAPH.attributes} - OLD == attributes


def test_every_operation_and_attribute_has_a_golden_round_trip() -> None:
    """Or random ones: `test_operator_text.py` writes and reads each operator that has cases."""
    shown = [op for op in MEMGRAPH.operations if f"{op.name} " in GOLDEN]
    functions = [op for op in MEMGRAPH.operations if issubclass(op, FunctionOp)]
    assert len(set(shown) & set(functions)) >= 5
    alike = {op.assembly_format for op in functions if op not in shown}
    assert alike <= {FunctionOp.assembly_format}
    drawn = [KINDS[name] for name in GENERATORS]
    missing = [op.name for op in MEMGRAPH.operations if op not in (*shown, *drawn)]
    short = {"memgraph.window", "memgraph.activation", "memgraph.rounding"}  # printed without name
    for a in (a for a in MEMGRAPH.attributes if a.name not in OLD):
        name = a.name.removeprefix("memgraph.") if a.name in short else a.name
        if f"{name}<" not in GOLDEN and f"!{name}" not in GOLDEN:
            missing.append(a.name)
    assert [m for m in missing if m != "memgraph.yield"] == []


def test_every_parameter_tells_an_attribute_from_others() -> None:
    """Attributes are compared by the fields of their class, which a base may hide."""
    for attribute in MEMGRAPH.attributes:
        if issubclass(attribute, ParametrizedAttribute):
            parameters = {name for name, _ in attribute.get_irdl_definition().parameters}
            assert {field.name for field in fields(attribute)} == parameters, attribute.name
    assert ActivationAttr("relu") != ActivationAttr("relu6")
