"""Generated C keeps nothing but its arena and the state that it declares: runs in two arenas may
be interleaved, weights and tables are constants, and threads race for a shared arena alone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import need_tools

from memopt.cli import main

TIED = """
!t = tensor<1x4xf32>
func.func @net(%x: !t, %h: !t) -> (!t, !t) {
  %0 = memgraph.add %x, %h {memgraph.names = ["h_next"]} : (!t, !t) -> !t
  %1 = memgraph.relu %0 : (!t) -> !t
  func.return %1, %0 : !t, !t
}
"""
THREADS = """
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include "net.h"
typedef struct {
  uint8_t *arena;
  int8_t input[NET_INPUT_0_BYTES], alone[NET_OUTPUT_0_BYTES], beside[NET_OUTPUT_0_BYTES];
} task;
static uint8_t arenas[2][(NET_ARENA_BYTES + 63) / 64 * 64] __attribute__((aligned(64)));
static task tasks[2];
static void *work(void *given) {
  task *own = given;
  for (int k = 0; k < 3; ++k) {
    if (net_run(own->arena, own->input, own->beside) != 0) return given;
  }
  return NULL;
}
int main(void) {
  pthread_t threads[2];
  int failed = 0;
  for (int k = 0; k < 2; ++k) {
    tasks[k].arena = arenas[k * APART];
    for (unsigned i = 0; i < sizeof tasks[k].input; ++i) {
      tasks[k].input[i] = (int8_t)(i * i * (40 * k + 7) >> 4);
    }
    failed |= net_run(tasks[k].arena, tasks[k].input, tasks[k].alone);
  }
  failed |= memcmp(tasks[0].alone, tasks[1].alone, sizeof tasks[0].alone) == 0;
  for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, work, &tasks[k]);
  for (int k = 0; k < 2; ++k) {
    void *wrong;
    pthread_join(threads[k], &wrong);
    failed |= wrong != NULL || memcmp(tasks[k].beside, tasks[k].alone, sizeof tasks[k].alone) != 0;
  }
  return failed;
}
"""


def compiled(model: Path, out: Path, target: str, *flags: str) -> list[Path]:
    """Return the C sources of a model and its kernels."""
    assert (
        main(["compile", str(model), f"--target={target}", "--measure=off", *flags, "-o", str(out)])
        == 0
    )
    return [out / f"{model.stem}.c", *sorted((out / "kernels").glob("*.c"))]


def symbols(nm: str, objects: Path) -> dict[str, str]:
    """Return the letter of nm for each symbol that has bytes, by its name."""
    command = [nm, "-S", "--defined-only", *map(str, sorted(objects.glob("*.o")))]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: kind for kind, name in re.findall(r"^\S+ \S+ (\S) (\S+)$", listed, re.MULTILINE)}


@pytest.mark.parametrize("rows", ["none", "auto"])
def test_all_arrays_are_constants(rows: str, shared: Path, tmp_path: Path) -> None:
    """Nothing is in .data and .bss, so that the linker puts all of it into flash."""
    need_tools("cortex-m4")
    model = shutil.copy(shared / "models" / "dscnn_kws_int8.tflite", tmp_path / "net.tflite")
    sources = compiled(Path(model), tmp_path / "c", "cortex-m4", f"--rows={rows}")
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O0", "-c", *map(str, sources)]
    command += [f"-I{tmp_path}/c", f"-I{tmp_path}/c/kernels"]
    subprocess.run(command, cwd=tmp_path, check=True)
    kinds = symbols("arm-none-eabi-nm", tmp_path)
    assert kinds["net_run"] == "T" and kinds["op0_params"] == "r"
    assert {*kinds.values()} <= set("TtrRW"), kinds  # functions, also weak ones, and constants


def test_state_that_is_declared_is_all_that_may_be_written(tmp_path: Path) -> None:
    need_tools("host")
    model = tmp_path / "net.mlir"
    model.write_text(TIED)
    compiled(model, tmp_path / "c", "host", "--state=h:h_next")
    assert main(["compile", str(model), "--measure=off", "-o", str(tmp_path / "without")]) == 0
    written: list[list[str]] = []
    for folder in (tmp_path / "c", tmp_path / "without"):
        sources = map(str, folder.glob("kernels/*.c"))
        include = [f"-I{folder}", f"-I{folder}/kernels"]
        subprocess.run(["cc", *include, "-c", "net.c", *sources], cwd=folder, check=True)
        written.append([name for name, kind in symbols("nm", folder).items() if kind in "BbDdCc"])
    assert sorted(written[0]) == ["is_set", "variable_0"] and written[1] == []


@pytest.mark.deep
def test_threads_need_an_arena_each_and_nothing_else(shared: Path, tmp_path: Path) -> None:
    """ThreadSanitizer sees no race of runs in two arenas, and those of runs in one."""
    need_tools("host")
    model = shutil.copy(shared / "models" / "dscnn_kws_int8.tflite", tmp_path / "net.tflite")
    sources = compiled(Path(model), tmp_path / "c", "host")
    (tmp_path / "main.c").write_text(THREADS)
    tsan = ["cc", "-O1", "-g", "-fsanitize=thread", f"-I{tmp_path}/c", f"-I{tmp_path}/c/kernels"]
    probe = subprocess.run(
        [*tsan, "-xc", "-", "-o", "probe"],
        input="int main(void){return 0;}",
        text=True,
        cwd=tmp_path,
        check=False,
    )
    if probe.returncode or subprocess.run(["./probe"], cwd=tmp_path, check=False).returncode:
        pytest.skip("needs ThreadSanitizer")
    subprocess.run([*tsan, "-c", *map(str, sources)], cwd=tmp_path, check=True)
    objects = [path.name for path in tmp_path.glob("*.o")]
    codes: list[int] = []
    for apart in (1, 0):
        link = [*tsan, f"-DAPART={apart}", "main.c", *objects, "-lm", "-pthread", "-o", "program"]
        subprocess.run(link, cwd=tmp_path, check=True)
        done = subprocess.run(
            ["./program"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        codes.append(done.returncode)
        assert ("data race" in done.stderr) == (apart == 0), done.stderr[:2000]
    assert codes[0] == 0 and codes[1] != 0
