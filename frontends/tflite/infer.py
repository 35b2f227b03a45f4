"""Shapes of a file whose dimensions are open, inferred from those of its inputs.

    model = with_shapes(data, model, {"x": (2, 96, 96, 1)}, "net.tflite")

`shape_signature` says which dimensions a converter left open; in `shape` it wrote 1 for them, and
for whatever it could not compute. Interpreters infer such shapes when they begin, and so does this:
of every tensor that has an open dimension, or whose operands have other shapes than the file says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.tflite import (
    MAX_TENSOR_BYTES,
    TENSOR_TYPES_BY_NAME,
    Model,
    Operator,
    Subgraph,
    Tensor,
    elements_of,
)
from memopt.frontends.core.shapes import BATCH, Shapes, check_names
from memopt.frontends.tflite.custom_ops import CUSTOMS
from memopt.frontends.tflite.node import read_options
from memopt.frontends.tflite.shape_rules import RULES, UNKNOWN, Known, Shape
from memopt.frontends.tflite.shape_values import VALUES

SMALL = 64  # elements of integers that may say how large something is
CALLS = {"IF": ("then", "else"), "WHILE": ("cond", "body")}
INTEGERS = {"INT32": "<i4", "INT64": "<i8"}


def with_shapes(data: bytes, model: Model, shapes: Shapes, name: str) -> Model:
    """Return the model with the shapes that follow from those of its inputs, which `shapes` gives
    where dimensions are open. Raises MemoptError for shapes that inputs cannot have, and where an
    operator's result follows from an open dimension but is not known."""
    main = model.subgraphs[0]
    tensors = [main.tensors[i] for i in main.inputs]
    names = [t.name or f"tensor_{i}" for i, t in zip(main.inputs, tensors, strict=True)]
    if shapes:
        check_names(shapes, names, name)
    given = [_input_shape(*pair, shapes, name) for pair in zip(tensors, names, strict=True)]
    is_open = any(_is_open(t) for graph in model.subgraphs for t in graph.tensors)
    is_open |= any(o.name in CUSTOMS or _is_misdeclared(o, main) for o in main.operators)
    if not is_open and all(t.shape == s for t, s in zip(tensors, given, strict=True)):
        return model
    walk = _Walk(data, model, name)
    walk.run(0, given)
    graphs = list(model.subgraphs)
    for index, inferred in walk.shapes.items():
        graphs[index] = _resized(graphs[index], inferred)
    return replace(model, subgraphs=tuple(graphs))


def _is_open(tensor: Tensor) -> bool:
    return not tensor.is_constant and any(n < 0 for n in tensor.signature)


def _is_misdeclared(operator: Operator, graph: Subgraph) -> bool:
    """Return whether a RESHAPE has by the file another number of elements than its operand, which
    one runtime overlooks and another refuses."""
    ends = (*operator.inputs[:1], *operator.outputs[:1])
    if operator.name != "RESHAPE" or len(ends) < 2 or min(ends) < 0:
        return False
    operand, result = (graph.tensors[i] for i in ends)
    return prod(operand.shape) != prod(result.shape)


def _input_shape(tensor: Tensor, name: str, shapes: Shapes, place: str) -> Shape:
    """The shape of an input: the one that is given, if it fits the dimensions that are not open."""
    is_open = [n < 0 for n in tensor.signature] or [False] * len(tensor.shape)
    shape = shapes.get(name)
    if shape is None:
        batch = shapes.get(BATCH)
        return (batch[0], *tensor.shape[1:]) if batch and any(is_open[:1]) else tensor.shape
    fits = len(shape) == len(tensor.shape)
    if not fits or any(
        a != b and not o for a, b, o in zip(shape, tensor.shape, is_open, strict=True)
    ):
        has = "x".join("?" if o else str(n) for n, o in zip(tensor.shape, is_open, strict=True))
        given, kind = "x".join(map(str, shape)), "" if any(is_open) else "fixed "
        text = f"has the {kind}shape {has or 'of a scalar'}, --shape gives {given}"
        raise MemoptError(text, f"{place}: input {name!r}")
    return shape


def _resized(graph: Subgraph, shapes: Mapping[int, Shape]) -> Subgraph:
    tensors = list(graph.tensors)
    for index, shape in shapes.items():
        if shape != tensors[index].shape:
            tensors[index] = replace(
                tensors[index], shape=shape, size=_bytes(tensors[index], shape)
            )
    return replace(graph, tensors=tuple(tensors))


def _bytes(tensor: Tensor, shape: Shape) -> int | None:
    bits = TENSOR_TYPES_BY_NAME[tensor.type]
    return None if bits is None else (prod(shape) * bits + 7) // 8


