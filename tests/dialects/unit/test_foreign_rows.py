"""Rows of other dialects' operations: what somebody registers, and what the verifier makes of rows
that tosa does not have."""

from collections.abc import Iterator

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.foreign import tosa
from memopt.dialects.memgraph import interface
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.interface import OperatorMemory, OperatorRows, register
from memopt.dialects.memgraph.plan import model_of, plan_of
from memopt.dialects.rows.operations import RowOp
from memopt.verify.rows import check_rows

TYPE = "tensor<1x6x4x2xi8>"
BYTES = 6 * 4 * 2
NET = f"""
func.func @net(%x: {TYPE}) -> {TYPE} {{
  %0 = "far.blur"(%x) : ({TYPE}) -> {TYPE}
  %1 = "far.blur"(%0) : ({TYPE}) -> {TYPE}
  %2 = "far.blur"(%1) : ({TYPE}) -> {TYPE}
  func.return %2 : {TYPE}
}}
"""
PASSES = (
    "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows,memgraph-schedule,"
    "memgraph-place,memgraph-verify-plan{placed=true}"
)


def plain(op: Operation, model: ModelAttr) -> OperatorMemory:
    return OperatorMemory((BYTES,), workspace=(16,))


def around(op: Operation) -> OperatorRows:
    """A row and those beside it."""
    return OperatorRows(lambda operand, r: range(max(r - 1, 0), min(r + 2, 6)))


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(interface, "_registry", {})
    yield


def planned(text: str = NET, passes: str = PASSES) -> FuncOp:
    module = load_text(new_context(True), text, "net.mlir")
    for step in build_pipeline(passes):
        step.apply(new_context(True), module)
        module.verify()
    return only_function(module)


def peak(func: FuncOp) -> int:
    plan = plan_of(func)
    assert plan is not None
    return plan.peak.data


def rows(func: FuncOp) -> list[RowOp]:
    return [op for op in body_of(func).ops if isinstance(op, RowOp)]


def test_what_somebody_registers_has_rows() -> None:
    """Each needs as much workspace as all; whole it is 2 x 48 + 16 B."""
    register("far.blur", plain)
    assert not rows(planned()) and peak(planned()) == 2 * BYTES + 16
    register("far.blur", plain, around)
    func = planned()
    assert len(rows(func)) == 3 * 6
    assert [len(op.inputs) for op in rows(func) if op.index.data in (0, 2)] == [2, 3] * 3
    memory = [behaviour_of(op, model_of(func)) for op in rows(func)]
    assert all(m.workspace == (16,) and not m.inplace for m in memory)
    assert peak(func) < 2 * BYTES + 16


def test_rows_are_in_place_where_the_whole_may_be_and_no_other_row_is_read() -> None:
    def over(op: Operation, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((BYTES,), inplace=((0, 0),))

    register("far.blur", over, lambda op: OperatorRows(lambda operand, r: range(r, r + 1)))
    func = planned(passes="memgraph-model{inplace=on},memgraph-expand-rows")
    assert {behaviour_of(op, model_of(func)).inplace for op in rows(func)} == {((0, 1),)}
    register("far.blur", over, around)
    func = planned(passes="memgraph-model{inplace=on},memgraph-expand-rows")
    assert {behaviour_of(op, model_of(func)).inplace for op in rows(func)} == {()}


def test_what_has_effects_comes_at_once() -> None:
    def calls(op: Operation, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((BYTES,), effects=("calls",))

    register("far.blur", calls, around)
    assert not rows(planned())


def test_rows_that_an_operand_does_not_have_are_refused() -> None:
    register("far.blur", plain, lambda op: OperatorRows(lambda operand, r: range(r, r + 2)))
    with pytest.raises(MemoptError) as refused:
        planned()
    assert refused.value.text == "row 5 of far.blur reads rows 5 to 6 of operand 0, which has 6"
    assert refused.value.place == "net.mlir:3:3"


WINDOW = "kernel = array<i64: 3, 1>, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>"
POOL = f"""
func.func @net(%x: {TYPE}) -> {TYPE} {{
  %0 = tosa.max_pool2d %x {{{WINDOW}}} : ({TYPE}) -> {TYPE}
  func.return %0 : {TYPE}
}}
"""
CUT = "memgraph-expand-rows"


def test_the_verifier_does_not_believe_what_the_pass_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of tosa with an error in `dialects/foreign/tosa.py`."""
    check_rows(body_of(planned(POOL, CUT)))
    monkeypatch.setitem(tosa.ROWS, "tosa.max_pool2d", around)
    check_rows(body_of(planned(POOL, CUT)))  # the same rows
    fewer = OperatorRows(lambda operand, r: range(r, min(r + 2, 6)))
    monkeypatch.setitem(tosa.ROWS, "tosa.max_pool2d", lambda op: fewer)
    with pytest.raises(MemoptError, match=r"is not row 0 of operand 0 of tosa\.max_pool2d"):
        check_rows(body_of(planned(POOL, CUT)))
    more = OperatorRows(lambda operand, r: range(6))
    monkeypatch.setitem(tosa.ROWS, "tosa.max_pool2d", lambda op: more)
    with pytest.raises(MemoptError, match=r"row 0 of tosa\.max_pool2d reads more than it needs"):
        check_rows(body_of(planned(POOL, CUT)))


@pytest.mark.parametrize("kind", ["resize", "tile", "reduce_max {axis = 1 : i32}"])
def test_the_verifier_knows_what_has_no_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, said = kind.partition(" ")
    text = f"""
func.func @net(%x: {TYPE}) -> {TYPE} {{
  %0 = "tosa.{name}"(%x) {said} : ({TYPE}) -> {TYPE}
  func.return %0 : {TYPE}
}}
"""
    monkeypatch.setitem(tosa.ROWS, f"tosa.{name}", around)
    with pytest.raises(MemoptError, match=f"tosa.{name} "):
        check_rows(body_of(planned(text, CUT)))
