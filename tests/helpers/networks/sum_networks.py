"""Random networks of which `channel-wise` leaves partial sums that are added up in one buffer, and
what they compute."""

from typing import Any

import numpy as np
from channel_networks import bottleneck
from row_steps import convolution, function, side_by_side
from row_text import Text
from virtual_networks import STEPS
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import bytes_of, shape_of

CLOSE = 1e-5  # of the largest, for reals, which are added in another order


def added(net: Text) -> None:
    """What reads all channels of tensors beside one another, perhaps joined themselves or of a
    function."""
    if net.pick(False, True):
        net.pick(side_by_side, function)(net)
    side_by_side(net)
    convolution(net)


def matrix(net: Text) -> None:
    """The same as a matrix over channels."""
    side_by_side(net)
    name, shape = net.last
    out = int(net.rng.integers(1, 6))
    constants, types = net.weights((out, shape[3]), "", out)
    text = f"fully_connected {name}, {constants} keep_dims{net.activation()}{net.rounding}"
    made = (*shape[:3], out)
    (name,) = net.line(text, [net.type_of(shape), types], [net.type_of(made)])
    net.made.append((name, made))


def stacked(net: Text) -> None:
    """The mean over tensors below one another."""
    alike = [m for m in net.made if m[1] == net.last[1]]
    parts = [net.last, *(net.pick(*alike) for _ in range(net.pick(1, 2)))]
    (one, h, w, c), names = net.last[1], ", ".join(name for name, _ in parts)
    net.add(f"concat {names} axis 1", parts, (one, h * len(parts), w, c))
    axes, made = net.pick(("[1, 2]", (one, 1, 1, c)), ("[1]", (one, 1, w, c)))
    net.add(f"mean {net.last[0]} axes {axes} keep_dims{net.rounding}", [net.last], made)


INT8 = (*(added,) * 12, bottleneck, *STEPS)
REAL = (*INT8, *(matrix, stacked) * 3)


def numbers(func: FuncOp, data: bytes) -> list[Any]:
    """Its results, one after the other."""
    last, found = func.get_return_op(), list[Any]()
    assert last is not None
    for value in last.operands:
        size = bytes_of(value.type) or 0
        found.append(np.frombuffer(data[:size], dtype_of(value)).reshape(shape_of(value)))
        data = data[size:]
    assert not data
    return found


def expected(module: ModuleOp, image: Any) -> list[Any]:
    func = only_function(module)
    values, last = evaluate(func, Weights({}), [image]), func.get_return_op()
    assert last is not None
    return [values[v] for v in last.operands]


def assert_alike(found: Any, want: Any, seed: int) -> None:
    """int8 to the bit, reals but for the order in which they are added."""
    assert found.dtype == want.dtype
    if found.dtype == np.int8:
        assert (found == want).all(), seed
    else:
        np.testing.assert_allclose(found, want, rtol=CLOSE, atol=CLOSE * np.abs(want).max())
