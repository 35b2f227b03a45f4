"""Rows of partial sums that are added up in one buffer: the same numbers as the whole network's,
rows that the verifier agrees with, and plans in which a row is missing or another one."""

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from row_networks import cut_some, image_of
from sum_networks import INT8, REAL
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
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.operators.traits import SumsUp
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.plan.extract import extract
from memopt.passes.plan.rewrite_search import apply_by_search
from memopt.passes.rows.expand import computing, cut
from memopt.rewrites import apply_rules
from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.scheduling import schedule
from memopt.verify.groups import read_function
from memopt.verify.plan import verify_plan
from memopt.verify.rows import check_rows

FULL = 1_000  # networks in rows
SEARCHED = 150  # networks of which the rules are searched
LEAST = 50  # sums in rows of integers and of reals, in the full count
CLOSE = 1e-5  # of the largest, for reals, which are added in another order
PLANNED = (
    "memgraph-model{{alignment=4 inplace={}}},memgraph-schedule{{method=rpo}},"
    "memgraph-place{{method=greedy-by-size}},memgraph-verify-plan{{placed=true}}"
)


def results(func: FuncOp, image: Array) -> list[Array]:
    values = evaluate(func, Weights({}), [image])
    last = func.get_return_op()
    assert last is not None
    return [values[v] for v in last.operands]


def assert_alike(func: FuncOp, image: Array, want: list[Array], seed: int) -> None:
    """Integers to the bit, reals but for the order in which they are added."""
    for found, expected in zip(results(func, image), want, strict=True):
        if found.dtype.kind == "f":
            bound = CLOSE * np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=bound)
        else:
            assert found.tobytes() == expected.tobytes(), seed


def sums(func: FuncOp) -> Counter[str]:
    """The sums in rows."""
    rows = [op for op in body_of(func).ops if isinstance(op, RowOp) and not op.index.data]
    sums = [op for op in rows if op.whole.has_trait(SumsUp)]
    return Counter("reals" if op.shows_sums else "integers" for op in sums)


@pytest.mark.deep
def test_rows_are_the_whole_network(fuzz: float) -> None:
    seen = Counter[str]()
    for seed in range(max(30, int(FULL * fuzz))):
        rng = np.random.default_rng([seed, 23])
        quantized = seed % 2 == 0
        steps = INT8 if quantized else REAL
        text = text_of(rng, quantized, 2 if seed % 4 == 3 else 1, steps)
        module = load_text(new_context(), text, "net.mlir")
        func = only_function(module)
        image = image_of(func, rng)
        want = results(func, image)
        apply_rules(func, ("channel-wise", *ROW_RULES) if seed % 3 else ("channel-wise",))
        cut_some(func, seed, rng)
        module.verify()
        check_rows(body_of(func))
        seen += sums(func)
        assert_alike(func, image, want, seed)
        for step in build_pipeline(PLANNED.format("on" if seed % 3 else "off")):
            step.apply(new_context(), module)
        again = load_text(new_context(), str(module), "net.mlir")
        verify_plan(only_function(again), placed=True)
        assert_alike(only_function(again), image, want, seed)
    least = LEAST if fuzz >= 1 else 1
    assert min(seen[k] for k in ("integers", "reals")) >= least, seen


def in_rows(module: ModuleOp) -> Schedule:
    func = only_function(module)
    cut(func, range(len(computing(func))))
    return schedule(extract(func).graph, "auto", None, max_states=50_000)


@pytest.mark.deep
def test_the_search_never_raises_the_peak_of_rows(fuzz: float) -> None:
    lower = compared = 0
    for seed in range(max(12, int(SEARCHED * fuzz))):
        rng = np.random.default_rng([seed, 29])
        text = text_of(rng, seed % 2 == 0, 1, INT8 if seed % 2 == 0 else REAL)
        forms = [load_text(new_context(), text, "net.mlir") for _ in range(2)]
        for module in forms:
            target = "host" if seed % 4 > 1 else "generic"
            MemgraphModelPass(target, alignment=4, inplace="on").apply(Context(), module)
        apply_by_search(only_function(forms[1]), ("channel-wise", "gather"), None, rows=True)
        before, after = map(in_rows, forms)
        if before.optimal:
            assert after.peak <= before.peak, seed
        compared += before.optimal
        lower += after.peak < before.peak
    assert compared > 10 and lower > (10 if fuzz >= 1 else 0), (compared, lower)


