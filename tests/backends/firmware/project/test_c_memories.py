"""Plans over several memories in generated C: bit for bit, each in its section, with canaries."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from deep import deep_but
from pass_functions import assign_function, free_moves
from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.emit.layout import layout_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.operators.movement import CopyOp
from memopt.passes import memgraph_memory
from memopt.passes.memgraph_memory import parse_banks

CORES = ("cortex-m4", "cortex-m7", "cortex-m55")  # each with memories of its own
TWO = "dtcm:32K,sram:320K"
CALLER = """
#include <string.h>
#include "net.h"
static NET_DTCM_MEMORY uint8_t dtcm[NET_DTCM_BYTES];
static NET_SRAM_MEMORY uint8_t sram[NET_SRAM_BYTES];
static int8_t input[NET_INPUT_0_BYTES], output[NET_OUTPUT_0_BYTES];
int main(void) {
  memset(input, 3, sizeof input);
  if (net_run(NULL, sram, input, output) != 1) return 1;
  if (net_run(dtcm, sram + 1, input, output) != 1) return 2;
  if (net_run(dtcm, sram, input, output) != 0) return 3;
  return 0;
}
"""


@pytest.fixture
def over(shared: Path, lab: Any) -> Any:
    """A function that plans a shared model over memories."""

    def get(name: str, banks: str, spill: bool = True, **model: Any) -> ModuleOp:
        module = lab.read_model(shared / "models" / f"{name}.tflite")
        lab.ordered(module, **model)
        assign_function(lab.main_of(module), parse_banks(banks), spill)
        return module

    return get


@pytest.mark.parametrize("io", deep_but("caller", ["arena", "kept", "caller"]))
@pytest.mark.parametrize(("views", "inplace"), [("on", "off"), ("off", "on")])
def test_every_tensor_equals_tflm(
    io: str, views: str, inplace: str, shared: Path, over: Any, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    module = over("resnet8_int8", TWO, io=io, views=views, inplace=inplace)
    assert len(layout_of(module).banks) == 2
    inputs = lab.random_inputs(module, 2, seed=5)
    tensors = lab.tensors_of(module)
    model = shared / "models" / "resnet8_int8.tflite"
    want = lab.golden("tflm", model, inputs, tensors, tmp_path / "golden")
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []


@pytest.mark.parametrize("target", deep_but("cortex-m4", CORES, every=True))
def test_two_banks_in_qemu(target: str, shared: Path, over: Any, tmp_path: Path, lab: Any) -> None:
    """The example of two memories: the same bits as TFLM, each memory in a region of its own, and
    canaries around both that trip where one memory is smaller than the plan says."""
    lab.need_tools(target)
    module = over("resnet8_int8", TWO)
    inputs = lab.random_inputs(module, 1, seed=3)
    tensors = lab.tensors_of(module)
    model = shared / "models" / "resnet8_int8.tflite"
    want = lab.golden("tflm", model, inputs, tensors, tmp_path / "golden")
    directory = lab.write(module, tmp_path / "c", "net", target)
    run = lab.run_project(directory, inputs)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []
    assert run.output == want[tensors[-1]].tobytes()

    places = sections(directory / "build" / "net.elf")
    regions = (directory / "platform" / "board.ld").read_text()
    for bank, memory in (("dtcm", 32 << 10), ("sram", 320 << 10)):
        found = re.search(rf"BANK_{bank} : ORIGIN = (0x\w+), LENGTH = (\d+)", regions)
        assert found and int(found[2]) == memory + 128
        size, start = places[f".memopt.{bank}"]
        used = next(m.bytes for m in layout_of(module).banks if m.name == f"arena_{bank}")
        assert start == int(found[1], 16) and size == used + 128

    text = (directory / "main.c").read_text()
    for k, bank in enumerate(("DTCM", "SRAM")):
        old = f"memory_bytes_{k} = NET_{bank}_BYTES - MEMOPT_ARENA_SHRINK"
        assert old in text
        (directory / "main.c").write_text(text.replace(old, f"{old} - 16"))
        small = lab.run_project(directory, inputs, build=f"shrunk_{k}", trace=False)
        assert "wrote outside its arena" in small.messages, bank


def sections(image: Path) -> dict[str, tuple[int, int]]:
    """Bytes and start of every section of an image."""
    tool = shutil.which("arm-none-eabi-size")
    assert tool is not None
    listed = subprocess.run([tool, "-A", image], capture_output=True, text=True, check=True)
    rows = (line.split() for line in listed.stdout.splitlines())
    return {r[0]: (int(r[1]), int(r[2])) for r in rows if len(r) == 3 and r[1].isdigit()}


@pytest.mark.parametrize("target", ["host", "cortex-m7"])
def test_moves_run(
    target: str, shared: Path, over: Any, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensors that are spilled and read back are the same bits."""
    lab.need_tools(target)
    monkeypatch.setattr(memgraph_memory, "assign", free_moves)
    module = over("resnet8_int8", "dtcm:36K@1,sram:36K@9")
    assert any(isinstance(op, CopyOp) for op in lab.main_of(module).body.block.ops)
    inputs = lab.random_inputs(module, 1, seed=3)
    tensors = lab.tensors_of(module)
    model = shared / "models" / "resnet8_int8.tflite"
    want = lab.golden("tflm", model, inputs, tensors, tmp_path / "golden")
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", target), inputs)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []


