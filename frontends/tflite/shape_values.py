"""Elements of small tensors of integers, which say how large others are.

    VALUES["PACK"](op, [np.array(1), np.array(24)])        # [array([1, 24])]

Of operators with which exporters compute shapes; what they are is what `evaluate` of the typed
operations is, on numbers that fit.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.frontends.tflite.shape_rules import RULES, Known, cut

Values = Callable[[Known, Sequence[Array]], list[Array]]


def _moved(name: str) -> Values:
    return lambda op, operands: [operands[0].reshape(RULES[name](op)[0])]


def _numpy(name: str) -> Values:
    def values(op: Known, operands: Sequence[Array]) -> list[Array]:
        return [getattr(np, name)(*operands)]

    return values


def _reduced(name: str) -> Values:
    def values(op: Known, operands: Sequence[Array]) -> list[Array]:
        axes, keeps = tuple(op.numbers(1)), bool(op.options["keepDims"])
        return [np.asarray(getattr(np, name)(operands[0], axis=axes, keepdims=keeps))]

    return values


def _concat(op: Known, operands: Sequence[Array]) -> list[Array]:
    return [np.concatenate(operands, op.options["axis"])]


def _pack(op: Known, operands: Sequence[Array]) -> list[Array]:
    return [np.stack(operands, op.options["axis"])]


def _gather(op: Known, operands: Sequence[Array]) -> list[Array]:
    if op.options.get("batchDims", 0):
        raise ValueError
    return [np.take(operands[0], operands[1], op.options["axis"])]


def _strided(op: Known, operands: Sequence[Array]) -> list[Array]:
    return [np.asarray(cut(operands[0], op))]


def _slice(op: Known, operands: Sequence[Array]) -> list[Array]:
    sizes = RULES["SLICE"](op)[0]
    pairs = zip(op.numbers(1), sizes, strict=True)
    return [operands[0][tuple(slice(begin, begin + size) for begin, size in pairs)]]


def _quotient(op: Known, operands: Sequence[Array]) -> list[Array]:
    """Towards zero."""
    a, b = operands
    return [np.sign(a) * np.sign(b) * (abs(a) // abs(b))]


def _broadcast(op: Known, operands: Sequence[Array]) -> list[Array]:
    return [np.array(np.broadcast_shapes(*map(tuple, operands)), np.int64)]


def _range(op: Known, operands: Sequence[Array]) -> list[Array]:
    start, limit, delta = (op.numbers(i)[0] for i in range(3))
    if len(range(start, limit, delta)) > 64:
        raise ValueError
    return [np.arange(start, limit, delta)]


VALUES: Final[Mapping[str, Values]] = {
    "ADD": _numpy("add"),
    "BROADCAST_ARGS": _broadcast,
    "CAST": lambda op, operands: [operands[0]],
    "CONCATENATION": _concat,
    "DIV": _quotient,
    "EXPAND_DIMS": _moved("EXPAND_DIMS"),
    "FLOOR_DIV": _numpy("floor_divide"),
    "FLOOR_MOD": _numpy("mod"),
    "GATHER": _gather,
    "MAXIMUM": _numpy("maximum"),
    "MINIMUM": _numpy("minimum"),
    "MUL": _numpy("multiply"),
    "PACK": _pack,
    "RANGE": _range,
    "REDUCE_MAX": _reduced("max"),
    "REDUCE_MIN": _reduced("min"),
    "REDUCE_PROD": _reduced("prod"),
    "RESHAPE": _moved("RESHAPE"),
    "SLICE": _slice,
    "SQUEEZE": _moved("SQUEEZE"),
    "STRIDED_SLICE": _strided,
    "SUB": _numpy("subtract"),
    "SUM": _reduced("sum"),
}
