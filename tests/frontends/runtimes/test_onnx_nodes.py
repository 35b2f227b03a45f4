# pyright: basic
"""The ONNX backend's node tests as C: those that pass, and by name those that do not."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from benchmarks.__main__ import main
from benchmarks.tables.onnx_nodes import (
    PASS,
    REFUSED,
    WAYS,
    WRONG,
    Builder,
    attempt,
    cases,
    compared,
    constants_of,
    operator_of,
    outcomes,
    tables,
    with_constants,
)
from deep import deep_but
from onnx.backend.test.case import node
from onnx.backend.test.case.utils import import_recursive
from places import ROOT
from tools import need_tools

from memopt.compile.driver import import_bytes
from memopt.dialects.memgraph.errors import MemoptError

PAGE = ROOT / "docs/reference/onnx-nodes.md"
EACH = 80  # a test of so many is run, all in the full count
READ = 4  # parts of those that are read, one in `make test`
LEAST = 150  # that pass
POOLS = {"AveragePool", "LpPool", "MaxPool"}  # whose outputs take longer to compute than all others


def left() -> dict[str, str]:
    """Test -> status, of those on the page that do not pass."""
    found = re.findall(r"^- (\w+): .*: ([\w ]+)$", PAGE.read_text(), re.MULTILINE)
    return {name: status for status, names in found for name in names.split()}


@pytest.mark.deep
def test_what_passes_and_what_is_refused_is_on_the_page(fuzz: float) -> None:
    need_tools("host")
    known = left()
    every = cases()
    names = [case.name for case in every]
    assert set(known) <= set(names) and len(names) - len(known) >= LEAST
    assert set(known.values()) == {REFUSED}, "wrong or broken ones are no expectation"
    passing = [case for case in every if case.name not in known]
    refused = [case for case in every if case.name in known]
    step = 1 if fuzz >= 1 else EACH
    for found in outcomes([*passing[::step], *refused[:: 2 * step]], lambda _: None):
        assert found.status == known.get(found.name, PASS), found


def is_read(case: Any, way: str) -> bool:
    fixed = constants_of(case, way)
    if fixed is None:
        return False
    try:
        import_bytes(with_constants(case, fixed), ".onnx", case.name, None)
    except MemoptError:
        return False
    return True


def quick_cases() -> list[Any]:
    """Return the tests of all operators but POOLS, by name; those are not made."""
    for info in iter_modules(node.__path__):
        if info.name not in {name.lower() for name in POOLS}:
            module = import_module(f"{node.__name__}.{info.name}")
            if info.ispkg:
                import_recursive(module)
    cases = (case for case in node._NodeTestCases if operator_of(case) not in POOLS)
    return sorted(cases, key=lambda case: case.name)


@pytest.mark.parametrize("first", deep_but(0, range(READ)))
def test_what_passes_is_read(first: int) -> None:
    """Of every family of expansions, too, of which the programs above are few."""
    known = left()
    passing = [case for case in quick_cases() if case.name not in known]
    for case in passing[first::READ]:
        assert any(is_read(case, way) for way in WAYS), case.name


@pytest.mark.deep
def test_pools_that_pass_are_read() -> None:
    known, every = left(), cases()
    assert {case.name for case in every} >= {case.name for case in quick_cases()}
    pools = [case for case in every if operator_of(case) in POOLS and case.name not in known]
    assert pools
    for case in pools:
        assert any(is_read(case, way) for way in WAYS), case.name


@pytest.mark.deep
def test_the_page_counts_what_it_lists() -> None:
    text = PAGE.read_text()
    counts = re.findall(r"^\| (pass|refused) +\|[^|]*\| +([\d,]+) \|", text, re.MULTILINE)
    numbers = {status: 0 for status, _ in counts}
    for status, number in counts:
        numbers[status] += int(number.replace(",", ""))
    assert numbers[REFUSED] == len(left())
    assert sum(numbers.values()) == len(cases())


def test_a_wrong_result_is_seen(tmp_path: Path) -> None:
    """The suite can fail: another result, fewer and more bytes, a program that stops."""
    need_tools("host")
    case = next(c for c in quick_cases() if c.name == "test_add")
    program = Builder(tmp_path)
    assert attempt(case, [], program) == (PASS, "")
    given, (want,) = case.data_sets[0]
    assert compared(want.tobytes(), [want], case.rtol, case.atol)[0] == PASS
    assert compared((want + 1).tobytes(), [want], case.rtol, case.atol)[0] == WRONG
    assert compared(want.tobytes()[:-4], [want], case.rtol, case.atol)[0] == WRONG
    assert compared(want.tobytes() + b"0", [want], case.rtol, case.atol)[0] == WRONG
    case.data_sets[0] = (given, [want * 2])
    assert attempt(case, [], program)[0] == WRONG


def test_ways_leave_an_input() -> None:
    """Of Gemm all three; of Add, whose operands are tensors, two."""
    found = {case.name: case for case in quick_cases()}
    gemm = found["test_gemm_all_attributes"]
    ways = {way: constants_of(gemm, way) for way in ("as it is", "weights constant")}
    assert ways == {"as it is": [], "weights constant": [1, 2]}
    assert constants_of(found["test_add"], "numbers constant") is None


@pytest.mark.deep
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need_tools("host")
    out = tmp_path / "nodes.json"
    assert main(["onnx-nodes", "--graphs", "Floor", "--json", str(out)]) == 0
    assert '"operator": "Floor"' in out.read_text()
    assert main(["onnx-nodes", "--graphs", "Floor", "--tables", "counts"]) == 0
    assert re.search(r"\| pass +\| as it is +\| +2 \|", capsys.readouterr().out)


def test_tables_of_nothing() -> None:
    assert [table.rows for table in tables([])] == [[], [], []]
