"""Rows of virtual tensors: the same numbers as the whole network's, rows that the verifier agrees
with, peaks that no rule raises, and plans in which a row of a part is missing or another one."""

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from row_networks import cut_some, image_of
from virtual_networks import ROW_RULES, text_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import makes_virtual
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.plan.extract import extract
from memopt.passes.plan.rewrite_search import apply_by_search
from memopt.passes.rows.expand import computing, cut
from memopt.rewrites import apply_rules
from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.scheduling import schedule
from memopt.verify.plan import verify_plan
from memopt.verify.rows import check_rows

FULL = 2_000  # networks in rows
LEAST = 30  # of each operator of which rows are virtual, in the full count
SEARCHED = 200  # networks of which the rules are searched
PLANNED = (
    "memgraph-model{{alignment=4 inplace={}}},memgraph-schedule{{method=rpo}},"
    "memgraph-place{{method=greedy-by-size}},memgraph-verify-plan{{placed=true}}"
)


def results(func: FuncOp, image: Array) -> list[bytes]:
    values = evaluate(func, Weights({}), [image])
    last = func.get_return_op()
    assert last is not None
    return [values[v].tobytes() for v in last.operands]


def virtual_rows(func: FuncOp) -> Counter[str]:
    """Return the operators of which rows are virtual."""
    rows = [op for op in body_of(func).ops if isinstance(op, RowOp) and makes_virtual(op)]
    return Counter(op.whole.name.removeprefix("memgraph.") for op in rows if not op.index.data)


@pytest.mark.deep
def test_rows_are_the_whole_network(fuzz: float) -> None:
    seen = Counter[str]()
    for seed in range(max(30, int(FULL * fuzz))):
        rng = np.random.default_rng([seed, 18])
        text = text_of(rng, seed % 2 == 0, 2 if seed % 4 == 3 else 1)
        module = load_text(new_context(), text, "net.mlir")
        func = only_function(module)
        image = image_of(func, rng)
        want = results(func, image)
        apply_rules(func, ROW_RULES)
        cut_some(func, seed, rng)
        module.verify()
        check_rows(body_of(func))
        seen += virtual_rows(func)
        assert results(func, image) == want, seed
        for step in build_pipeline(PLANNED.format("on" if seed % 3 else "off")):
            step.apply(new_context(), module)
        again = load_text(new_context(), str(module), "net.mlir")
        verify_plan(only_function(again), placed=True)
        assert results(only_function(again), image) == want, seed
    least = LEAST if fuzz >= 1 else 1
    assert min(seen[k] for k in ("concat", "slice", "split", "relu", "conv_2d")) >= least, seen


def in_rows(module: ModuleOp) -> Schedule:
    func = only_function(module)
    cut(func, range(len(computing(func))))
    return schedule(extract(func).graph, "auto", None, max_states=50_000)


@pytest.mark.deep
def test_no_rule_raises_the_peak_of_rows(fuzz: float) -> None:
    """By scratch of the host's kernels too."""
    lower = compared = 0
    for seed in range(max(12, int(SEARCHED * fuzz))):
        rng = np.random.default_rng([seed, 19])
        text = text_of(rng, seed % 2 == 0, 1)
        forms = [load_text(new_context(), text, "net.mlir") for _ in range(2)]
        for module in forms:
            target = "host" if seed % 4 > 1 else "generic"
            MemgraphModelPass(target, alignment=4, inplace="on").apply(Context(), module)
        apply_by_search(only_function(forms[1]), ROW_RULES, None, rows=True)
        before, after = map(in_rows, forms)
        if before.optimal:
            assert after.peak <= before.peak, seed
        compared += before.optimal
        lower += after.peak < before.peak
    assert compared > 10 and lower > (10 if fuzz >= 1 else 0), (compared, lower)


