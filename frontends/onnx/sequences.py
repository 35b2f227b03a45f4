"""Sequences of known lengths, as their tensors: exporters split and join by them."""

import numpy as np
from onnx import NodeProto, helper

from memopt.frontends.onnx.attributes import read_attributes
from memopt.frontends.onnx.checks import DEFAULT_DOMAINS
from memopt.frontends.onnx.known import Known


def without_sequence(known: Known, node: NodeProto) -> list[NodeProto] | None:
    """Return the nodes, of the newest opset, of what an operator does with the tensors of a
    sequence, and remember the sequence that it makes; None for any other operator, and where a
    place or a length is computed."""
    if node.domain not in DEFAULT_DOMAINS or not node.output:
        return None
    result, of = node.output[0], known.sequences
    parts = of.get(node.input[0]) if node.input else None
    if node.op_type == "SequenceConstruct":
        of[result] = list(node.input)
        return []
    if node.op_type == "SplitToSequence":
        return _split(known, node)
    if parts is None:
        return None
    if node.op_type == "SequenceLength":
        known.made_constant(np.array(len(parts), np.int64), result)
        return []
    if node.op_type == "ConcatFromSequence" and parts:
        return _joined(known, node, parts)
    place = known.array(node.input[1]) if node.op_type == "SequenceAt" else None
    if place is not None and -len(parts) <= int(place.reshape(-1)[0]) < len(parts):
        return [helper.make_node("Identity", [parts[int(place.reshape(-1)[0])]], [result])]
    return None


def _split(known: Known, node: NodeProto) -> list[NodeProto] | None:
    options, type_ = read_attributes(node), known.graph.types.get(node.input[0])
    shape = type_.fixed if type_ else None
    given = len(node.input) > 1 and bool(node.input[1])
    sizes = known.array(node.input[1]) if given else np.array(1)
    if not shape or sizes is None:
        return None
    axis = int(options.get("axis", 0)) % len(shape)
    if not sizes.ndim:  # the last part has what is left
        count = max(1, int(sizes))
        each = [min(count, shape[axis] - at) for at in range(0, shape[axis], count)]
        sizes = np.array(each)
    names = [known.fresh(node.output[0]) for _ in sizes]
    known.sequences[node.output[0]] = names
    operand = known.made_constant(sizes.astype(np.int64), known.fresh(node.output[0]))
    if given or options.get("keepdims", 1):
        return [helper.make_node("Split", [node.input[0], operand], names, axis=axis)]
    thick = [known.fresh(name) for name in names]
    one = known.made_constant(np.array([axis], np.int64), known.fresh(node.output[0]))
    thin = [helper.make_node("Squeeze", [t, one], [n]) for t, n in zip(thick, names, strict=True)]
    return [helper.make_node("Split", [node.input[0], operand], thick, axis=axis), *thin]


def _joined(known: Known, node: NodeProto, parts: list[str]) -> list[NodeProto]:
    options = read_attributes(node)
    axis, nodes = options["axis"], list[NodeProto]()
    if options.get("new_axis", 0):
        at = known.made_constant(np.array([axis], np.int64), known.fresh(node.output[0]))
        names = [known.fresh(node.output[0]) for _ in parts]
        nodes = [
            helper.make_node("Unsqueeze", [p, at], [n]) for p, n in zip(parts, names, strict=True)
        ]
        parts = names
    return [*nodes, helper.make_node("Concat", parts, [node.output[0]], axis=axis)]
