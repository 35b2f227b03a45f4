"""Variables that are read where they lie: orders in which nobody reads what has changed."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from memopt.compile.driver import build_pipeline, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import model_of, plan_of
from memopt.verify.groups import read_function
from memopt.verify.variables import check_variables

PLAN = "memgraph-schedule{{method={}}},memgraph-place,memgraph-verify-plan"
HEAD = """
!t = tensor<4x4xf32>
!i = tensor<1x1xi64>
!r = tensor<1x4xf32>
func.func @main(%x: !t, %i: !i, %r: !r) -> (!t, !t) {
  %v = memgraph.variable "cache" : !t
  %1 = memgraph.read_variable %v in_place : (!t) -> !t
"""
UPDATED = "%2 = memgraph.update_variable %v, %i, %r : (!t, !i, !r) -> !t\n"
ASSIGNED = "memgraph.assign_variable %x, %v : !t, !t\n%2 = memgraph.relu %x : (!t) -> !t\n"
READ = "%3 = memgraph.add %x, %1 : (!t, !t) -> !t\n"
VIEWED = "%5 = memgraph.reshape %1 : (!t) -> !t\n%3 = memgraph.add %x, %5 : (!t, !t) -> !t\n"
CHANGES = ("memgraph.assign_variable", "memgraph.update_variable")
TAIL = "%4 = memgraph.add %2, %x : (!t, !t) -> !t\nfunc.return %3, %4 : !t, !t\n}\n"


def planned(text: str, method: str = "auto") -> ModuleOp:
    module = Parser(new_context(), text).parse_module()
    for step in build_pipeline(PLAN.format(method)):
        step.apply(new_context(), module)
    return module


@pytest.mark.parametrize("change", [UPDATED, ASSIGNED])
@pytest.mark.parametrize("read", [READ, VIEWED])
def test_who_reads_runs_before_the_change(change: str, read: str) -> None:
    """Where it stands behind in the block it is moved; whoever leaves it there is refused."""
    for text in (HEAD + read + change + TAIL, HEAD + change + read + TAIL):
        names = [op.name for op in body_of(only_function(planned(text))).ops]
        changes = [k for k, name in enumerate(names) if name in CHANGES]
        assert names.index("memgraph.add") < changes[0]
    planned(HEAD + read + change + TAIL, "source")
    with pytest.raises(PassFailedException, match=r"runs before 'add .*', which it needs"):
        planned(HEAD + change + read + TAIL, "source")


@pytest.mark.parametrize("change", [UPDATED, ASSIGNED])
@pytest.mark.parametrize("read", [READ, VIEWED])
def test_the_verifier_sees_who_reads_later(change: str, read: str) -> None:
    for text, is_late in ((HEAD + read + change, False), (HEAD + change + read, True)):
        func = only_function(Parser(new_context(), text + TAIL).parse_module())
        reading = read_function(func, model_of(func))
        if is_late:
            with pytest.raises(MemoptError, match=r"changes cache, but .* is read later"):
                check_variables(func, reading)
        else:
            check_variables(func, reading)


def test_what_lies_in_a_variable_is_not_returned() -> None:
    tail = "func.return %1, %x : !t, !t\n}\n"
    with pytest.raises(MemoptError, match="lies in a variable, but is returned"):
        planned(HEAD + tail)


def test_it_is_in_no_arena() -> None:
    """An input and two sums are."""
    func = only_function(planned(HEAD + READ + UPDATED + TAIL))
    plan = plan_of(func)
    assert plan is not None and plan.arena == 3 * 64
