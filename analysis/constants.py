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
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.interface import is_constant_like
from memopt.dialects.operators.base import ComputeOp, follows_from_constants, is_constant_expression

Constants = Callable[[SSAValue], "Array | None"]
"""The array of a constant operand, or None if the value is only known at run time."""


def constants_beside(op: Operation) -> Constants:
    """Return the constants of the module that an operation, or a function, stands in, also what is
    computed at run time as its flash is worth more."""
    module = op.get_toplevel_object()
    weights = Weights.of(module) if isinstance(module, ModuleOp) else Weights({})
    return partial(_array_of, {}, weights, follows_from_constants)


def constants_of(weights: Weights, model: ModelAttr) -> Constants:
    """A function from a value to its array (row-major, stored type), None for run-time values.

    Weights are read on first use. Raises MemoptError where they cannot be, or where a constant
    expression cannot be evaluated.
    """
    return partial(_array_of, {}, weights, partial(is_constant_expression, model=model))


def _array_of(
    known: dict[SSAValue, Array],
    weights: Weights,
    is_known: Callable[[SSAValue], bool],
    value: SSAValue,
) -> Array | None:
    """Return what `constants_of` says of a value; no closure, which would hold itself, and with it
    all weights until garbage is collected."""
    if value in known:
        return known[value]
    if not isinstance(value, OpResult) or not is_known(value):
        return None
    op = value.op
    if is_constant_like(op):
        array = weights.array(op)
    else:
        operands = [cast("Array", _array_of(known, weights, is_known, v)) for v in op.operands]
        array = cast("ComputeOp", op).evaluate(operands)[value.index]
    known[value] = array
    return array
