# pyright: basic
# (arrays of any element type: strict has nothing to say about them)
"""Divisions by constants: what onnxruntime computes, bit for bit, also where they are products."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from normalized import Model
from qdq_pairs import results

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.rewrites import apply_rules

FULL = 500  # models
ENDS = (0.0, -0.0, np.inf, np.nan, 1e-45, 1.17549435e-38, -1e-38, 3.4028235e38, 1.0)
RULE = ("division-as-product",)


def divided(seed: int, exact: bool) -> Model:
    """By powers of two of any size, or by numbers of which one is none."""
    model = Model(seed)
    shape = ((), (model.channels, 1, 1), model.shape[2:], model.shape[3:])[seed % 4]
    exponents = model.rng.integers(-126, 127, shape)
    divisors = np.ldexp(model.rng.choice([-1.0, 1.0], shape), exponents)
    if not exact:
        wrong = (3.0, 1e-40, 2.0**127, 0.0, np.inf, np.nan, -0.1)[seed % 7]
        divisors = np.where(np.arange(divisors.size).reshape(shape) == 0, wrong, divisors)
    model.add("Div", model.constant(divisors))
    return model


def numbers(model: Model) -> Any:
    """Of any size, the ends of what there is among them."""
    found = np.ldexp(model.rng.normal(size=model.shape), model.rng.integers(-140, 128, model.shape))
    at = model.rng.integers(0, found.size, len(ENDS))
    found.reshape(-1)[at] = ENDS
    with np.errstate(over="ignore"):
        return found.astype(np.float32)


def result(module: Any, x: Any) -> Any:
    func: Any = only_function(module)
    return evaluate(func, Weights.of(module), [x])[func.get_return_op().operands[0]]


def kinds(module: Any) -> set[str]:
    return {op.name.removeprefix("memgraph.") for op in module.walk()}


@pytest.mark.parametrize("exact", [True, False])
def test_divisions_are_those_of_onnxruntime(exact: bool, tmp_path: Path, fuzz: float) -> None:
    path = tmp_path / "m.onnx"
    for seed in range(max(28, int(FULL * fuzz))):
        model = divided(seed, exact)
        path.write_bytes(model.data())
        module = load_model(path, {})
        x = numbers(model)
        want = results(model.data(), {"x": x}, fused=False)
        np.testing.assert_array_equal(result(module, x), want, strict=True)
        assert apply_rules(module, RULE) == exact, seed
        module.verify()
        assert ("div" in kinds(module)) != exact
        np.testing.assert_array_equal(result(module, x), want, strict=True)


def test_a_divisor_that_only_the_run_time_knows_stays(tmp_path: Path) -> None:
    model = Model(0)
    model.add("Div", "x")
    path = tmp_path / "m.onnx"
    path.write_bytes(model.data())
    assert not apply_rules(load_model(path, {}), RULE)
