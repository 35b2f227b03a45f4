"""Rows of tensors of one to five dimensions and of several images: the same bits as the whole
operators, or none are cut; what reads a lower rank reads all of it."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
import pytest
from deep import deep_but

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.rows.operations import RowKernelOp
from memopt.passes.rows.expand import computing, cut
from memopt.verify.rows import check_rows

PLANNED = (
    "memgraph-model{alignment=4 inplace=on},memgraph-schedule{method=rpo},"
    "memgraph-place{method=greedy-by-size},memgraph-verify-plan{placed=true}"
)
Shape = tuple[int, ...]
Case = tuple[str, tuple[Shape, ...], Shape]
ONE = ((1, 6, 4), (1, 6, 4, 3), (1, 4, 3, 2, 3))
"""Shapes that have rows."""
NONE = ((2, 6, 4), (2, 6, 4, 3), (5, 4), (6,))
"""And those that have none."""


def type_of(shape: Shape) -> str:
    layout = ", #memgraph.encoding<nhwc>" if len(shape) == 4 else ""
    return f"tensor<{'x'.join(map(str, shape))}xf32{layout}>"


def replaced(shape: Shape, axis: int, size: int) -> Shape:
    return tuple(size if i == axis else d for i, d in enumerate(shape))


def cases(s: Shape) -> Iterator[Case]:
    """Operators of a tensor of this shape: the text, the operands' shapes, the result's."""
    ranks = range(len(s))
    yield "tanh {0}", (s,), s
    yield f"softmax {{0}} axis {len(s) - 1} beta 1.0", (s,), s
    yield "copy {0}", (s,), s
    for kind in ("add", "sub", "maximum"):
        yield f"{kind} {{0}}, {{1}}", (s, s), s
        for k in ranks[1:]:
            for other in (s[k:], (1, *s[k:]), replaced(s, k, 1)):
                yield f"{kind} {{0}}, {{1}}", (s, other), s
                yield f"{kind} {{0}}, {{1}}", (other, s), s
    for axis, size in enumerate(s):
        yield f"concat {{0}}, {{1}} axis {axis}", (s, s), replaced(s, axis, 2 * size)
        yield f"mean {{0}} axes [{axis}] keep_dims", (s,), replaced(s, axis, 1)
        if len(s) > 1:
            yield f"mean {{0}} axes [{axis}]", (s,), (*s[:axis], *s[axis + 1 :])
        at = [int(i == axis) for i in ranks]
        yield f"pad {{0}} before {at} after {at} value 0.5", (s,), replaced(s, axis, size + 2)
        if size > 1:
            words = f"slice {{0}} starts {at} strides {[1] * len(s)}"
            yield words, (s,), replaced(s, axis, size - 1)
    for order in permutations(ranks) if len(s) < 5 else ():
        yield f"transpose {{0}} permutation {list(order)}", (s,), tuple(s[i] for i in order)
    shapes: list[Shape] = [(1, math.prod(s)), (1, *s), s[::-1]]
    yield from (("reshape {0}", (s,), made) for made in shapes)


def text_of(case: Case) -> str:
    """A function of it, with operators in rows before and behind."""
    words, taken, made = case
    lines: list[str] = []
    for k, shape in enumerate(taken):
        lines.append(f"%a{k} = memgraph.relu %x{k} : ({type_of(shape)}) -> {type_of(shape)}")
    types = ", ".join(map(type_of, taken))
    whole = words.format(*(f"%a{k}" for k in range(len(taken))))
    lines.append(f"%y = memgraph.{whole} : ({types}) -> {type_of(made)}")
    lines.append(f"%z = memgraph.relu6 %y : ({type_of(made)}) -> {type_of(made)}")
    arguments = ", ".join(f"%x{k}: {type_of(shape)}" for k, shape in enumerate(taken))
    body = "".join(f"  {line}\n" for line in lines)
    return (
        f"func.func @main({arguments}) -> {type_of(made)} {{\n{body}"
        f"  func.return %z : {type_of(made)}\n}}\n"
    )


def operators_cut(text: str) -> list[str]:
    """The operators of which rows compute the same, whole and planned, as the function."""
    module = load_text(new_context(), text, "n.mlir")
    func = only_function(module)
    rng = np.random.default_rng(len(text))
    inputs = [rng.normal(size=shape_of(v)).astype(np.float32) for v in body_of(func).args]

    def results() -> list[bytes]:
        values, last = evaluate(func, Weights({}), inputs), func.get_return_op()
        assert last is not None
        return [values[v].tobytes() for v in last.operands]

    want = results()
    cut(func, range(len(computing(func))))
    module.verify()
    check_rows(body_of(func))
    assert results() == want, text
    for step in build_pipeline(PLANNED):
        step.apply(new_context(), module)
    assert results() == want, text
    found = (op.computed.name for op in body_of(func).ops if isinstance(op, RowKernelOp))
    return [name.removeprefix("memgraph.") for name in found]


@pytest.mark.deep
@pytest.mark.parametrize("shape", deep_but([ONE[0], NONE[0]], [*ONE, *NONE]))
def test_rows_of_any_shape_are_the_whole_operators(shape: Shape, fuzz: float) -> None:
    seen = Counter[str]()
    step = 1 if fuzz >= 1 else 2
    for case in list(cases(shape))[::step]:
        kind = case[0].split()[0]
        seen[kind] += kind in operators_cut(text_of(case))
    if shape in ONE:
        assert all(seen[k] for k in ("add", "sub", "maximum", "concat", "mean")), seen


REDUCTIONS = ("mean", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod")


def reduced_again(shape: Shape, again: Shape) -> Iterator[str]:
    """Functions that reduce an image of this shape in another one, over any axes."""
    made, read = type_of(shape), type_of(again)
    for kind in REDUCTIONS:
        for count in range(1, len(again) + 1):
            for axes in combinations(range(len(again)), count):
                kept = tuple(1 if k in axes else d for k, d in enumerate(again))
                for keeps in (" keep_dims", ""):
                    left = kept if keeps else tuple(d for k, d in enumerate(again) if k not in axes)
                    result = type_of(left or (1,))
                    if not left:
                        continue
                    yield f"""func.func @main(%x: {made}) -> {result} {{
  %a = memgraph.relu %x : ({made}) -> {made}
  %f = memgraph.reshape %a : ({made}) -> {read}
  %y = memgraph.{kind} %f axes {list(axes)}{keeps} : ({read}) -> {result}
  func.return %y : {result}
}}"""


@pytest.mark.deep
@pytest.mark.parametrize("again", [(1, 72), (72,), (3, 24), (6, 4, 3, 1), (2, 3, 4, 3)])
def test_a_reduction_of_a_reshaped_image_keeps_its_shape(again: Shape, fuzz: float) -> None:
    """Only what reads no shape, as a fully connected layer, may read the image in its place."""
    step = 1 if fuzz >= 1 else 3
    cut_in_rows = Counter[str]()
    for text in list(reduced_again((1, 6, 4, 3), again))[::step]:
        cut_in_rows.update(operators_cut(text))
    assert cut_in_rows["relu"] and not any(cut_in_rows[kind] for kind in REDUCTIONS), cut_in_rows


BOTH = """
!t = tensor<1x3x4x3xf32, #memgraph.encoding<nhwc>>
!u = tensor<1x4x3xf32>
func.func @main(%x: !t, %u: !u) -> (!t, !u) {
  %a = memgraph.relu %u : (!u) -> !u
  %b = memgraph.add %x, %u : (!t, !u) -> !t
  %c = memgraph.add %b, %a : (!t, !u) -> !t
  %d = memgraph.relu6 %a : (!u) -> !u
  func.return %c, %d : !t, !u
}
"""


def test_read_as_a_whole_and_in_rows() -> None:
    """Of `%u` and `%a` relu takes a row of four, and add all of it for each row of three."""
    assert sorted(operators_cut(BOTH)) == ["add", "add", "relu", "relu6"]


@pytest.mark.parametrize(
    ("shape", "layout", "message"),
    [
        ((2, 6, 4, 3), "nhwc", "x, 2x6x4x3, is no single image, its first dimension is 2"),
        ((2, 6, 4), "", "x, 2x6x4, is no single image"),
        ((1, 3, 6, 4), "nchw", "x, 1x3x6x4, is stored as nchw"),
    ],
)
def test_what_has_no_rows_is_refused_by_name(shape: Shape, layout: str, message: str) -> None:
    encoding = f", #memgraph.encoding<{layout}>" if layout else ""
    kind = f"tensor<{'x'.join(map(str, shape))}xf32{encoding}>"
    text = f"""func.func @main(%x: {kind}) -> {kind} {{
  %y = memgraph.relu %x : ({kind}) -> {kind}
  func.return %y : {kind}
}}"""
    module = load_text(new_context(), text, "n.mlir")
    (step,) = build_pipeline("memgraph-expand-rows")
    with pytest.raises(MemoptError, match=f"no operator has rows: {message}"):
        step.apply(new_context(), module)
