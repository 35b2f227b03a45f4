"""Estimated cycles of programs in QEMU: loops counted by hand, and whole models."""

import json
from pathlib import Path
from typing import Any

import pytest

from memopt.backends.c.project import measure
from memopt.backends.c.project.measure import PLAUSIBLE, measure_project
from memopt.cli import main

LOOPS = r"""
#include "platform.h"
/* 1,000 times: 2 + 1 (loads), 1 (product), 1 (store), 1 (minus), 1 + 1 to 1 + 3 (branch). */
void loop(const int *from, int *to);
__attribute__((naked, noinline)) void loop(const int *from, int *to) {
  (void)from, (void)to;
  __asm__ volatile(
      "push {r4, r5, r6}\n"
      "movw r4, #1000\n"
      "1: ldr r5, [r0]\n"
      "ldr r6, [r0, #4]\n"
      "mul r5, r5, r6\n"
      "str r5, [r1]\n"
      "subs r4, #1\n"
      "bne 1b\n"
      "pop {r4, r5, r6}\n"
      "bx lr\n");
}
int model_main(const char *in_path, const char *out_path, const char *trace_path) {
  static int from[2], to[1];
  uint64_t instructions;
  (void)in_path, (void)out_path, (void)trace_path;
  platform_stack_paint();
  platform_ticks_start();
  loop(from, to);
  instructions = platform_instructions();
  platform_print(instructions > 6000u ? "stack_bytes 4\ninstructions 6007\n" : "none\n");
  return 0;
}
"""


def project_of(name: str, target: str, shared: Path, work: Path, lab: Any) -> Path:
    lab.need_tools(target)
    module = lab.plan(lab.read_model(shared / "models" / f"{name}.tflite"), target=target)
    project = lab.write(module, work / "c", "net", target)
    assert isinstance(project, Path)
    return project


@pytest.mark.parametrize(("target", "each"), [("cortex-m4", (8, 10)), ("cortex-m3", (8, 10))])
def test_a_loop_counted_by_hand(
    target: str, each: tuple[int, int], shared: Path, tmp_path: Path, lab: Any
) -> None:
    project = project_of("hello_world_int8", target, shared, tmp_path, lab)
    (project / "main.c").write_text(LOOPS)
    found = measure_project(project, target)
    for cycles, one in zip(found["cycles_range"], each, strict=True):
        assert 0 <= cycles - 1000 * one < 80, found  # around the loop


@pytest.mark.deep
@pytest.mark.parametrize("target", ["cortex-m0plus", "cortex-m3", "cortex-m4"])
def test_what_is_priced_is_what_ran(target: str, shared: Path, tmp_path: Path, lab: Any) -> None:
    """As many instructions as the clock counts, and no more cycles for less."""
    lab.need_tools(target)
    module = lab.plan(
        lab.read_model(shared / "models" / "ad01_autoencoder_int8.tflite"), target=target
    )
    project = lab.write(module, tmp_path / "c", "net", target)
    found = measure_project(project, target)
    least, most = found["cycles_range"]
    assert found["instructions"] < least <= found["cycles_estimated"] <= most
    assert found["not_measured"] == {}


def test_where_no_table_is_known_it_says_so(shared: Path, tmp_path: Path, lab: Any) -> None:
    path = shared / "models" / "hello_world_int8.tflite"
    project = lab.write(
        lab.plan(lab.read_model(path), target="cortex-m7"), tmp_path / "c", "net", "cortex-m7"
    )
    found = measure_project(project, "cortex-m7")
    assert found["cycles_estimated"] is None and found["instructions"] > 0
    assert set(found["not_measured"]) == {"cycles_estimated", "cycles_range"}


@pytest.mark.deep
@pytest.mark.parametrize(
    "options", [["--rows=none"], ["--slide=1"], ["--stream-input", "--rows=all"]]
)
def test_cycles_are_those_of_the_instructions_beside_them(
    options: list[str], shared: Path, tmp_path: Path, lab: Any
) -> None:
    """Run the last window where one slides, without those that fill it; of all rows of a stream."""
    lab.need_tools("cortex-m4")
    model = str(shared / "models" / "streaming_wakeword_int8.tflite")
    target = ["--target=cortex-m4", "-o", str(tmp_path / "out")]
    assert main(["compile", model, *options, *target]) == 0
    facts = json.loads((tmp_path / "out" / "report.json").read_text())["target"]
    least, most = PLAUSIBLE
    assert least <= facts["cycles_estimated"] / facts["instructions"] <= most


def test_cycles_that_cannot_be_are_not_printed(
    shared: Path, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_of("hello_world_int8", "cortex-m4", shared, tmp_path, lab)
    monkeypatch.setattr(measure, "PLAUSIBLE", (4.0, 5.0))
    found = measure_project(project, "cortex-m4")
    assert found["cycles_estimated"] is None
    assert "cycles were counted for" in found["not_measured"]["cycles_estimated"]