@dataclass
class _Walk:
    """The shapes that are not constants' by subgraph and tensor, the elements of small tensors of
    integers that are known, and the tensors whose open dimensions are not, as of lists that grow in
    a loop."""

    data: bytes
    model: Model
    name: str
    shapes: dict[int, dict[int, Shape]] = field(default_factory=dict[int, dict[int, Shape]])
    values: dict[tuple[int, int], Array] = field(default_factory=dict[tuple[int, int], Array])
    unknown: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def run(self, index: int, inputs: Sequence[Shape]) -> list[Shape]:
        """Infer a subgraph with inputs of these shapes, and return those of its outputs."""
        graph = self.model.subgraphs[index]
        before = self.shapes.get(index)
        inferred = self.shapes[index] = dict(zip(graph.inputs, inputs, strict=True))
        if before is not None:
            if any(before[i] != inferred[i] for i in graph.inputs):
                text = f"subgraph {index} runs with operands of several shapes"
                raise MemoptError(text, self.name)
            self.shapes[index] = before
            return [self._shape(index, i) for i in graph.outputs]
        for number, operator in enumerate(graph.operators):
            self._operator(index, number, operator)
        return [self._shape(index, i) for i in graph.outputs]

    def _shape(self, graph: int, tensor: int) -> Shape:
        inferred = self.shapes[graph].get(tensor)
        return self.model.subgraphs[graph].tensors[tensor].shape if inferred is None else inferred

    def _operator(self, index: int, number: int, operator: Operator) -> None:
        graph = self.model.subgraphs[index]
        place = f"{self.name}: subgraph {index} operator {number} ({operator.name})"
        options = read_options(self.data, operator, place)
        outputs = [i for i in operator.outputs if i >= 0]
        inputs = [i for i in operator.inputs if i >= 0]
        follows = any(self._shape(index, i) != graph.tensors[i].shape for i in inputs)
        follows |= _is_misdeclared(operator, graph)
        follows |= operator.name in CUSTOMS or any(
            _is_open(graph.tensors[i]) for i in (*inputs, *outputs)
        )
        op = Known(
            options,
            [self._shape(index, i) if i >= 0 else None for i in operator.inputs],
            [self._value(index, i) for i in operator.inputs],
            len(outputs),
        )
        inferred = self._made(operator, op, options) if self._are_known(index, inputs) else None
        if inferred is None or len(inferred) != len(outputs) or not all(map(_is_small, inferred)):
            is_open = [i for i in outputs if _is_open(graph.tensors[i])]
            changed = any(self._shape(index, i) != graph.tensors[i].shape for i in inputs)
            if index == 0 and changed and is_open:
                text = "an operand has another shape than the file says, and with it its result"
                raise MemoptError(f"{text}, whose shape is not known", place)
            self.unknown |= {(index, i) for i in is_open}
            return
        if follows:
            self.shapes[index] |= zip(outputs, inferred, strict=True)
        self._compute(index, operator, op, outputs)

    def _are_known(self, graph: int, inputs: Sequence[int]) -> bool:
        return not any((graph, i) in self.unknown for i in inputs)

    def _made(
        self, operator: Operator, op: Known, options: Mapping[str, Any]
    ) -> list[Shape] | None:
        """The shapes of an operator's results, None where they are not known."""
        try:
            if operator.name in CALLS:
                return self._call(operator.name, op, options)
            return (CUSTOMS.get(operator.name) or RULES[operator.name])(op)
        except UNKNOWN:
            return None

    def _call(self, name: str, op: Known, options: Mapping[str, Any]) -> list[Shape] | None:
        """The shapes that a branch, or the body of a loop, returns; None where they differ."""
        shapes = [op.shape(i) for i in range(len(op.shapes))]
        operands = shapes[1:] if name == "IF" else shapes
        numbers = [int(options[f"{side}SubgraphIndex"]) for side in CALLS[name]]
        if min(numbers) < 1:
            return None
        first, second = (self.run(number, operands) for number in numbers)
        return second if (first if name == "IF" else operands) == second else None

    def _value(self, graph: int, tensor: int) -> Array | None:
        """The elements of a tensor, if it is a small one of integers."""
        entry = self.model.subgraphs[graph].tensors[tensor] if tensor >= 0 else None
        if entry is None or entry.type not in INTEGERS or prod(entry.shape) > SMALL:
            return None
        if entry.is_constant:
            raw = np.frombuffer(elements_of(self.data, self.model, entry), INTEGERS[entry.type])
            return raw.astype(np.int64).reshape(entry.shape)
        return self.values.get((graph, tensor))

    def _compute(self, graph: int, operator: Operator, op: Known, outputs: Sequence[int]) -> None:
        operands, results = [v for v in op.values if v is not None], list[Array]()
        if operator.name == "SHAPE":
            results = [np.array(op.shape(0), np.int64)]
        elif operator.name in VALUES and len(operands) == len(op.values):
            try:
                results = VALUES[operator.name](op, operands)
            except UNKNOWN:
                return
        for tensor, value in zip(outputs, results, strict=False):
            if value.size <= SMALL:
                self.values[graph, tensor] = value


def _is_small(shape: Shape) -> bool:
    """Return whether a tensor can be so large."""
    return min(shape, default=0) >= 0 and prod(shape) <= MAX_TENSOR_BYTES
