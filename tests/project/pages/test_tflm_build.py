"""docs/guides/tflm.md: its rules plan at build time, and stop the build when the arena grows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

PAGE = (ROOT / "docs/guides/tflm.md").read_text(encoding="utf-8")
SMALL, LARGE = "tinymaix_mnist_resnet_int8", "resnet8_int8"
# Not TFLM, which is not built here: what the program is given.
MAIN = """
#include <stdio.h>
@page@
int main() {
  fwrite(g_model, 1, sizeof g_model, stdout);
  fprintf(stderr, "%d", kTensorArenaSize);
}
"""


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return text


def build(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.deep
@pytest.mark.parametrize("tool", ["make", "cmake"])
def test_the_rule_plans_and_fails_when_the_arena_grows(
    tool: str, shared: Path, tmp_path: Path
) -> None:
    if any(shutil.which(needed) is None for needed in (tool, "make", "g++", "od", "sed")):
        pytest.skip(f"needs {tool}, make and g++")
    models = shared / "models"
    (tmp_path / "main.cc").write_text(MAIN.replace("@page@", block("cpp")))
    (tmp_path / "Makefile").write_text(block("make"))
    (tmp_path / "CMakeLists.txt").write_text(block("cmake"))
    shutil.copyfile(models / f"{SMALL}.tflite", tmp_path / "net.tflite")
    app, planned, command = tmp_path / "app", tmp_path / "generated/planned", ["make"]
    if tool == "cmake":
        configured = build(["cmake", "-S", ".", "-B", "out"], tmp_path)
        assert configured.returncode == 0, configured.stderr
        command = ["cmake", "--build", "out"]
        app, planned = tmp_path / "out/app", tmp_path / "out/planned"
    done = build(command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = subprocess.run([app], capture_output=True, check=True)
    assert ran.stdout == (planned / "net.tflite").read_bytes()
    assert b"OfflineMemoryAllocation" in ran.stdout
    assert b"OfflineMemoryAllocation" not in (tmp_path / "net.tflite").read_bytes()
    (number,) = set(re.findall(r"TENSOR_ARENA = (\d+)", PAGE))
    assert ran.stderr.decode() == number
    again = build(command, tmp_path)
    assert again.returncode == 0 and "compile" not in again.stdout.replace("compiled", "")
    shutil.copyfile(models / f"{LARGE}.tflite", tmp_path / "net.tflite")
    for _ in range(2):  # nothing is left that would pass as made
        failed = build(command, tmp_path)
        assert failed.returncode != 0
        assert re.search(r"does not fit into 5,824 B .*are missing", failed.stdout + failed.stderr)


@pytest.mark.deep
def test_the_number_is_what_memopt_prints(shared: Path, tmp_path: Path) -> None:
    shutil.copyfile(shared / "models" / f"{SMALL}.tflite", tmp_path / "net.tflite")
    command, *expected = block("console").splitlines()
    done = build(command.removeprefix("$ ").split(), tmp_path)
    (line,) = [text for text in expected if text != "..."]
    assert line in done.stdout.splitlines(), done.stdout + done.stderr
