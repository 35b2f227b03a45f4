"""Elements that operators move, and change in no other way."""

from typing import TypeGuard

from xdsl.ir import Operation, SSAValue

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.gathering import GatherAlongOp
from memopt.dialects.operators.traits import Moves


def moves(op: Operation) -> TypeGuard[ComputeOp]:
    """Return whether elements of the results are elements of the first operand."""
    return isinstance(op, GatherAlongOp) or (isinstance(op, ComputeOp) and op.has_trait(Moves))


def together(value: SSAValue, count: int, places: int) -> SSAValue | None:
    """Return the value into which a product is moved on, where its heads lie beside each other in
    each place; as far on as possible."""
    index = np.arange(elements_of(value)).reshape(shape_of(value))
    wanted = index.reshape(count, places, -1).swapaxes(0, 1).reshape(-1)
    last: SSAValue | None = None
    while True:
        if np.array_equal(index.reshape(-1), wanted):
            last = value
        reader = value.get_user_of_unique_use()
        if reader is None or not moves(reader) or len(reader.operands) != 1:
            return last
        index, value = reader.evaluate([index])[0], reader.results[0]
