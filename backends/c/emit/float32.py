"""Ranges, weights and biases of float32 kernels."""

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.emit.call import Array, Constants, Table, activation_of, refuse
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import float_range


def float_result_range(op: Operation) -> tuple[tuple[str, float], ...]:
    low, high = float_range(activation_of(op))
    return (("act_min", low), ("act_max", high))


def float_weights(op: Operation, weights: SSAValue, constants: Constants) -> Array:
    """Constant float32 weights. Refuses others."""
    array = constants(weights)
    if array is None:
        raise refuse(op, "weights that are only known at run time")
    if str(array.dtype) != "float32":
        raise refuse(op, f"hybrid operator: float32 activations with {array.dtype} weights")
    return array


def float_bias(op: Operation, bias: SSAValue | None, channels: int, constants: Constants) -> Table:
    """Return one float32 bias per channel, zeros if there is none."""
    if bias is None:
        return Table("float", np.zeros(channels, dtype=np.float32))
    array = float_weights(op, bias, constants)
    if array.size != channels:
        raise refuse(op, f"{array.size} biases for {channels} channels")
    return Table("float", array)
