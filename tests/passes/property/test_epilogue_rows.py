"""Rows of sums of products that the row which reads them makes: what is in rows, plans in which a
row is missing or another one. Random networks are in test_virtual_rows.py."""

import re
from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.plan.rewrite_search import applied
from memopt.passes.rows.expand import computing, cut
from memopt.verify.rows import check_rows

BUGS = """
!t = tensor<1x4x2x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x1x2xf32, #memgraph.encoding<ohwi>>
func.func @main(%x: !t) -> !t {
  %w = memgraph.constant dense<1.0> : !w
  %a = memgraph.tanh %x : (!t) -> !t
  %b = memgraph.conv_2d %a, %w window<[3, 1], pad = [1, 0, 1, 0]> groups 1
         {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (!t, !w) -> !t
  %y = memgraph.add %b, %x : (!t, !t) -> !t
  func.return %y : !t
}
"""


def plan(module: ModuleOp) -> None:
    for step in build_pipeline("memgraph-schedule{method=source},memgraph-verify-plan"):
        step.apply(new_context(), module)


@pytest.fixture(scope="module")
def expanded() -> str:
    module = load_text(new_context(), BUGS, "net.mlir")
    assert cut(only_function(module), (0, 1, 2)) == (0, 2)
    plan(module)
    return str(module)


def one(pattern: str, to: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        changed, count = re.subn(pattern, to, text, count=1)
        assert count == 1 and changed != text
        return changed

    return change


SUM_1 = r"(memgraph\.row %b\[1\] )\((%\w+), (%\w+), (%\w+)\)"
READER_1 = r"(memgraph\.row %y\[1\] )\((%\w+), (%\w+)\)"
BY_READER = "rows of memgraph.conv_2d are no rows of its operands"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (one(SUM_1, r"\1(\2, \3, %a_4)"), "is not row 2 of operand 0 of memgraph.conv_2d"),
        (one(SUM_1, r"\1(%x_1, \3, \4)"), "is a row of another tensor than operand 0 had before"),
        (one(r"row %b\[1\]", "row %b[2]"), BY_READER),
        (one(READER_1, r"\1(\2, %x_3)"), "is not row 1 of operand 1 of memgraph.add"),
        (one(READER_1, r"\1(%b_1, \3)"), BY_READER),
        (one(READER_1, r"\1(\2, \2)"), BY_READER),
        (one(r", #memgraph\.alias<operand = 3, kind = virtual>", ""), "in all operands or in none"),
        (
            one(
                r"%b_1 = memgraph.row (.*)\n",
                r"%b_1 = memgraph.row \1\n    %u = memgraph.tanh %b_1 : (!r) -> !r\n",
            ),
            BY_READER,
        ),
        (one(r"(join %\w+), %\w+", r"\1, %b_2"), BY_READER),
    ],
)
def test_wrong_rows_of_sums_are_refused(
    change: Callable[[str], str], text: str, expanded: str
) -> None:
    row = "!r = tensor<1x1x2x2xf32, #memgraph.encoding<nhwc>>\n"
    with pytest.raises((MemoptError, VerifyException), match=re.escape(text)):
        module = load_text(new_context(), row + change(expanded), "net.mlir")
        module.verify()
        plan(module)


NETWORK = """
!t = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x3x2xf32, #memgraph.encoding<ohwi>>
func.func @main(%x: !t, %z: !t) -> !t {{
  %w = memgraph.constant dense<1.0> : !w
  %k = memgraph.constant dense<1.0> : !t
  %a = memgraph.tanh %x : (!t) -> !t
  {}
  func.return %y : !t
}}
"""
CONV = "memgraph.conv_2d {}, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 : (!t, !w) -> !t"
ADD = "%y = memgraph.add {}, {} : (!t, !t) -> !t"
BELOW = (  # of which the last rows see nothing but padding
    "%b = memgraph.conv_2d %a, %w window<[3, 3], stride = [3, 1], pad = [1, 1, 8, 1]> groups 1"
    " : (!t, !w) -> !t"
)


@pytest.mark.parametrize(
    ("lines", "generic", "host"),
    [
        (("%b = " + CONV.format("%a"), ADD.format("%b", "%z")), (0, 2), (0, 2)),
        (("%b = " + CONV.format("%a"), ADD.format("%b", "%k")), (0, 2), (0,)),
        (
            ("%b = " + CONV.format("%a"), "%c = " + CONV.format("%x"), ADD.format("%b", "%c")),
            (0, 3),
            (0,),
        ),
        (
            (
                "%r = memgraph.relu %a : (!t) -> !t",
                "%b = " + CONV.format("%r"),
                ADD.format("%z", "%b"),
            ),
            (0, 3),
            (0,),
        ),
        ((BELOW, ADD.format("%b", "%z")), (0,), (0,)),
    ],
)
def test_what_rows_do_not_make_stays_whole(
    lines: tuple[str, ...], generic: tuple[int, ...], host: tuple[int, ...]
) -> None:
    """For kernels: a constant beside it, two sums at once, sums of virtual tensors; for
    all, a row that is made of nothing but padding."""
    for target, expected in (("generic", generic), ("host", host)):
        text = NETWORK.format("\n  ".join(lines))
        module = load_text(new_context(), text, "net.mlir")
        MemgraphModelPass(target, alignment=4).apply(Context(), module)
        func = only_function(module)
        applied(func, {"function-by-readers": frozenset({3}), "residual-epilogue": None})
        assert cut(func, range(len(computing(func)))) == expected, target
        module.verify()
        check_rows(body_of(func))
        plan(module)