@pytest.mark.deep
def test_moves_that_pay(shared: Path, over: Any, tmp_path: Path, lab: Any) -> None:
    """mcunet over three memories: two moves are worth their cost; the output is that of one
    arena."""
    lab.need_tools("host")
    module = over("mcunet_vww_int8", "dtcm:39K@1,sram:78K@3,psram:1M@20")
    moves = [op for op in lab.main_of(module).body.block.ops if isinstance(op, CopyOp)]
    assert moves and len(layout_of(module).banks) == 3
    inputs = lab.random_inputs(module, 1, seed=3)
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, trace=False)
    assert run.code == 0, run.messages
    whole = lab.plan(lab.read_model(shared / "models" / "mcunet_vww_int8.tflite"))
    one = lab.run_project(lab.write(whole, tmp_path / "one", "net", "host"), inputs, trace=False)
    assert run.output == one.output


@pytest.mark.deep
def test_interface(over: Any, tmp_path: Path, lab: Any) -> None:
    """One pointer per memory, checked; the header's attribute puts an array into its section."""
    lab.need_tools("host")
    directory = lab.write(over("resnet8_int8", TWO), tmp_path / "c", "net", "host")
    header = (directory / "net.h").read_text()
    assert 'section(".memopt.dtcm")' in header and 'section(".memopt.sram")' in header
    (directory / "caller.c").write_text(CALLER)
    sources = ["caller.c", "net.c", *map(str, sorted(directory.glob("kernels/*.c")))]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", *lab.SANITIZE.split()]
    subprocess.run(
        ["cc", *flags, "-I.", "-Ikernels", *sources, "-lm", "-o", "caller"],
        cwd=directory,
        check=True,
    )
    assert subprocess.run([directory / "caller"], check=False).returncode == 0


def test_what_does_not_fit_is_refused_with_the_exact_shortfall(over: Any) -> None:
    """resnet8 int8 needs 49,152 B in any order."""
    with pytest.raises(MemoptError, match=r"sram 40,960 B: 8,192 B are missing at conv_2d") as e:
        over("resnet8_int8", "sram:40K")
    assert "no order of the operators needs less" in e.value.text
    over("resnet8_int8", "sram:48K")


def test_a_board_without_room_is_refused(over: Any, tmp_path: Path, lab: Any) -> None:
    module = over("resnet8_int8", "dtcm:1K,sram:64M")
    with pytest.raises(MemoptError, match="mps2-an500 has no room for sram"):
        lab.write(module, tmp_path / "c", "net", "cortex-m7")
    assert not (tmp_path / "c").exists()
