"""Row graphs as C: every row equals that of the whole operators' C, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.dialects.functions import only_function
from memopt.dialects.rows import family_of
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass

MODELS = (
    "dscnn_kws_int8",
    "resnet8_int8",
    "resnet8_float",
    "person_detect_int8",
    "mobilenet_vww96_int8",
    "tinymaix_mnist_resnet_int8",
    "streaming_wakeword_int8",
)


def in_rows(lab: Any, module: ModuleOp, rows: tuple[str, ...] = ("all",), **model: Any) -> ModuleOp:
    """The module in rows, planned. Sums of stored integers are int32, so places are aligned."""
    MemgraphExpandRowsPass(rows).apply(Context(), module)
    module.verify()
    planned = lab.plan(module, **({"target": "host", "alignment": 4, "inplace": "on"} | model))
    assert isinstance(planned, ModuleOp)
    return planned


def inputs_of(lab: Any, module: ModuleOp, runs: int) -> list[Any]:
    """Of every input a third random, a third extreme, a third as cameras and microphones see."""
    found: list[Any] = []
    rng = np.random.default_rng(runs)
    for array in lab.random_inputs(module, 3 * runs, seed=runs):
        low, high = (-1.0, 1.0) if array.dtype.kind == "f" else (-128, 127)
        shape = array[0].shape
        for n in range(runs):
            array[runs + n] = rng.choice([low, high], shape) if n > 1 else (low, high)[n]
            waves = sum(
                np.sin(np.linspace(0, rng.uniform(1, 9), size)).reshape(
                    [-1 if i == axis else 1 for i in range(len(shape))]
                )
                for axis, size in enumerate(shape)
            )
            array[2 * runs + n] = np.clip(low + (high - low) * (waves + 2) / 4, low, high)
        found.append(array)
    return found


def whole_rows(trace: dict[int, list[bytes]], runs: int) -> dict[int, list[bytes]]:
    """Of each tensor its bytes in every run, from those of its rows, which are traced in order."""
    found: dict[int, list[bytes]] = {}
    for tensor, pieces in trace.items():
        each = len(pieces) // runs
        assert each * runs == len(pieces)
        found[tensor] = [b"".join(pieces[n * each : (n + 1) * each]) for n in range(runs)]
    return found


@pytest.mark.parametrize("name", MODELS)
def test_every_row_is_that_of_the_whole_tensor(
    name: str, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    path = shared / "models" / f"{name}.tflite"
    whole = lab.plan(lab.read_model(path), target="host")
    module = in_rows(lab, lab.read_model(path))
    runs = max(2, int(10 * fuzz))
    inputs = inputs_of(lab, whole, runs)
    want = lab.run_project(lab.write(whole, tmp_path / "whole", name, "host"), inputs)
    got = lab.run_project(lab.write(module, tmp_path / "rows", name, "host"), inputs, lab.SANITIZE)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output
    tensors = whole_rows(got.trace, 3 * runs)
    assert tensors == want.trace
    assert family_of(only_function(module).body.block.ops) == "rows"
