"""Kernels of recurrent layers that begin at a given state, as those of ONNX."""

from typing import Any

from xdsl.ir import SSAValue

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, Table, refuse
from memopt.backends.c.emit.float32 import float_weights
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.rows.row_calls import carried_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import is_unsigned
from memopt.dialects.memgraph.tensors import elements_of, encoding_of, shape_of
from memopt.dialects.operators.recurrent_layers import (
    GruLayerOp,
    LstmLayerOp,
    RecurrentLayerOp,
    RnnLayerOp,
)


def _weights(op: RecurrentLayerOp, value: SSAValue, constants: Constants) -> Table:
    """Return constant weights, those of 8 bits signed."""
    if not op.is_hybrid:
        return Table("float", float_weights(op, value, constants))
    array = constants(value)
    if array is None:
        raise refuse(op, "weights that are only known at run time")
    return Table("int8_t", (array.astype("int16") - _middle(value)).astype("int8"))


def _middle(value: SSAValue) -> int:
    return 128 if is_unsigned(value) else 0


def _rows(name: str, value: SSAValue) -> tuple[tuple[str, Any], ...]:
    """Return the fields that say what rows of stored weights stand for."""
    encoding = encoding_of(value)
    zeros = [_middle(value) - z for z in encoding.zero_points]
    return (
        (f"of_{name}.step", int(len(encoding.scales) > 1)),
        (f"of_{name}.scales", Table("float", np.array(encoding.scales, np.float32))),
        (
            f"of_{name}.zeros",
            Table("int16_t", np.array(zeros, np.int16), ("WEIGHT_ZEROS",)) if any(zeros) else "0",
        ),
    )


def _call(op: RecurrentLayerOp, constants: Constants, **fields: int) -> KernelCall:
    in_n, out_n = shape_of(op.input)[2], shape_of(op.result)[2]
    if 0 in (elements_of(op.input), elements_of(op.result)):
        raise refuse(op, "a tensor without elements")
    start = None if op.initial is None else constants(op.initial)
    is_read = op.initial is not None and start is None
    apart = 1 if op.time_major is not None else op.steps  # vectors from a batch to the next
    sizes: tuple[tuple[str, Any], ...] = (
        *(("batches", op.batches), ("in_n", in_n), ("units", op.units), ("kept", op.kept)),
        *(("in_batch", apart * in_n), ("out_batch", apart * out_n)),
        *(("reverse", int(op.reverse is not None)), ("starts", int(is_read))),
        ("clip", 0.0 if op.clip is None else float(op.clip.value.data)),
        ("weights", _weights(op, op.weights, constants)),
        ("recurrent", _weights(op, op.recurrent, constants)),
        ("bias", Table("float", float_weights(op, op.bias, constants))),
        ("start", "0" if start is None else Table("float", start)),
        *((*_rows("weights", op.weights), *_rows("recurrent", op.recurrent)) * op.is_hybrid),
    )
    named = (("states", op.STATES), *fields.items())
    at = op.batches if op.time_major is not None else 1  # vectors from a step to the next
    return KernelCall(
        kernel=f"{op.name.removeprefix('memgraph.')}_{'hybrid' if op.is_hybrid else 'f32'}",
        fields=(*((f"sizes.{key}", value) for key, value in sizes), *named),
        operands=(op.input, op.initial) if is_read and op.initial else (op.input,),
        rows=Rows.of(op, op.steps, at * in_n, at * out_n),
    )


@kernel(RnnLayerOp, "f32", rows=carried_rows)
def rnn_layer(op: RnnLayerOp, constants: Constants) -> KernelCall:
    return _call(op, constants, tanh=int(op.activation.data == "tanh"))


@kernel(GruLayerOp, "f32", rows=carried_rows)
def gru_layer(op: GruLayerOp, constants: Constants) -> KernelCall:
    linear = int(op.linear_before_reset is not None)
    return _call(op, constants, linear_before_reset=linear)


@kernel(LstmLayerOp, "f32", rows=carried_rows)
def lstm_layer(op: LstmLayerOp, constants: Constants) -> KernelCall:
    return _call(op, constants)
