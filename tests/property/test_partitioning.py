"""Operators that are cut along channels, in random networks of int8, uint8, of integers rounded as
ONNX's, and of floats: the same numbers."""

from collections import Counter
from typing import Any

import numpy as np
from channel_networks import INT8, Steps, sparse_network, sparse_text
from row_steps import convolution, copied, depthwise, function, pool, resized
from row_text import Rng, Text
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.functions import only_function
from memopt.dialects.stored import dtype_of
from memopt.dialects.tensors import shape_of
from memopt.driver import load_text, new_context
from memopt.rewrites import Sites, apply_rules

FULL = 2_000  # networks
LEAST = 500  # operators that each rule cuts in the full count
RULES = ("kernel-wise", "channel-wise")


def joined(net: Text, readers: Steps = (depthwise, pool)) -> None:
    """Two or three tensors beside one another, perhaps joined themselves, and what reads them."""
    _, shape = net.last
    alike = [m for m in net.made if m[1][:3] == shape[:3]]
    parts = [net.last, *(net.pick(*alike) for _ in range(net.pick(1, 1, 2)))]
    names = ", ".join(name for name, _ in parts)
    net.add(f"concat {names} axis 3", parts, (*shape[:3], sum(s[3] for _, s in parts)))
    for _ in range(net.pick(1, 2)):
        net.pick(*readers)(net)
    convolution(net)


def functions(net: Text) -> None:
    joined(net, (function, resized, depthwise))


PLAIN = (joined, joined, depthwise, pool, convolution)
STEPS = (*PLAIN, functions, functions, *(s for s in INT8 if s is not copied))
KINDS = ("", "", "tflm_double", "onnx_even", "float")


def network(rng: Rng, kind: str) -> ModuleOp:
    if kind == "float":
        return load_text(new_context(), sparse_text(rng, 1, PLAIN, quantized=False), "net.mlir")
    return sparse_network(rng, 1, kind, steps=PLAIN if kind else STEPS)


def results(module: ModuleOp, value: Any) -> list[Any]:
    func = only_function(module)
    values = evaluate(func, Weights({}), [value])
    last = func.get_return_op()
    assert last is not None
    return [values[v] for v in last.operands]


def test_an_operator_for_each_part_computes_the_same(fuzz: float) -> None:
    fired = Counter[str]()
    for n in range(max(25, int(FULL * fuzz))):
        rng = np.random.default_rng(n)
        kind = KINDS[n % len(KINDS)]
        module = network(rng, kind)
        after, sites = module.clone(), Sites()
        apply_rules(after, RULES, sites=sites)
        after.verify()
        fired += sites.changed
        if not sites.changed:
            continue
        x = only_function(module).body.block.args[0]
        image = rng.integers(0, 127, shape_of(x)).astype(dtype_of(x))
        for a, b in zip(results(module, image), results(after, image), strict=True):
            assert a.dtype == b.dtype
            if sites.changed["channel-wise"] and kind == "float":
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5 * np.abs(a).max())
            else:
                assert (a == b).all(), n
    least = LEAST if fuzz >= 1 else 5
    assert all(fired[rule] >= least for rule in RULES), fired
