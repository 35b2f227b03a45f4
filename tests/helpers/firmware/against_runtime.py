"""Comparison of a forged network as C, and as `evaluate` computes it, with a runtime: tensor by
tensor."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from forge_model import Forge

from memopt.analysis.evaluation import State, evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.functions import only_function

EVALUATE = "evaluate"  # in place of a runtime: what no runtime here has
CLOSE = 1e-5  # of the largest number, or of 0.1

Tensors = Mapping[int, Any]


def compared(
    lab: Any,
    forge: Forge,
    seed: int,
    tmp_path: Path,
    oracle: str = "litert_ref",
    change: Callable[[Sequence[Any]], None] | None = None,
    runs: int = 2,
    close: float = CLOSE,
    stays: bool = False,
) -> Tensors:
    """Compare all tensors with the runtime's, integers bit for bit, with inputs that `change` may
    change; return those of the runtime by their number. If `stays`, TFLM keeps its state."""
    work = tmp_path / str(seed)
    path = forge.save(tmp_path / f"{seed}.tflite")
    module = lab.plan(lab.read_model(path), schedule="source", target="host")
    inputs, tensors = lab.random_inputs(module, runs, seed), lab.tensors_of(module)
    if change is not None:
        change(inputs)
    known = evaluated(lab, module, inputs)
    want = known if oracle == EVALUATE else lab.golden(oracle, path, inputs, tensors, work, stays)
    assert set(want) == set(tensors)
    for tensor, array in want.items():
        assert alike(known[tensor], array, close), f"seed {seed}: evaluate, tensor {tensor}"
    run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    for tensor, array in want.items():
        traced = [np.frombuffer(v, array.dtype) for v in run.trace[tensor]]
        computed = np.stack(traced).reshape(array.shape)
        assert alike(computed, array, close), f"seed {seed}: C, tensor {tensor}"
    return want


def evaluated(lab: Any, module: Any, inputs: Sequence[Any]) -> Tensors:
    """Return the tensors of each run, one run after the other, by their number."""
    func, weights = only_function(module), Weights.of(module)
    state: State = {}
    wanted, by_tensor = set(lab.tensors_of(module)), dict[int, list[Any]]()
    for number in range(len(inputs[0])):
        values = evaluate(func, weights, [array[number] for array in inputs], state)
        for value, array in values.items():
            source = getattr(value.owner, "attributes", {}).get("memgraph.source")
            if source is not None and lab.source_tensor(value) in wanted:
                by_tensor.setdefault(lab.source_tensor(value), []).append(array)
    return {tensor: np.stack(arrays) for tensor, arrays in by_tensor.items()}


def alike(made: Any, want: Any, close: float) -> bool:
    """Return whether integers are equal, and reals but for what floats lose."""
    if made.shape != want.shape or made.dtype != want.dtype:
        return False
    if made.dtype.kind not in "fc":
        return np.array_equal(made, want)
    scale = max(float(np.abs(want).max(initial=0)), 0.1)
    return bool(np.abs(made - want).max(initial=0) <= close * scale)
