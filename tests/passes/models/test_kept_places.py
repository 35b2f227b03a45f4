"""Places that rows were chosen by stay where scratch of fast kernels comes between them."""

from pathlib import Path

import pytest

import memopt


@pytest.mark.deep
def test_scratch_between_the_places_of_rows_moves_none(shared: Path) -> None:
    """Placed anew, these rows took 25,760 B, so that 762 calls of 21,888 B were chosen."""
    model = shared / "models" / "mcunet_vww_int8.tflite"
    plan = memopt.plan(model, target="cortex-m4", int8_io=True)
    assert (plan.peak, plan.arena, plan.lower_bound) == (21_568, 21_568, 21_568)
    assert len(plan.order) == 411
