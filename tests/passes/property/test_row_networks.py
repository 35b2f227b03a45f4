"""Random networks of all operators that have rows, in rows and whole: the same bits, the rows that
the verifier derives on its own, plans that it reads as they were made."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from row_networks import cut_some, image_of, kinds, network
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.function_memory import function_memory
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import model_of
from memopt.passes.rows.expand import cut
from memopt.passes.rows.minimise import ever_fewer_rows
from memopt.passes.rows.numbers import in_rows
from memopt.solvers.scheduling import schedule
from memopt.verify.rows import check_rows

PARTS = 4  # that run side by side
FULL = 2_400  # networks
LEAST = 100  # of every operator, in the full count
PLANNED = (
    "memgraph-model{{alignment=4 inplace={inplace}}},memgraph-schedule{{method=rpo}},"
    "memgraph-place{{method=greedy-by-size}},memgraph-verify-plan{{placed=true}}"
)


def results(func: FuncOp, image: Array) -> list[bytes]:
    values = evaluate(func, Weights({}), [image])
    last = func.get_return_op()
    assert last is not None
    return [values[v].tobytes() for v in last.operands]


def planned(module: ModuleOp, inplace: str) -> None:
    for step in build_pipeline(PLANNED.format(inplace=inplace)):
        step.apply(new_context(), module)


@pytest.mark.parametrize("part", range(PARTS))
def test_rows_are_the_whole_network(part: int, fuzz: float, record_property: Any) -> None:
    """Half of them with a branch across what is cut, a quarter with two results; all operators
    that have rows are cut, in every third network some of them."""
    count, rows, all_ = 0, Counter[str](), Counter[str]()
    for seed in range(part, max(24, int(FULL * fuzz)), PARTS):
        rng = np.random.default_rng(seed)
        n = seed // PARTS
        outputs = 2 if n % 4 == 3 else 1
        text = network(rng, n % 3 == 0, True, branch=n % 2 == 1, outputs=outputs)
        before, after = (
            only_function(load_text(new_context(), text, "net.mlir")) for _ in range(2)
        )
        image = image_of(before, rng)
        want = results(before, image)
        rows, all_ = rows + cut_some(after, seed, rng), all_ + kinds(before)
        module = after.parent_op()
        assert isinstance(module, ModuleOp)
        module.verify()
        check_rows(body_of(after))
        assert results(after, image) == want, seed
        model = model_of(after)
        memory = function_memory(after, model)  # which asks once of rows that are alike
        assert memory.memory == [behaviour_of(op, model) for op in memory.operations]
        if seed % 4 == 0:
            planned(module, "on" if seed % 8 else "off")
            assert results(after, image) == want, seed
        count += 1
    record_property("cut", {k: (rows[k], all_[k]) for k in all_})
    if fuzz >= 1:
        assert count == FULL // PARTS
        assert min(rows[k] for k in all_) * PARTS >= LEAST, rows


COPIED = """
!t = tensor<1x4x2x2xi8>
func.func @main(%x: !t) -> !t {
  %y = memgraph.relu %x : (!t) -> !t
  %c = memgraph.copy %y : (!t) -> !t
  %z = memgraph.relu %c : (!t) -> !t
  func.return %z : !t
}
"""
SHAPED = """
!t = tensor<1x4x2x2xi8>
!u = tensor<1x4x4xi8>
func.func @main(%x: !t) -> (!t, !u) {
  %y = memgraph.relu %x : (!t) -> !t
  %c = memgraph.reshape %y : (!t) -> !u
  %z = memgraph.relu %c : (!u) -> !u
  %w = memgraph.relu6 %y : (!t) -> !t
  func.return %w, %z : !t, !u
}
"""
HALF = """
!t = tensor<1x4x2x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x3x2xf32, #memgraph.encoding<nhwc>>
func.func @main(%x: !t) -> (!t, !t) {
  %h = memgraph.constant dense<2.500000e-01> : tensor<2x3x3x2xf16>
  %w = memgraph.dequantize %h : (tensor<2x3x3x2xf16>) -> !w
  %y = memgraph.conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 : (!t, !w) -> !t
  %z = memgraph.conv_2d %y, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 : (!t, !w) -> !t
  func.return %y, %z : !t, !t
}
"""
SPLIT = """
!t = tensor<1x6x2x2xi8>
!u = tensor<1x2x2x2xi8>
!v = tensor<1x4x2x2xi8>
func.func @main(%x: !t) -> (!u, !v) {
  %r = memgraph.relu %x : (!t) -> !t
  %y, %z = memgraph.split %r axis 1 {"memgraph.names" = ["first", "second"]} : (!t) -> (!u, !v)
  %a = memgraph.relu %y : (!u) -> !u
  %b = memgraph.relu %z : (!v) -> !v
  func.return %a, %b : !u, !v
}
"""


@pytest.mark.parametrize(
    ("text", "positions"),
    [(COPIED, (0, 2)), (SHAPED, (0, 2)), (SHAPED, (2,)), (HALF, (0, 1)), (SPLIT, (1, 3))],
)
def test_rows_of_what_is_no_operators_own(text: str, positions: tuple[int, ...]) -> None:
    """Of a copy, which is left out, of a view of what others read, with weights that are computed
    from constants, of parts along the height."""
    before, after = (only_function(load_text(new_context(), text, "net.mlir")) for _ in range(2))
    assert cut(after, positions) == positions
    module = after.parent_op()
    assert isinstance(module, ModuleOp)
    planned(module, "on")
    image = image_of(before, np.random.default_rng(1))
    assert results(after, image) == results(before, image)


def test_a_view_in_the_way_is_no_step() -> None:
    func = only_function(load_text(new_context(), SHAPED, "net.mlir"))
    chosen = ever_fewer_rows(func)[-1].positions
    assert schedule(in_rows(func, chosen).graph, "auto").peak == 36
    assert schedule(in_rows(func, ()).graph, "auto").peak == 48
