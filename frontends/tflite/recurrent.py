"""Operators that keep something in a variable from one run to the next."""

from math import isfinite

from xdsl.dialects.builtin import Float32Type, UnitAttr
from xdsl.ir import Operation, SSAValue

from memopt.dialects.arithmetic.stored import element_of, is_stored
from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.memgraph.tensors import encoding_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.frontends.core.typed import build, need, real
from memopt.frontends.core.types import ELEMENTS, is_quantized
from memopt.frontends.tflite.node import Kind, Node, activation, rounding


def need_variables(*values: SSAValue) -> None:
    """Refuse a state that is no variable."""
    variables = all(isinstance(v.owner, VariableOp) for v in values)
    need(variables, "a state that is no variable")


def svdf(node: Node, kind: Kind) -> Operation:
    """Return the layer of float32, also with int8 weights, or of int8 with memories of int8 or
    int16, whose activation runtimes take for that of the type."""
    values = [node.operand(i) for i in (0, 1, 2, 4)]
    source, feature, time, state = map(element_of, values)
    stored, result = is_stored(values[0]), node.result.element_type
    if stored:
        bytes_ = source == feature == result == ELEMENTS["int8"] and is_quantized(node.result)
        need(bytes_, f"on {source}, weights of {feature} (i8 and f32 have one)")
        known = time == state in (ELEMENTS["int8"], ELEMENTS["int16"])
        need(known, f"a state of {state} with weights of {time} (both i8, or i16)")
        kind_of = node.options["fusedActivationFunction"]
        need(kind_of in (0, 1), f"activation {kind_of} (none and RELU have one)")
        one = all(len(encoding_of(v).scales) == 1 for v in values)
        need(one, "a scale for each channel (one for all has one)")
        needs_none = values[1:3] if time == ELEMENTS["int8"] else values[1:]
        need(not any(encoding_of(v).zero_points[0] for v in needs_none), ZERO_POINT)
    else:
        reals = all(isinstance(e, Float32Type) for e in (source, state, result))
        hybrid = reals and feature == ELEMENTS["int8"] and time in (feature, source)
        known = hybrid or (reals and feature == time == source)
        need(known, f"on {source}, weights of {feature} (f32 with f32 or i8, or all i8)")
        for v in values[1:3] if hybrid else ():
            plain = not is_stored(v) or [*encoding_of(v).zero_points] == [0]
            need(plain, ZERO_POINT)
    need_variables(values[3])
    asymmetric = feature != source and node.options.get("asymmetricQuantizeInputs")
    properties = {
        "rank": number(node.options["rank"]),
        "asymmetric": UnitAttr() if asymmetric else None,
        "activation": None if stored else activation(node),
        "rounding": rounding(node),
    }
    operands = (*values[:3], node.optional(3), values[3])
    return build(kind, operands, node.results, properties)


PEEPHOLES, PROJECTION, NORMALIZATION = range(9, 12), (16, 17), range(20, 24)
ZERO_POINT = "weights or a state with a zero point (0 has one)"
SEQUENCE = (*range(1, 9), *range(12, 16))
"""Weights of the input, weights of what is hidden, biases: each of four gates."""


PARTS = (*range(1, 11), 0, *range(11, 18), *range(20, 24))
"""The operand of each part of a layer of reals; none says what comes from the cell to its gate."""


