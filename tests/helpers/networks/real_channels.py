"""Random float networks whose input has a range, with filters that are zero, never positive
or not read."""

from typing import Any

import numpy as np
from channel_networks import UINT8, inlined, replaced, sparse_text
from row_steps import (
    border,
    deep_to_wide,
    function,
    gate,
    less_or_more,
    resized,
    stored_and_real,
)
from row_text import Rng, Text
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.input_range import declare_range, declared_range
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.dialects.operators.filtering import FilteringOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp


def over_channels(net: Text) -> None:
    """A mean of all channels, or of a row of each."""
    name, (_, h, w, c) = net.last
    axis = net.pick(2, 3)
    made = (1, h, 1, c) if axis == 2 else (1, h, w, 1)
    net.add(f"mean {name} axes [{axis}] keep_dims", [net.last], made)


KERNELS = (*UINT8, function, gate, border, stored_and_real)
STEPS = (*KERNELS, resized, deep_to_wide, less_or_more, over_channels)
RANGES = ((-1.0, 1.0), (0.0, 6.0), (-0.1, 0.3), (2.0, 2.0), (-1e4, 1e-3), (0.0, 0.0))


def real_network(rng: Rng, outputs: int = 1, steps: Any = STEPS) -> ModuleOp:
    """A network with constants like those of models whose channels died; its input in a range."""
    text = sparse_text(rng, outputs, steps, quantized=False)
    module = load_text(new_context(), text, "net.mlir")
    func = only_function(module)
    for op in body_of(func).ops:
        if isinstance(op, FilteringOp | FullyConnectedOp):
            weights, bias = inlined(op.weights), inlined(op.bias)
            _deaden(weights, bias, isinstance(op, DepthwiseConv2DOp), rng)
            replaced(op.weights, weights)
            replaced(op.bias, bias)
    declare_range(func, 0, *RANGES[int(rng.integers(len(RANGES)))])
    module.verify()
    return module


def _deaden(weights: Array, bias: Array, filters_last: bool, rng: Rng) -> None:
    """Zero filters, channels that no filter reads, biases that a ReLU never lets through or a RELU6
    always cuts."""
    filters = np.moveaxis(weights, -1, 0) if filters_last else weights
    flat = bias.reshape(-1)
    for i in range(len(filters)):
        if rng.random() < 0.3:
            filters[i] = rng.choice([0.0, -0.0])
            flat[i] = rng.choice([0, -0.0, 0.25, -3, 1e-40, 7])
        elif rng.random() < 0.3:
            flat[i] = rng.choice([-60, 60, -1e7])
    if not filters_last:
        for c in range(weights.shape[-1]):
            if rng.random() < 0.25:
                weights[..., c] = 0


def images(func: FuncOp, rng: Rng, count: int = 2) -> list[Array]:
    """Random ones within the range, and its ends alone."""
    (argument,) = body_of(func).args
    ends = declared_range(argument)
    assert ends is not None
    low, high = np.float32(ends[0]), np.float32(ends[1])
    shape = shape_of(argument)
    drawn = [rng.uniform(low, high, shape).astype(np.float32).clip(low, high)] * (count > 1)
    corners = rng.choice(np.array([low, high, np.clip(np.float32(-0.0), low, high)]), shape)
    return [*drawn, corners, np.full(shape, low), np.full(shape, high)]
