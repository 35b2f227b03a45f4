"""Facts about a graph before run time: values, and the nodes that are left."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

from onnx import NodeProto, TensorProto, helper

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.onnx_weights import array_of
from memopt.frontends.onnx.checks import message
from memopt.frontends.onnx.float32 import real_array
from memopt.frontends.onnx.loading import Graph, ValueType
from memopt.frontends.onnx.ordering import captured

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass
class Known:
    """Values that are known; `folded` are those of nodes that need not run, or that an expansion
    made, `fills` the `ConstantOfShape` nodes by their output's name. `nodes` are those that run,
    (index in the file, node), expanded; what they make of constants alone, where an operation is
    then a constant expression, is `steady`; `dequantized` is what `DequantizeLinear` makes -> it.
    `numbers` are single real numbers that it makes of constants.
    `read` are the values that nodes, or the caller, read; `stated` what operators make whose types
    only the file says. `reasons`: result of an operator -> what of it no expansion says.
    `bare` are tensors that operators of integers read or make: no type says what their integers
    stand for.
    `sequences`: result that is a sequence -> its tensors.
    `labels`: result that is an index -> the texts, which the file has instead."""

    graph: Graph
    arrays: "dict[str, Array]" = field(default_factory=dict[str, Any])
    folded: set[str] = field(default_factory=set[str])
    fills: dict[str, NodeProto] = field(default_factory=dict[str, NodeProto])
    nodes: list[tuple[int, NodeProto]] = field(default_factory=list[tuple[int, NodeProto]])
    steady: set[str] = field(default_factory=set[str])
    dequantized: dict[str, NodeProto] = field(default_factory=dict[str, NodeProto])
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    read: set[str] = field(default_factory=set[str])
    stated: set[str] = field(default_factory=set[str])
    bare: set[str] = field(default_factory=set[str])
    sequences: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    labels: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    count: int = 0

    def array(self, name: str, most: int | None = None) -> "Array | None":
        """Return the elements of what is known; None if it is not, or is a constant of the file of
        more than `most`."""
        tensor = self.graph.constants.get(name)
        if tensor is not None and most is not None and prod(tensor.dims) > most:
            return None
        if name not in self.arrays:
            if tensor is None or tensor.data_type == TensorProto.STRING:
                return None
            self.arrays[name] = self.elements(tensor, name)
        return self.arrays[name]

    def elements(self, tensor: TensorProto, name: str) -> "Array":
        try:
            return real_array(array_of(tensor, self.graph.folder), tensor.data_type)
        except Exception as error:
            raise MemoptError(message(error), f"{self.graph.name}: constant {name!r}") from None

    def note_read(self, nodes: Iterable[NodeProto]) -> None:
        """Remember what nodes read."""
        for node in nodes:
            self.read.update(node.input, captured(node))

    def is_stated(self, node: NodeProto) -> bool:
        """Return whether the types of a node's results are as the file says, and not as ONNX does:
        such an operator has no meaning that is known."""
        return any(name in self.stated for name in node.output)

    def is_steady(self, name: str) -> bool:
        """Return whether a value is a constant, or an expression of such."""
        return self.is_constant(name) or name in self.steady

    def is_constant(self, name: str) -> bool:
        return name in self.graph.constants or name in self.folded or name in self.fills

    def fresh(self, near: str) -> str:
        """A name that nothing has, which begins like another one."""
        while True:
            self.count += 1
            name = f"{near}/{self.count}"
            if name not in self.graph.types:
                return name

    def made_constant(self, array: "Array", name: str) -> str:
        """A constant that no file has."""
        self.arrays[name] = array
        self.folded.add(name)
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.graph.types[name] = ValueType(element, array.shape)
        return name
