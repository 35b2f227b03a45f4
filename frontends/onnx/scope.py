"""Scope of an expansion of an ONNX node: its operands and attributes, and the making of nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from onnx import NodeProto, TensorProto, helper

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.attributes import read_attributes
from memopt.frontends.onnx.known import Known as Known
from memopt.frontends.onnx.loading import ValueType
from memopt.frontends.onnx.types import NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

OWN: Final = "memopt"  # the domain of what expansions make that ONNX has no operator for
FLOAT: Final = TensorProto.FLOAT
INT32: Final = TensorProto.INT32
INT64: Final = TensorProto.INT64
BOOL: Final = TensorProto.BOOL
BYTES: Final = (TensorProto.UINT8, TensorProto.INT8)


class RefusedError(Exception):
    """Refusal of a request of a node that no runtime computes; `folding` says where it stands."""


@dataclass
class Scope:
    """A node, and the nodes made in its place. `opset` is the one by which the node is read; made
    ones are read by the newest. `reason` is what stops an expansion, for people: the last thing
    that was asked for in vain."""

    known: Known
    node: NodeProto
    opset: int
    made: list[NodeProto] = field(default_factory=list[NodeProto])
    reason: str = ""

    def __post_init__(self) -> None:
        self.attributes = read_attributes(self.node)

    # -- what there is --------------------------------------------------------------------------
    @property
    def x(self) -> str:
        """The first operand."""
        return self.node.input[0]

    def has(self, index: int) -> bool:
        return index < len(self.node.input) and bool(self.node.input[index])

    def input(self, index: int) -> str:
        return self.node.input[index]

    def shape(self, index: int = 0) -> tuple[int, ...]:
        return self.shape_of(self.node.input[index])

    def shape_of(self, name: str) -> tuple[int, ...]:
        return self.known.graph.types[name].fixed or ()

    def element(self, index: int = 0) -> int:
        return self.known.graph.types[self.node.input[index]].element

    @property
    def is_float(self) -> bool:
        """Return whether the first operand is of float32."""
        if self.element() == FLOAT:
            return True
        return self.lacks(f"on {NAMES.get(self.element(), 'no tensor')} (float32 has one)")

    def lacks(self, why: str) -> Literal[False]:
        """Record the reason that stops an expansion, and what would do; return False."""
        self.reason = why
        return False

    def out_shape(self, index: int = 0) -> tuple[int, ...]:
        return self.known.graph.types[self.node.output[index]].fixed or ()

    def out_element(self, index: int = 0) -> int:
        return self.known.graph.types[self.node.output[index]].element

    def returns(self, index: int) -> bool:
        """Return whether somebody may read that result."""
        return index < len(self.node.output) and bool(self.node.output[index])

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def is_constant(self, index: int) -> bool:
        return self.known.is_steady(self.node.input[index])

    @property
    def is_stored(self) -> bool:
        """Return whether an operand stands for stored integers: then one operation is worth
        more."""
        return any(name in self.known.dequantized for name in self.node.input)

    def array(self, index: int) -> "Array | None":
        """Return the elements of an operand, None if they are not known."""
        elements = self.known.array(self.node.input[index]) if self.has(index) else None
        if elements is None and self.has(index):
            self.lacks(f"operand {index} is computed at run time (a constant has one)")
        return elements

    def ints(self, index: int, attribute: str = "") -> list[int] | None:
        """Integers that are an operand, or, in older opsets, an attribute; None if not known."""
        if attribute and attribute in self.attributes:
            return [int(v) for v in self.attributes[attribute]]
        array = self.array(index)
        return None if array is None else [int(v) for v in array.reshape(-1)]

    # -- what is made ---------------------------------------------------------------------------
    def const(self, values: Any, element: int = FLOAT) -> str:
        """A new constant."""
        dtype = helper.tensor_dtype_to_np_dtype(element)
        return self.known.made_constant(np.asarray(values).astype(dtype), self._name())

    def like(self, value: Any) -> str:
        """A new scalar of the first operand's type."""
        return self.const(value, self.element())

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """A new node with one result."""
        return self.several(kind, 1, *inputs, **attributes)[0]

    def several(self, kind: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """A new node with so many results."""
        names = [self._name() for _ in range(count)]
        self._make(kind, inputs, names, attributes)
        return names

    def own(
        self, kind: str, element: int, shape: Sequence[int], *inputs: str, **attributes: Any
    ) -> str:
        """Add a node of no operator of ONNX, one that `operators.py` calls `memopt.KIND`; return
        its result."""
        name = self._name()
        self.known.graph.types[name] = ValueType(element, tuple(shape))
        self._make(kind, inputs, [name], {**attributes, "domain": OWN})
        return name

    def done(self, kind: str, *inputs: str, result: int = 0, **attributes: Any) -> bool:
        """The new node that makes a result of the expanded one; of `Identity` the one before, if
        that made what is passed on."""
        if kind == "Identity" and self.made and list(self.made[-1].output) == list(inputs):
            self.made[-1].output[0] = name = self.node.output[result]
            if self.made[-1].domain == OWN:  # whose types nobody infers
                self.known.graph.types[name] = self.known.graph.types[inputs[0]]
            return True
        self._make(kind, inputs, [self.node.output[result]], attributes)
        return True

    def cut(self, name: str, first: int, end: int, axis: int) -> str:
        """The elements from one to another along an axis."""
        return self.add("Slice", name, *(self.const([v], INT64) for v in (first, end, axis)))

    def reshaped(self, name: str, shape: Sequence[int]) -> str:
        return self.add("Reshape", name, self.const(list(shape), INT64))

    def transposed(self, name: str, order: Sequence[int]) -> str:
        order = list(order)
        if order == sorted(order):
            return name
        transposed, types = self.add("Transpose", name, perm=order), self.known.graph.types
        if name in types:
            shape = self.shape_of(name)
            types[transposed] = ValueType(types[name].element, tuple(shape[d] for d in order))
        return transposed

    def _make(
        self, kind: str, inputs: Sequence[str], outputs: list[str], attributes: dict[str, Any]
    ) -> None:
        given = {k: v for k, v in attributes.items() if v is not None}
        domain = given.pop("domain", None)
        node = helper.make_node(kind, list(inputs), outputs, self.node.name, domain=domain, **given)
        self.made.append(node)

    def _name(self) -> str:
        return self.known.fresh(self.node.output[0] or self.node.op_type)
