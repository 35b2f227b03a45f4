"""The main graph of an .onnx file as one function of `memgraph`, built directly, without text."""

from dataclasses import dataclass, field
from typing import Any, Final

from onnx import NodeProto, TensorProto
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from memopt.dialects.attributes import SourceAttr, WeightsAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.operators.movement import TransposeOp
from memopt.dialects.structure import ConstantOp, OpaqueOp
from memopt.dialects.tensors import bytes_of
from memopt.frontends.core.typed import NotTyped
from memopt.frontends.onnx.annotations import Annotations, quantization_of, stored_side
from memopt.frontends.onnx.attributes import options_attribute, read_attributes
from memopt.frontends.onnx.folding import Known
from memopt.frontends.onnx.inline import inline
from memopt.frontends.onnx.loading import (
    DEFAULT_DOMAINS,
    Graph,
    byte_count,
    captured,
    kind_of,
    subgraphs,
)
from memopt.frontends.onnx.node import Node
from memopt.frontends.onnx.operators import typed
from memopt.frontends.onnx.types import ELEMENTS, tensor_type

INLINE_BYTES: Final = 64  # larger constants are referred to
KNOWN_DOMAINS: Final = frozenset({*DEFAULT_DOMAINS, "ai.onnx.ml", "com.microsoft"})
RANDOM: Final = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)


