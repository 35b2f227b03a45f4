"""One subgraph of a .tflite file as one function of `memgraph`, built directly, without text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from memopt.dialects.attributes import SourceAttr, WeightsAttr
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.structure import ConstantOp, OpaqueOp, VariableOp
from memopt.formats.tflite import Model, Operator, Subgraph, Tensor
from memopt.frontends.core.inline import inline
from memopt.frontends.core.typed import NotTyped
from memopt.frontends.tflite.operators import SPATIAL, WEIGHT_LAYOUTS, Node, typed
from memopt.frontends.tflite.options import options_attribute, read_options
from memopt.frontends.tflite.types import ELEMENTS, tensor_type

INLINE_BYTES = 64  # larger constants are referred to
INLINE_ELEMENTS = frozenset(
    ELEMENTS[name]
    for name in ("FLOAT32", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32")
)
WORKING_MEMORY = "UNINITIALIZED"  # a tensor that nothing makes: memory for an operator to work in
STATEFUL = frozenset(
    {
        "ASSIGN_VARIABLE",
        "CALL",
        "CALL_ONCE",
        "DELEGATE",
        "HASHTABLE",
        "HASHTABLE_FIND",
        "HASHTABLE_IMPORT",
        "HASHTABLE_SIZE",
        "IF",
        "MULTINOMIAL",
        "RANDOM_STANDARD_NORMAL",
        "RANDOM_UNIFORM",
        "READ_VARIABLE",
        "STABLEHLO_CASE",
        "STABLEHLO_COMPOSITE",
        "STABLEHLO_CUSTOM_CALL",
        "STABLEHLO_RNG_BIT_GENERATOR",
        "STABLEHLO_WHILE",
        "VAR_HANDLE",
        "WHILE",
    }
)


def is_stateful(name: str) -> bool:
    """Whether nothing is known of what the operator does besides making its results."""
    return name in STATEFUL or name.startswith(("CUSTOM:", "BUILTIN_"))


def function_name(index: int) -> str:
    return "main" if index == 0 else f"subgraph_{index}"


@dataclass
class Importer:
    """State of one subgraph's import. `ordered` are operators that control dependencies name."""

    data: bytes
    sha256: str
    model: Model
    index: int
    place: str
    ordered: frozenset[int] = frozenset()
    values: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    layouts: dict[int, str] = field(default_factory=dict[int, str])
    head: list[Operation] = field(default_factory=list[Operation])
    body: list[Operation] = field(default_factory=list[Operation])

    @property
    def graph(self) -> Subgraph:
        return self.model.subgraphs[self.index]

    def function(self) -> FuncOp:
        """The function, with names, sources and the default memory model."""
        graph = self.graph
        self._find_layouts()
        block = Block(arg_types=[self.type(i) for i in graph.inputs])
        for argument, index in zip(block.args, graph.inputs, strict=True):
            self.values[index] = argument
        for number, operator in enumerate(graph.operators):
            self._operator(number, operator)
        returned = [self.value(i) for i in graph.outputs]
        block.add_ops([*self.head, *self.body, ReturnOp(*returned)])
        inputs, outputs = [a.type for a in block.args], [v.type for v in returned]
        func = FuncOp(function_name(self.index), (inputs, outputs), Region(block))
        names = [{"memgraph.name": StringAttr(self.name(i))} for i in graph.inputs]
        if names:
            func.arg_attrs = ArrayAttr(
                [DictionaryAttr(cast("dict[str, Attribute]", n)) for n in names]
            )
        func.attributes["memgraph.model"] = ModelAttr()
        func.attributes["memgraph.source"] = SourceAttr(self.index, -1, graph.inputs)
        return func

    def name(self, index: int) -> str:
        return self.graph.tensors[index].name or f"tensor_{index}"

    def type(self, index: int) -> TensorType[Attribute]:
        return tensor_type(self.graph.tensors[index], self.layouts.get(index, ""))

    def _find_layouts(self) -> None:
        """Only spatial operators say how their tensors are laid out."""
        for operator in self.graph.operators:
            if operator.name in SPATIAL and operator.inputs and operator.outputs:
                for index in (operator.inputs[0], operator.outputs[0]):
                    self._set_layout(index, "nhwc")
            layout = WEIGHT_LAYOUTS.get(operator.name)
            if layout and len(operator.inputs) > 1:
                self._set_layout(operator.inputs[1], layout)

    def _set_layout(self, index: int, layout: str) -> None:
        if index >= 0 and len(self.graph.tensors[index].shape) == 4:
            self.layouts.setdefault(index, layout)

    # -- values ---------------------------------------------------------------------------------
    def value(self, index: int) -> SSAValue:
        """The value of a tensor; constants, variables and working memory appear on first use."""
        if index not in self.values:
            self.values[index] = self._origin(index, self.graph.tensors[index])
        return self.values[index]

    def _origin(self, index: int, tensor: Tensor) -> SSAValue:
        type_ = self.type(index)
        op: Operation
        if tensor.is_variable:
            # ASCII, because xDSL's text reads any other literal back as bytes.
            name = self.name(index).encode("ascii", "backslashreplace").decode()
            op = VariableOp(name, type_)
        elif tensor.is_constant:
            op = ConstantOp(self._elements(index, tensor, type_), type_)
        else:
            op = OpaqueOp(WORKING_MEMORY, (), (type_,))
        if not isinstance(op, ConstantOp):
            op.attributes["memgraph.source"] = SourceAttr(self.index, -1, (index,))
        if not isinstance(op, VariableOp):
            op.attributes["memgraph.names"] = ArrayAttr([StringAttr(self.name(index))])
        self.head.append(op)
        return op.results[0]

    def _elements(
        self, index: int, tensor: Tensor, type_: TensorType[Attribute]
    ) -> WeightsAttr | DenseIntOrFPElementsAttr:
        raw = self.data[slice(*self.model.buffers[tensor.buffer])]
        small = 0 < len(raw) <= INLINE_BYTES and not tensor.is_sparse
        if small and type_.element_type in INLINE_ELEMENTS:
            elements = inline(type_, raw)
            if elements is not None:
                return elements
        return WeightsAttr(self.sha256, f"{self.index}/{index}")

    def integers(self, index: int) -> list[int]:
        """The elements of a constant integer tensor. Raises NotTyped for anything else."""
        import struct

        tensor = self.graph.tensors[index] if index >= 0 else None
        codes = {"INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q"}
        if tensor is None or not tensor.is_constant or tensor.type not in codes or tensor.is_sparse:
            raise NotTyped
        raw = self.data[slice(*self.model.buffers[tensor.buffer])] if tensor.size else b""
        code = codes[tensor.type]
        return list(struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))

    # -- operators ------------------------------------------------------------------------------
    def _operator(self, number: int, operator: Operator) -> None:
        place = f"{self.place} operator {number} ({operator.name})"
        options = read_options(self.data, operator, place)
        outputs = [i for i in operator.outputs if i >= 0]
        results = [self.type(i) for i in outputs]
        stateful = is_stateful(operator.name) or number in self.ordered
        op = None if stateful or not results else self._typed(operator, results, options)
        if op is None:
            absent = tuple(i for i, t in enumerate(operator.inputs) if t < 0)
            inputs = [self.value(i) for i in operator.inputs if i >= 0]
            attribute = options_attribute(options, absent)
            op = OpaqueOp(operator.name, inputs, results, stateful, attribute)
        op.attributes["memgraph.names"] = ArrayAttr([StringAttr(self.name(i)) for i in outputs])
        op.attributes["memgraph.source"] = SourceAttr(self.index, number, outputs)
        for index, result in zip(outputs, op.results, strict=True):
            self.values[index] = result
        self.body.append(op)

    def _typed(
        self, operator: Operator, results: Sequence[TensorType[Attribute]], options: dict[str, Any]
    ) -> Operation | None:
        tensors = self.graph.tensors
        used = [*operator.inputs, *operator.outputs]
        for index in used:
            tensor = tensors[index] if index >= 0 else None
            readable = tensor is None or (
                not tensor.is_sparse
                and not tensor.is_variable
                and (tensor.quantization is None or tensor.quantization.readable)
            )
            if not readable:
                return None
        # Constants that become attributes must not appear as operations: look them up lazily.
        lazy = LazyOperands(self, operator.inputs)
        return typed(
            Node(
                operator.name,
                lazy,
                results,
                options,
                lambda i: self.integers(operator.inputs[i] if i < len(operator.inputs) else -1),
            )
        )


class LazyOperands(Sequence[SSAValue | None]):
    """The operands of an operator; a constant enters the IR only when it is asked for."""

    def __init__(self, importer: Importer, indices: Sequence[int]) -> None:
        self.importer, self.indices = importer, indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        tensor = self.indices[cast("int", index)]
        return None if tensor < 0 else self.importer.value(tensor)


def drop_unused(func: FuncOp) -> None:
    """Remove constants that an attempt at a typed operation made and did not use."""
    for op in list(func.body.block.ops):
        if isinstance(op, ConstantOp) and not op.result.has_one_use() and not any(op.result.uses):
            op.detach()
            op.erase()
