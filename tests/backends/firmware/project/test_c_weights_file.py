"""Weights as a file: the answers stay, mapped and in RAM; a file that is another is refused."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from deep import deep_but

from memopt.cli import main as memopt

NETWORK = "tinymaix_mnist_resnet_int8"  # in rows
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
# Weights in RAM, with one bit flipped (argument 1), or what else is no file of theirs.
LOADED = r"""
#include <stdio.h>
#include <stdlib.h>
#include "net.h"
static uint64_t space[NET_ARENA_BYTES / 8 + 1], blob[NET_WEIGHTS_BYTES / 8 + 2];
static int run(void) { return net_run((uint8_t *)space, 0, 0); }
int main(int count, char **words) {
  uint8_t *bytes = (uint8_t *)blob;
  FILE *file = fopen("net.weights.bin", "rb");
  const size_t size = fread(bytes, 1, sizeof blob, file);
  uint32_t k;
  (void)count;
  printf("%d\n", run());
  printf("%d %d ", net_set_weights(0, (uint32_t)size), net_set_weights(bytes + 4, (uint32_t)size));
  printf("%d\n", net_set_weights(bytes, (uint32_t)size - 1));
  for (k = 0; k < 32; ++k) {
    const size_t at = k * (size - 1) / 31;
    if (net_set_weights(bytes, (uint32_t)size) != 0) {
      return 1;
    }
    bytes[at] ^= (uint8_t)(1 << k % 8);
    if (net_set_weights(bytes, (uint32_t)size) != 3 || run() != 4) {
      return 2;
    }
    bytes[at] ^= (uint8_t)(1 << k % 8);
  }
  printf("%d\n", net_set_weights(bytes, (uint32_t)size));
  fclose(file);
  file = fopen(words[1], "rb");
  while (fread((uint8_t *)space + NET_INPUT_0_OFFSET, 1, NET_INPUT_0_BYTES, file) != 0) {
    if (run() != 0) {
      return 3;
    }
    fwrite((uint8_t *)space + NET_OUTPUT_0_OFFSET, 1, NET_OUTPUT_0_BYTES, stderr);
  }
  return 0;
}
"""


def compiled(shared: Path, name: str, out: Path, *flags: str) -> Path:
    model = out.parent / "net.tflite"
    shutil.copy(shared / "models" / f"{name}.tflite", model)
    assert memopt(["compile", str(model), "--place=auto", *flags, "-o", str(out)]) == 0
    return out


def run_project(folder: Path) -> tuple[int, str, bytes]:
    """Return exit code, text and output of the program on ../in.bin."""
    (folder / "out.bin").write_bytes(b"")
    command = ("make", "-s", "run", "IN=../in.bin", "OUT=out.bin")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, (folder / "out.bin").read_bytes()


def write_inputs(shared: Path, name: str, folder: Path, lab: Any) -> None:
    arrays = lab.random_inputs(lab.read_model(shared / "models" / f"{name}.tflite"), 3, seed=7)
    data = b"".join(array[run].tobytes() for run in range(3) for array in arrays)
    (folder / "in.bin").write_bytes(data)


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "riscv32", "host"]))
def test_a_mapped_file_gives_the_same_answers(
    target: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """And with one bit flipped the program refuses it and writes nothing."""
    lab.need_tools(target)
    write_inputs(shared, NETWORK, tmp_path, lab)
    plain = compiled(shared, NETWORK, tmp_path / "plain", f"--target={target}")
    mapped = compiled(shared, NETWORK, tmp_path / "mapped", f"--target={target}", "--weights=file")
    assert "MEMOPT_WEIGHTS static" not in (mapped / "net.c").read_text()
    wanted = run_project(plain)
    assert wanted[0] == 0, wanted[1]
    assert run_project(mapped)[::2] == wanted[::2]
    file = mapped / "net.weights.bin"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)
    code, text, output = run_project(mapped)
    assert (code != 0, output) == (True, b"")
    assert "error: net has other weights" in text


@pytest.mark.parametrize("rows", deep_but("--rows=none", ["--rows=none", "--rows=auto"]))
@pytest.mark.parametrize(
    "name",
    deep_but(NETWORK, [NETWORK, "hello_world_float", "streaming_wakeword_int8"]),
)
def test_a_file_in_ram_gives_the_same_answers(
    name: str, rows: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """Nothing runs before, nor after 32 flipped bits, a wrong size or a wrong address."""
    write_inputs(shared, name, tmp_path, lab)
    flags = ("--target=host", rows)
    code, text, wanted = run_project(compiled(shared, name, tmp_path / "plain", *flags))
    assert code == 0, text
    flags = (*flags, "--weights=file", "--layout=single-file")
    out = compiled(shared, name, tmp_path / "out", *flags)
    (out / "main.c").write_text(LOADED)
    command = ("cc", "-std=c99", *STRICT, "main.c", "net.c", "-lm", "-o", "main")
    subprocess.run(command, cwd=out, check=True)
    done = subprocess.run(("./main", "../in.bin"), cwd=out, capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stdout == b"4\n1 1 2\n0\n"
    assert done.stderr == wanted
    if shutil.which("g++"):
        command = ("g++", "-std=c++11", "-x", "c++", "-c", "net.c", "-o", "net.o")
        subprocess.run(command, cwd=out, check=True)


@pytest.mark.deep
def test_the_report_counts_structures_and_no_weights(
    shared: Path, tmp_path: Path, lab: Any
) -> None:
    """Structures with addresses of weights are static RAM; the file is no flash of the image."""
    lab.need_tools("cortex-m4")
    sizes = list[tuple[int, int]]()
    for kind in ("source", "file"):
        out = tmp_path / kind
        flags = ("--target=cortex-m4", f"--weights={kind}")
        report = json.loads((compiled(shared, NETWORK, out, *flags) / "report.json").read_text())
        sizes.append((report["target"]["flash"], report["target"]["static_ram"]))
    (flash, ram), (less_flash, more_ram) = sizes
    size = (tmp_path / "file" / "net.weights.bin").stat().st_size
    assert abs(flash - size - less_flash) < 2048
    assert 0 < more_ram - ram < 1024


@pytest.mark.deep
def test_cmake_maps_the_file(shared: Path, tmp_path: Path, lab: Any) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")
    write_inputs(shared, NETWORK, tmp_path, lab)
    flags = ("--target=host", "--weights=file", "--layout=cmake")
    out = compiled(shared, NETWORK, tmp_path / "out", *flags)
    for command in (("cmake", "-S", ".", "-B", "build"), ("cmake", "--build", "build")):
        subprocess.run(command, cwd=out, check=True, capture_output=True)
    subprocess.run(("build/net_main", "../in.bin", "out.bin"), cwd=out, check=True)
    assert (out / "out.bin").stat().st_size == 3 * 10


def test_it_is_of_one_model_of_c_with_files_beside(
    shared: Path, tmp_path: Path, capsys: Any
) -> None:
    model = str(shared / "models" / "hello_world_int8.tflite")
    for flags, text in (
        (["--target=tflm"], "--weights is of C targets"),
        (["--layout=arduino"], "--layout=arduino takes no files beside its sources"),
        (["--section=weights:.q"], "weights in a file are in no section of the program"),
        ([str(shared / "models" / f"{NETWORK}.tflite")], "--weights=file is of one model"),
    ):
        words = ["compile", model, *flags, "--weights=file", "-o", str(tmp_path / "out")]
        assert memopt(words) == 2
        assert text in capsys.readouterr().err
