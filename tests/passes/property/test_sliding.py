"""Rows that stay from window to window: a stream of frames gives what whole windows give."""

from collections import Counter

import numpy as np
import pytest
from deep import deep_but
from row_networks import network
from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException, VerifyException

from memopt.analysis.evaluation import State, evaluate
from memopt.analysis.persistent import sliding_of
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import rows_of, shape_of
from memopt.dialects.rows.operations import RowOp
from memopt.dialects.rows.state import RetainOp, SlideOp, StateOp
from memopt.passes.memgraph_schedule import order_function
from memopt.passes.rows.expand import expand
from memopt.passes.rows.stream_input import close_stream, receive_rows
from memopt.passes.sliding.transform import keep_rows
from memopt.verify.plan import check_form


@pytest.mark.parametrize("quantized", deep_but(True, [True, False]))
def test_a_stream_gives_what_whole_windows_give(quantized: bool, fuzz: float) -> None:
    seen = Counter[str]()
    for seed in range(max(24, int(2_000 * fuzz))):
        rng = np.random.default_rng([seed, quantized])
        text = network(rng, quantized, seed % 2 == 0, branch=seed % 3 == 0, outputs=1 + seed % 2)
        whole, func = (only_function(load_text(new_context(), text, "n.mlir")) for _ in "ab")
        (argument,) = body_of(func).args
        height, shape = rows_of(argument) or 0, shape_of(argument)
        by = int(rng.integers(1, max(2, height // 2)))
        try:
            receive_rows(func)
            expand(func, None)
            close_stream(func)
            rows = func.clone()
            keep_rows(func, by)
            if seed % 2:
                func = with_fewer_kept(func, rows, by, rng)
        except MemoptError:
            seen["refused"] += 1
            continue
        check_form(func)
        found = sliding_of(func)
        assert found is not None
        assert (found.height, found.rows) == (height, by)
        runs = found.runs + 1
        tall = (1, runs * by, *shape[2:])
        real: Array = rng.standard_normal(tall).astype(np.float32)
        signal = rng.integers(-128, 128, tall).astype(np.int8) if quantized else real
        state: State = {}
        for run in range(1, runs + 1):
            window = np.zeros((1, height, *shape[2:]), signal.dtype)
            taken = signal[:, max(0, run * by - height) : run * by]
            window[:, height - taken.shape[1] :] = taken
            got = evaluate(func, Weights({}), [window], state)
            if run < found.runs:
                continue
            want = evaluate(whole, Weights({}), [window])
            for a, b in zip(returned(func), returned(whole), strict=True):
                assert got[a].tobytes() == want[b].tobytes(), (seed, by, run)
        seen["runs"] += 1
        seen["saved"] += found.kept_macs > 0
    assert all(seen[k] > 2 for k in ("refused", "runs", "saved")), seen


def with_fewer_kept(func: FuncOp, rows: FuncOp, by: int, rng: np.random.Generator) -> FuncOp:
    """What keeps at most some share of the bytes, if there is such a one."""
    before = sliding_of(func)
    assert before is not None
    most = max(1, int(before.bytes * rng.random()))
    try:
        keep_rows(rows, by, most)
    except MemoptError as error:
        text = str(error)
        assert "are found to be kept" in text or "nothing reads a row of the run before" in text
        return func
    after = sliding_of(rows)
    assert after is not None
    assert after.bytes <= most and after.kept_macs <= before.kept_macs
    return rows


def returned(func: FuncOp) -> list[SSAValue]:
    last = body_of(func).last_op
    assert last is not None
    return list(last.operands)


READ = """
!x = tensor<1x4x1x2xi8>
!y = tensor<1x3x1x2xi8>
func.func @main(%x: !x) -> !y {
  %y = memgraph.max_pool_2d %x window<[2, 1]> : (!x) -> !y
  func.return %y : !y
}
"""


def test_a_plan_that_reads_what_has_moved_is_refused() -> None:
    """By the verifier of plans; a schedule knows that a state slides behind who reads it."""
    func = only_function(load_text(new_context(), READ, "n.mlir"))
    receive_rows(func)
    expand(func, None)
    close_stream(func)
    keep_rows(func, 1)
    check_form(func)
    reader = next(op for op in body_of(func).ops if isinstance(op, RowOp))
    slides = [op for op in body_of(func).ops if isinstance(op, SlideOp)]
    slide = next(op for op in slides if reader in op.kept.readers)
    slide.detach()
    Rewriter.insert_op(slide, InsertPoint.before(reader))
    with pytest.raises(MemoptError, match=r"row 2 of x_kept is read after it slides"):
        check_form(func)
    with pytest.raises(PassFailedException, match=r"'slide' runs before 'row \(y\)'"):
        order_function(func, None, "source", None)


def test_mutants_of_what_is_kept_are_refused(fuzz: float) -> None:
    """A state with another shift, other rows, or another order of what is retained is no plan."""
    caught = Counter[str]()
    for seed in range(max(20, int(300 * fuzz))):
        rng = np.random.default_rng(seed)
        module = load_text(new_context(), network(rng, True), "n.mlir")
        func = only_function(module)
        try:
            receive_rows(func)
            expand(func, None)
            close_stream(func)
            keep_rows(func, int(rng.integers(1, 3)))
        except MemoptError:
            continue
        check_form(func)
        states = [op for op in body_of(func).ops if isinstance(op, StateOp)]
        state = states[int(rng.integers(len(states)))]
        retained = [*state.of_kind(RetainOp)]
        kind = ("shift", "tensor", "swapped")[int(rng.integers(3))]
        if kind == "shift":
            state.properties["shift"] = IntAttr(state.later + 1)
        elif kind == "tensor" and len(states) > 1:
            other = states[states.index(state) - 1]
            state.operands[0] = other.of
            state.properties["number"] = other.number
        elif kind == "swapped" and len(retained) > 1:
            a, b = retained[:2]
            a.operands[0], b.operands[0] = b.operands[0], a.operands[0]
        else:
            continue
        with pytest.raises((MemoptError, VerifyException)):
            module.verify()
            check_form(func)
        caught[kind] += 1
    assert len(caught) == 3, caught
