"""One operator of a `.tflite` file on its way into the IR, and what many kinds of them say."""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType, StringAttr
from xdsl.ir import Operation

from memopt.dialects.arithmetic.stored import integer_type
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr
from memopt.frontends.core import node as core
from memopt.frontends.core.typed import need
from memopt.frontends.core.types import is_quantized

ACTIVATIONS = {1: "relu", 2: "relu_n1_to_1", 3: "relu6", 4: "tanh", 5: "sign_bit"}


@dataclass(frozen=True)
class Node(core.Node):
    """One operator on its way into the IR. `constant(i)` is operand i as integers, or NotTyped."""

    constant: Callable[[int], list[int]]


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
