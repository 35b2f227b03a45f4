"""`--align-io`: inputs and outputs of the C begin with a line of a cache, the answers stay."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from deep import deep_but

import memopt
from memopt.cli import main

NETWORK = "tinymaix_mnist_resnet_int8"  # in rows; 784 B of input, 10 B of output
KINDS = {
    "rows": (),
    "whole": ("--rows=none", "--io=kept"),
    "objects": ("--place=shared-objects",),
    "memories": ("--memory=dtcm:2K,sram:64K",),
}


@pytest.mark.deep
@pytest.mark.parametrize("kind", deep_but("rows", KINDS))
def test_places_begin_with_lines(kind: str, shared: Path, tmp_path: Path, lab: Any) -> None:
    """On a Cortex-M7, which has lines of 32 bytes; the program's canaries lie around the arena."""
    lab.need_tools("cortex-m7")
    model = shared / "models" / f"{NETWORK}.tflite"
    inputs = lab.random_inputs(lab.read_model(model), 2, seed=5)
    outputs = list[bytes]()
    for line in (None, 32):
        out = tmp_path / str(line)
        flags = [*KINDS[kind], "--target=cortex-m7", *([f"--align-io={line}"] if line else [])]
        assert main(["compile", str(model), *flags, "-o", str(out)]) == 0
        ran = lab.run_project(out, inputs, trace=False)
        assert ran.code == 0, ran.messages
        outputs.append(ran.output)
    assert outputs[0] == outputs[1]
    header = (out / f"{NETWORK}.h").read_text()
    assert f"#define {NETWORK.upper()}_ARENA_ALIGNMENT 32u" in header
    offsets = [int(n) for n in re.findall(r"PUT_0_OFFSET (\d+)u", header)]
    assert len(offsets) == 2
    assert all(offset % 32 == 0 for offset in offsets)
    assert json.loads((out / "report.json").read_text())["plan"]["align_io"] == 32


WRONG = {
    "--align-io=24": "--align-io=24 is not one of: 8, 16, 32, 64",
    "--align-io=x": "--align-io=x: invalid literal",
    "--align-io=32 --io=caller": "--align-io is of inputs and outputs in the arena",
    "--align-io=32 --target=tflm": "--align-io is of C targets",
}


@pytest.mark.parametrize("flags", WRONG)
def test_what_has_no_lines_is_refused(
    flags: str, shared: Path, tmp_path: Path, capsys: Any
) -> None:
    model, out = str(shared / "models" / "hello_world_int8.tflite"), tmp_path / "out"
    assert main(["compile", model, *flags.split(), "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert WRONG[flags] in error and error.count("\n") == 1


def test_the_figures_say_so(shared: Path, capsys: Any) -> None:
    model = shared / "models" / "hello_world_int8.tflite"
    assert main(["report", str(model), "--target=cortex-m7", "--align-io=64"]) == 0
    assert "whole lines of 64 B for inputs and outputs" in capsys.readouterr().out
    assert memopt.plan(model, target="cortex-m7", align_io=64).arena >= 64
