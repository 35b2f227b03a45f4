"""A model of each operator that TensorFlow Lite Micro has."""

import numpy as np
from tflite_builder import Op, T
from tflm_kernel_models import BINARY, INT8_KERNELS, MOVES, UNARY, in_a_row, one
from tflm_kernel_models import MODELS as WITH_SCRATCH

SHAPE = [1, 4, 4, 2]


POOL = ("strideW", "strideH", "filterWidth", "filterHeight")


def flat(name: str) -> T:
    return T(name, SHAPE, "FLOAT32")


MORE = {
    "quantize": one(
        Op("QUANTIZE", [0], [1]), flat("x"), T("y", SHAPE, "INT8", scale=(0.1,), zero=(0,))
    ),
    "dequantize": one(
        Op("DEQUANTIZE", [0], [1]), T("x", SHAPE, "INT8", scale=(0.1,), zero=(0,)), flat("y")
    ),
    "pad": one(
        Op("PAD", [0, 1], [2], ("Pad", {})),
        flat("x"),
        T("pads", [4, 2], "INT32", np.array([[0, 0], [1, 1], [0, 0], [0, 0]], np.int32)),
        T("y", [1, 6, 4, 2], "FLOAT32"),
    ),
    "concat": one(
        Op("CONCATENATION", [0, 0], [1], ("Concatenation", {"axis": 3})),
        flat("x"),
        T("y", [1, 4, 4, 4], "FLOAT32"),
    ),
    "pack": one(
        Op("PACK", [0, 0], [1], ("Pack", {"valuesCount": 2, "axis": 0})),
        flat("x"),
        T("y", [2, *SHAPE], "FLOAT32"),
    ),
    "hard_swish": one(Op("HARD_SWISH", [0], [1]), flat("x"), flat("y")),
    "prelu": one(
        Op("PRELU", [0, 1], [2]),
        flat("x"),
        T("alpha", [1, 1, 2], "FLOAT32", np.ones((1, 1, 2), np.float32)),
        flat("y"),
    ),
    "max_pool": one(
        Op("MAX_POOL_2D", [0], [1], ("Pool2D", dict.fromkeys(POOL, 2))),
        flat("x"),
        T("y", [1, 2, 2, 2], "FLOAT32"),
    ),
    "transpose": one(
        Op("TRANSPOSE", [0, 1], [2]),
        flat("x"),
        T("order", [4], "INT32", np.array([0, 2, 1, 3], np.int32)),
        flat("y"),
    ),
    "resize": one(
        Op("RESIZE_NEAREST_NEIGHBOR", [0, 1], [2], ("ResizeNearestNeighbor", {})),
        flat("x"),
        T("size", [2], "INT32", np.array([8, 8], np.int32)),
        T("y", [1, 8, 8, 2], "FLOAT32"),
    ),
    "slice": one(
        Op("STRIDED_SLICE", [0, 1, 2, 3], [4], ("StridedSlice", {})),
        flat("x"),
        *(
            T(n, [4], "INT32", np.array(v, np.int32))
            for n, v in (("b", [0] * 4), ("e", [1, 2, 4, 2]), ("s", [1] * 4))
        ),
        T("y", [1, 2, 4, 2], "FLOAT32"),
    ),
}


KERNELS = {
    **{n: d for n, d in WITH_SCRATCH.items() if n != "add_n"},
    **{f"{n} float": in_a_row(n, "FLOAT32") for n in (*UNARY, *BINARY, *MOVES)},
    **{f"{n} int8": in_a_row(n, "INT8") for n in (*INT8_KERNELS, *MOVES)},
    **MORE,
}
