"""What `rows_needed` says against what changing one row at a time shows, for random attributes.

A row that is named but changes nothing is as wrong as one that is left out.
"""

from typing import Any

import numpy as np
import pytest
from operator_cases import GENERATORS, KINDS, Rng, unary
from xdsl.dialects.builtin import DenseArrayBase, Float32Type, TensorType, i64
from xdsl.ir import Block

from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.memgraph.tensors import rows_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.comparison import LogicalNotOp, LogicalOrOp, TruthOp
from memopt.dialects.operators.layer_normalization import LayerNormalizationOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.prelu import PreluOp
from memopt.dialects.operators.reductions import ArgOp
from memopt.dialects.rows.questions import answers_of, rows_needed


def test_every_operation_is_tried() -> None:
    assert set(GENERATORS) == set(KINDS)


def arrays_of(op: ComputeOp, rng: Rng) -> list[Any]:
    if isinstance(op, TruthOp | LogicalNotOp):  # equal, and true or false so that any may change it
        number = 0 if isinstance(op, LogicalOrOp) else 1
        return [np.full(shape_of(v), number).astype(dtype_of(v)) for v in op.operands]
    if op.carries:  # whose functions are flat where sums are large, or below zero
        return [rng.uniform(0.1, 0.5, shape_of(v)).astype(dtype_of(v)) for v in op.operands]
    sign = -1 if isinstance(op, PreluOp) else 1  # of which slopes matter below zero
    return [(sign * (1 + rng.random(shape_of(v)))).astype(dtype_of(v)) for v in op.operands]


def altered(op: ComputeOp, operand: int, row: int, rng: Rng) -> set[int]:
    """Rows of the results that change with a row of an operand."""
    found: set[int] = set()
    # an index may stay by chance, and so may what is left of a smaller number
    tries = 20 if isinstance(op, ArgOp) or op.name == "memgraph.remainder" else 1
    for sign in (1, -1) * tries:
        arrays = arrays_of(op, rng)
        before = op.evaluate(arrays)
        changed = arrays[operand].copy()
        shape: tuple[int, ...] = changed[:, row].shape
        reach = 0.05 if op.carries else 1.0
        other = reach * sign * rng.uniform(10.0, 20.0, shape)
        if isinstance(op, LayerNormalizationOp) and op.length == 1:  # a shift whatever it is of
            other = np.full(shape, np.nan)
        changed[:, row] = ~changed[:, row] if changed.dtype == bool else other
        after = op.evaluate([changed if i == operand else a for i, a in enumerate(arrays)])
        for a, b in zip(before, after, strict=True):
            found |= {r for r in range(a.shape[1]) if not np.array_equal(a[:, r], b[:, r])}
    return found


@pytest.mark.parametrize(
    "name", [n for n in GENERATORS if KINDS[n].rows_read is not ComputeOp.rows_read]
)
def test_rows_needed_is_what_changes(name: str, fuzz: float) -> None:
    rng = np.random.default_rng(7)
    modes: set[str | None] = set()
    for _ in range(max(25, int(1000 * fuzz))):
        op: ComputeOp = GENERATORS[name](name, rng)
        modes.add(op.rows_mode)
        if op.rows_mode is None:
            continue
        for operand, v in enumerate(op.operands):
            rows = rows_of(v)
            if op.rows_mode == "part":
                needed = (
                    [op.rows_needed(operand, r) for r in range(rows or 0)] if not operand else []
                )
                assert all(n in (range(r, r + 1), range(0)) for r, n in enumerate(needed))
                continue
            steps = rows_of(op.results[0])
            assert steps is not None
            needed = [op.rows_needed(operand, r) for r in range(steps)]
            if rows is None or None in needed:
                continue
            for row in range(rows):
                said = {r for r, n in enumerate(needed) if n is not None and row in n}
                if op.rows_mode == "carried":  # by rows after it through those before them
                    said = set(range(min(said), steps))
                assert said == altered(op, operand, row, rng), f"{op} operand {operand} row {row}"
    assert modes - {None}


@pytest.mark.parametrize("name", ["average_pool_2d", "max_pool_2d", "mean", "fully_connected"])
def test_a_part_reads_one_row(name: str) -> None:
    """What no part reads does not change the result, what one reads does."""
    rng = np.random.default_rng(8)
    seen = 0
    for _ in range(200):
        op: ComputeOp = GENERATORS[name](name, rng)
        if op.rows_mode != "part":
            continue
        seen += 1
        for row in range(rows_of(op.operands[0]) or 0):
            arrays = arrays_of(op, rng)
            changed = [arrays[0].copy(), *arrays[1:]]
            changed[0][:, row] += 10
            same = np.array_equal(op.evaluate(arrays)[0], op.evaluate(changed)[0])
            assert same == (op.rows_needed(0, row) == range(0)), op
    assert seen > 5


@pytest.mark.parametrize("name", list(GENERATORS))
def test_answers_that_are_kept_are_those_of_the_operation(name: str, fuzz: float) -> None:
    """Operations of one kind share them, so a kind has to tell apart all that answer otherwise."""
    rng = np.random.default_rng(9)
    for _ in range(max(25, int(1000 * fuzz))):
        op: ComputeOp = GENERATORS[name](name, rng)
        mode = op.rows_mode
        answers = answers_of(op)
        answers.mode = ()
        assert op.rows_mode == mode
        for (operand, r), needed in answers.needed.items():
            assert rows_needed(op, op.name, operand, r) == needed


def test_answers_are_kept_by_class_properties_and_types() -> None:
    image = TensorType(Float32Type(), (1, 4, 4, 2))
    means = [
        MeanOp.create(
            operands=[Block(arg_types=[image]).args[0]],
            result_types=[TensorType(Float32Type(), shape)],
            properties={"axes": DenseArrayBase.from_list(i64, axes)},
        )
        for axes, shape in (([1, 2], (1, 2)), ([2, 3], (1, 4)), ([1, 2], (1, 2)))
    ]
    assert [op.rows_mode for op in means] == ["part", None, "part"]
    relu = unary("relu", np.random.default_rng(1))
    assert answers_of(relu) is answers_of(relu.clone())
    assert answers_of(relu) is not answers_of(means[0])


def test_there_is_no_row_beyond() -> None:
    op = unary("relu", np.random.default_rng(1))
    with pytest.raises(IndexError, match="no row 100"):
        op.rows_needed(0, 100)


def test_a_mean_without_images_has_other_rows() -> None:
    image, rows = (TensorType(Float32Type(), shape) for shape in ((1, 1, 2, 2), (1, 2, 2)))
    source = Block(arg_types=[image]).args[0]
    axes = DenseArrayBase.from_list(i64, [0])
    op = MeanOp.create(operands=[source], result_types=[rows], properties={"axes": axes})
    op.verify()
    assert op.rows_needed(0, 0) is None
    assert op.rows_mode is None
