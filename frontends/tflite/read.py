"""The .tflite frontend: LiteRT's schema in, a module of `memgraph` functions out.

    module = read(Path("net.tflite").read_bytes(), "net.tflite")

Every subgraph becomes a function (`@main`, `@subgraph_1`, ...), every operator one operation in
file order; but of those that only say what variables begin with (variables.py) that alone is left.
Input is never trusted: whatever is wrong with a file is one MemoptError with its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.attributes.operators import SourceAttr, WeightsAttr
from memopt.dialects.memgraph.custom import IN_FILE, PREFIX
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.variables import AssignVariableOp, VariableOp
from memopt.dialects.operators.stateful import ReadVariableOp
from memopt.formats import tflite_control
from memopt.formats.tflite import Model, Operator, Subgraph, Tensor, read_model
from memopt.frontends.core import types
from memopt.frontends.core.constants import elements
from memopt.frontends.core.function import Draft, module_of, sha256_of
from memopt.frontends.core.node import NO_OPERATION, typed
from memopt.frontends.core.options import readable_options
from memopt.frontends.core.shapes import Fixed, Shapes, check_none_fixed
from memopt.frontends.core.typed import NotTyped
from memopt.frontends.tflite.infer import with_shapes
from memopt.frontends.tflite.node import Node, read_options
from memopt.frontends.tflite.operators import OPERATORS
from memopt.frontends.tflite.variables import USERS, First, Name, first_values, variable_name

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


def read(
    data: bytes,
    name: str = "model.tflite",
    path: Path | None = None,
    shapes: Shapes | None = None,
    fixed: Fixed | None = None,
) -> ModuleOp:
    """The module for a .tflite file.

    `name` is what messages call the file, and what the module's weights refer to unless `path` is
    given. `shapes` are those of its inputs, where the file leaves dimensions open. An
    `OfflineMemoryAllocation` plan in the file is not imported. Raises MemoptError.
    """
    if fixed:
        check_none_fixed(fixed, name)
    model = with_shapes(data, read_model(data, name), shapes or {}, name)
    sha256 = sha256_of(data)
    ordered = control_dependencies(model, data, name)
    first = first_values(data, model, name) if len(model.subgraphs) > 1 else {}
    functions = [
        Importer(
            data, sha256, model, index, f"{name}: subgraph {index}", ordered[index], first
        ).function()
        for index in range(1 if first else len(model.subgraphs))
    ]
    return module_of(functions, sha256, name, path)


def control_dependencies(model: Model, data: bytes, name: str) -> list[frozenset[int]]:
    """Operators per subgraph that the file's control dependencies name: they keep their order."""
    result: list[set[int]] = [set() for _ in model.subgraphs]
    for key, buffer in model.metadata:
        if key != tflite_control.KEY:
            continue
        try:
            graphs = tflite_control.parse(data[slice(*model.buffers[buffer])])
        except ValueError as error:
            raise MemoptError(str(error), f"{name}: metadata") from None
        for operators, edges in zip(result, graphs, strict=False):
            operators.update(i for edge in edges for i in edge)
    return [frozenset(operators) for operators in result]


def is_stateful(name: str) -> bool:
    """Return whether nothing is known about the operator's effects besides making its results."""
    return name in STATEFUL or name.startswith(("CUSTOM:", "BUILTIN_"))


def function_name(index: int) -> str:
    return "main" if index == 0 else f"subgraph_{index}"


