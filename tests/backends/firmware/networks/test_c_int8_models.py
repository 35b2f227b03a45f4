"""int8 models as C: every tensor equals TensorFlow Lite Micro bit for bit, on four machines.

A normal run has every model on the host and on one of the cores in turn, `make fuzz` on all.
"""

from pathlib import Path
from typing import Any

import pytest
from deep import deep_but

MODELS = (
    "resnet8_int8",
    "dscnn_kws_int8",
    "mobilenet_vww96_int8",
    "ad01_autoencoder_int8",
    "person_detect_int8",
    "hello_world_int8",
    "streaming_wakeword_int8",
    "tinymaix_mnist_resnet_int8",
    "mcunet_vww_int8",  # with float32 inputs and outputs, PAD, MEAN, TRANSPOSE
)
WITH_STATE = ("keyword_scrambled_int8", "dtln_noise_suppression")  # elsewhere: test_c_state.py


@pytest.mark.deep
@pytest.mark.parametrize("number", deep_but([0, 5, 6], range(len(MODELS))), ids=MODELS)
def test_equal_to_tflm_everywhere(
    number: int, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    name = MODELS[number]
    cores = lab.cores_of(number, fuzz)
    path = shared / "models" / f"{name}.tflite"
    module = lab.plan(lab.read_model(path))
    tensors = lab.tensors_of(module)
    assert tensors
    inputs = lab.random_inputs(module, max(3, int(10 * fuzz)), seed=len(name))
    want = lab.golden("tflm", path, inputs, tensors, tmp_path / "golden")
    ran = 0
    for target in ("host", *cores):
        directory = lab.write(module, tmp_path / target, name, target)
        if not lab.has_tools(target):
            continue
        if target == "host":
            run = lab.run_project(directory, inputs, lab.SANITIZE)
            assert lab.unequal_tensors(run, want) == []
        else:
            run = lab.run_project(directory, [a[:1] for a in inputs])
            assert lab.unequal_tensors(run, {k: v[:1] for k, v in want.items()}) == []
            assert run.numbers["stack_bytes"] < 1024
            assert run.numbers["instructions"] > 0
        assert run.code == 0, run.messages
        ran += 1
    if ran < 1 + len(cores):
        pytest.skip(f"compiled and run on {ran} of {1 + len(cores)} machines: tools are missing")


@pytest.mark.parametrize("board", ["riscv32", "riscv32f"])
@pytest.mark.parametrize("name", deep_but("hello_world_int8", [*MODELS, *WITH_STATE]))
def test_equal_to_tflm_on_risc_v(
    name: str, board: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(board)
    path = shared / "models" / f"{name}.tflite"
    module = lab.plan(lab.read_model(path))
    inputs = lab.random_inputs(module, 1, seed=len(name))
    want = lab.golden("tflm", path, inputs, lab.tensors_of(module), tmp_path / "golden")
    run = lab.run_project(lab.write(module, tmp_path / board, name, board), inputs)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []
    assert 0 < run.numbers["stack_bytes"] < 1024
