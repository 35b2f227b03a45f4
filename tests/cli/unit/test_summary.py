"""The lines that `memopt compile` and `report` print."""

from typing import Any

import pytest

from memopt.cli.summary import persistent_lines


@pytest.mark.parametrize(("peak", "verdict"), [(75, "25.0 % less"), (125, "25.0 % more")])
def test_what_a_plan_needs_with_what_stays_is_less_or_more(peak: int, verdict: str) -> None:
    plan = {"peak": peak - 40, "optimal": False, "family": "order"}
    report: dict[str, Any] = {"persistent": 40, "source": {"peak": 60}, "plan": plan}
    (line,) = persistent_lines(report)
    assert line.endswith(f"beside the arena; with it 100 -> {peak} B, {verdict}")
