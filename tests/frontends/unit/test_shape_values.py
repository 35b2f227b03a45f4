"""Integers with which converters compute shapes: each operator by hand, as TFLite defines it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memopt.frontends.tflite.shape_rules import MASKS, Known
from memopt.frontends.tflite.shape_values import VALUES

NO_MASKS = {f"{name}Mask": 0 for name in MASKS}
CASES: dict[str, tuple[list[Any], dict[str, Any], Any]] = {
    "ADD": ([[1, 2], 3], {}, [4, 5]),
    "BROADCAST_ARGS": ([[4, 1], [3]], {}, [4, 3]),
    "CAST": ([[7]], {}, [7]),
    "CONCATENATION": ([[1], [2, 3]], {"axis": 0}, [1, 2, 3]),
    "DIV": ([[-7, 7], 2], {}, [-3, 3]),
    "EXPAND_DIMS": ([[5, 6], 0], {}, [[5, 6]]),
    "FLOOR_DIV": ([[-7, 7], 2], {}, [-4, 3]),
    "FLOOR_MOD": ([[-7, 7], 2], {}, [1, 1]),
    "GATHER": ([[8, 9, 10], [2, 0]], {"axis": 0}, [10, 8]),
    "MAXIMUM": ([[1, 5], 3], {}, [3, 5]),
    "MINIMUM": ([[1, 5], 3], {}, [1, 3]),
    "MUL": ([[2, 3], 4], {}, [8, 12]),
    "PACK": ([1, 24], {"axis": 0}, [1, 24]),
    "RANGE": ([2, 8, 3], {}, [2, 5]),
    "REDUCE_MAX": ([[[1, 4], [2, 3]], [1]], {"keepDims": False}, [4, 3]),
    "REDUCE_MIN": ([[[1, 4], [2, 3]], [1]], {"keepDims": True}, [[1], [2]]),
    "REDUCE_PROD": ([[2, 3, 4], [0]], {"keepDims": False}, 24),
    "RESHAPE": ([[1, 2, 3, 4], [2, -1]], {}, [[1, 2], [3, 4]]),
    "SLICE": ([[5, 6, 7], [1], [-1]], {}, [6, 7]),
    "SQUEEZE": ([[[5, 6]]], {"squeezeDims": [0]}, [5, 6]),
    "STRIDED_SLICE": ([[5, 6, 7], [1], [2], [1]], NO_MASKS | {"shrinkAxisMask": 1}, 6),
    "SUB": ([[5, 6], 4], {}, [1, 2]),
    "SUM": ([[2, 3, 4], [0]], {"keepDims": False}, 9),
}


def computed(name: str, operands: Sequence[Any], options: dict[str, Any]) -> list[Any]:
    values = [np.asarray(v, np.int64) for v in operands]
    op = Known(options, [v.shape for v in values], values, 1)
    return [v.tolist() for v in VALUES[name](op, values)]


def test_every_operator_has_a_case() -> None:
    assert set(CASES) == set(VALUES)


@pytest.mark.parametrize("name", CASES)
def test_what_an_operator_makes(name: str) -> None:
    operands, options, made = CASES[name]
    assert computed(name, operands, options) == [made]


def test_what_is_too_long_or_in_batches_is_not_known() -> None:
    with pytest.raises(ValueError):
        computed("RANGE", [0, 65, 1], {})
    with pytest.raises(ValueError):
        computed("GATHER", [[1, 2], [0]], {"axis": 0, "batchDims": 1})
