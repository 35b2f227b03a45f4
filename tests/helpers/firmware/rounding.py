"""How far two float32 implementations of one network may differ, from the length of its sums.

A sum of n products, in any order and with or without fused multiply-adds, differs from the exact
one by at most g(n + 1) * (sum of |x * w| + |bias|), g(k) = k * u / (1 - k * u), u = 2**-24. Two
implementations whose operands differ by d therefore differ by at most

    sum of |w| * d + g(n + 1) * (sum of |w| * (|x| + |x'|) + 2 |bias|)

and clamping, moving and taking the largest add nothing. `excess` takes d as it was measured, so
every operator answers for its own rounding only: what a badly conditioned network makes of the
rounding before it is not counted against anybody.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from memopt.analysis.weights import Weights
from memopt.dialects.attributes.operators import SourceAttr

Array = NDArray[Any]
U = 2.0**-24


def g(roundings: int) -> float:
    return roundings * U / (1 - roundings * U)


def _windows(op: Any, x: Array) -> Array:
    """Windows of an NHWC array: N, H', W', C, kH, kW; zeros outside."""
    kernel, stride, dilation, pad = op.window.sizes
    span = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    padded = np.pad(x, ((0, 0), (pad[0], pad[2]), (pad[1], pad[3]), (0, 0)))
    view: Array = sliding_window_view(padded, span, axis=(1, 2))  # type: ignore[call-overload]
    return view[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]


def convolved(op: Any, x: Array, weights: Array) -> Array:
    """The sums of a convolution in double precision, without bias and activation."""
    if op.name == "memgraph.depthwise_conv_2d":
        times = weights.shape[3] // x.shape[3]
        taps = np.repeat(_windows(op, x), times, axis=3)
        return np.einsum("nhwcij,ijc->nhwc", taps, weights[0])
    assert op.groups.value.data == 1
    return np.einsum("nhwcij,oijc->nhwo", _windows(op, x), weights, optimize=True)


def averaged(op: Any, x: Array) -> Array:
    counts = _windows(op, np.ones_like(x)).sum((-2, -1))
    return _windows(op, x).sum((-2, -1)) / counts


def excess(
    func: FuncOp, weights: Weights, ours: Mapping[int, Array], theirs: Mapping[int, Array]
) -> dict[str, float]:
    """Operation's name -> the largest difference as a share of what its sums allow.

    `ours` and `theirs` are tensors by index, with the inputs. Raises AssertionError for an operator
    that has no rule here.
    """
    source = func.attributes["memgraph.source"]
    assert isinstance(source, SourceAttr)
    index: dict[Any, int] = dict(zip(func.body.block.args, source.tensor_ids, strict=True))
    constants: dict[Any, Array] = {}
    worst: dict[str, float] = {}
    for op in func.body.block.ops:
        if op.name == "memgraph.constant":
            constants[op.results[0]] = np.abs(weights.array(op).astype(np.float64))  # type: ignore[arg-type]
        at = op.attributes.get("memgraph.source")
        if not isinstance(at, SourceAttr) or op.name == "memgraph.constant":
            continue
        index[op.results[0]] = at.tensor_ids[0]
        pairs = [
            (ours[index[v]].astype(np.float64), theirs[index[v]].astype(np.float64))
            for v in (*op.operands, op.results[0])
            if v in index
        ]
        *operands, (a, b) = pairs
        allowed = _allowed(op, operands, [constants[v] for v in op.operands if v in constants])
        share = np.abs(a - b).reshape(-1) / np.maximum(
            allowed.reshape(-1), np.finfo(np.float32).tiny
        )
        worst[op.name] = max(worst.get(op.name, 0.0), float(share.max()))
    return worst


def _allowed(op: Any, operands: list[tuple[Array, Array]], constants: list[Array]) -> Array:
    x, y = operands[0]
    apart, size = np.abs(x - y), np.abs(x) + np.abs(y)
    name = op.name.removeprefix("memgraph.")
    if name in ("conv_2d", "depthwise_conv_2d"):
        taps = constants[0][0].size if name == "conv_2d" else constants[0][0, :, :, 0].size
        error = g(taps + 1)
        return convolved(op, apart + error * size, constants[0]) + 2 * error * constants[1]
    if name == "average_pool_2d":
        return averaged(op, apart + g(math.prod(op.window.sizes[0]) + 1) * size)
    raise AssertionError(f"no rule for {name}")
