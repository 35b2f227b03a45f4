"""The whole arena of TFLM's interpreter: to the byte what the wheel reports, and the 32-bit figures
measured on a Cortex-M4."""

from pathlib import Path

import pytest
from tflm_models import IN_LITERT, IN_TFLM
from tflm_operator_models import KERNELS
from tflm_plan import import_for_tflm, planned, write
from tflm_runner import Job, random_inputs, run

from memopt.backends.tflm.interpreter import MARGIN, interpreter_arena, unbounded_operators
from memopt.backends.tflm.structs import DEVICE, WHEEL, Struct
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.tflite import read_model

# Cortex-M4, release build, reference kernels: bytes of head and tail, and what is needed where the
# reported sum is too small.
MEASURED = {
    "resnet8_int8": (49_152, 5_188, 0),
    "dscnn_kws_int8": (16_000, 6_772, 0),
    "mobilenet_vww96_int8": (73_728, 26_932, 0),
    "person_detect_int8": (55_296, 26_996, 0),
    "ad01_autoencoder_int8": (768, 1_492, 2_704),
    "hello_world_int8": (32, 644, 1_072),
    "streaming_wakeword_int8": (6_656, 8_596, 0),
    "tinymaix_mnist_resnet_int8": (3_552, 2_212, 0),
}


def shared_model(shared: Path, name: str) -> bytes:
    return (shared / "models" / f"{name}.tflite").read_bytes()


@pytest.fixture(scope="module")
def files(shared: Path) -> dict[str, bytes]:
    """Every model that the wheel runs, some as we plan them, and a small one per kernel."""
    found = {name: shared_model(shared, name) for name in IN_TFLM}
    for name in ("mobilenet_vww96_int8", "keyword_scrambled_int8"):
        found[f"{name} planned"] = write(planned(found[name])[0], found[name])
    return {**found, **KERNELS}


@pytest.mark.deep
def test_the_wheel_reports_the_formulas_arena(files: dict[str, bytes], tmp_path: Path) -> None:
    jobs = [Job("tflm", data, random_inputs(data, 1, 0)) for data in files.values()]
    wrong: list[str] = []
    for (name, data), answer in zip(files.items(), run(jobs, tmp_path), strict=True):
        assert answer.error == "", (name, answer.error)
        _, func = import_for_tflm(data)
        is_ours = name.endswith("planned")
        if is_ours:  # the file is in our order, but its plan is not in the IR
            need = interpreter_arena(func, read_model(data, name), WHEEL, planned=False)
            if need.tail != answer.tail:
                wrong.append(f"{name}: tail {need.tail}, TFLM {answer.tail}")
            continue
        need = interpreter_arena(func, read_model(data, name), WHEEL, planned=False)
        if (need.head, need.tail) != (answer.head, answer.tail):
            wrong.append(f"{name}: {need}, TFLM {answer.head} and {answer.tail}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", MEASURED)
def test_a_cortex_m_needs_what_was_measured(shared: Path, name: str) -> None:
    data = shared_model(shared, name)
    _, func = import_for_tflm(data)
    need = interpreter_arena(func, read_model(data, name), DEVICE, planned=False)
    head, tail, least = MEASURED[name]
    assert (need.head, need.tail) == (head, tail)
    assert need.needed == max(least, -(-(head + tail) // 16) * 16)
    assert need.needed <= need.tensor_arena == need.needed + MARGIN
    assert need.tensor_arena - max(least, head + tail) <= 64


def test_every_other_model_is_bounded_or_names_why_not(shared: Path) -> None:
    unbounded = {}
    for path in sorted((shared / "models").glob("*.tflite")):
        if path.stem in IN_TFLM or path.stem in IN_LITERT:
            continue
        _, func = import_for_tflm(path.read_bytes())
        model = read_model(path.read_bytes(), path.name)
        unbounded[path.stem] = unbounded_operators(func, model)
        with pytest.raises(MemoptError, match=f"{unbounded[path.stem][0]} is not known"):
            interpreter_arena(func, model)
    assert unbounded == {
        "person_detect_vela_plan": ["CUSTOM:ethos-u"],
        "selfie_segmentation": ["CUSTOM:Convolution2DTransposeBias"],
    }


def test_structures_are_laid_out_as_c_does() -> None:
    assert Struct("bip h").size(WHEEL) == 24  # 1 + 3, 4, 8, 2 + 6
    assert Struct("bip h").size(DEVICE) == 16
    assert Struct("eb").size(WHEEL) == 8
    assert Struct("eb").size(DEVICE) == 2
    assert Struct("i c w").size(DEVICE) == 4
    assert Struct("").layout(DEVICE) == (0, 1)
