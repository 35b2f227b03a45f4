"""The main graph of an .onnx file as one function of `memgraph`, built directly, without text."""

from dataclasses import dataclass, field
from typing import Any, Final

from onnx import NodeProto, TensorProto
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import SourceAttr, WeightsAttr
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import IN_FLOAT32, OPEN_BATCH
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.operators.base import follows_from_constants, is_constant_expression
from memopt.dialects.operators.comparison import ChooseOp
from memopt.dialects.operators.constants import DividedOp
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.quantization import CastOp
from memopt.formats.onnx_weights import raw_bytes
from memopt.frontends.core.constants import INLINE_BYTES, elements
from memopt.frontends.core.function import Draft
from memopt.frontends.core.node import NO_OPERATION, typed
from memopt.frontends.core.options import readable_options
from memopt.frontends.core.typed import NotTyped
from memopt.frontends.core.types import ELEMENTS, tensor_type
from memopt.frontends.onnx.annotations import Annotations, quantization_of, stored_side
from memopt.frontends.onnx.attributes import read_attributes, readable_form
from memopt.frontends.onnx.checks import DEFAULT_DOMAINS, byte_count, is_unregistered
from memopt.frontends.onnx.float32 import REALS
from memopt.frontends.onnx.functions import is_random
from memopt.frontends.onnx.known import Known
from memopt.frontends.onnx.loading import Graph, kind_of
from memopt.frontends.onnx.node import Node
from memopt.frontends.onnx.operators import OPERATORS
from memopt.frontends.onnx.ordering import captured
from memopt.frontends.onnx.scope import OWN
from memopt.frontends.onnx.types import NAMES

KNOWN_DOMAINS: Final = frozenset({*DEFAULT_DOMAINS, "ai.onnx.ml", "com.microsoft"})


