"""Operators that keep something in a variable from one run to the next."""

from math import isfinite

from xdsl.dialects.builtin import Float32Type, UnitAttr
from xdsl.ir import Operation, SSAValue

from memopt.dialects.quick import number
from memopt.dialects.stored import element_of, is_stored
from memopt.dialects.structure import VariableOp
from memopt.dialects.tensors import encoding_of
from memopt.frontends.core.typed import build, need, real
from memopt.frontends.core.types import ELEMENTS, is_quantized
from memopt.frontends.tflite.node import Kind, Node, activation, rounding


def need_variables(*values: SSAValue) -> None:
    """What stays from one run to the next does so in a variable."""
    need(all(isinstance(v.owner, VariableOp) for v in values))


def svdf(node: Node, kind: Kind) -> Operation:
    """Of float32, or of int8 with memories of int8 or int16, whose activation TFLM takes for that
    of the type."""
    values = [node.operand(i) for i in (0, 1, 2, 4)]
    source, feature, time, state = map(element_of, values)
    stored, made = is_stored(values[0]), node.result.element_type
    if stored:
        need(source == feature == made == ELEMENTS["int8"] and is_quantized(node.result))
        need(time == state in (ELEMENTS["int8"], ELEMENTS["int16"]))
        need(node.options["fusedActivationFunction"] in (0, 1))
        need(all(len(encoding_of(v).scales) == 1 for v in values))
        needs_none = values[1:3] if time == ELEMENTS["int8"] else values[1:]
        need(not any(encoding_of(v).zero_points[0] for v in needs_none))
    else:
        need(all(isinstance(e, Float32Type) for e in (source, feature, time, state, made)))
    need_variables(values[3])
    properties = {
        "rank": number(node.options["rank"]),
        "activation": None if stored else activation(node),
        "rounding": rounding(node),
    }
    operands = (*values[:3], node.optional(3), values[3])
    return build(kind, operands, node.results, properties)


SEQUENCE = (*range(1, 9), *range(12, 16))
"""Weights of the input, weights of what is hidden, biases: each of four gates."""


def lstm(node: Node, kind: Kind) -> Operation:
    """Of float32, or of int8 or int16 with int8 weights and a cell of int16: without peepholes,
    projection, normalization and weights shared by gates, as TFLM has it."""
    need(len(node.types) == 24 and node.options["fusedActivationFunction"] == 4)
    others = {*range(24)} - {0, *SEQUENCE, 18, 19}
    need(all(node.optional(i) is None for i in others))
    need(not node.options["projClip"] and isfinite(node.options["cellClip"]))
    need(node.options["cellClip"] >= 0)
    values = [node.operand(i) for i in (0, *SEQUENCE, 18, 19)]
    source, *gates, hidden, cell = map(element_of, values)
    made = node.result.element_type
    if is_stored(values[0]):
        wide = source == ELEMENTS["int16"]
        need(source == hidden == made and (wide or source == ELEMENTS["int8"]))
        need(cell == ELEMENTS["int16"] and is_quantized(node.result))
        need(all(e == ELEMENTS["int8"] for e in gates[:8]))
        need(all(e == ELEMENTS["int64" if wide else "int32"] for e in gates[8:]))
        stored = (values[0], *values[1:9], *values[13:])
        need(all(is_stored(v) and len(encoding_of(v).scales) == 1 for v in stored))
        without = (*values[1:9], values[14], *((values[0], values[13]) if wide else ()))
        need(not any(encoding_of(v).zero_points[0] for v in without))
    else:
        need(all(isinstance(e, Float32Type) for e in (source, *gates, hidden, cell, made)))
    need_variables(*values[13:])
    properties = {
        "clip": real(node.options["cellClip"]),
        "time_major": UnitAttr() if node.options["timeMajor"] else None,
        "rounding": rounding(node),
    }
    return build(kind, [values[0], *values[1:13], *values[13:]], node.results, properties)
