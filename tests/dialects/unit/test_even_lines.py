# pyright: basic
"""Lines of integers for products that round as ONNX's: against all sums, and all lines."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memopt.dialects.arithmetic.even_lines import ADDENDS, Steps, find_lines
from memopt.dialects.arithmetic.even_rounding import rescaled

Array = NDArray[Any]


def by_line(sums: Array, multiplier: int, addend: int) -> Array:
    return (((256 * sums + addend) * multiplier >> 32) + 2048) >> 12


def clipped(values: Array, steps: Steps) -> Array:
    return np.clip(values, steps.low, steps.high)


def channels(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Scales, some of few bits, that have ties; sums up to 2^15."""
    mantissas = np.where(
        rng.random(count) < 0.3, rng.integers(16, 32, count) / 16, 1 + rng.random(count)
    )
    reals = np.ldexp(mantissas.astype(np.float32), rng.integers(-14, -5, count))
    return reals, rng.integers(1, 1 << rng.integers(4, 16, count))


@pytest.mark.parametrize("steps", [Steps(0, 255), Steps(-128, 127), Steps(-255, 0), Steps(3, 40)])
def test_a_line_is_right_for_every_sum(steps: Steps) -> None:
    reals, reach = channels(np.random.default_rng(steps.high), 200)
    found, multipliers, addends = find_lines(reals, reach, steps)
    for real, most, line, multiplier, addend in zip(
        reals, reach, found, multipliers, addends, strict=True
    ):
        sums = np.arange(-most, most + 1)
        want = clipped(rescaled(sums, [real]), steps)
        if line:
            assert ADDENDS[0] <= addend <= ADDENDS[1]
            assert 0 < multiplier < 1 << 31
            assert (clipped(by_line(sums, int(multiplier), int(addend)), steps) == want).all()
    assert 150 <= found.sum() < 200


def test_a_line_of_a_small_scale_is_right_near_each_change() -> None:
    steps, rng, most = Steps(-3, 3), np.random.default_rng(6), (1 << 23) - 1
    reals = np.exp2(rng.uniform(-23, -15, 200)).astype(np.float32)
    has_line, multipliers, addends = find_lines(reals, np.full(200, most), steps)
    changes = 0
    for real, multiplier, addend in zip(
        reals[has_line], multipliers[has_line], addends[has_line], strict=True
    ):
        halves = (np.arange(-2, 4) - 0.5) / float(real)
        sums = np.rint(halves)[:, None] + np.arange(-40, 41)
        sums = np.clip(sums.reshape(-1), -most, most).astype(np.int64)
        want = clipped(rescaled(sums, [float(real)]), steps)
        assert (clipped(by_line(sums, int(multiplier), int(addend)), steps) == want).all()
        changes += int((abs(halves) < most).sum())
    assert changes > 100


def test_where_no_line_is_found_none_is_near() -> None:
    """None of the multipliers near the scale is right, with any addend."""
    steps = Steps(-128, 127)
    reals, reach = channels(np.random.default_rng(5), 80)
    found, _, _ = find_lines(reals, reach, steps)
    for real, most in zip(reals[~found], reach[~found], strict=True):
        sums = np.arange(-most, most + 1)
        want = clipped(rescaled(sums, [real]), steps)
        middle = round(float(real) * 2.0**36)
        for multiplier in range(middle - 400, middle + 400, 16):
            for addend in range(-128, 128, 2):
                assert (clipped(by_line(sums, multiplier, addend), steps) != want).any()
    assert (~found).sum() >= 2


def test_ties_that_round_to_both_sides_have_no_line() -> None:
    reals, reach = np.full(3, 2.0**-7, np.float32), np.array([100, 300, 1 << 20])
    assert find_lines(reals, reach, Steps(-128, 127))[0].tolist() == [True, False, False]
    assert find_lines(reals, reach, Steps(0, 1))[0].all()


def test_sums_and_scales_beyond_the_products_have_no_line() -> None:
    reals = np.array([0.0163, 2.0**-5, 0.0163, 2.0**-25, 0.0, np.inf], np.float32)
    reach = np.array([(1 << 23) - 1, 10, 1 << 23, 100, 100, 100])
    has_line = find_lines(reals, reach, Steps(-128, 127))[0]
    assert has_line.tolist() == [True, False, False, False, False, False]
