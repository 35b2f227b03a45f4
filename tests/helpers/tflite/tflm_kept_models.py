"""Models of operators for which TensorFlow Lite Micro keeps memory."""

from typing import Any

import numpy as np
from tflite_builder import Op, T
from tflm_kernel_models import one

SHAPE = [1, 4, 4, 2]


def flat(name: str, shape: list[int] = SHAPE) -> T:
    return T(name, shape, "FLOAT32")


def stored(name: str, shape: list[int] = SHAPE) -> T:
    return T(name, shape, "INT8", scale=(0.1,), zero=(0,))


def ints(name: str, values: Any) -> T:
    array = np.array(values, np.int32)
    return T(name, list(array.shape), "INT32", array)


def product(adj_x: bool, adj_y: bool, kind: Any) -> bytes:
    options = ("BatchMatMul", {"adjX": adj_x, "adjY": adj_y})
    left, right = ([1, 5, 3] if adj_x else [1, 3, 5]), ([1, 6, 5] if adj_y else [1, 5, 6])
    data = np.ones(right, np.int8 if kind is stored else np.float32)
    other = kind("w", right)
    other = T("w", right, other.type, data, scale=other.scale, zero=other.zero)
    return one(
        Op("BATCH_MATMUL", [0, 1], [2], options), kind("x", left), other, kind("y", [1, 3, 6])
    )


def same(name: str, options: Any = None, kind: Any = flat) -> bytes:
    return one(Op(name, [0], [1], options), kind("x"), kind("y"))


BLOCKS = (ints("blocks", [2, 2]), ints("crops", [[0, 0], [0, 0]]))


MODELS = {
    "ADD_N": one(Op("ADD_N", [0, 0], [1]), stored("x"), stored("y")),
    "BATCH_MATMUL": product(False, False, flat),
    "BATCH_MATMUL, transposed": product(False, True, flat),
    "BATCH_MATMUL, both": product(True, True, flat),
    "BATCH_MATMUL of int8": product(True, False, stored),
    "BATCH_TO_SPACE_ND": one(
        Op("BATCH_TO_SPACE_ND", [0, 1, 2], [3]), flat("x", [4, 2, 2, 2]), *BLOCKS, flat("y")
    ),
    "BROADCAST_ARGS": one(
        Op("BROADCAST_ARGS", [1, 2], [3]),
        flat("x"),
        ints("a", [1, 3]),
        ints("b", [2, 1]),
        T("y", [2], "INT32"),
    ),
    "BROADCAST_TO": one(
        Op("BROADCAST_TO", [0, 1], [2]),
        flat("x", [1, 4]),
        ints("shape", [3, 4]),
        flat("y", [3, 4]),
    ),
    "CUMSUM": one(Op("CUMSUM", [0, 1], [2], ("Cumsum", {})), flat("x"), ints("axis", 1), flat("y")),
    "CUMSUM of int8": one(
        Op("CUMSUM", [0, 1], [2], ("Cumsum", {})), stored("x"), ints("axis", 1), stored("y")
    ),
    "DYNAMIC_UPDATE_SLICE": one(
        Op("DYNAMIC_UPDATE_SLICE", [0, 1, 2], [3]),
        flat("x"),
        T("piece", [1, 2, 4, 2], "FLOAT32", np.ones((1, 2, 4, 2), np.float32)),
        ints("start", [0, 1, 0, 0]),
        flat("y"),
    ),
    "EMBEDDING_LOOKUP": one(
        Op("EMBEDDING_LOOKUP", [1, 0], [2]), flat("x", [5, 3]), ints("i", [1, 4]), flat("y", [2, 3])
    ),
    "EMBEDDING_LOOKUP, hybrid": one(
        Op("EMBEDDING_LOOKUP", [1, 2], [3]),
        flat("x", [5, 3]),
        ints("i", [1, 4]),
        T("table", [5, 3], "INT8", np.ones((5, 3), np.int8), scale=(0.1,), zero=(0,)),
        flat("y", [2, 3]),
    ),
    "FILL": one(Op("FILL", [1, 0], [2]), flat("x", []), ints("shape", [2, 3]), flat("y", [2, 3])),
    "FLOOR_DIV": one(Op("FLOOR_DIV", [0, 0], [1]), flat("x"), flat("y")),
    "FLOOR_MOD": one(Op("FLOOR_MOD", [0, 0], [1]), flat("x"), flat("y")),
    "GATHER_ND": one(
        Op("GATHER_ND", [0, 1], [2]), flat("x", [4, 3]), ints("i", [[0], [2]]), flat("y", [2, 3])
    ),
    "L2_NORMALIZATION": same("L2_NORMALIZATION", ("L2Norm", {})),
    "L2_NORMALIZATION of int8": one(
        Op("L2_NORMALIZATION", [0], [1], ("L2Norm", {})),
        stored("x"),
        T("y", SHAPE, "INT8", scale=(1 / 128,), zero=(0,)),
    ),
    "L2_POOL_2D": one(
        Op(
            "L2_POOL_2D",
            [0],
            [1],
            ("Pool2D", dict.fromkeys(("strideW", "strideH", "filterWidth", "filterHeight"), 2)),
        ),
        flat("x"),
        flat("y", [1, 2, 2, 2]),
    ),
    "LOG_SOFTMAX": same("LOG_SOFTMAX"),
    "LOG_SOFTMAX of int8": one(
        Op("LOG_SOFTMAX", [0], [1]),
        stored("x"),
        T("y", SHAPE, "INT8", scale=(16 / 256,), zero=(127,)),
    ),
    "REDUCE_ALL": one(
        Op("REDUCE_ALL", [1, 2], [3], ("Reducer", {})),
        flat("x"),
        T("c", [2, 3], "BOOL", np.ones((2, 3), np.bool_)),
        ints("axis", [1]),
        T("y", [2], "BOOL"),
    ),
    "REVERSE_V2": one(Op("REVERSE_V2", [0, 1], [2]), flat("x"), ints("axis", [1]), flat("y")),
    "SELECT_V2": one(
        Op("SELECT_V2", [1, 0, 0], [2]),
        flat("x", [4]),
        T("c", [4], "BOOL", np.array([1, 0, 1, 0], np.bool_)),
        flat("y", [4]),
    ),
    "SPACE_TO_BATCH_ND": one(
        Op("SPACE_TO_BATCH_ND", [0, 1, 2], [3]), flat("x"), *BLOCKS, flat("y", [4, 2, 2, 2])
    ),
    "SQUARED_DIFFERENCE": one(Op("SQUARED_DIFFERENCE", [0, 0], [1]), flat("x"), flat("y")),
    "SQUARED_DIFFERENCE of int8": one(
        Op("SQUARED_DIFFERENCE", [0, 0], [1]), stored("x"), stored("y")
    ),
    "ZEROS_LIKE": same("ZEROS_LIKE"),
}
