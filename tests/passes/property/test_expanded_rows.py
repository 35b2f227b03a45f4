"""Operators in rows against whole ones: the same bits, the rows that the verifier derives on its
own, and every fault in a row found."""

from typing import Any

import numpy as np
import pytest
from operator_cases import GENERATORS, Rng
from xdsl.dialects.builtin import IntAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.tensors import rows_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import SumsUp, Written
from memopt.dialects.rows.operations import JoinOp, RowOp
from memopt.dialects.rows.steps import steps_of
from memopt.passes.rows.expand import expand
from memopt.text.ir_text import module_text
from memopt.verify.rows import check_rows
from memopt.verify.windows import windows_of


def function(op: ComputeOp) -> FuncOp:
    """A function of one operation, whose operands are the arguments."""
    block = Block(arg_types=[v.type for v in op.operands])
    whole = op.clone()
    whole.operands = list(block.args)
    block.add_ops([whole, ReturnOp(*whole.results)])
    types = [v.type for v in op.operands], [v.type for v in op.results]
    return FuncOp("main", types, Region(block))


def arrays(func: FuncOp, rng: Rng) -> list[Any]:
    found: list[Any] = []
    for v in func.body.block.args:
        kind = np.dtype(dtype_of(v))
        shape = shape_of(v)
        if kind.kind == "f":
            found.append(rng.standard_normal(shape).astype(kind))
        elif kind.kind == "c":
            parts = rng.standard_normal((2, *shape))
            found.append((parts[0] + 1j * parts[1]).astype(kind))
        elif kind.kind == "b":
            found.append(rng.random(shape) < 0.5)
        else:
            low, high = np.iinfo(kind).min, np.iinfo(kind).max
            found.append(rng.integers(max(low, -128), min(high, 127) + 1, shape).astype(kind))
    return found


def results(func: FuncOp, inputs: list[Any]) -> list[Any]:
    values = evaluate(func, Weights({}), inputs)
    return [values[v] for v in func.get_return_op().operands]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", GENERATORS)
def test_rows_are_the_whole_operator(name: str, fuzz: float) -> None:
    rng = np.random.default_rng(11)
    cut = 0
    for _ in range(max(10, int(400 * fuzz))):
        op: ComputeOp = GENERATORS[name](name, rng)
        if op.has_trait(Written) and steps_of(op) is None:
            continue  # of constants only, which are in no rows
        func = function(op)
        module = ModuleOp([func])
        try:
            inputs = arrays(func, rng)
            before = results(func, inputs)
        except MemoptError:
            continue  # no runtime gives it a meaning
        if op.has_trait(SumsUp):
            expand(func, None)  # what it adds up is in no rows, so it is in none
            assert not any(isinstance(o, RowOp) for o in func.body.block.ops)
            return
        try:
            expand(func, None)
        except MemoptError as error:
            assert "is no single image" in error.text
            continue
        module.verify()
        check_rows(func.body.block)
        text = module_text(module)
        assert module_text(load_text(new_context(), text, "rows.mlir")) == text
        cut += any(isinstance(o, RowOp) for o in func.body.block.ops)
        for a, b in zip(before, results(func, inputs), strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), op
    op = GENERATORS[name](name, rng)
    assert cut or steps_of(op) is None, name


@pytest.mark.parametrize("name", GENERATORS)
def test_the_verifier_has_the_same_windows(name: str, fuzz: float) -> None:
    rng = np.random.default_rng(12)
    for _ in range(max(25, int(1000 * fuzz))):
        op: ComputeOp = GENERATORS[name](name, rng)
        for r in steps_of(op) or ():
            for k, v in enumerate(op.operands):
                ours, theirs = windows_of(op, k, r), op.rows_needed(k, r)
                if rows_of(v) is None or theirs is None:
                    assert theirs is None
                else:
                    assert ours is not None and list(ours) == list(theirs), (op, k, r)


def cut_convolution() -> FuncOp:
    """Two inputs of a 3 by 3 convolution of six rows, the second one unused by it."""
    rng = np.random.default_rng(5)
    while True:
        op: ComputeOp = GENERATORS["conv_2d"]("conv_2d", rng)
        kernel, stride, dilation, _ = (v[0] for v in op.window.sizes)  # type: ignore[attr-defined]
        enough = rows_of(op.operands[0]) and (rows_of(op.results[0]) or 0) >= 4
        if enough and (kernel, stride, dilation) == (3, 1, 1):
            func = function(op)
            expand(func, None)
            check_rows(func.body.block)
            return func


def rows_in(func: FuncOp) -> list[RowOp]:
    return [op for op in func.body.block.ops if isinstance(op, RowOp)]


def test_a_row_too_few_or_too_many_is_no_row() -> None:
    func = cut_convolution()
    row = rows_in(func)[1]
    row.operands = [*row.operands[:1], *row.operands[2:]]
    with pytest.raises(MemoptError, match=r"lacks row|is not row"):
        check_rows(func.body.block)


@pytest.mark.parametrize("fault", ["another row", "another tensor", "twice", "order", "missing"])
def test_faults_in_rows_are_found(fault: str) -> None:
    func = cut_convolution()
    rows = rows_in(func)
    row = rows[1]
    if fault == "another row":
        row.operands[1], row.operands[2] = row.operands[2], row.operands[1]
    elif fault == "another tensor":
        row.operands[1] = rows[0].outputs[0]
    elif fault == "twice":
        rows[2].properties["index"] = IntAttr(1)
    elif fault == "order":
        row.detach()
        func.body.block.insert_op_before(row, rows[0])
    else:
        join = next(op for op in func.body.block.ops if isinstance(op, JoinOp))
        join.detach()
        rows[-1].detach()
    with pytest.raises(MemoptError):
        check_rows(func.body.block)


def test_a_join_of_other_rows_is_found() -> None:
    func = cut_convolution()
    join = next(op for op in func.body.block.ops if isinstance(op, JoinOp))
    join.operands[0], join.operands[1] = join.operands[1], join.operands[0]
    with pytest.raises(MemoptError, match="not the rows of one tensor, in order"):
        check_rows(func.body.block)
