"""Constant expressions, evaluated: what is known before run time as an array.

An operation all of whose operands are constants is itself one (it is never scheduled); what a
rewrite did to weights (slice, concat, transpose, ...) the operation computes, in the stored type.
What a kernel would refuse it refuses too.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.model import GENERIC, ModelAttr
from memopt.dialects.memgraph.interface import is_constant_like
from memopt.dialects.operators.base import ComputeOp, is_constant_expression

Constants = Callable[[SSAValue], "Array | None"]
"""The array of a constant operand, or None if the value is only known at run time."""


def constants_beside(op: Operation) -> Constants:
    """Return the constants of the module that an operation, or a function, stands in."""
    module = op.get_toplevel_object()
    return constants_of(
        Weights.of(module) if isinstance(module, ModuleOp) else Weights({}), GENERIC
    )


def constants_of(weights: Weights, model: ModelAttr) -> Constants:
    """A function from a value to its array (row-major, stored type), None for run-time values.

    Weights are read on first use. Raises MemoptError where they cannot be, or where a constant
    expression cannot be evaluated.
    """
    return partial(_array_of, {}, weights, model)


def _array_of(
    known: dict[SSAValue, Array], weights: Weights, model: ModelAttr, value: SSAValue
) -> Array | None:
    """Return what `constants_of` says of a value; no closure, which would hold itself, and with it
    all weights until garbage is collected."""
    if value in known:
        return known[value]
    if not isinstance(value, OpResult) or not is_constant_expression(value, model):
        return None
    op = value.op
    if is_constant_like(op):
        array = weights.array(op)
    else:
        operands = [cast("Array", _array_of(known, weights, model, v)) for v in op.operands]
        array = cast("ComputeOp", op).evaluate(operands)[value.index]
    known[value] = array
    return array
