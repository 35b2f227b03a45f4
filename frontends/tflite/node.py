"""One operator of a `.tflite` file on its way into the IR: its options, read with LiteRT's
generated classes, and what many kinds of operators say in them."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import IntegerType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.arithmetic.stored import integer_type
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr
from memopt.dialects.memgraph.custom import OPTIONS, PREFIX
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.tflite import Operator, litert_schema
from memopt.frontends.core import node as core
from memopt.frontends.core.typed import NotTyped, need
from memopt.frontends.core.types import is_quantized

BAD_BYTES = (struct.error, ValueError, IndexError, TypeError, OverflowError, AttributeError)
ACTIVATIONS = {1: "relu", 2: "relu_n1_to_1", 3: "relu6", 4: "tanh", 5: "sign_bit"}


def no_variable(element: Attribute, shape: Sequence[int]) -> SSAValue:
    """Refuse a variable where an operator is built for its shapes alone."""
    raise NotTyped("a variable that no tensor of the file is")


@dataclass(frozen=True)
class Node(core.Node):
    """One operator on its way into the IR. `constant(i)` is operand i as integers, or NotTyped;
    `variable(element, shape)` is a new one of the operator's own, of zeros at first."""

    constant: Callable[[int], list[int]]
    variable: Callable[[Attribute, Sequence[int]], SSAValue] = no_variable


Kind = type[Operation]
Builder = Callable[[Node, Kind], Operation]


def activation(node: Node) -> ActivationAttr | None:
    kind = node.options.get("fusedActivationFunction", 0)
    if kind == 0:
        return None
    need(kind in ACTIVATIONS, f"activation {kind}")
    return ActivationAttr.new((StringAttr(ACTIVATIONS[kind]),))


def rounding(node: Node) -> RoundingAttr | None:
    """Return how a quantized result is rounded: twice, as TFLite says, but for
    `matrix_rounding`."""
    return RoundingAttr.new((StringAttr("tflm_double"),)) if is_quantized(node.result) else None


def matrix_rounding(node: Node) -> RoundingAttr | None:
    """Return how FULLY_CONNECTED is rounded: of uint8 once; of int8 runtimes differ, and here it is
    rounded twice."""
    unsigned = integer_type(node.result.element_type) == (8, True) and is_quantized(node.result)
    return RoundingAttr.new((StringAttr("tflite_single"),)) if unsigned else rounding(node)


def same_arithmetic(node: Node, *indices: int) -> None:
    """Operands and result are all float, or all quantized integers: no hybrid arithmetic."""
    elements = [node.element(i) for i in indices]
    integer = [isinstance(e, IntegerType) for e in (*elements, node.result.element_type)]
    kinds = " and ".join(str(e) for e in (*elements, node.result.element_type))
    need(all(integer) or not any(integer), f"on {kinds} (all real, or all integers)")
    if all(integer):
        for type_ in (node.result, *(node.type(i) for i in indices)):
            need(is_quantized(type_), "integers without a scale")


@lru_cache(maxsize=2)
def _unions() -> tuple[dict[int, str], dict[int, str]]:
    """Number of an options type -> its class, for both unions of the schema."""
    schema = litert_schema()

    def names(union: Any) -> dict[int, str]:
        entries = cast("dict[str, int]", union.__dict__)
        return {number: name for name, number in entries.items() if name[0] != "_" and number}

    return names(schema.BuiltinOptions), names(schema.BuiltinOptions2)


def read_options(data: bytes, operator: Operator, place: str) -> dict[str, Any]:
    """Field name -> value of the operator's options; empty if it has none, or of a newer schema.
    Those of a custom operator are bytes, in hex.

    Raises MemoptError if they do not fit the file.
    """
    result: dict[str, Any] = {}
    schema = litert_schema()
    for (position, kind), names in zip(operator.options, _unions(), strict=True):
        name = names.get(kind)
        if name is None or not position:
            continue
        try:
            table = getattr(schema, name)()
            table.Init(data, position)
            fields = getattr(schema, f"{name}T").InitFromObj(table)
        except BAD_BYTES as error:
            text = f"malformed {name}: {type(error).__name__}"
            raise MemoptError(text, place) from None
        result |= cast("dict[str, Any]", fields.__dict__)
    begin, end = operator.custom_options
    if operator.name.startswith(PREFIX) and end > begin:
        result[OPTIONS] = data[begin:end].hex()
    return result