@dataclass
class Importer:
    """State of one subgraph's import. `ordered` are operators that control dependencies name,
    `first` says what variables begin with, if the file has such as are found by name."""

    data: bytes
    sha256: str
    model: Model
    index: int
    place: str
    ordered: frozenset[int] = frozenset()
    first: Mapping[Name, First] = field(default_factory=dict[Name, First])
    layouts: dict[int, str] = field(default_factory=dict[int, str])
    draft: Draft[int] = field(default_factory=Draft[int])
    variables: dict[Name, SSAValue] = field(default_factory=dict[Name, SSAValue])

    @property
    def graph(self) -> Subgraph:
        return self.model.subgraphs[self.index]

    def function(self) -> FuncOp:
        """The function, with names, sources and the default memory model."""
        graph = self.graph
        self._find_layouts()
        names = [self.name(i) for i in graph.inputs]
        self.draft.take(graph.inputs, names, [self.type(i) for i in graph.inputs])
        for number, operator in enumerate(graph.operators):
            self._operator(number, operator)
        returned = [self.value(i) for i in graph.outputs]
        func = self.draft.function(function_name(self.index), returned)
        func.attributes["memgraph.source"] = SourceAttr(self.index, -1, graph.inputs)
        return func

    def name(self, index: int) -> str:
        return self.graph.tensors[index].name or f"tensor_{index}"

    def type(self, index: int) -> TensorType[Attribute]:
        return tensor_type(self.graph.tensors[index], self.layouts.get(index, ""))

    def _find_layouts(self) -> None:
        """Only spatial operators say how their tensors are laid out."""
        for operator in self.graph.operators:
            entry = OPERATORS.get(operator.name)
            if entry is None or not entry.is_spatial:
                continue
            if operator.inputs and operator.outputs:
                for index in (operator.inputs[0], operator.outputs[0]):
                    self._set_layout(index, "nhwc")
            layout = entry.weights("nhwc")
            if layout and len(operator.inputs) > 1:
                self._set_layout(operator.inputs[1], layout)

    def _set_layout(self, index: int, layout: str) -> None:
        if index >= 0 and len(self.graph.tensors[index].shape) == 4:
            self.layouts.setdefault(index, layout)

    # -- values ---------------------------------------------------------------------------------
    def value(self, index: int) -> SSAValue:
        """The value of a tensor; constants, variables and working memory appear on first use."""
        known = self.draft.values.get(index)
        return self._origin(index, self.graph.tensors[index]) if known is None else known

    def _origin(self, index: int, tensor: Tensor) -> SSAValue:
        type_, name = self.type(index), self.name(index)
        if tensor.is_constant and not tensor.is_variable:
            reference = WeightsAttr(self.sha256, f"{self.index}/{index}")
            raw = self._bytes(tensor) if tensor.sparsity is None else None
            return self.draft.constant(index, name, elements(type_, raw, reference), type_)
        op: Operation
        if tensor.is_variable:
            # ASCII, because xDSL's text reads any other literal back as bytes.
            op = VariableOp(name.encode("ascii", "backslashreplace").decode(), type_)
        else:
            op = OpaqueOp(WORKING_MEMORY, (), (type_,))
        op.attributes["memgraph.source"] = SourceAttr(self.index, -1, (index,))
        return self.draft.origin(op, index, None if tensor.is_variable else name)

    def _bytes(self, tensor: Tensor) -> bytes:
        return self.data[slice(*self.model.buffers[tensor.buffer])] if tensor.size else b""

    def integers(self, index: int) -> list[int]:
        """The elements of a constant integer tensor. Raises NotTyped for anything else."""
        import struct

        tensor = self.graph.tensors[index] if index >= 0 else None
        codes = {"INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q"}
        if tensor is None or not tensor.is_constant or tensor.type not in codes or tensor.sparsity:
            raise NotTyped("integers that are computed at run time (constants have one)")
        raw, code = self._bytes(tensor), codes[tensor.type]
        return list(struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))

    # -- operators ------------------------------------------------------------------------------
    def _operator(self, number: int, operator: Operator) -> None:
        place = f"{self.place} operator {number} ({operator.name})"
        options = read_options(self.data, operator, place)
        if self.first and operator.name in USERS:
            self._use_variable(number, operator, options)
            return
        outputs = [i for i in operator.outputs if i >= 0]
        results = [self.type(i) for i in outputs]
        stateful = is_stateful(operator.name) or number in self.ordered
        if number in self.ordered:
            op: Operation | str = "a control dependency names it"
        elif not results or (stateful and operator.name not in OPERATORS):
            op = NO_OPERATION
        else:
            op = self._typed(operator, results, options)
        if isinstance(op, str):
            absent = tuple(i for i, t in enumerate(operator.inputs) if t < 0)
            inputs = [self.value(i) for i in operator.inputs if i >= 0]
            attribute = readable_options(options, absent)
            op = OpaqueOp(operator.name, inputs, results, stateful, attribute, op)
        elif operator.name.startswith(PREFIX):
            op.attributes[IN_FILE] = StringAttr(operator.name)
        names = [self.name(i) for i in outputs]
        self.draft.add(op, outputs, names, SourceAttr(self.index, number, outputs))

    def _use_variable(self, number: int, operator: Operator, options: Mapping[str, Any]) -> None:
        """Import an operator on variables that are found by name, each use of which is known."""
        outputs = list(operator.outputs)
        if operator.name == "VAR_HANDLE":
            self.draft.values[outputs[0]] = self._variable(variable_name(options), outputs[0])
        if operator.name not in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
            return
        variable = self.value(operator.inputs[0])
        op: Operation
        if operator.name == "READ_VARIABLE":
            op = ReadVariableOp(operands=[variable], result_types=[self.type(outputs[0])])
        else:
            op = AssignVariableOp(self.value(operator.inputs[1]), variable)
        names = [self.name(i) for i in outputs]
        self.draft.add(op, outputs, names, SourceAttr(self.index, number, outputs))

    def _variable(self, name: Name, handle: int) -> SSAValue:
        """The variable of that name, of which there is one; its source lists all its handles."""
        variable = self.variables.get(name)
        handles: tuple[int, ...] = ()
        if variable is None:
            first = self.first[name]
            tensor = self.model.subgraphs[first.subgraph].tensors[first.tensor]
            reference = WeightsAttr(self.sha256, f"{first.subgraph}/{first.tensor}")
            type_ = tensor_type(tensor, "")
            initial = elements(type_, self._bytes(tensor), reference)
            text = name[1].encode("ascii", "backslashreplace").decode()
            op: Operation = VariableOp(text, type_, initial)
            variable = self.variables[name] = self.draft.origin(op, handle, None)
        else:
            op = cast("Operation", variable.owner)
            handles = cast("SourceAttr", op.attributes["memgraph.source"]).tensor_ids
        op.attributes["memgraph.source"] = SourceAttr(self.index, -1, (*handles, handle))
        return variable

    def _own_variable(self, operator: Operator, type_: TensorType[Attribute]) -> SSAValue:
        """A new variable of an operator, which no tensor of the file is."""
        name = f"{self.name(operator.outputs[0])} state"
        op = VariableOp(name.encode("ascii", "backslashreplace").decode(), type_)
        self.draft.head.append(op)
        return op.result

    def _typed(
        self, operator: Operator, results: Sequence[TensorType[Attribute]], options: dict[str, Any]
    ) -> Operation | str:
        inputs, entry = operator.inputs, OPERATORS.get(operator.name)
        keeps = entry is not None and entry.keeps_state
        for i in (*inputs, *operator.outputs):
            if i >= 0 and not self._is_plain(i, keeps):
                return (
                    f"the numbers of tensor {self.name(i)!r} are those of a variable or no scale's"
                )
        node = Node(
            operator.name,
            options,
            [self.type(i) if i >= 0 else None for i in inputs],
            results,
            lambda i: self.value(inputs[i]),
            lambda i: self.integers(inputs[i] if i < len(inputs) else -1),
            lambda element, shape: self._own_variable(operator, TensorType(element, shape)),
        )
        return typed(OPERATORS, node)

    def _is_plain(self, index: int, may_stay: bool) -> bool:
        """Return whether the type of a tensor says all that there is to say of its elements, but
        for those of a variable that they stay, which an operator may know."""
        tensor = self.graph.tensors[index]
        readable = tensor.quantization is None or tensor.quantization.readable
        return readable and (may_stay or not tensor.is_variable)


def tensor_type(tensor: Tensor, layout: str = "") -> TensorType[Attribute]:
    """The IR's type; a scheme of quantization that is not affine leaves no trace in it.

    The schema calls elements what `types.ELEMENTS` does, in capitals.
    """
    q = tensor.quantization
    affine = q is not None and q.readable
    quantization = types.Quantization(q.scale, q.zero_point, q.axis) if q and affine else None
    return types.tensor_type(tensor.type.lower(), tensor.shape, layout, quantization)
