"""How large an image is, and what it costs that the compiler specialises no code in it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but

from memopt.cli import main as memopt

# bytes of the whole program before there were packed kernels
BEFORE = {"dscnn_kws_int8": 37_944, "resnet8_int8": 90_116, "mobilenet_vww96_int8": 246_268}

SIZED = (
    *BEFORE,
    "person_detect_int8",
    "ad01_autoencoder_int8",
    "streaming_wakeword_int8",
    "tinymaix_mnist_resnet_int8",
    "mcunet_vww_int8",
    "keyword_scrambled_int8",
    "dscnn_kws_float",
)


def compiled(shared: Path, name: str, folder: Path, *how: str) -> dict[str, Any]:
    """The `target` entry of the report of whole operators, for speed, on a Cortex-M4."""
    model = str(shared / "models" / f"{name}.tflite")
    kernels = ("--target=cortex-m4", "--rows=none", "--rewrite=none", "--optimize=speed")
    assert memopt(["compile", model, *kernels, *how, "-o", str(folder)]) == 0
    return json.loads((folder / "report.json").read_text())["target"]


@pytest.mark.deep
@pytest.mark.parametrize("name", deep_but("dscnn_kws_int8", BEFORE))
def test_an_image_is_hardly_larger_for_being_fast(
    name: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """At most 14 % larger than without packed kernels, 10 % if nothing is specialised, which takes
    at most 8 % more instructions."""
    lab.need_tools("cortex-m4")
    fast = compiled(shared, name, tmp_path / "on")
    small = compiled(shared, name, tmp_path / "off", "--specialise=off")
    assert small["flash"] < fast["flash"] <= 1.14 * BEFORE[name]
    assert small["flash"] <= 1.10 * BEFORE[name]
    assert small["instructions"] <= 1.08 * fast["instructions"]
    assert small["arena"] == fast["arena"]


@pytest.mark.deep
@pytest.mark.parametrize("name", deep_but("dscnn_kws_int8", SIZED))
def test_a_build_for_size_takes_few_more_instructions(
    name: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """At most 8 % more with -Os than with -O2."""
    lab.need_tools("cortex-m4")
    fast = compiled(shared, name, tmp_path / name)
    inputs = lab.random_inputs(lab.read_model(shared / "models" / f"{name}.tflite"), 1, seed=5)
    small = lab.run_project(tmp_path / name, inputs, "-Os", "small", trace=False)
    assert small.code == 0, small.messages
    assert small.numbers["instructions"] <= 1.08 * fast["instructions"]


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("host", ["cortex-m4", "cortex-m55", "host"]))
def test_unspecialised_code_answers_the_same(
    target: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    model = str(shared / "models" / "tinymaix_mnist_resnet_int8.tflite")
    inputs = [np.random.default_rng(3).integers(-128, 128, (3, 784), np.int8)]
    answers = dict[str, bytes]()
    for how in ("on", "off"):
        out = tmp_path / how
        words = [f"--target={target}", f"--specialise={how}", "--rows=none"]
        assert memopt(["compile", model, *words, "-o", str(out)]) == 0
        common = (out / "kernels" / "memopt_common.h").read_text()
        assert f"#define MEMOPT_SPECIALISE {int(how == 'on')}\n" in common
        ran = lab.run_project(out, inputs, trace=False)
        assert ran.code == 0, ran.messages
        answers[how] = ran.output
    assert answers["on"] == answers["off"]


def test_every_way_of_writing_c_says_whether_it_is_specialised(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [str(shared / "models" / f"{n}_int8.tflite") for n in ("hello_world", "dscnn_kws")]
    off = ("--target=host", "--specialise=off", "--rewrite=none", "--rows=none")
    one, several = tmp_path / "one", tmp_path / "several"
    assert memopt(["compile", models[0], *off, "--layout=single-file", "-o", str(one)]) == 0
    assert memopt(["compile", *models, *off, "--shared-kernels", "-o", str(several)]) == 0
    for file in (one / "hello_world_int8.c", several / "kernels" / "memopt_common.h"):
        assert "#define MEMOPT_SPECIALISE 0\n" in file.read_text()
    capsys.readouterr()
    tflm = ["compile", models[0], "--target=tflm", "--specialise=off", "-o", str(tmp_path / "tflm")]
    assert memopt(tflm) == 2
    assert "--specialise is of C targets" in capsys.readouterr().err
