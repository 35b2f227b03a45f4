"""Rows that stay from window to window: a stream of frames gives what whole windows give."""

from collections import Counter

import numpy as np
import pytest
from row_networks import network
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from memopt.analysis.evaluation import State, evaluate
from memopt.analysis.sliding import sliding_of
from memopt.analysis.weights import Weights
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import body_of, only_function
from memopt.dialects.stored import Array
from memopt.dialects.tensors import rows_of, shape_of
from memopt.driver import load_text, new_context
from memopt.passes.expand_rows import expand
from memopt.passes.keep_rows import keep_rows
from memopt.passes.stream_input import close_stream, receive_rows
from memopt.verify.plan import check_form


@pytest.mark.parametrize("quantized", [True, False])
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
            keep_rows(func, by)
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


def returned(func: FuncOp) -> list[SSAValue]:
    last = body_of(func).last_op
    assert last is not None
    return list(last.operands)
