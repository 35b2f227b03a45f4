"""Tests that a time limit is divided over passes, and the share of a pass over functions."""

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from memopt.compile.driver import new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.solvers import clock

FUNCTION = """
func.func @{name}(%0: tensor<8xi8>) -> tensor<8xi8> {{
  %1 = memgraph.relu %0 : (tensor<8xi8>) -> tensor<8xi8>
  return %1 : tensor<8xi8>
}}
"""
LIMIT = 60.0


@pytest.mark.parametrize("count", [1, 2, 5])
def test_functions_divide_a_share(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Check a clock on which every function takes all the time that its order may take."""
    now, limits = [0.0], list[float]()
    plan = MemgraphSchedulePass.plan

    def slow(self: MemgraphSchedulePass, *arguments: Any) -> Any:
        assert self.time_limit is not None
        limits.append(self.time_limit)
        now[0] += self.time_limit
        return plan(self, *arguments)

    monkeypatch.setattr(MemgraphSchedulePass, "plan", slow)
    context = new_context()
    text = "".join(FUNCTION.format(name=f"f{i}") for i in range(count))
    module = Parser(context, text).parse_module()
    assert isinstance(module, ModuleOp)
    options = SettledOptions(target="generic", rows="none", time_limit=LIMIT)
    with clock.reading(lambda: now[0]):
        plan_module(context, module, options, Seconds())
    assert len(limits) == count and sum(limits) <= LIMIT
    assert max(limits) - min(limits) < 1e-6
