# pyright: basic
# (arrays of any element type: strict has nothing to say about them)
"""Constants of bands of channels and rows between two reshapes, as a sub-spectral normalization is
exported: what onnxruntime computes, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
from normalized import Model
from onnx import numpy_helper
from qdq_pairs import results

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.operators.picked import PickedOp
from memopt.rewrites import apply_rules

FULL = 2_000  # models
RULES = ("constants-in-bands",)


def banded(seed: int) -> Model:
    """An image whose rows are channels of `bands`, or whose channels are rows, behind a reshape."""
    rng = np.random.default_rng([seed, 5])
    images, channels, bands, rows, width = (int(v) for v in rng.integers(1, 5, 5))
    image = (images, channels, bands * rows, width)
    inside = (images, channels * bands, rows, width)
    if seed % 3 == 2:
        image, inside = inside, image
    model = Model(seed, image)

    def reshaped(shape: tuple[int, ...]) -> None:
        name = f"s{len(model.constants)}"
        model.constants.append(numpy_helper.from_array(np.array(shape, np.int64), name))
        model.add("Reshape", name)

    model.add("MaxPool", kernel_shape=[1, 1])
    reshaped(inside)
    for _ in range(int(rng.integers(1, 4))):
        alike = [n if rng.random() < 0.5 else 1 for n in inside]
        kind = str(rng.choice(["Mul", "Add", "Sub", "Sigmoid", "Relu"]))
        constant = model.normal(*alike[int(rng.integers(0, 4)) :])
        model.add(kind, *[constant] * (kind in ("Mul", "Add", "Sub")))
    reshaped(image)
    model.add("MaxPool", kernel_shape=[1, 1])
    return model


def result(module: Any, x: Any) -> Any:
    func: Any = only_function(module)
    return evaluate(func, Weights.of(module), [x])[func.get_return_op().operands[0]]


def test_bands_are_those_of_onnxruntime(tmp_path: Path, fuzz: float) -> None:
    path = tmp_path / "m.onnx"
    changed = spread = 0
    count = max(30, int(FULL * fuzz))
    for seed in range(count):
        model = banded(seed)
        path.write_bytes(model.data())
        module = load_model(path, {})
        x = model.rng.normal(size=model.shape).astype(np.float32)
        before = result(module, x)
        changed += apply_rules(module, RULES)
        module.verify()
        after = result(module, x)
        assert after.tobytes() == before.tobytes(), seed
        want = results(model.data(), {"x": x}, fused=False)
        np.testing.assert_allclose(after, want, rtol=1e-6, atol=1e-6)
        spread += any(isinstance(op, PickedOp) for op in module.walk())
    assert changed > count // 3 and spread > count // 12, (changed, spread)
