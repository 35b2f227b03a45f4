"""What is stated is an upper bound: stack and static RAM of every int8 model that the C backend
takes, without a cross compiler, and with it a closer one of the stack, by the call tree.

The stack is painted and measured under emulation, below the call of the model.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from deep import deep_but

from memopt.backends.c.project.measure import measure_project
from memopt.cli import main as memopt
from memopt.compile.target_facts import c_facts
from memopt.targets.core.target import target_named

MODELS = (
    "hello_world_int8",
    "streaming_wakeword_int8",
    "ad01_autoencoder_int8",
    "tinymaix_mnist_resnet_int8",
    "dscnn_kws_int8",
    "resnet8_int8",
    "person_detect_int8",
    "mobilenet_vww96_int8",
    "mcunet_vww_int8",
)
QUICK = 4  # models of a normal run, one core each; `make fuzz` has all on all
CORES = 9
DEEP = ("cortex-m4", "cortex-m55", "riscv32")  # of `make deep`, each with every third model
BUILT = [(m, c) for m in MODELS for c in range(CORES)]


@pytest.mark.parametrize("number", range(len(MODELS)))
@pytest.mark.parametrize("core", range(CORES))
def test_nothing_needs_more_than_is_stated(
    number: int, core: int, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    if fuzz < 1 and (number >= QUICK or (2 * number + 2) % CORES != core):
        pytest.skip("in make fuzz")
    name, target = MODELS[number], lab.BOARDS[core]
    lab.need_tools(target)
    module = lab.plan(lab.read_model(shared / "models" / f"{name}.tflite"))
    found = measure_project(lab.write(module, tmp_path / name, name, target), target)
    stated = c_facts(module, target, found["arena"], {})
    assert stated["bounds"] == ["stack", "static_ram"]
    assert 0 < found["stack"] < stated["stack"]
    assert found["stack"] <= found["stack_bound"] <= 1.2 * found["stack"] + 128
    assert found["static_ram"] < stated["static_ram"]
    board = target_named(target)
    assert (board.stack_bound, board.static_bound) == (1_024, 256)


@pytest.mark.parametrize(("name", "core"), deep_but(BUILT[2], BUILT, several=True))
def test_the_bound_is_close_with_the_kernels_of_compile(
    name: str, core: int, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """What only rare tables need costs neither code nor stack where there are none."""
    target = lab.BOARDS[core]
    if fuzz < 1 and (name, core) != BUILT[2] and target != DEEP[MODELS.index(name) % len(DEEP)]:
        pytest.skip("in make fuzz")
    lab.need_tools(target)
    out, model = tmp_path / "out", str(shared / "models" / f"{name}.tflite")
    how = [f"--target={target}", "--schedule=rpo", "--place=greedy-by-size"]  # any order will do
    assert memopt(["compile", model, *how, "-o", str(out)]) == 0
    found = json.loads((out / "report.json").read_text())["target"]
    assert found["stack"] <= found["stack_bound"] <= 1.2 * found["stack"] + 128
