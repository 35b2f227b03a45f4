"""Random int8 and uint8 networks, some of whose filters are zero, saturate or are not read."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from row_steps import (
    apart,
    border,
    broadcast,
    convolution,
    copied,
    deep_to_wide,
    depthwise,
    function,
    gate,
    pool,
    reshaped,
    resized,
    same,
    two,
)
from row_text import Rng, Tensor, Text
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp

from memopt.analysis.weights import inline_array
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import encoding_of
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.dialects.operators.filtering import FilteringOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp

FAR = 1 << 30  # what dead filters of real models carry as a bias


Steps = Sequence[Callable[[Text], None]]
MIXES = (convolution,) * 6
UINT8 = (*MIXES, depthwise, same, pool, two, broadcast, apart, copied, reshaped)
INT8 = (*UINT8, function, gate, resized, deep_to_wide, border)
MOST = 600  # elements of a tensor


def sparse_text(rng: Rng, outputs: int, steps: Steps, quantized: bool = True) -> str:
    """A function @main of four to eight steps, the last of which adds up all channels."""
    net = Text(rng, quantized)
    net.made.append(("%x", (1, *(int(v) for v in rng.integers(2, 6, 2)), int(rng.integers(1, 4)))))
    first = net.made[0]
    left = int(rng.integers(4, 9))
    while left:
        lines, made = len(net.lines), len(net.made)
        net.pick(*steps)(net)
        if all(np.prod(shape) <= MOST for _, shape in net.made[made:]):
            left -= 1
        else:
            del net.lines[lines:], net.made[made:]
    matrix(net)
    results = [net.last, *([net.pick(*net.made[1:-1])] if outputs == 2 else [])]
    types = ", ".join(net.type_of(shape) for _, shape in results)
    values = ", ".join(name for name, _ in results)
    body = "".join(f"  {line}\n" for line in net.lines)
    return (
        f"func.func @main(%x: {net.type_of(first[1])}) -> ({types}) {{\n{body}"
        f"  func.return {values} : {types}\n}}\n"
    )


def mixed(net: Text, image: Tensor, out: int) -> Tensor:
    """A convolution of single places."""
    name, (_, h, w, c) = image
    constants, types = net.weights((out, 1, 1, c), "ohwi", out)
    text = f"conv_2d {name}, {constants} window<[1, 1]> groups 1{net.rounding}"
    (name,) = net.line(text, [net.type_of((1, h, w, c)), types], [net.type_of((1, h, w, out))])
    net.made.append((name, (1, h, w, out)))
    return net.last


def bottleneck(net: Text) -> None:
    """Parts that are wider than what is made of them and than what is made of these, in between
    perhaps something that computes channel by channel."""
    image, (_, h, w, _) = net.last, net.last[1]
    parts = [mixed(net, image, int(net.rng.integers(4, 9))) for _ in range(net.pick(2, 3))]
    names, deep = ", ".join(name for name, _ in parts), sum(s[3] for _, s in parts)
    net.add(f"concat {names} axis 3", parts, (1, h, w, deep))
    if net.pick(True, False):
        window = f"window<[{h}, {w}]>" if net.pick(True, False) else "window<[1, 1]>"
        shape = (1, 1, 1, deep) if window != "window<[1, 1]>" else (1, h, w, deep)
        net.add(f"max_pool_2d {net.last[0]} {window}", [net.last], shape)
    mixed(net, net.last, 1)


def matrix(net: Text) -> None:
    """All elements in a row, times a matrix."""
    name, shape = net.last
    size, out = int(np.prod(shape)), int(net.rng.integers(1, 4))
    net.add(f"reshape {name}", [net.last], (1, size))
    constants, types = net.weights((out, size), "", out)
    text = f"fully_connected {net.last[0]}, {constants}{net.activation()}{net.rounding}"
    (name,) = net.line(text, [net.type_of((1, size)), types], [net.type_of((1, out))])
    net.made.append((name, (1, out)))


def as_uint8(text: str, rounding: str) -> str:
    """The same network of integers that are not signed: 128 more each, zero points too."""

    def higher(number: re.Match[str]) -> str:
        return str(int(number[0]) + 128)

    def line(found: str) -> str:
        if "xi8" in found:
            values = r"(?<=dense<)[^>]*"
            found = re.sub(values, lambda v: re.sub(r"-?\d+", higher, v[0]), found)
        moved = re.sub(
            r"(xi8, [^>]*zero_point = )\[(-?\d+)\]",
            lambda m: f"{m[1]}[{int(m[2]) + 128}]",
            found,
        )
        return moved.replace("xi8", "xui8").replace("tflm_double", rounding)

    return "\n".join(line(found) for found in text.splitlines())


def sparse_network(
    rng: Rng, outputs: int, rounding: str = "", steps: Steps | None = None
) -> ModuleOp:
    """A random network of int8, of uint8 that is rounded so, or of int8 that is rounded as ONNX's,
    in which channels are constant, dead or unread now and then."""
    even = rounding == "onnx_even"
    known = UINT8 if rounding and not even else INT8
    text = sparse_text(rng, outputs, steps or known)
    if even:
        text = text.replace("tflm_double", rounding)
    elif rounding:
        text = as_uint8(text, rounding)
    module = load_text(new_context(), text, "net.mlir")
    for op in body_of(only_function(module)).ops:
        if isinstance(op, FilteringOp | FullyConnectedOp):
            weights, bias = (inlined(v) for v in (op.weights, op.bias))
            last = isinstance(op, DepthwiseConv2DOp)
            zero = encoding_of(op.weights).zero_points[0]
            _deaden(weights, bias, last, zero, rng)
            replaced(op.weights, weights)
            replaced(op.bias, bias)
    module.verify()
    return module


def _deaden(weights: Array, bias: Array, filters_last: bool, zero: int, rng: Rng) -> None:
    """Zero filters, channels that no filter reads, taps of the border alone, far biases."""
    filters = np.moveaxis(weights, -1, 0) if filters_last else weights
    flat = bias.reshape(-1)
    for i in range(len(filters)):
        if rng.random() < 0.3:
            filters[i] = zero
            flat[i] = rng.choice([0, 40, -3000, FAR, -FAR, flat[i]])
        elif rng.random() < 0.15:  # saturates
            flat[i] = rng.choice([1 << 20, -(1 << 20)])
    if not filters_last:
        for c in range(weights.shape[-1]):
            if rng.random() < 0.25:
                weights[..., c] = zero
            elif rng.random() < 0.2 and weights.ndim == 4:  # only the tap in the middle is left
                middle = weights[:, weights.shape[1] // 2, weights.shape[2] // 2, c].copy()
                weights[..., c] = zero
                weights[:, weights.shape[1] // 2, weights.shape[2] // 2, c] = middle


def inlined(value: Any) -> Array:
    assert isinstance(value.op, ConstantOp)
    dense: Any = value.op.value
    return inline_array(dense).copy()


def replaced(value: Any, array: Array) -> None:
    new: Any = DenseIntOrFPElementsAttr.from_list(value.type, array.reshape(-1).tolist())
    value.op.properties["value"] = new
