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
    "weights:.q@": "'' is no address of .q, a multiple of 16 such as 0x90000000",
    "weights:.q@4096": "'4096' is no address of .q",
    "weights:.q@0x8": "'0x8' is no address of .q",
    "weights:.q@0x100000000": "'0x100000000' is no address of .q",
    "weights:.q@0x10,tables:.q@0x20": ".q has an address already, 0x00000010",
    "weights:.q@0x20,arena:.d@0x20": ".q and .d both lie at 0x00000020",
    "weights:.rodata.far@0x10": ".rodata.far lies among the other constants",
    "weights:.data@0x10": ".data is a section of other things",
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
    assert parse_sections("weights:.rodata.far,tables:.rodata.far,arena:DTCM_RAM") == (wanted, {})
    both = parse_sections("weights:.q@0x90000000,tables:.q@0x90000000,arena:.d@0x20")
    assert both == (
        {"weights": ".q", "tables": ".q", "arena": ".d"},
        {".q": 0x90000000, ".d": 0x20},
    )


@pytest.mark.parametrize(
    "flags", ["--target=host", "--layout=zephyr", "--layout=single-file", "--no-startup"]
)
def test_an_address_is_of_a_linker_script(
    flags: str, network: Path, tmp_path: Path, capsys: Any
) -> None:
    words = ["--target=cortex-m4", flags, "--section=weights:.q@0x10", "-o", str(tmp_path / "out")]
    assert main(["compile", str(network), *words]) == 2
    assert "with an address is of a board's linker script" in capsys.readouterr().err


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
