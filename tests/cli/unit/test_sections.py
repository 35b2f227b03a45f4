"""`--section`: names and kinds that there are not are refused, in one line."""

from pathlib import Path
from typing import Any

import pytest

import memopt
from memopt.backends.c.emit.sections import parse_sections
from memopt.cli import main

NETWORK = """
!t = tensor<1x64xi8, #memgraph.encoding<scale = [0.1], zero_point = [3]>>
func.func @main(%x: !t) -> !t {
  %0 = memgraph.relu %x : (!t) -> !t
  func.return %0 : !t
}
"""
WRONG = {
    "weights": "expected KIND:SECTION",
    "weight:.qspi": "'weight' (did you mean weights?) is not one of: weights, tables, arena",
    "weights:": "'' is no name of a section",
    'weights:.a"b': "is no name of a section",
    "weights:.a b": "is no name of a section",
    "weights:.1": "is no name of a section",
    "weights:.a,weights:.b": "weights has a section already, .a",
    "weights:.data": ".data is a section of other things",
    "tables:.text.fast": ".text.fast is a section of other things",
    "arena:.bss.arena": ".bss.arena is a section of other things",
    "arena:.rodata.arena": ".rodata.arena is a section of other things",
    "weights:.arena": ".arena is a section of other things",
    "tables:.memopt.dtcm": ".memopt.dtcm is a section of other things",
    "weights:.ram,arena:.ram": ".ram cannot hold the arena and constants",
}


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK)
    return path


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_sections_are_refused(wrong: str, network: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    assert main(["compile", str(network), f"--section={wrong}", "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"memopt: error: --section={wrong}: ") and error.count("\n") == 1
    assert WRONG[wrong] in error
    assert not out.exists()
    with pytest.raises(ValueError, match=r"^section="):
        memopt.compile(network, out=out, section=wrong)


def test_sections_of_each_kind() -> None:
    wanted = {"weights": ".rodata.far", "tables": ".rodata.far", "arena": "DTCM_RAM"}
    assert parse_sections("weights:.rodata.far,tables:.rodata.far,arena:DTCM_RAM") == wanted


def test_they_are_of_c_and_of_one_arena(
    network: Path, shared: Path, tmp_path: Path, capsys: Any
) -> None:
    out = ["-o", str(tmp_path / "out")]
    model = str(shared / "models" / "hello_world_int8.tflite")
    for flag, name in (("--section=weights:.q", "--section"), ("--check-weights",) * 2):
        assert main(["compile", model, "--target=tflm", flag, *out]) == 2
        assert f"{name} is of C targets" in capsys.readouterr().err
    banks = "--memory=fast:64K,slow:320K"
    assert main(["compile", str(network), banks, "--section=arena:.d", *out]) == 2
    assert "--section=arena is of one arena" in capsys.readouterr().err
    assert main(["compile", str(network), banks, "--section=weights:.d", *out]) == 0
