"""Types of values beyond element and shape: layout, and quantization from Q/DQ pairs.

Spatial operators say that their tensors are NCHW, and operators that keep the order of dimensions
pass it on. `QuantizeLinear` and `DequantizeLinear` say what the integers mean, and operators that
only move elements pass that on. A tensor has one meaning: where two operators disagree, the first
wins and the other stays opaque.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from onnx import NodeProto

from memopt.frontends.core.types import Quantization
from memopt.frontends.onnx.checks import DEFAULT_DOMAINS
from memopt.frontends.onnx.known import Known
from memopt.frontends.onnx.operators import OPERATORS

ALSO_KEEP_DIMENSIONS: Final = frozenset(  # and become no operation that says so
    """
    HardSigmoid Identity Selu
    """.split()  # noqa: SIM905 (a list of words reads better)
)
INTEGERS: Final = frozenset({2, 3, 4, 5, 6, 21, 22, 25, 26})  # TensorProto's, quantized ones
FLOAT32: Final = 1


@dataclass
class Annotations:
    """Tensor name -> layout, and -> quantization."""

    layouts: dict[str, str] = field(default_factory=dict[str, str])
    quantizations: dict[str, Quantization] = field(default_factory=dict[str, Quantization])


def annotate(known: Known) -> Annotations:
    """Find layout and quantization of every tensor of the graph."""
    annotations = Annotations()
    nodes = [n for _, n in known.nodes if n.domain in DEFAULT_DOMAINS]
    _find_layouts(known, nodes, annotations.layouts)
    _find_quantizations(known, nodes, annotations.quantizations)
    return annotations


def _find_layouts(known: Known, nodes: Sequence[NodeProto], layouts: dict[str, str]) -> None:
    def mark(name: str, layout: str) -> None:
        type_ = known.graph.types.get(name)
        if type_ is not None and type_.shape is not None and len(type_.shape) == 4:
            layouts.setdefault(name, layout)

    dequantized = {n.output[0]: n.input[0] for n in nodes if n.op_type == "DequantizeLinear"}
    for node in nodes:
        entry = OPERATORS.get(node.op_type)
        if entry is None or not entry.is_spatial:
            continue
        mark(node.input[0], "nchw")
        mark(node.output[0], "nchw")
        if weights := entry.weights("nchw"):
            mark(node.input[1], weights)
            if node.input[1] in dequantized:
                mark(dequantized[node.input[1]], weights)
    for sequence, from_outputs in ((nodes, False), (nodes[::-1], True)):
        for node in sequence:
            if keeps_dimensions(node):
                inputs = [i for i in node.input if i and not known.is_constant(i)]
                ends = (node.output, inputs) if from_outputs else (inputs, node.output)
                if any(layouts.get(name) == "nchw" for name in ends[0]):
                    for name in ends[1]:
                        mark(name, "nchw")


def keeps_dimensions(node: NodeProto) -> bool:
    entry = OPERATORS.get(node.op_type)
    return node.op_type in ALSO_KEEP_DIMENSIONS or (entry is not None and entry.keeps_dimensions)


def moves(node: NodeProto) -> bool:
    entry = OPERATORS.get(node.op_type)
    return entry is not None and entry.moves


def _find_quantizations(
    known: Known, nodes: Sequence[NodeProto], found: dict[str, Quantization]
) -> None:
    for node in nodes:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            meaning = quantization_of(known, node)
            if meaning is not None:
                found.setdefault(stored_side(node), meaning)
        elif moves(node) and node.input[0] in found:
            meaning = found[node.input[0]]
            if meaning.axis < 0:
                for output in node.output:
                    found.setdefault(output, meaning)


def stored_side(node: NodeProto) -> str:
    """The tensor of integers of a quantizing or dequantizing node."""
    return node.output[0] if node.op_type == "QuantizeLinear" else node.input[0]


def quantization_of(known: Known, node: NodeProto) -> Quantization | None:
    """Return the quantization that a `QuantizeLinear` or `DequantizeLinear` states, if the IR has
    words for it.

    Not for blocked scales, scales that are not float32 constants, floating-point storage, and what
    operators of integers read or make.
    """
    types = known.graph.types
    if stored_side(node) in known.bare:
        return None
    attributes = {a.name: a.i for a in node.attribute}
    if attributes.get("block_size") or attributes.get("precision"):
        return None
    stored = types[stored_side(node)]
    if stored.element not in INTEGERS or types[node.input[1]].element != FLOAT32:
        return None
    scale = known.array(node.input[1])
    if scale is None or scale.ndim > 1 or scale.size == 0:
        return None
    scales = tuple(float(s) for s in scale.reshape(-1))
    zeros = _zero_points(known, node, len(scales))
    if zeros is None or not all(math.isfinite(s) and s > 0 for s in scales):
        return None
    if len(scales) == 1:
        return Quantization(scales, zeros)
    rank = len(stored.shape or ())
    axis = attributes.get("axis", 1)
    return Quantization(scales, zeros, axis % rank) if rank and -rank <= axis < rank else None


def _zero_points(known: Known, node: NodeProto, count: int) -> tuple[int, ...] | None:
    """The zero points beside so many scales, 0 where none are said; None for what are none."""
    name = node.input[2] if len(node.input) > 2 else ""
    if not name:
        return (0,) * count
    zeros = known.array(name)
    if zeros is None or zeros.size != count or zeros.dtype.kind not in "iu":
        return None
    return tuple(int(z) for z in zeros.reshape(-1))
