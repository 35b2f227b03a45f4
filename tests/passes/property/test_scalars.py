"""Tensors without dimensions, wherever a tensor may be: one channel, no rows, the same numbers."""

import numpy as np
import pytest
from row_networks import image_of
from scalar_networks import scalar_network
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.source import emit
from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import shape_of
from memopt.text.ir_text import module_text

FULL = 2_000  # networks
REFUSED = "no operator has rows|no kernel for"


def result_of(func: FuncOp, given: Array) -> Array:
    values = evaluate(func, Weights({}), [given])
    for value, array in values.items():
        assert array.shape == shape_of(value)
    last = func.get_return_op()
    assert last is not None
    return values[last.operands[0]]


@pytest.mark.deep
@pytest.mark.parametrize("quantized", [False, True])
def test_rewrites_channels_and_plans_of_scalars(quantized: bool, fuzz: float) -> None:
    """Functions are printed, in a declared range, by all rules, in rows; channels are verified."""
    planned, scalars = 0, 0
    for seed in range(max(30, int(FULL * fuzz))):
        rng = np.random.default_rng([5, seed])
        text = scalar_network(rng, quantized)
        module = load_text(new_context(), text, "net.mlir")
        printed = module_text(module)
        assert module_text(load_text(new_context(), printed, "net.mlir")) == printed
        func = only_function(module)
        given = image_of(func, rng)
        wanted = result_of(func, given)
        scalars += wanted.shape == ()
        ranged = "" if quantized else 'memgraph-input-range{of="x=-4:4"},'
        for rules in ("none", "safe", "all"):
            copy = module.clone()
            steps = f"{ranged}memgraph-rewrite{{rules={rules}}},memgraph-verify-channels"
            for step in build_pipeline(steps):
                step.apply(Context(), copy)
            found = result_of(only_function(copy), given)
            assert found.shape == wanted.shape, seed
            far = 0 if quantized else 1e-4
            assert np.allclose(found, wanted, atol=far, rtol=far, equal_nan=True), (seed, rules)
        for rows, io in (("none", "arena"), ("all", "caller"), ("auto", "kept")):
            copy = module.clone()
            try:
                chosen = SettledOptions(rewrite="all", rows=rows, io=io)
                plan_module(Context(), copy, chosen, Seconds())
                emit(copy, "net", "host")
                planned += 1
            except MemoptError as error:
                assert any(text in str(error) for text in REFUSED.split("|")), (seed, error)
    assert planned and scalars