@dataclass
class Importer:
    """State of the import."""

    known: Known
    notes: Annotations
    turned: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    draft: Draft[str] = field(default_factory=Draft[str])

    @property
    def graph(self) -> Graph:
        return self.known.graph

    def function(self) -> FuncOp:
        """The function, with names, sources and the default memory model."""
        graph = self.graph
        types = [self.type(n, f"{graph.name}: input {n!r}") for n in graph.inputs]
        self.draft.take(graph.inputs, graph.inputs, types)
        for index, node in self.known.nodes:
            self._node(index, node)
        func = self.draft.function("main", [self.value(n) for n in graph.outputs])
        for key, names in ((IN_FLOAT32, sorted(graph.others)), (OPEN_BATCH, graph.open_batch)):
            if names:
                func.attributes[key] = ArrayAttr([StringAttr(name) for name in names])
        if self.known.labels:
            func.attributes["memgraph.labels"] = ArrayAttr(map(_label, self.known.labels.items()))
        return func

    def type(self, name: str, place: str) -> TensorType[Attribute]:
        """The IR's type of a tensor. Raises MemoptError for one that it has no words for."""
        onnx_type = self.graph.types.get(name)
        shape = onnx_type.fixed if onnx_type else None
        if onnx_type is None or shape is None or onnx_type.element not in NAMES:
            number = onnx_type.element if onnx_type else 0
            raise MemoptError(f"the element type of {name!r} ({number}) is not supported", place)
        layout = self.notes.layouts.get(name, "")
        quantization = self.notes.quantizations.get(name)
        type_ = tensor_type(NAMES[onnx_type.element], shape, layout, quantization)
        try:
            bytes_of(type_)
        except MemoptError as error:
            raise MemoptError(f"{name!r}: {error.text}", place) from None
        return type_

    # -- values ---------------------------------------------------------------------------------
    def value(self, name: str) -> SSAValue:
        """The value of a tensor; constants appear on first use."""
        known = self.draft.values.get(name)
        if known is not None:
            return known
        type_ = self.type(name, f"{self.graph.name}: constant {name!r}")
        element = self._other_real(name)
        attribute = self._elements(name, type_, element)
        if attribute is None and element is not None:
            return self._converted(name, type_, element)
        if attribute is not None:
            return self.draft.constant(name, name, attribute, type_)
        array = self.known.array(name)
        if array is None or array.dtype != "float32":
            raise MemoptError("cannot be written down exactly", f"{self.graph.name}: {name!r}")
        return self._special(name, type_, array)

    def _special(self, name: str, type_: TensorType[Attribute], array: Any) -> SSAValue:
        """Reals of which some have no text that reads back, as constant expressions: quotients
        that are infinite or no number, and zeros with a sign, chosen where they stand."""
        if not array.shape:  # which has no dimension to divide along
            vector = TensorType(type_.element_type, [1])
            one = self._special(f"{name}/vector", vector, array.reshape(1))
            scalar = ReshapeOp.create(operands=[one], result_types=[type_])
            self.draft.values[name] = self.draft.origin(scalar, f"{name}/scalar", f"{name}/scalar")
            return self.draft.values[name]
        minus = (array == 0) & np.signbit(array)
        kinds = (
            (np.isnan(array), (0.0, 0.0)),
            (array == np.inf, (1.0, 0.0)),
            (array == -np.inf, (-1.0, 0.0)),
            (minus, (-0.0, 1.0)),
        )
        rest = np.where(np.isfinite(array) & ~minus, array, np.float32(0))
        for value in np.unique(rest):
            one = TensorType(type_.element_type, [1])
            if elements(one, raw_bytes(np.array([value], np.float32)), None) is None:
                mantissa, exponent = np.frexp(value)  # a quotient of two that have a text
                pair = float(mantissa), float(np.ldexp(np.float32(1), -exponent))
                kinds = (*kinds, (rest == value, pair))
        for mask, _ in kinds[4:]:
            rest = np.where(mask, np.float32(0), rest)
        value = self._made(f"{name}/rest", type_, rest)
        for number, (mask, pair) in enumerate(kinds):
            if not mask.any():
                continue
            key = f"{name}/special{number}"
            one = TensorType(type_.element_type, [1])
            parts = [
                self._made(f"{key}/{k}", one, np.array([v], np.float32)) for k, v in enumerate(pair)
            ]
            quotient = DividedOp.create(
                operands=parts, result_types=[one], properties={"axis": IntegerAttr(0, i64)}
            )
            where = TensorType(ELEMENTS["bool"], array.shape)
            chosen = self._made(f"{key}/where", where, mask)
            single = self.draft.origin(quotient, f"{key}/one", f"{key}/one")
            op = ChooseOp.create(operands=[chosen, single, value], result_types=[type_])
            value = self.draft.origin(op, f"{key}/all", f"{key}/all")
        self.draft.values[name] = value
        return value

    def _made(self, key: str, type_: TensorType[Attribute], array: Any) -> SSAValue:
        attribute = elements(type_, raw_bytes(array), None)
        assert attribute is not None, key
        return self.draft.constant(key, key, attribute, type_)

    def _elements(
        self, name: str, type_: TensorType[Attribute], other: Attribute | None
    ) -> WeightsAttr | DenseIntOrFPElementsAttr[Any] | None:
        tensor = self.graph.constants.get(name)
        few = tensor is None or (
            tensor.data_location != TensorProto.EXTERNAL
            and (byte_count(tensor) or INLINE_BYTES + 1) <= INLINE_BYTES
        )
        array = self.known.array(name) if few else None
        stands = tensor is not None or name in self.known.fills
        stands = stands and other is None
        reference = WeightsAttr(self.graph.sha256, name) if stands else None
        return elements(type_, None if array is None else raw_bytes(array), reference)

    def _other_real(self, name: str) -> Attribute | None:
        """The type that the file keeps a constant in, if that is another real type than float32."""
        tensor = self.graph.constants.get(name)
        if tensor is None and name in self.known.fills:
            return None  # its element was converted
        if tensor is None or tensor.data_type not in REALS:
            return None
        return ELEMENTS[NAMES[tensor.data_type]]

    def _converted(self, name: str, type_: TensorType[Attribute], element: Attribute) -> SSAValue:
        """A constant of the file, converted to float32 before run time."""
        source = f"{name}/{element}"
        given = TensorType(element, type_.get_shape(), type_.encoding)
        original = self.draft.constant(source, source, WeightsAttr(self.graph.sha256, name), given)
        op = CastOp.create(operands=[original], result_types=[type_])
        return self.draft.origin(op, name, name)

    def transposed(self, name: str) -> SSAValue:
        """A matrix known before run time with its dimensions exchanged: a constant expression."""
        if name not in self.turned:
            value = self.value(name)
            type_ = self.type(name, self.graph.name)
            rows, columns = type_.get_shape()
            op = TransposeOp.create(
                operands=[value],
                result_types=[TensorType(type_.element_type, [columns, rows])],
                properties={"permutation": numbers([1, 0])},
            )
            self.turned[name] = self.draft.origin(op, f"{name}^T", f"{name}^T")
        return self.turned[name]

    # -- operators ------------------------------------------------------------------------------
    def _node(self, index: int, node: NodeProto) -> None:
        place = self.graph.place(index, node)
        outputs = [o for o in node.output if o]
        results = [self.type(o, place) for o in outputs]
        attributes = read_attributes(node)
        op: Operation | str = NO_OPERATION
        if self.known.is_stated(node):
            op = "ONNX has no such operator on these operands, the file alone says its types"
        elif node.domain in (*DEFAULT_DOMAINS, OWN):
            op = typed(OPERATORS, self._described(node, attributes, results, place))
        if isinstance(op, str):
            why = self.known.reasons.get(outputs[0], op) if outputs and op == NO_OPERATION else op
            op = self._opaque(node, attributes, results, why)
        early = bool(outputs) and all(follows_from_constants(v) for v in op.results)
        self.draft.add(op, outputs, outputs, SourceAttr(0, index, ()), node.name, early)

    def _described(
        self,
        node: NodeProto,
        attributes: dict[str, Any],
        results: list[TensorType[Attribute]],
        place: str,
    ) -> Node:
        inputs = list(node.input)

        def is_constant(i: int) -> bool:
            return self.known.is_constant(inputs[i]) or is_constant_expression(
                self.value(inputs[i]), GENERIC
            )

        def transpose(i: int) -> SSAValue:
            if is_constant(i):
                return self.transposed(inputs[i])
            raise NotTyped(f"operand {i} is computed at run time (a constant has one)")

        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            # The type can say one meaning only: does it say this node's?
            side = stored_side(node)
            meaning = quantization_of(self.known, node)
            if meaning is not None and meaning == self.notes.quantizations.get(side):
                stated = "result" if node.op_type == "QuantizeLinear" else "operand"
                attributes = {**attributes, "stated": stated}
        return Node(
            kind_of(node),
            attributes,
            [self.type(i, place) if i else None for i in inputs],
            results,
            lambda i: self.value(inputs[i]),
            [bool(o) for o in node.output],
            is_constant,
            transpose,
            lambda i: self.known.array(inputs[i]),
        )

    def _opaque(
        self,
        node: NodeProto,
        attributes: dict[str, Any],
        results: list[TensorType[Attribute]],
        reason: str,
    ) -> OpaqueOp:
        """Any other operator. One with subgraphs reads what these capture."""
        names = [i for i in node.input if i]
        absent = tuple(i for i, name in enumerate(node.input) if not name)
        names += [n for n in dict.fromkeys(captured(node)) if n not in names and self._is_outer(n)]
        stateful = node.domain not in KNOWN_DOMAINS or is_unregistered(node) or is_random(node)
        if attributes.get("training_mode") or (node.op_type == "Dropout" and len(node.input) > 2):
            stateful = True
        entries = {k: readable_form(v) for k, v in attributes.items()}
        inputs = [self.value(n) for n in names]
        options = readable_options(entries, absent)
        return OpaqueOp(kind_of(node), inputs, results, stateful, options, reason)

    def _is_outer(self, name: str) -> bool:
        return name in self.draft.values or self.known.is_constant(name)


def _label(entry: tuple[str, list[str]]) -> ArrayAttr[StringAttr]:
    """Return a result of indices with the labels that they count."""
    texts = [text.encode("ascii", "backslashreplace").decode() for text in (entry[0], *entry[1])]
    return ArrayAttr([StringAttr(text) for text in texts])
