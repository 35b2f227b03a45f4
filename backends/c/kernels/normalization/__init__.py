"""Kernels of LayerNormalization and RMSNormalization."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    per_tensor,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.int8 import Fields
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.operators.layer_normalization import LayerNormalizationOp


def _call(
    op: LayerNormalizationOp, constants: Constants, name: str, fields: Fields = ()
) -> KernelCall:
    for term in op.terms:
        if element_kind(term) != "f32":
            raise refuse(op, f"scales and shifts of {element_kind(term)}, only of f32")
    tables = [tensor_or_table(op, v, constants) for v in op.terms]
    known = all(isinstance(table, Table) for table in tables)  # else they are operands
    numbers = [table if isinstance(table, Table) else 0 for table in tables]
    own = (
        ("depth", op.length),
        ("epsilon", op.epsilon.value.data),
        ("around_zero", int(op.around_zero is not None)),
        ("terms", len(op.terms)),
        *zip(("scale", "shift"), (*numbers, 0, 0) if known else (0, 0), strict=False),
    )
    form = f"{op.how}_" if op.how else ""
    kernel_name = f"layer_normalization_{name}{form}{element_kind(op.input)}"
    operands = (op.input, *(() if known else tables))
    rows = Rows.of(op, op.vectors, op.length, op.length)
    return KernelCall(kernel_name, (*own, *fields), operands, rows)


@kernel(LayerNormalizationOp, "f32", rows=own_rows)
def layer_normalization_f32(op: LayerNormalizationOp, constants: Constants) -> KernelCall:
    return _call(op, constants, "")


@kernel(LayerNormalizationOp, "s8, u8", rounding="onnx_even", rows=own_rows)
def layer_normalization_even(op: LayerNormalizationOp, constants: Constants) -> KernelCall:
    op.need_bytes()
    (scale, zero_point), (out_scale, out_zero_point) = (
        per_tensor(op, v) for v in (op.input, op.result)
    )
    fields: Fields = (
        *(("input_scale", scale), ("spread_scale", op.spread_scale), ("output_scale", out_scale)),
        *(("input_zero_point", zero_point), ("output_zero_point", out_zero_point)),
    )
    return _call(op, constants, "even_", fields)
