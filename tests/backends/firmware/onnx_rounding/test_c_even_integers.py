# pyright: basic
"""Products that cores without an FPU round as ONNX does, by integers: those of float32."""

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memopt.backends.c.kernels import Form, kernel_files, text_of

FULL = 100_000_000  # products
LEAST = 1_000_000
CODE = """#include "memopt_common.h"
void finish(const int32_t *sums, const int32_t *multipliers, int32_t n, int32_t *out);
void finish(const int32_t *sums, const int32_t *multipliers, int32_t n, int32_t *out) {
  int32_t i;
  for (i = 0; i < n; ++i) {
    out[i] = memopt_requantize_even(sums[i], multipliers[i]);
  }
}
"""


def sums_and_scales(rng: np.random.Generator, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Near ties of every result, sums around powers of two and of any size, extreme scales."""
    exponents = np.where(
        rng.random(count) < 0.8, rng.integers(-15, -3, count), rng.integers(-149, 127, count)
    )
    mantissas = rng.integers(0, 1 << 23, count)
    mantissas = np.where(rng.random(count) < 0.3, mantissas & 0x780000, mantissas)
    scales = np.ldexp((1 + mantissas / (1 << 23)).astype(np.float32), exponents)
    ties = (rng.integers(-1030, 1030, count) + 0.5) / scales.astype(np.float64)
    ties = np.rint(np.clip(ties, -(2.0**31), 2.0**31)) + rng.integers(-2, 3, count)
    powers = (1 << rng.integers(0, 32, count)) + rng.integers(-3, 4, count)
    powers *= rng.choice([-1, 1], count)
    anything = rng.integers(-(1 << 31), 1 << 31, count) >> rng.integers(0, 31, count)
    way = rng.integers(0, 4, count)
    sums = np.where(way < 2, ties, np.where(way == 2, powers, anything))
    return np.clip(sums, -(1 << 31), (1 << 31) - 1).astype(np.int32), scales


@pytest.mark.parametrize("short", [0, 1])
def test_products_of_integers_are_those_of_floats(
    short: int, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    lab.need_tools("host")
    header = text_of(kernel_files()["memopt_common.h"], Form(rounds_even=True))
    (tmp_path / "memopt_common.h").write_text(header)
    (tmp_path / "finish.c").write_text(CODE)
    flags = ["-DMEMOPT_EVEN_INTEGERS=1", f"-DMEMOPT_SHORT_PRODUCTS={short}"]
    checks = ["-fsanitize=undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror"]
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", *checks, *flags]
    subprocess.run([*command, "finish.c", "-o", "finish.so"], cwd=tmp_path, check=True)
    finish = ctypes.CDLL(str(tmp_path / "finish.so")).finish
    rng, ties = np.random.default_rng(short), 0
    for _ in range(max(1, int(FULL * fuzz / LEAST))):
        sums, scales = sums_and_scales(rng, LEAST)
        got = np.zeros(LEAST, np.int32)
        with np.errstate(over="ignore"):
            product = (sums.astype(np.float32) * scales).astype(np.float64)
        finish(
            *(ctypes.c_void_p(a.ctypes.data) for a in (sums, scales)),
            LEAST,
            ctypes.c_void_p(got.ctypes.data),
        )
        low, high = -300, 300  # wider than a clamp less any zero point
        product = np.clip(product, -2000, 2000)
        want = np.clip(np.rint(product), low, high)
        assert (np.clip(got, low, high) == want).all()
        ties += int((abs(product - np.floor(product)) == 0.5).sum())
    assert ties > 1000
