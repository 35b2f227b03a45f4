"""An input received row by row: the same bits as of the whole one, and every fault found."""

import re

import numpy as np
import pytest
from row_networks import image_of, network
from xdsl.context import Context
from xdsl.dialects.builtin import IntAttr, ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.dialects.memgraph.tensors import rows_of
from memopt.dialects.rows.operations import ReceiveOp, RowOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.text.ir_text import module_text
from memopt.verify.plan import verify_plan
from memopt.verify.rows import check_rows

PLANNED = ",memgraph-schedule,memgraph-place,memgraph-verify-plan"


def streamed(text: str, rows: str = "all", steps: str = "") -> ModuleOp:
    module = load_text(new_context(), text, "net.mlir")
    pipeline = f"memgraph-model{{alignment=4 inplace=on}},memgraph-expand-rows{{rows={rows} "
    for step in build_pipeline(f"{pipeline}stream-input=true}}{steps}"):
        step.apply(Context(), module)
    module.verify()
    return module


def result(func: FuncOp, image: Array) -> bytes:
    values = evaluate(func, Weights({}), [image])
    last = func.get_return_op()
    assert last is not None
    return values[last.operands[0]].tobytes()


@pytest.mark.deep
@pytest.mark.parametrize("quantized", [True, False])
def test_what_is_received_gives_the_same_bits(quantized: bool, fuzz: float) -> None:
    for seed in range(max(10, int(500 * fuzz))):
        rng = np.random.default_rng(seed)
        text = network(rng, quantized)
        whole = only_function(load_text(new_context(), text, "net.mlir"))
        module = streamed(text, rows="auto" if seed % 5 == 0 else "all")
        func = only_function(module)
        check_rows(body_of(func))
        received = [op for op in body_of(func).ops if isinstance(op, ReceiveOp)]
        assert len(received) == rows_of(body_of(func).args[0])
        assert any(isinstance(op, RowOp) for op in body_of(func).ops)
        printed = module_text(module)
        assert module_text(load_text(new_context(), printed, "net.mlir")) == printed
        image = image_of(whole, rng)
        assert result(func, image) == result(whole, image), seed


def test_plans_of_streamed_networks_are_verified_and_no_larger(fuzz: float) -> None:
    """Against rows of an input that is there from the start."""
    smaller = 0
    for seed in range(max(5, int(200 * fuzz))):
        text = network(np.random.default_rng(seed), seed % 2 == 0)
        func = only_function(streamed(text, steps=PLANNED))
        plan = plan_of(func)
        assert plan is not None and plan.family.data == "rows"
        assert verify_plan(func, placed=True).peak == plan.peak.data
        if seed % 4 == 0:  # as few rows as keep that peak
            fewer = plan_of(only_function(streamed(text, "auto", PLANNED)))
            assert fewer is not None and fewer.peak.data <= plan.peak.data
        whole = load_text(new_context(), text, "net.mlir")
        rows = "memgraph-model{alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule"
        for step in build_pipeline(rows):
            step.apply(Context(), whole)
        other = plan_of(only_function(whole))
        assert other is not None
        # not in every network: rows that arrive in turn wait, where a whole input is read in any
        smaller += plan.peak.data < other.peak.data
    assert smaller > 3


TEXT = """
!t = tensor<1x5x4x4xi8>
!u = tensor<1x2x4x4xi8>
func.func @main(%x: !t) -> !u {
  %y = memgraph.max_pool_2d %x window<[2, 1], stride = [2, 1]> : (!t) -> !u
  func.return %y : !u
}
"""  # nobody reads the last row
FAULTS = {
    "twice": "row 1 of x is received where row 2 arrives",
    "order": "row 1 of x is received where row 0 arrives",
    "too few": "4 rows of x are received, not all 5",
    "another argument": "is a row of another tensor than operand 0 had before",
    "whole too": "x is received, and read as a whole too",
    "no argument": "y is no argument, so none of it is received",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str) -> None:
    func = only_function(streamed(TEXT))
    block = body_of(func)
    received = [op for op in block.ops if isinstance(op, ReceiveOp)]
    if fault == "twice":
        received[2].properties["index"] = IntAttr(1)
    elif fault == "order":
        received[0].detach()
        block.insert_op_after(received[0], received[1])
    elif fault == "too few":
        received[4].detach()
    elif fault == "another argument":
        other = block.insert_arg(block.args[0].type, 1)
        more = [ReceiveOp(other, r) for r in range(4)]
        block.insert_ops_before(more, received[0])
        received[2].result.replace_all_uses_with(more[2].result)
    elif fault == "whole too":
        last = block.last_op
        assert last is not None
        last.operands = [block.args[0]]
    else:
        row = next(op for op in block.ops if isinstance(op, RowOp))
        received[3].operands = [row.outputs[0]]
    with pytest.raises(MemoptError, match=FAULTS[fault]):
        check_rows(block)


def test_the_memory_of_an_argument_that_is_received_is_the_callers() -> None:
    """A plan that says otherwise is refused, and one that calls a row the caller's."""
    text = module_text(streamed(TEXT, steps=PLANNED))
    for found, put, message in (
        ("memgraph.offset = #memgraph.unplaced<caller>", "memgraph.offset = 0 : i64", "not in the"),
        (
            r"memgraph.offset = \[\d+ : i64\]",
            "memgraph.offset = [#memgraph.unplaced<caller>]",
            "is",
        ),
    ):
        module = load_text(new_context(), re.sub(found, put, text, count=1), "net.mlir")
        with pytest.raises(MemoptError, match=message):
            verify_plan(only_function(module), placed=True)


def test_a_pass_of_no_rows_streams_nothing() -> None:
    with pytest.raises(ValueError, match="not rows=none"):
        MemgraphExpandRowsPass(("none",), stream_input=True)
