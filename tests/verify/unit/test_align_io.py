"""The verifier's own reading of lines of a cache: what is in another's line is refused."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.text.ir_text import module_text
from memopt.verify.plan import verify_plan

NETWORK = """
!t = tensor<1x5x5x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
func.func @main(%x: !t) -> !t {
  %a = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> : (!t) -> !t
  %y = memgraph.max_pool_2d %a window<[3, 3], pad = [1, 1, 1, 1]> : (!t) -> !t
  func.return %y : !t
}
"""
PLAN = "memgraph-model{alignment=1 align-io=32},memgraph-schedule,memgraph-place"


@pytest.fixture(scope="module")
def planned() -> str:
    module = load_text(new_context(), NETWORK, "net.mlir")
    assert isinstance(module, ModuleOp)
    for step in build_pipeline(PLAN):
        step.apply(new_context(), module)
    return module_text(module)


def verified(text: str) -> int | None:
    return verify_plan(only_function(load_text(new_context(), text, "plan.mlir")), True).arena


def test_a_plan_stands(planned: str) -> None:
    assert verified(planned) == 32 + 25
    assert "peak = 57, lower_bound = 57" in planned


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("%x: !a0 {memgraph.offset = 0", "%x: !a0 {memgraph.offset = 8", "8 is not aligned"),
        ("memgraph.offset = [32 : i64]", "memgraph.offset = [25 : i64]", "overwrites x at"),
        ("arena = 57", "arena = 58", "57 B"),
        ("peak = 57", "peak = 58", "the peak is 57 B"),
    ],
)
def test_a_wrong_plan_is_refused(old: str, new: str, why: str, planned: str) -> None:
    assert old in planned, planned
    with pytest.raises(MemoptError, match=why):
        verified(planned.replace(old, new, 1))
