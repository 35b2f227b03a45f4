# pyright: basic
"""Finishes of products that round as ONNX's on cores without an FPU: lines, proven by channel."""

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx_networks import SHAPE, Layers, images, network, quantised, saved
from qdq_pairs import results
from quick_options import QUICK

from memopt.backends.c.emit.int8 import EVEN, LINE
from memopt.backends.c.kernels import Form, kernel_files, text_of
from memopt.cli import main
from memopt.dialects.arithmetic.even_lines import ADDENDS, Steps, find_lines
from memopt.dialects.arithmetic.even_rounding import rescaled

Array = NDArray[Any]
CHANNELS = 2000
CODE = """#include "memopt_common.h"
void finish(const int32_t *sums, int32_t multiplier, int32_t code, int32_t n, int32_t *out);
void finish(const int32_t *sums, int32_t multiplier, int32_t code, int32_t n, int32_t *out) {
  int32_t i;
  for (i = 0; i < n; ++i) {
    out[i] = memopt_requantize(sums[i], multiplier, code);
  }
}
"""


def built(folder: Path, short: int) -> Any:
    """Return `finish` as cores compute it that have no FPU and, if `short`, no long products."""
    header = text_of(kernel_files()["memopt_common.h"], Form(rounds_even=True))
    (folder / "memopt_common.h").write_text(header)
    (folder / "finish.c").write_text(CODE)
    flags = ["-DMEMOPT_EVEN_INTEGERS=1", f"-DMEMOPT_SHORT_PRODUCTS={short}"]
    checks = ["-fsanitize=undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror"]
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", *checks, *flags]
    subprocess.run([*command, "finish.c", "-o", "finish.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "finish.so")).finish


@pytest.mark.parametrize("short", [0, 1])
def test_every_sum_near_a_change_is_rounded_as_a_float(
    short: int, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    """And the largest, and some of any size."""
    lab.need_tools("host")
    finish, rng = built(tmp_path, short), np.random.default_rng(short)
    count = max(60, int(CHANNELS * fuzz))
    reals = np.exp2(rng.uniform(-13, -5, count)).astype(np.float32)
    reach = np.minimum(300 / reals * rng.uniform(0.2, 4, count), (1 << 23) - 1).astype(np.int64)
    zero, relu = rng.integers(-128, 128, count), rng.random(count) < 0.5
    lines = 0
    for real, most, z, cut in zip(reals, reach, zero, relu, strict=True):
        steps = Steps(0 if cut else int(-128 - z), int(127 - z))
        found, line, addend = find_lines(np.array([real]), np.array([most]), steps)
        multiplier, code = int(np.float32(real).view(np.int32)), EVEN
        if found[0]:
            multiplier, code = int(line[0]), LINE + int(addend[0]) - ADDENDS[0]
            lines += 1
        halves = (np.arange(steps.low - 2, steps.high + 3) - 0.5) / float(real)
        near = np.rint(halves)[:, None] + np.arange(-20, 21)
        anything = rng.integers(-most, most + 1, 1000)
        sums = np.concatenate([near.reshape(-1), anything, [-most, most, 0]])
        sums = np.clip(sums, -most, most).astype(np.int32)
        got = np.zeros(sums.size, np.int32)
        pointers = (ctypes.c_void_p(a.ctypes.data) for a in (sums, got))
        finish(next(pointers), multiplier, code, sums.size, next(pointers))
        want = np.clip(rescaled(sums, [float(real)]), steps.low, steps.high)
        assert (np.clip(got, steps.low, steps.high) == want).all()
    assert 0.75 * count < lines < count


def compiled(path: Path, folder: Path, target: str, *options: str) -> Path:
    words = ["compile", str(path), f"--target={target}", "-o", str(folder), *QUICK, *options]
    assert main(words) == 0
    return folder


@pytest.mark.deep
@pytest.mark.parametrize("target", ["host", "cortex-m3"])
def test_a_network_is_what_onnxruntime_computes(target: str, tmp_path: Path, lab: Any) -> None:
    """With channels of lines, and some without one."""
    lab.need_tools(target)
    path = quantised(network(tmp_path / "f.onnx", 3), tmp_path / "q.onnx", unsigned=False)
    project = compiled(path, tmp_path / "c", target)
    given = np.concatenate(images(7, 4)).reshape(4, *SHAPE)
    done = lab.run_project(project, [given], trace=False)
    assert done.code == 0, done.messages
    want = [results(path.read_bytes(), {"x": x}, fused=True) for x in given]
    assert done.output == np.concatenate(want).tobytes()
    tables = re.findall(
        r"static const int8_t \w+\[\d+\] = \{([^}]*)\}", (project / "q.c").read_text()
    )
    tables = [[int(n) for n in table.split(",") if n.strip()] for table in tables]
    codes = [n for table in tables if min(table) >= LINE for n in table]
    assert 20 < sum(n != EVEN for n in codes) < len(codes)


def classifier(path: Path) -> Path:
    """A MobileNetV2 of one block, and pools."""
    n = Layers(0)
    n.values("low", np.float32(0))
    n.values("high", np.float32(6))
    a = n.add("Clip", [n.conv("x", 3, 8, 3, 2), "low", "high"])
    b = n.add("Clip", [n.conv(a, 8, 24, 1), "low", "high"])
    b = n.add("Clip", [n.conv(b, 24, 24, 3, 1, 24), "low", "high"])
    s = n.add("Add", [a, n.conv(b, 24, 8, 1)])
    p = n.add("AveragePool", [s], kernel_shape=[2, 2], strides=[2, 2])
    f = n.add("Flatten", [n.add("GlobalAveragePool", [n.add("Relu", [n.conv(p, 8, 32, 1)])])])
    y = n.add("Gemm", [f, n.constant("gw", 10, 32), n.constant("gb", 10)], transB=1)
    return saved(n, y, 10, path)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("cortex-m4", ()),  # its FPU converts real inputs and results
        ("cortex-m4", ("--int8-io",)),
        ("cortex-m3", ("--int8-io",)),
        ("cortex-m0plus", ("--int8-io",)),
    ],
)
def test_no_float_is_multiplied_or_rounded_by_software(
    target: str, options: tuple[str, ...], tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    path = quantised(classifier(tmp_path / "f.onnx"), tmp_path / "q.onnx", unsigned=False)
    project = compiled(path, tmp_path / "c", target, *options)
    subprocess.run(["make", "-s", "-C", str(project), "BUILD=b"], check=True)
    (image,) = (project / "b").glob("*.elf")
    listing = subprocess.run(
        ["arm-none-eabi-nm", str(image)], check=True, capture_output=True, text=True
    ).stdout
    symbols = {line.split()[-1] for line in listing.splitlines()}
    assert symbols & {"q_run", "main"}
    software = {"__aeabi_dmul", "__aeabi_fmul", "__aeabi_dadd", "rint", "rintf"}
    assert not symbols & software
    assert not options or not {s for s in symbols if s.startswith(("__aeabi_f", "__aeabi_d"))}