BUGS = """
!t = tensor<1x4x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!c = tensor<1x4x2x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!w = tensor<2x3x1x4x{w}>
!y = tensor<1x4x2x2xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
func.func @main(%x: !t) -> !y {{
  %w = memgraph.constant dense<1> : !w
  %a = memgraph.relu %x rounding<tflm_double> : (!t) -> !t
  %c = memgraph.concat %x, %a axis 3 : (!t, !t) -> !c
  %y = memgraph.conv_2d %c, %w window<[3, 1], pad = [1, 0, 1, 0]> groups 1 rounding<tflm_double>
         {{memgraph.names = ["y"]}} : (!c, !w) -> !y
  func.return %y : !y
}}
"""
STORED = "i8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>"


def plan(module: ModuleOp) -> None:
    for step in build_pipeline("memgraph-schedule{method=source},memgraph-verify-plan"):
        step.apply(new_context(), module)


def expanded(real: bool) -> str:
    text = BUGS.format(w=STORED)
    if real:
        text = re.sub(r"i8, (#memgraph.encoding<\w+), [^>]*>", r"f32, \1>", text)
        text = text.replace(" rounding<tflm_double>", "").replace("dense<1>", "dense<1.0>")
    module = load_text(new_context(), text, "net.mlir")
    func = only_function(module)
    assert apply_rules(func, ("channel-wise",))
    assert cut(func, range(4)) == (0, 1, 2, 3)
    plan(module)
    return str(module)


def one(pattern: str, to: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        changed, count = re.subn(pattern, to, text, count=1)
        assert count == 1 and changed != text
        return changed

    return change


def exchanged(text: str) -> str:
    """What rows 0 and 1 of the sum read second."""
    rows = [re.search(rf"row %y\[{r}\] \(%\w+, (%\w+)\)", text) for r in (0, 1)]
    first, second = (row[1] for row in rows if row is not None)
    for name, row in ((second, rows[0]), (first, rows[1])):
        assert row is not None
        text = text.replace(row[0], row[0].replace(f"{row[1]})", f"{name})"))
    return text


def turned(text: str) -> str:
    """Every row adds up what it did in the other order."""
    return re.sub(r"(row %y\[\d\] )\((%\w+), (%\w+)\)", r"\1(\3, \2)", text)


SUM_1 = r"(memgraph\.row %y\[1\] )\((%\w+), (%\w+)\)"
TWICE = "is read elsewhere too, but it is no buffer alone"


@pytest.mark.parametrize(
    ("real", "change", "text"),
    [
        (False, exchanged, "is not row 0 of operand 1 of memgraph.accumulate"),
        (False, one(SUM_1, r"\1(\2, \2)"), "is a row of another tensor than operand 1 had before"),
        (False, one(SUM_1, r"\1(\3, \2)"), "is a row of another tensor than operand 0 had before"),
        (True, turned, "reals are added up in another order than that of the operands"),
        (True, one("groups 1 :", "groups 1 activation<relu> :"), "an operand is no sum"),
        (
            False,
            one(r"( +)(%y_1 = memgraph.row .*)", r"\1%u = memgraph.neg %0 : (!i) -> !i\n\1\2"),
            TWICE,
        ),
        (True, one(r"row %y\[1\]", "row %y[2]"), "is not row 2 of operand 0"),
        (False, one(r"(row %conv_2d\[1\] \(%\w+), %\w+", r"\1, %x_1"), "is not row 1 of operand 0"),
    ],
)
def test_wrong_rows_of_sums_are_refused(
    real: bool, change: Callable[[str], str], text: str
) -> None:
    with pytest.raises((MemoptError, VerifyException), match=re.escape(text)):
        row = "!i = tensor<1x1x2x2xi32, #memgraph.encoding<nhwc>>\n"
        module = load_text(new_context(), row + change(expanded(real)), "net.mlir")
        module.verify()
        func = only_function(module)
        check_rows(body_of(func))
        read_function(func, model_of(func))