BUGS = """
!t = tensor<1x3x2x2xi8, #memgraph.encoding<nhwc>>
!c = tensor<1x3x2x4xi8, #memgraph.encoding<nhwc>>
func.func @main(%x: !t) -> !c {
  %a = memgraph.relu %x : (!t) -> !t
  %c = memgraph.concat %x, %a axis 3
         {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                             #memgraph.alias<operand = 1, kind = virtual>]]} : (!t, !t) -> !c
  %y = memgraph.max_pool_2d %c window<[3, 1], pad = [1, 0, 1, 0]> : (!c) -> !c
  func.return %y : !c
}
"""


def expanded() -> str:
    module = load_text(new_context(), BUGS, "net.mlir")
    func = only_function(module)
    assert cut(func, (0, 1, 2)) == (0, 2)
    plan(module)
    return str(module)


def plan(module: ModuleOp) -> None:
    for step in build_pipeline("memgraph-schedule{method=source},memgraph-verify-plan"):
        step.apply(new_context(), module)


def one(pattern: str, to: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        changed, count = re.subn(pattern, to, text, count=1)
        assert count == 1 and changed != text
        return changed

    return change


ROW_1 = r"(memgraph\.row %c\[1\] )\((%\w+), (%\w+)\)"
SECOND = r", #memgraph\.alias<operand = 2, kind = virtual>"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            one(ROW_1 + r"(.*) : \((.*?>), .*?>\)", r"\1(\2)\4 : (\5)"),
            "row 1 of memgraph.concat takes",
        ),
        (one(ROW_1, r"\1(\3, \2)"), "is a row of another tensor than operand 0 had before"),
        (one(ROW_1, r"\1(\2, \2)"), "is a row of another tensor than operand 1 had before"),
        (one(ROW_1, r"\1(\2, %a_3)"), "is not row 1 of operand 1 of memgraph.concat"),
        (one(ROW_1, r"\1(%x_1, \3)"), "is not row 1 of operand 0 of memgraph.concat"),
        (one(r"row %c\[1\]", "row %c[2]"), "is not row 2 of operand 0 of memgraph.concat"),
        (one(r"(row %y\[1\] \(%\w+), %\w+", r"\1, %c_1"), "is not row 1 of operand 0"),
        (one(SECOND, ""), "virtual in all operands or in none"),
        (one(r"operand = 1, kind", "operand = 0, kind"), "must be buffers"),
    ],
)
def test_wrong_rows_of_parts_are_refused(change: Callable[[str], str], text: str) -> None:
    with pytest.raises((MemoptError, VerifyException), match=re.escape(text)):
        module = load_text(new_context(), change(expanded()), "net.mlir")
        module.verify()
        plan(module)


READERS = """
!t = tensor<1x4x2x2xf32, #memgraph.encoding<nhwc>>
!c = tensor<1x4x2x4xf32, #memgraph.encoding<nhwc>>
!h = tensor<1x8x2x4xf32, #memgraph.encoding<nhwc>>
!m = tensor<1x4xf32>
func.func @main(%x: !t) -> (!c, !h, !m, !c) {
  %a = memgraph.relu %x : (!t) -> !t
  %c = memgraph.concat %x, %a axis 3
         {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                             #memgraph.alias<operand = 1, kind = virtual>]]} : (!t, !t) -> !c
  %d = memgraph.max_pool_2d %c window<[2, 1], dilation = [2, 1], pad = [1, 0, 1, 0]>
         : (!c) -> !c
  %e = memgraph.concat %c, %d axis 1 : (!c, !c) -> !h
  %m = memgraph.mean %c axes [1, 2] : (!c) -> !m
  %r = memgraph.tanh %c : (!c) -> !c
  func.return %d, %e, %m, %r : !c, !h, !m, !c
}
"""


@pytest.mark.parametrize(("target", "cuts"), [("generic", (0, 2, 3, 4, 5)), ("host", (0, 5))])
def test_what_kernels_do_not_make_row_by_row_stays_whole(
    target: str, cuts: tuple[int, ...]
) -> None:
    """A window with holes, of which rows are not there, rows of several operands, a sum."""
    module = load_text(new_context(), READERS, "net.mlir")
    MemgraphModelPass(target, alignment=4).apply(Context(), module)
    func = only_function(module)
    assert cut(func, range(6)) == cuts
    module.verify()
    check_rows(body_of(func))
