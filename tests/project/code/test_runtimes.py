"""Runtimes and boards are known in targets/: IR, analysis and frontends name none."""

import re
from pathlib import Path

import pytest
from places import ROOT
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.runtimes import interpreter_of, scratch_requests
from memopt.targets.core.target import all_targets, target_named

LIBRARIES = ("tensorflow lite micro", "tflite micro", "cmsis", "helium", "arm_", "micro_")


def runtimes_in(path: Path) -> list[str]:
    """Return the places of a file, comments included, that name a target, a family or an
    instruction set of cores, or a library of kernels. `tflm_double` is a word of the IR."""
    boards = [name for name in all_targets() if name not in ("generic", "host")]
    families = {re.sub(r"-.*", "", name) for name in boards}
    sets = {isa for name in boards for isa in target_named(name).isa if len(isa) > 1}
    names = {name.replace("-", "[-_ ]?") for name in (*boards, *families, *sets, *LIBRARIES)}
    seen = re.compile(rf"(?<![a-z])({'|'.join(names)})(?!_double)", re.IGNORECASE)
    lines = enumerate(path.read_text().splitlines(), 1)
    return [f"{path}:{n}: {line.strip()}" for n, line in lines if seen.search(line)]


@pytest.mark.parametrize("room", ["dialects", "analysis", "frontends"])
def test_no_runtime_is_named_before_targets(room: str) -> None:
    """An operation knows mathematics, types, shapes and rows; what a runtime keeps of it is in
    `targets/`, registered per operation."""
    assert [place for path in (ROOT / room).rglob("*.py") for place in runtimes_in(path)] == []
    assert runtimes_in(ROOT / "targets/tflm/scratch.py")


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "# as TFLM does",
        'if model.target.data == "tflm":',
        "def cmsis_nn_buffer(op): ...",
        '"""TensorFlow Lite Micro computes it so."""',
        'BOARDS = ["cortex-m55"]',
        "# on a Cortex-M",
        "def scratch(mve): ...",
        "# arm_convolve_s8 asks for it",
    ],
)
def test_runtimes_are_seen(text: str, tmp_path: Path) -> None:
    word = written(tmp_path / "one.py", 'rounding = "tflm_double"  # in a .tflite of LiteRT')
    assert not runtimes_in(word)
    assert runtimes_in(written(tmp_path / "two.py", text))


def test_a_runtime_says_what_its_operations_keep() -> None:
    """The words of a memory model are those of `targets/`, and unknown ones are refused."""
    with pytest.raises(VerifyException, match="is not one of: none, tflm, cmsis-nn"):
        ModelAttr(scratch="all")
    assert interpreter_of(ModelAttr("tflm")) == "TensorFlow Lite Micro"
    assert interpreter_of(ModelAttr("host")) == interpreter_of(ModelAttr("no-board")) == ""
    assert scratch_requests(ModelAttr(scratch="cmsis-nn")) is not None
    assert scratch_requests(ModelAttr(scratch="none")) is None
