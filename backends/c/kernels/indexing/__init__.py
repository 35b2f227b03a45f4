"""Kernels of ONE_HOT, SCATTER_ND, SEGMENT_SUM and DYNAMIC_UPDATE_SLICE, which write where indices
say."""

import math

from xdsl.ir import SSAValue

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    bytes_per_element,
    element_kind,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.indices import indices_of
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.backends.c.emit.rowwise import tensor_or_bytes
from memopt.dialects.arithmetic.stored import is_stored, need_same_numbers
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.gathering import ScatterNdOp
from memopt.dialects.operators.one_hot import OneHotOp
from memopt.dialects.operators.segments import SegmentSumOp
from memopt.dialects.operators.updating import DynamicUpdateSliceOp

DIMENSIONS = 8  # of memopt_scatter_nd_params


@kernel(OneHotOp, ANY)
def one_hot(op: OneHotOp, constants: Constants) -> KernelCall:
    """Return the call for any type."""
    need_same_numbers(op, op.on_value, op.off_value, op.result)
    outer, depth, inner = op.sizes
    if not outer * depth * inner:
        raise refuse(op, "a tensor without elements")
    indices, form = indices_of(op, op.indices, constants)
    values = (tensor_or_bytes(v, constants) for v in (op.on_value, op.off_value))
    width = bytes_per_element(op, op.result)
    fields = (
        *(("outer", outer), ("depth", depth), ("inner", inner)),
        *(("bytes", width), ("form", form)),
    )
    return KernelCall("one_hot", fields, (indices, *values), Rows(1, 0, 0))


@kernel(ScatterNdOp, "i32 to f32, i64 to f32, i32, i64 to i32")
def scatter_nd(op: ScatterNdOp, constants: Constants) -> KernelCall:
    if is_stored(op.updates) or is_stored(op.result):
        raise refuse(op, "quantized int32")
    return _added(op, op.indices, op.updates, op.depth, constants)


@kernel(SegmentSumOp, "f32, i32")
def segment_sum(op: SegmentSumOp, constants: Constants) -> KernelCall:
    """Return the call that scatters pieces by one index each."""
    if is_stored(op.input) or is_stored(op.result):
        raise refuse(op, "quantized int32")
    return _added(op, op.segments, op.input, 1, constants)


def _added(
    op: ScatterNdOp | SegmentSumOp,
    places: SSAValue,
    pieces: SSAValue,
    depth: int,
    constants: Constants,
) -> KernelCall:
    """Return the call that adds pieces where their indices, `depth` of each, say."""
    shape, kind = shape_of(op.result), element_kind(op.result)
    indices, form = indices_of(op, places, constants)
    count = elements_of(places) // depth
    if depth > DIMENSIONS or not elements_of(op.result):
        raise refuse(op, f"indices of {depth} dimensions, or a tensor without elements")
    steps = [math.prod(shape[i + 1 : depth]) for i in range(depth)]
    fields = (
        *(("size", elements_of(op.result)), ("count", count), ("depth", depth)),
        *(("piece", math.prod(shape[depth:])), ("form", form)),
        ("limit", "{" + ", ".join(map(str, shape[:depth])) + "}"),
        ("step", "{" + ", ".join(map(str, steps)) + "}"),
    )
    updates = tensor_or_table(op, pieces, constants)
    return KernelCall(f"scatter_nd_{kind}", fields, (indices, updates), Rows(1, 0, 0))


@kernel(DynamicUpdateSliceOp, ANY)
def dynamic_update_slice(op: DynamicUpdateSliceOp, constants: Constants) -> KernelCall:
    """Return the call for elements of any type, whose bytes are one dimension more, the last."""
    need_same_numbers(op, op.input, op.update, op.result)
    shape, inner = shape_of(op.input), shape_of(op.update)
    if len(shape) > DIMENSIONS or not elements_of(op.result):
        raise refuse(op, f"{len(shape)} dimensions, or a tensor without elements")
    starts, form = indices_of(op, op.starts, constants)
    operands = (*(tensor_or_bytes(v, constants) for v in (op.input, op.update)), starts)
    fields = (
        *(("size", elements_of(op.input)), ("count", elements_of(op.update))),
        *(("rank", len(shape)), ("bytes", bytes_per_element(op, op.result)), ("form", form)),
        ("shape", "{" + ", ".join(map(str, shape)) + "}"),
        ("update", "{" + ", ".join(map(str, inner)) + "}"),
    )
    return KernelCall("dynamic_update_slice", fields, operands, Rows(1, 0, 0))
