"""ADD_N and CUMSUM of int8, as C and as evaluated: bit for bit TensorFlow Lite Micro's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import INT8, INT16, Forge
from forge_rare import add_cumulative_sum, add_stored_add_n

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.lowering import lower
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.add_n import AddNOp
from memopt.dialects.operators.running import CumulativeSumOp


def test_equal_to_the_runtime(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Random integers, and the ends of the range alone."""
    lab.need_tools("host")
    for seed in range(max(3, int(40 * fuzz))):
        forge = Forge(np.random.default_rng(seed), True, INT8)
        for count in (2, 3, 15):
            add_stored_add_n(forge, count)
            add_cumulative_sum(forge, stored=True)
            for index in forge.graph.inputs if seed < 2 else ():
                forge.graph.tensors[index].quantization.zeroPoint = [(-128, 127)[seed]]
        path, work = forge.save(tmp_path / f"{seed}.tflite"), tmp_path / str(seed)
        module = lab.plan(lab.read_model(path), schedule="source", target="host")
        inputs = lab.random_inputs(module, 3, seed)
        for array in inputs:
            array[1], array[2] = -128, 127
        want = lab.golden("tflm", path, inputs, lab.tensors_of(module), work)
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"
        func = only_function(module)
        for r in range(3):
            values = evaluate(func, Weights({}), [x[r] for x in inputs])
            for op in (o for o in func.walk() if isinstance(o, AddNOp | CumulativeSumOp)):
                assert np.array_equal(values[op.result], want[lab.source_tensor(op.result)][r])


@pytest.mark.parametrize(
    ("element", "count", "scales", "reason"),
    [
        (INT8, 16, (0.1, 0.1, 0.1), "so many numbers that the sum could overflow"),
        (INT8, 3, (0.1, 0.2, 0.1), "tensors of different quantization"),
        (INT8, 3, (0.9, 0.9, 1e-6), "the scales need an output multiplier of 1 or more"),
        (INT16, 3, (0.1, 0.1, 0.1), "s16|a sum of int16"),
    ],
)
def test_what_the_runtime_has_not_is_refused(
    element: int, count: int, scales: tuple[float, ...], reason: str, tmp_path: Path, lab: Any
) -> None:
    forge = Forge(np.random.default_rng(1), True, element)
    add_stored_add_n(forge, count)
    made = forge.graph.operators[-1]
    first, *others = made.inputs
    for scale, indices in zip(scales, ([first], others, made.outputs), strict=True):
        for index in indices:
            forge.graph.tensors[index].quantization.scale = [float(np.float32(scale))]
    module = lab.read_model(forge.save(tmp_path / "m.tflite"))
    (op,) = (o for o in module.walk() if isinstance(o, AddNOp))
    with pytest.raises(MemoptError, match=reason):
        op.evaluate([np.zeros(shape_of(v), np.int8) for v in op.operands])
    with pytest.raises(MemoptError, match=reason):
        lower(op, lambda _: None, ("c",))
