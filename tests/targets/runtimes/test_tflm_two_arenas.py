"""TFLM with its structures in one arena and its tensors in another: it runs in what the formula
says, to the byte, and in no less."""

from dataclasses import replace
from pathlib import Path

import pytest
from tflm_kept_models import MODELS
from tflm_memory import run_in
from tflm_plan import import_for_tflm, planned, write
from tflm_runner import Job, random_inputs, run

from memopt.backends.tflm.interpreter import MARGIN, interpreter_arena
from memopt.backends.tflm.structs import WHEEL
from memopt.formats.tflite import read_model

PLAIN = replace(WHEEL, records=False)
SHARED = (
    *("ad01_autoencoder_int8", "dscnn_kws_int8", "hello_world_int8", "resnet8_int8"),
    *("person_detect_int8", "streaming_wakeword_int8", "tinymaix_mnist_resnet_int8"),
)
STEP = 16


@pytest.mark.parametrize("name", SHARED)
def test_tflm_runs_in_two_arenas_of_the_plan(name: str, shared: Path, tmp_path: Path) -> None:
    """Compare outputs with those in one arena; 16 bytes less of either are refused."""
    data = (shared / "models" / f"{name}.tflite").read_bytes()
    module, func = planned(data)
    result = write(module, data)
    need = interpreter_arena(func, read_model(data, name), PLAIN)
    persistent, other = need.persistent - MARGIN, need.non_persistent - STEP
    inputs = random_inputs(data, 1, 3)
    (one,) = run([Job("tflm", result, inputs)], tmp_path)
    outputs = [[a.tobytes() for a in arrays] for arrays in one.outputs]
    assert run_in(result, [persistent, other], inputs) == outputs
    assert run_in(result, [persistent - STEP, other], inputs) is None
    assert run_in(result, [persistent, other - STEP], inputs) is None
    assert run_in(result, [need.needed], inputs) == outputs
    assert run_in(result, [need.needed - STEP], inputs) is None


@pytest.mark.deep
@pytest.mark.parametrize("name", MODELS)
def test_structures_in_an_arena_of_their_own_are_known(name: str) -> None:
    """The lists in the other one are bounded, as Prepare copies few of an operator's tensors."""
    data = MODELS[name]
    _, func = import_for_tflm(data)
    need = interpreter_arena(func, read_model(data, name), PLAIN, planned=False)
    persistent, other = need.persistent - MARGIN, need.non_persistent - STEP
    inputs = random_inputs(data, 1, 3)
    assert run_in(data, [persistent, other], inputs) is not None
    assert run_in(data, [persistent - STEP, other], inputs) is None
