# pyright: basic
# (arrays of any element type: strict has nothing to say about them)
"""Operators between `DequantizeLinear` and `QuantizeLinear`, folded: what onnxruntime computes.

Sums of products against its fused kernels, bit for bit, everything else against the graph as it
stands.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_networks import images, network, quantised
from qdq_pairs import FAMILIES, Pairs, results
from xdsl.dialects.builtin import ModuleOp, f32

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.rewrites import apply_rules

FULL = 500  # models of each family


def every_value(func: Any) -> list[Any]:
    return [*func.body.block.args, *(r for op in func.walk() for r in op.results)]


def result(func: Any, module: ModuleOp, feeds: dict[str, Any]) -> Any:
    values = evaluate(func, Weights.of(module), list(feeds.values()))
    return values[func.get_return_op().operands[0]]


@pytest.mark.parametrize("family", FAMILIES)
def test_folded_operators_compute_what_onnxruntime_does(
    family: str, tmp_path: Path, fuzz: float
) -> None:
    make, off = FAMILIES[family]
    differing = elements = 0
    for seed in range(max(12, int(FULL * fuzz))):
        pairs = Pairs(seed)
        data = make(pairs)
        path = tmp_path / "m.onnx"
        path.write_bytes(data)
        module = load_model(path, {})
        assert apply_rules(module, ("qdq-fold",)), seed
        module.verify()
        func = only_function(module)
        real = [v for v in every_value(func) if v.type.element_type == f32]
        assert not real, (seed, str(module))
        further = module.clone()
        apply_rules(further, ("signed-bytes", "channels-last"))
        further.verify()
        limits = np.iinfo(pairs.stored)
        for _ in range(3):
            feeds = {
                name: pairs.rng.integers(limits.min, limits.max + 1, shape).astype(pairs.stored)
                for name, shape in pairs.inputs.items()
            }
            got = result(func, module, feeds).astype(int)
            want = results(
                data, feeds, fused=family in ("convolution", "over_time", "matrix")
            ).astype(int)
            assert abs(got - want).max() <= off, (seed, got, want)
            assert (result(only_function(further), further, feeds) == got).all(), seed
            differing, elements = differing + int((got != want).sum()), elements + got.size
    assert differing <= elements // 500, (differing, elements)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("unsigned", [False, True])
def test_a_network_of_onnxruntimes_own_quantizer(
    unsigned: bool, pairs: bool, tmp_path: Path
) -> None:
    path = quantised(network(tmp_path / "f.onnx"), tmp_path / "q.onnx", unsigned, pairs)
    module = load_model(path, {})
    assert apply_rules(module, ("qdq-fold",)) == pairs, "the others are folded when they are read"
    func = only_function(module)
    kinds = Counter(op.name for op in func.walk())
    assert kinds["memgraph.dequantize"] == 1, "the output's"
    further = module.clone()
    assert apply_rules(further, ("signed-bytes", "channels-last"))
    for image in images(5, 3):
        feeds = {"x": image}
        want = results(path.read_bytes(), feeds, fused=True)
        assert (result(func, module, feeds) == want).all()
        assert (result(only_function(further), further, feeds) == want).all()