@dataclass
class Importer:
    """State of the import. Constants stand in `head`, on first use."""

    known: Known
    notes: Annotations
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    turned: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    head: list[Operation] = field(default_factory=list[Operation])
    body: list[Operation] = field(default_factory=list[Operation])

    @property
    def graph(self) -> Graph:
        return self.known.graph

    def function(self) -> FuncOp:
        """The function, with names, sources and the default memory model."""
        graph = self.graph
        block = Block(arg_types=[self.type(n, f"{graph.name}: input {n!r}") for n in graph.inputs])
        self.values.update(zip(graph.inputs, block.args, strict=True))
        for index, node in graph.nodes:
            done = [o in self.known.folded or o in self.known.fills for o in node.output if o]
            if not done or not all(done):
                self._node(index, node)
        returned = [self.value(n) for n in graph.outputs]
        block.add_ops([*self.head, *self.body, ReturnOp(*returned)])
        types = [a.type for a in block.args], [v.type for v in returned]
        func = FuncOp("main", types, Region(block))
        if graph.inputs:
            names = [DictionaryAttr({"memgraph.name": StringAttr(n)}) for n in graph.inputs]
            func.arg_attrs = ArrayAttr(names)
        func.attributes["memgraph.model"] = ModelAttr()
        for op in reversed(self.head):
            if not any(r.uses for r in op.results):
                op.detach()
                op.erase()
        return func

    def type(self, name: str, place: str) -> TensorType[Attribute]:
        """The IR's type of a tensor. Raises MemoptError for one that it has no words for."""
        found = self.graph.types.get(name)
        shape = found.fixed if found else None
        if found is None or shape is None or found.element not in ELEMENTS:
            number = found.element if found else 0
            raise MemoptError(f"the element type of {name!r} ({number}) is not supported", place)
        layout = self.notes.layouts.get(name, "")
        type_ = tensor_type(found.element, shape, layout, self.notes.quantizations.get(name))
        try:
            bytes_of(type_)
        except MemoptError as error:
            raise MemoptError(f"{name!r}: {error.text}", place) from None
        return type_

    # -- values ---------------------------------------------------------------------------------
    def value(self, name: str) -> SSAValue:
        """The value of a tensor; constants appear on first use."""
        if name not in self.values:
            type_ = self.type(name, f"{self.graph.name}: constant {name!r}")
            op = ConstantOp(self._elements(name, type_), type_)
            op.attributes["memgraph.names"] = ArrayAttr([StringAttr(name)])
            self.head.append(op)
            self.values[name] = op.result
        return self.values[name]

    def _elements(
        self, name: str, type_: TensorType[Attribute]
    ) -> WeightsAttr | DenseIntOrFPElementsAttr[Any]:
        tensor = self.graph.constants.get(name)
        local = tensor is None or (
            tensor.data_location != TensorProto.EXTERNAL
            and (byte_count(tensor) or INLINE_BYTES + 1) <= INLINE_BYTES
        )
        array = self.known.array(name) if local else None
        by_reference = tensor is not None or name in self.known.fills
        if array is not None and (array.nbytes <= INLINE_BYTES or not by_reference):
            elements = inline(type_, array)
            if elements is not None:
                return elements
        if not by_reference:
            raise MemoptError("cannot be written down exactly", f"{self.graph.name}: {name!r}")
        return WeightsAttr(self.graph.sha256, name)

    def transposed(self, name: str) -> SSAValue:
        """A constant matrix with its dimensions exchanged: a constant expression."""
        if name not in self.turned:
            value = self.value(name)
            type_ = self.type(name, self.graph.name)
            rows, columns = type_.get_shape()
            op = TransposeOp.create(
                operands=[value],
                result_types=[TensorType(type_.element_type, [columns, rows])],
                properties={"permutation": DenseArrayBase.from_list(i64, [1, 0])},
            )
            op.attributes["memgraph.names"] = ArrayAttr([StringAttr(f"{name}^T")])
            self.head.append(op)
            self.turned[name] = op.results[0]
        return self.turned[name]

    # -- operators ------------------------------------------------------------------------------
    def _node(self, index: int, node: NodeProto) -> None:
        place = self.graph.place(index, node)
        outputs = [o for o in node.output if o]
        results = [self.type(o, place) for o in outputs]
        attributes = read_attributes(node)
        op = None
        if node.domain in DEFAULT_DOMAINS:
            op = typed(self._described(node, attributes, results, place))
        if op is None:
            op = self._opaque(node, attributes, results)
        op.attributes["memgraph.names"] = ArrayAttr([StringAttr(o) for o in outputs])
        if node.name and [node.name] != outputs:
            op.attributes["memgraph.operator"] = StringAttr(node.name)
        op.attributes["memgraph.source"] = SourceAttr(0, index, ())
        self.values.update(zip(outputs, op.results, strict=True))
        self.body.append(op)

    def _described(
        self,
        node: NodeProto,
        attributes: dict[str, Any],
        results: list[TensorType[Attribute]],
        place: str,
    ) -> Node:
        inputs = list(node.input)

        def transpose(i: int) -> SSAValue:
            if self.known.is_constant(inputs[i]):
                return self.transposed(inputs[i])
            raise NotTyped

        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            # The type can say one meaning only: does it say this node's?
            side = stored_side(node)
            meaning = quantization_of(self.known, node)
            if meaning is not None and meaning == self.notes.quantizations.get(side):
                stated = "result" if node.op_type == "QuantizeLinear" else "operand"
                attributes = {**attributes, "stated": stated}
        return Node(
            node.op_type,
            self.graph.opsets.get("", 0),
            attributes,
            [self.type(i, place) if i else None for i in inputs],
            results,
            [bool(o) for o in node.output],
            lambda i: self.known.is_constant(inputs[i]),
            lambda i: self.value(inputs[i]),
            transpose,
            lambda i: self.known.array(inputs[i]),
        )

    def _opaque(
        self, node: NodeProto, attributes: dict[str, Any], results: list[TensorType[Attribute]]
    ) -> OpaqueOp:
        """Any other operator. One with subgraphs reads what these capture."""
        names = [i for i in node.input if i]
        absent = tuple(i for i, name in enumerate(node.input) if not name)
        names += [n for n in dict.fromkeys(captured(node)) if n not in names and self._is_outer(n)]
        stateful = node.domain not in KNOWN_DOMAINS or is_random(node)
        if attributes.get("training_mode") or (node.op_type == "Dropout" and len(node.input) > 2):
            stateful = True
        options = options_attribute(attributes, absent)
        inputs = [self.value(n) for n in names]
        return OpaqueOp(kind_of(node), inputs, results, stateful, options)

    def _is_outer(self, name: str) -> bool:
        return name in self.values or self.known.is_constant(name)


def is_random(node: NodeProto) -> bool:
    """Whether the operator, or one in its subgraphs, draws random numbers."""
    return node.op_type in RANDOM or any(is_random(n) for g in subgraphs(node) for n in g.node)