def lstm(node: Node, kind: Kind, of_reals: Kind) -> Operation:
    """Build an LSTM of float32, or of int8 or int16 with int8 weights and a cell of int16: without
    peepholes, projection, normalization and weights shared by gates. Of reals with any."""
    need(len(node.types) in (20, 24), f"{len(node.types)} operands (20 and 24 have one)")
    if node.element(0) == ELEMENTS["float32"] and _is_rare(node):
        return _real_lstm(node, of_reals)
    kind_of = node.options["fusedActivationFunction"]
    need(kind_of == 4, f"activation {kind_of} (TANH has one)")
    need(node.has(1), "gates that share weights")
    for name, operands in (("peepholes", PEEPHOLES), ("a projection", PROJECTION)):
        need(not any(node.has(i) for i in operands), name)
    need(not any(node.has(i) for i in NORMALIZATION), "normalized gates")
    need(not node.options["projClip"], f"projClip = {node.options['projClip']} (0 has one)")
    clip = node.options["cellClip"]
    need(isfinite(clip) and clip >= 0, f"cellClip = {clip}")
    values = [node.operand(i) for i in (0, *SEQUENCE, 18, 19)]
    source, *gates, hidden, cell = map(element_of, values)
    result = node.result.element_type
    if is_stored(values[0]):
        wide = source == ELEMENTS["int16"]
        known = source == hidden == result and (wide or source == ELEMENTS["int8"])
        need(known, f"on {source} to {result} (i8, i16 and f32 have one)")
        need(cell == ELEMENTS["int16"] and is_quantized(node.result), f"a cell of {cell} (i16)")
        need(all(e == ELEMENTS["int8"] for e in gates[:8]), "weights that are not int8")
        biases = ELEMENTS["int64" if wide else "int32"]
        need(all(e == biases for e in gates[8:]), f"biases that are not {biases}")
        stored = (values[0], *values[1:9], *values[13:])
        one = all(is_stored(v) and len(encoding_of(v).scales) == 1 for v in stored)
        need(one, "a scale for each channel (one for all has one)")
        without = (*values[1:9], values[14], *((values[0], values[13]) if wide else ()))
        need(not any(encoding_of(v).zero_points[0] for v in without), ZERO_POINT)
    else:
        reals = all(isinstance(e, Float32Type) for e in (source, *gates, hidden, cell, result))
        need(reals, f"on {source}, weights of {gates[0]} (all f32, or stored integers)")
    need_variables(*values[13:])
    properties = {
        "clip": real(node.options["cellClip"]),
        "time_major": UnitAttr() if node.options["timeMajor"] else None,
        "rounding": rounding(node),
    }
    return build(kind, [values[0], *values[1:13], *values[13:]], node.results, properties)


def _is_rare(node: Node) -> bool:
    """Return whether a layer has more, or less, than the four gates, or stored weights."""
    rare = {*PEEPHOLES, *PROJECTION, *NORMALIZATION}
    more = any(node.has(i) for i in rare) or node.options["projClip"]
    more = more or node.options["fusedActivationFunction"] != 4
    return more or not node.has(1) or node.element(2) != ELEMENTS["float32"]


def _real_lstm(node: Node, kind: Kind) -> Operation:
    o = node.options
    parts = {part: i for part, i in enumerate(PARTS) if i and node.has(i)}
    weights = {str(node.element(i)) for i in parts.values() if i < 12 or i == 16}
    known = len(weights) == 1 and weights <= {"f32", "i8"}
    need(known, f"weights of {' and '.join(sorted(weights))} (f32 or i8 have one)")
    others = [i for i in (*parts.values(), 18, 19) if 11 < i != 16]
    reals = all(node.element(i) == ELEMENTS["float32"] for i in others)
    need(reals, "biases or states that are no float32")
    clips = o["cellClip"], o["projClip"]
    need(all(isfinite(c) and c >= 0 for c in clips), f"clips {clips}")
    need_variables(node.operand(18), node.operand(19))
    # without one, runtimes show what is in their memory
    need(activation(node) is not None, "activation 0 (TANH, RELU and RELU6 have one)")
    properties = {
        "parts": numbers(list(parts)),
        "clip": real(clips[0]),
        "projection_clip": real(clips[1]),
        "time_major": UnitAttr() if o["timeMajor"] else None,
        "asymmetric": UnitAttr() if o.get("asymmetricQuantizeInputs") else None,
        "activation": activation(node),
    }
    values = [node.operand(i) for i in (0, *parts.values(), 18, 19)]
    return build(kind, values, node.results, properties)


def sequence_rnn(node: Node, kind: Kind) -> Operation:
    """Return the layer of the sequence, weights of it and of what is hidden, a bias, what is
    hidden."""
    o, plain = node.options, ELEMENTS["float32"]
    reals = all(node.element(i) == plain for i in (0, 3, 4))
    known = reals and node.element(1) == node.element(2) in (plain, ELEMENTS["int8"])
    need(known, f"on {node.element(0)}, weights of {node.element(1)} (f32 with f32 or i8)")
    need_variables(node.operand(4))
    hybrid = node.element(1) != plain and o.get("asymmetricQuantizeInputs")
    properties = {
        "time_major": UnitAttr() if o["timeMajor"] else None,
        "asymmetric": UnitAttr() if hybrid else None,
        "activation": activation(node),
    }
    return build(kind, [node.operand(i) for i in range(5)], node.results, properties)
