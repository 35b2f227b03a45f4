"""TensorFlow Lite Micro's signal library as C, bit for bit: each operator, and a preprocessor of
audio from samples to features."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from against_runtime import compared, evaluated
from deep import SEEDS, deep_but, seeds
from forge_model import Forge
from forge_signal import OPERATORS, Mend, add_signal, preprocessor

from memopt.cli import main as memopt
from memopt.dialects.memgraph.structure import OpaqueOp

EACH = 4  # operators of a kind in a network
FULL = 40  # networks, of 56 operators each
RUNS = 6
FRAMES = 50


def quieter(inputs: Any) -> None:
    """Shift what comes in to any size, and put some at the ends of its type."""
    rng = np.random.default_rng(1)
    for array in inputs:
        if array.dtype.kind in "iu":
            for run in range(len(array)):
                array[run] >>= array.dtype.type(rng.integers(0, 8 * array.dtype.itemsize))
    for array in [a for a in inputs if a.dtype == np.int16][::9]:
        array[:] = rng.choice(np.array([-32768, 32767], np.int16), array.shape)


def mended(lab: Any, mends: list[Mend], monkeypatch: pytest.MonkeyPatch) -> None:
    """Put zeros where the runtime leaves any numbers."""
    golden = lab.golden

    def with_zeros(*arguments: Any) -> dict[int, Any]:
        tensors = golden(*arguments)
        for mend in mends:
            mend(tensors)
        return tensors

    monkeypatch.setattr(lab, "golden", with_zeros)


@pytest.mark.parametrize("part", SEEDS)
def test_each_operator_is_that_of_tflm(
    part: str, fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.need_tools("host")
    for seed in seeds(part, 1, 4, FULL * fuzz):
        forge = Forge(np.random.default_rng(seed), True)
        mends = [add_signal(forge, name) for name in OPERATORS for _ in range(EACH)]
        with monkeypatch.context() as patch:
            mended(lab, mends, patch)
            compared(lab, forge, seed, tmp_path, "tflm", quieter, RUNS, stays=True)


def samples(frames: int, size: int) -> Any:
    """Return a microphone's samples, [frames, size]: silence, a rising tone, noise, clipping."""
    at = np.arange(frames * size)
    rng = np.random.default_rng(7)
    loud = np.minimum(40_000, 10 ** (5 * at / len(at)))
    wave = loud * np.sin(2 * np.pi * at * (200 + at / 20) / 16_000) + rng.normal(size=len(at)) * 40
    wave[: 2 * size] = 0
    return np.clip(wave, -32768, 32767).astype(np.int16).reshape(frames, size)


CORES = ("host", "cortex-m4", "cortex-m0plus", "riscv32")


@pytest.mark.parametrize("target", deep_but(["host", "cortex-m4"], CORES))
def test_features_of_samples_are_those_of_tflm(target: str, tmp_path: Path, lab: Any) -> None:
    """Check 50 frames, with what samples and noise were before."""
    lab.need_tools(target)
    path = tmp_path / "preprocessor.tflite"
    path.write_bytes(preprocessor())
    module = lab.plan(lab.read_model(path), schedule="source", target=target)
    assert not any(isinstance(op, OpaqueOp) for op in module.walk())
    inputs, tensors = [samples(FRAMES, 320)], lab.tensors_of(module)
    want = lab.golden("tflm", path, inputs, tensors, tmp_path / "golden", stays=True)
    energies = [t for t, a in want.items() if a.shape[1:] == (257,)][:2]
    for energy in energies:  # which TFLM computes where they are read only
        want[energy][:, :5] = want[energy][:, 241:] = 0
    project = lab.write(module, tmp_path / target, "net", target)
    run = lab.run_project(project, inputs, lab.SANITIZE if target == "host" else None)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []
    features = next(a for a in want.values() if a.dtype == np.int8)
    assert len(np.unique(features)) > 100 and len(np.unique(features, axis=0)) > 40
    if target == "host":
        known = evaluated(lab, module, inputs)
        assert all(np.array_equal(known[t], a) for t, a in want.items())


REFUSED = {
    ("Rfft", "fft_length"): 12,
    ("Irfft", "fft_length"): 2,
    ("Rfft", "T"): 0,
    ("Energy", "end_index"): 1000,
    ("FilterBank", "num_channels"): 99,
    ("FilterBankLog", "input_correction_bits"): 32,
    ("FilterBankSpectralSubtraction", "smoothing_bits"): "ten",
    ("FilterBankSpectralSubtraction", "spectral_subtraction_bits"): 32,
    ("PCAN", "snr_shift"): 64,
    ("Window", "shift"): -1,
    ("Framer", "frame_step"): 0,
    ("Stacker", "stacker_step"): 99,
    ("Delay", "delay_length"): 0,
    ("OverlapAdd", "frame_step"): -1,
}


@pytest.mark.parametrize(("name", "option"), REFUSED)
def test_options_of_no_meaning_are_refused(
    name: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge = Forge(np.random.default_rng(1), True)
    add_signal(forge, name, **{option: REFUSED[name, option]})
    path = forge.save(tmp_path / "net.tflite")
    assert memopt(["compile", str(path), "--target=host", "-o", str(tmp_path / "c")]) == 1
    assert f"no kernel for CUSTOM:Signal{name}" in capsys.readouterr().err


def test_a_part_outside_of_the_spectrum_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge = Forge(np.random.default_rng(1), True)
    add_signal(forge, "FilterBank")
    tensor = forge.graph.tensors[forge.graph.operators[-1].inputs[3]]
    starts = np.full(len(forge.model.buffers[tensor.buffer].data) // 2, 1000, np.int16)
    forge.model.buffers[tensor.buffer].data = starts.view(np.uint8)
    path = forge.save(tmp_path / "net.tflite")
    assert memopt(["compile", str(path), "--target=host", "-o", str(tmp_path / "c")]) == 1
    assert "a part outside of the spectrum or the weights" in capsys.readouterr().err
