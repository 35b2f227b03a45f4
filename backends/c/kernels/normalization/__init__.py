"""Kernels of normalizations: of the last dimensions, and of images by groups of channels."""

from xdsl.ir import SSAValue

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    activation_of,
    element_kind,
    per_tensor,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.float32 import float_result_range
from memopt.backends.c.emit.int8 import Fields
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.rows.row_calls import own_rows, summed_rows
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.group_normalization import GroupNormalizationOp, GroupStatisticsOp
from memopt.dialects.operators.layer_normalization import LayerNormalizationOp


def _terms(
    op: LayerNormalizationOp | GroupNormalizationOp, constants: Constants
) -> tuple[Fields, tuple[SSAValue | Table, ...]]:
    """Return the fields that say scale and shift, and those that only the run time knows."""
    for term in op.terms:
        if element_kind(term) != "f32":
            raise refuse(op, f"scales and shifts of {element_kind(term)}, only of f32")
    tables = [tensor_or_table(op, v, constants) for v in op.terms]
    known = all(isinstance(table, Table) for table in tables)  # else they are operands
    numbers = [table if isinstance(table, Table) else 0 for table in tables]
    pointers = zip(("scale", "shift"), (*numbers, 0, 0) if known else (0, 0), strict=False)
    return (("terms", len(op.terms)), *pointers), () if known else tuple(tables)


def _steps(op: LayerNormalizationOp | GroupNormalizationOp) -> Fields:
    """Return the fields that say what stored integers stand for."""
    (scale, zero_point), (out_scale, out_zero_point) = (
        per_tensor(op, v) for v in (op.input, op.result)
    )
    return (
        *(("input_scale", scale), ("output_scale", out_scale)),
        *(("input_zero_point", zero_point), ("output_zero_point", out_zero_point)),
    )


def _call(
    op: LayerNormalizationOp, constants: Constants, name: str, fields: Fields = ()
) -> KernelCall:
    terms, tables = _terms(op, constants)
    own = (
        ("depth", op.length),
        ("epsilon", op.epsilon.value.data),
        ("around_zero", int(op.around_zero is not None)),
        *terms,
    )
    form = f"{op.how}_" if op.how else ""
    kernel_name = f"layer_normalization_{name}{form}{element_kind(op.input)}"
    rows = Rows.of(op, op.vectors, op.length, op.length)
    return KernelCall(kernel_name, (*own, *fields), (op.input, *tables), rows)


@kernel(LayerNormalizationOp, "f32", rows=own_rows)
def layer_normalization_f32(op: LayerNormalizationOp, constants: Constants) -> KernelCall:
    return _call(op, constants, "")


@kernel(LayerNormalizationOp, "s8, u8", rounding="onnx_even", rows=own_rows)
def layer_normalization_even(op: LayerNormalizationOp, constants: Constants) -> KernelCall:
    op.need_bytes()
    return _call(op, constants, "even_", (("spread_scale", op.spread_scale), *_steps(op)))


def _statistics(op: GroupStatisticsOp, name: str, fields: Fields = ()) -> KernelCall:
    _, height, width, channels = shape_of(op.input)
    groups = op.groups.value.data
    sizes = (("height", height), ("width", width), ("groups", groups), ("each", channels // groups))
    return KernelCall(f"group_statistics_{name}", (*sizes, *fields), (op.input,), Rows(1, 0, 0))


@kernel(GroupStatisticsOp, "f32", "nhwc", rows=summed_rows)
def group_statistics_f32(op: GroupStatisticsOp, constants: Constants) -> KernelCall:
    return _statistics(op, "f32")


@kernel(GroupStatisticsOp, "s8 to f32, u8 to f32", "nhwc", rows=summed_rows)
def group_statistics_of_bytes(op: GroupStatisticsOp, constants: Constants) -> KernelCall:
    op.need_numbers()
    scale, zero_point = per_tensor(op, op.input)
    numbers = (("zero_point", zero_point), ("scale", scale), ("spread_scale", op.spread_scale))
    return _statistics(op, element_kind(op.input), numbers)


def _groups(
    op: GroupNormalizationOp, constants: Constants, name: str, fields: Fields = ()
) -> KernelCall:
    """Return the call; without an activation what is infinite stays so."""
    _, height, width, channels = shape_of(op.input)
    ends: Fields = (("act_min", "-INFINITY"), ("act_max", "INFINITY"))
    if activation_of(op):
        ends = float_result_range(op)
    terms, tables = _terms(op, constants)
    sizes = (("width", width), ("groups", op.groups), ("each", channels // op.groups))
    own = (*sizes, ("epsilon", op.epsilon.value.data), *ends, *terms)
    rows = Rows.of(op, height, width * channels, width * channels)
    operands = (op.input, op.statistics, *tables)
    return KernelCall(f"group_normalization_{name}", (*own, *fields), operands, rows)


@kernel(GroupNormalizationOp, "f32", "nhwc", rows=own_rows)
def group_normalization_f32(op: GroupNormalizationOp, constants: Constants) -> KernelCall:
    return _groups(op, constants, "f32")


@kernel(GroupNormalizationOp, "s8, u8", "nhwc", rounding="onnx_even", rows=own_rows)
def group_normalization_even(op: GroupNormalizationOp, constants: Constants) -> KernelCall:
    op.need_numbers()
    return _groups(op, constants, f"even_{element_kind(op.input)}", _steps(op))
