"""A compiler outside this repository goes from text of stablehlo to a program with memopt's arena.

`stablehloc/*.mlir` are functions of JAX 0.10.2 in generic form, `answers.npz` what JAX computes.
"""

import re
import subprocess
import sys
from math import prod
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent / "stablehloc"
SHAPES = {
    "network": [(2, 8, 8, 3), (3, 3, 3, 4), (128, 5)],
    "step": [(8, 16), (16, 4), (4, 8), (4, 4)],
}
ARENAS = {"network": 5040, "step": 1800}


def program(source: Path, folder: Path) -> str:
    """Return the C that the compiler writes, in a process of its own."""
    command = [sys.executable, str(HERE / "stablehloc.py"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SHAPES)
def test_a_compiled_network_computes_what_jax_does(name: str, tmp_path: Path) -> None:
    text = program(HERE / f"{name}.mlir", tmp_path)
    (arena,) = map(int, re.findall(r"bytes\[(\d+) \+ 128\]", text))
    results = re.findall(r"-> tensor<((?:\d+x)*)f32>", (HERE / f"{name}.mlir").read_text())
    shapes = [*SHAPES[name], *([int(n) for n in r.split("x") if n] for r in results)]
    assert arena == ARENAS[name] < sum(4 * prod(shape) for shape in shapes)
    source, built = tmp_path / "net.c", tmp_path / "net"
    source.write_text(text)
    flags = ("-std=c11", "-O1", "-Wall", "-Werror", "-fsanitize=undefined", "-o", str(built))
    subprocess.run(["gcc", *flags, str(source), "-lm"], check=True)
    data = b"".join(
        ((np.arange(prod(s)) * 37 % 101 - 50) / 64).astype(np.float32).tobytes()
        for s in SHAPES[name]
    )
    done = subprocess.run([str(built)], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    answers = np.load(HERE / "answers.npz")
    wanted = [answers[key] for key in sorted(answers.files) if key.startswith(name)]
    found = np.frombuffer(done.stdout, np.float32)
    np.testing.assert_allclose(found, np.concatenate([a.ravel() for a in wanted]), 1e-5, 1e-6)


def test_what_it_does_not_know_is_refused_by_name(tmp_path: Path) -> None:
    source = tmp_path / "net.mlir"
    source.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        '  %0 = "stablehlo.cbrt"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>\n}\n"
    )
    command = [sys.executable, str(HERE / "stablehloc.py"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"{source}:2:3: error: no code for stablehlo.cbrt\n"
