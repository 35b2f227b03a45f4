# pyright: basic
"""Gates as exporters take them apart: formulas of operators of ONNX."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, helper

Term = Any
"""The operand `x`, a number, or an operator and its operands."""

_ERF = ("Add", ("Erf", ("Div", "x", 2.0**0.5)), 1.0)
_CUBE = ("Mul", ("Pow", "x", 3.0), 0.044715)
_BY_TANH = ("Add", ("Tanh", ("Mul", ("Add", "x", _CUBE), 0.7978845608)), 1.0)
_SOFTPLUS = ("Log", ("Add", ("Exp", "x"), 1.0))
_UP_TO_6 = ("Clip", ("Add", "x", 3.0), 0.0, 6.0)
GATES: dict[str, Any] = {
    "silu": ("Mul", "x", ("Sigmoid", "x")),
    "quick_gelu": ("Mul", "x", ("Sigmoid", ("Mul", "x", 1.702))),
    "gelu": ("Mul", ("Mul", "x", _ERF), 0.5),
    "gelu_half_first": ("Mul", ("Mul", 0.5, "x"), _ERF),
    "gelu_by_tanh": ("Mul", ("Mul", "x", 0.5), _BY_TANH),
    "hard_swish_paddle": ("Div", ("Mul", "x", _UP_TO_6), 6.0),
    "hard_swish_torch": ("Mul", "x", ("Div", _UP_TO_6, 6.0)),
    "hard_swish_sigmoid": ("Mul", "x", ("HardSigmoid", "x")),
    "mish": ("Mul", "x", ("Tanh", ("Softplus", "x"))),
    "mish_in_parts": ("Mul", "x", ("Tanh", _SOFTPLUS)),
    "softsign": ("Div", "x", ("Add", ("Abs", "x"), 1.0)),
}


def nodes_of(name: str, term: Term, constants: dict[str, Any]) -> list[NodeProto]:
    """Return the nodes that compute a gate of `x`, and add its numbers to `constants`."""
    nodes: list[NodeProto] = []

    def value(term: Term) -> str:
        if isinstance(term, str):
            return term
        if isinstance(term, float):
            constants[f"c{term}"] = np.float32(term)
            return f"c{term}"
        kind, *operands = tuple(term)
        nodes.append(helper.make_node(kind, list(map(value, operands)), [f"{name}{len(nodes)}"]))
        return nodes[-1].output[0]

    value(term)
    nodes[-1].output[0] = name
    return nodes


def all_gates() -> tuple[Sequence[NodeProto], dict[str, Any]]:
    """Return the nodes of all gates, each of `x` and called by its name, and their constants."""
    constants: dict[str, Any] = {}
    nodes = [node for name, term in GATES.items() for node in nodes_of(name, term, constants)]
    return nodes, constants
