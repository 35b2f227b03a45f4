"""Variables of a function: what stays from one run to the next, outside the arena."""

from collections.abc import Iterable

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of, element_of, is_stored
from memopt.dialects.memgraph.structure import VariableOp
from memopt.dialects.memgraph.tensors import bytes_of, encoding_of, shape_of


def variables_of(ops: Iterable[Operation]) -> list[VariableOp]:
    """Return the variables whose size is known, in the order of `ops`."""
    return [op for op in ops if isinstance(op, VariableOp) and bytes_of(op.result.type) is not None]


def variable_bytes(ops: Iterable[Operation]) -> int:
    """Bytes of all of them."""
    return sum(bytes_of(op.result.type) or 0 for op in variables_of(ops))


def initial_of(op: VariableOp, weights: Weights) -> Array:
    """Return the contents of a variable before the first run: its initial value, else zeros, of
    int8 the zero point (ResetVariableTensors of its runtime)."""
    if op.initial is not None:
        return weights.array(op)
    int8 = is_stored(op.result) and element_of(op.result) == IntegerType(8)
    fill = encoding_of(op.result).zero_points[0] if int8 else 0
    return np.full(shape_of(op.result), fill, dtype_of(op.result))
