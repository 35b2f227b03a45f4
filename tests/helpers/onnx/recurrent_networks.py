# pyright: basic
"""Random recurrent layers of ONNX: one or two of a kind, of any direction, batch, first state, bias
and clip, with whole sequences or last states as results."""

from pathlib import Path
from typing import Any

import numpy as np
from onnx import NodeProto, helper
from onnx_programs import saved

KINDS = ("GRU", "LSTM", "RNN")
GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}


def dequantized(
    rng: np.random.Generator, name: str, shape: tuple[int, ...], constants: dict[str, Any]
) -> NodeProto:
    """Return the node that makes random reals of integers of 8 bits with a scale, or one for each
    row of a matrix; and add its constants."""
    signed, by_row = rng.random() < 0.6, rng.random() < 0.5
    count = shape[1] if by_row else 1
    low, high = (-128, 128) if signed else (0, 256)
    zeros = rng.integers(low, high, count) if rng.random() < 0.6 else np.full(count, low + 128)
    kind = "i1" if signed else "u1"
    constants[f"{name}q"] = rng.integers(low, high, shape).astype(kind)
    constants[f"{name}s"] = (0.7 / 74 * rng.uniform(0.5, 1.5, count)).astype("f4")
    constants[f"{name}z"] = zeros.astype(kind)
    if not by_row:
        constants |= {f"{name}{k}": constants[f"{name}{k}"].reshape(()) for k in "sz"}
    operands = [f"{name}{k}" for k in "qsz"]
    return helper.make_node("DequantizeLinear", operands, [name], axis=1)


def layers(
    path: Path,
    seed: int,
    kind: str = "",
    way: str = "",
    stored: bool = False,
    width: tuple[int, int] | None = None,
    linear: int | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Write a network, with weights that are `stored` as integers, of so many inputs and units, a
    GRU with `linear` as linear_before_reset; return where it is and its inputs."""
    rng = np.random.default_rng(seed)
    kind = kind or str(rng.choice(KINDS))
    steps, batch, size, units = (int(v) for v in rng.integers(1, (8, 3, 7, 10)))
    size, units = width or (size, units)
    way = way or str(rng.choice(["forward", "forward", "reverse", "bidirectional"]))
    ways = 1 + (way == "bidirectional")
    count = 1 + int(rng.integers(2)) * (ways == 1)
    options: dict[str, Any] = {"hidden_size": units, "direction": way}
    if kind == "GRU":
        drawn = int(rng.integers(2))
        options["linear_before_reset"] = drawn if linear is None else linear
    if kind == "RNN" and rng.random() < 0.5:
        options["activations"] = ["Relu"] * ways
    if rng.random() < 0.3:
        options["clip"] = 0.5
    constants: dict[str, Any] = {}
    given: dict[str, Any] = {"x": rng.normal(size=(steps, batch, size)).astype("f4")}
    nodes: list[NodeProto] = []

    def constant(*shape: int) -> str:
        name = f"c{len(constants)}"
        constants[name] = rng.normal(scale=0.7, size=shape).astype("f4")
        return name

    def weights(*shape: int) -> str:
        if not stored:
            return constant(*shape)
        nodes.append(dequantized(rng, f"w{len(nodes)}", shape, constants))
        return nodes[-1].output[0]

    def state(k: int) -> str:
        shape, how = (ways, batch, units), rng.integers(4)
        if how == 0:
            return ""
        if how == 1:
            given[f"h{len(given)}"] = rng.normal(size=shape).astype("f4")
            return list(given)[-1]
        name = constant(*shape)
        constants[name] *= how == 2
        return name

    x = "x"
    for k in range(count):
        gates = GATES[kind] * units
        read = [x, weights(ways, gates, size if k == 0 else units), weights(ways, gates, units)]
        bias = weights if stored and rng.integers(2) else constant
        read += [bias(ways, 2 * gates) if rng.integers(2) else "", "", state(k)]
        read += [state(k)] if kind == "LSTM" else []
        last = k == count - 1
        shown = [f"y{k}" if not last or rng.integers(2) else ""]
        if last:
            shown += [f"h_{k}" if rng.integers(2) or not shown[0] else ""]
            shown += [f"c_{k}"] if kind == "LSTM" and rng.integers(2) else []
        nodes.append(helper.make_node(kind, read, shown, **options))
        if not last:
            constants["axis"] = np.array([1])
            nodes.append(helper.make_node("Squeeze", [f"y{k}", "axis"], [f"s{k}"]))
            x = f"s{k}"
    return saved(path, nodes, given, constants), given
