"""RESHAPE and COPY where they move bytes, TRANSPOSE, and what takes elements at steps."""

import math
from dataclasses import replace

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    bytes_per_element,
    element_kind,
    four,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.indices import indices_of
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.backends.c.emit.rowwise import copy_call, moved, tensor_or_bytes
from memopt.backends.c.emit.strided import strided_call
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.arithmetic.stored import need_same_numbers
from memopt.dialects.memgraph.plan import is_move
from memopt.dialects.memgraph.tensors import bytes_of, channels_of, elements_of, rows_of, shape_of
from memopt.dialects.memgraph.variables import AssignVariableOp
from memopt.dialects.operators.channel_permutation import ChannelPermutationOp
from memopt.dialects.operators.depth_to_space import DepthToSpaceOp
from memopt.dialects.operators.gathering import GatherAlongOp, GatherNdOp
from memopt.dialects.operators.movement import CopyOp, ReshapeOp, TransposeOp
from memopt.dialects.operators.stacking import PackOp, UnpackOp
from memopt.dialects.operators.stateful import ReadVariableOp
from memopt.dialects.operators.strided import StridedOp


@kernel((ReshapeOp, CopyOp), ANY, rows=own_rows)
def reshape(op: ReshapeOp | CopyOp, constants: Constants) -> KernelCall:
    """Row by row where rows stay rows, so that what is read can be made row by row."""
    alike = rows_of(op.input) == rows_of(op.result) and not is_move(op)  # over itself, at once
    rows = rows_of(op.result) if alike else None
    size = (bytes_of(op.result.type) or 0) // (rows or 1)
    return copy_call(op.input, rows or 1, size, (size, size))


@kernel(ReadVariableOp, ANY)
def read_variable(op: ReadVariableOp, constants: Constants) -> KernelCall:
    size = bytes_of(op.result.type) or 0
    return copy_call(op.state, 1, size, (size, size))


@kernel(AssignVariableOp, ANY)
def assign_variable(op: AssignVariableOp, constants: Constants) -> KernelCall:
    size, operand = bytes_of(op.input.type) or 0, tensor_or_bytes(op.input, constants)
    return replace(copy_call(operand, 1, size, (size, size)), written=op.state)


def _moved_images(op: TransposeOp) -> str:
    """Nothing where images stay in place: the kernel finds an element by the number of its row."""
    stays = op.permutation.get_values()[0] == 0
    return "" if stays else "rows of a transpose that moves the first dimension"


@kernel(StridedOp, ANY)
def strided(op: StridedOp, constants: Constants) -> KernelCall:
    op.need_meaning()
    return strided_call(op, op.input, *op.places)


@kernel(DepthToSpaceOp, ANY, "nhwc")
def depth_to_space(op: DepthToSpaceOp, constants: Constants) -> KernelCall:
    """A block of pixels from the channels of one."""
    need_same_numbers(op, op.input, op.result)
    if len(shape_of(op.input)) != 4:
        raise refuse(op, f"images of {len(shape_of(op.input))} dimensions")
    (n, h, w, c), block = shape_of(op.input), op.block.value.data
    out = c // (block * block)
    each, pixel = (block * block, 1) if op.by_channel is not None else (1, out)
    sizes = (n, h, block, w, block, out)
    return strided_call(op, op.input, 0, sizes, (h * w * c, w * c, block * pixel, c, pixel, each))


@kernel(PackOp, ANY)
def pack(op: PackOp, constants: Constants) -> list[KernelCall]:
    """A copy per operand."""
    need_same_numbers(op, *op.inputs, op.result)
    count, elements = op.stretches
    size, calls = elements * bytes_per_element(op, op.result), list[KernelCall]()
    for number, value in enumerate(op.inputs):
        operand = tensor_or_bytes(value, constants)
        copy = copy_call(operand, count, size, (size, size * len(op.inputs)))
        calls.append(moved(copy, 0, number * size))
    return calls if size * count else []


@kernel(UnpackOp, ANY)
def unpack(op: UnpackOp, constants: Constants) -> list[KernelCall]:
    """A copy per result."""
    need_same_numbers(op, op.input, *op.parts)
    count, elements = op.stretches
    size = elements * bytes_per_element(op, op.input)
    copy = copy_call(op.input, count, size, (size * len(op.parts), size))
    return [moved(copy, k * size, 0, k) for k in range(len(op.parts)) if size * count]


@kernel(GatherNdOp, ANY)
def gather_nd(op: GatherNdOp, constants: Constants) -> KernelCall:
    """Return the call for a tensor or a table in flash."""
    need_same_numbers(op, op.input, op.result)
    shape, depth = shape_of(op.input), op.depth
    bytes_each = math.prod(shape[depth:]) * bytes_per_element(op, op.input)
    count = math.prod(shape_of(op.indices)[:-1])
    if depth > 8 or not count:
        raise refuse(op, f"{count} indices of {depth} dimensions, up to 8 of which there may be")
    steps = [math.prod(shape[i + 1 : depth]) for i in range(depth)]
    indices, form = indices_of(op, op.indices, constants)
    fields = (
        *(("count", count), ("depth", depth), ("bytes", bytes_each), ("form", form)),
        ("size", "{" + ", ".join(map(str, shape[:depth])) + "}"),
        ("step", "{" + ", ".join(map(str, steps)) + "}"),
    )
    operands = tensor_or_table(op, op.input, constants), indices
    return KernelCall("gather_nd", fields, operands, Rows(1, 0, count * bytes_each))


@kernel(GatherAlongOp, ANY)
def gather(op: GatherAlongOp, constants: Constants) -> KernelCall:
    """Return the call for a tensor or a table in flash."""
    need_same_numbers(op, op.input, op.result)
    batches, outer, length, inner, count = op.sizes
    if not (batches and outer and inner and count):
        raise refuse(op, "a tensor without elements")
    size = inner * bytes_per_element(op, op.input)
    indices, form = indices_of(op, op.indices, constants)
    fields = (
        *(("batches", batches), ("outer", outer), ("length", length), ("count", count)),
        *(("bytes", size), ("form", form)),
    )
    operands = tensor_or_table(op, op.input, constants), indices
    return KernelCall("gather", fields, operands, Rows(1, 0, batches * outer * count * size))


@kernel(TransposeOp, "i32, i64, bool")
def transpose_any(op: TransposeOp, constants: Constants) -> KernelCall:
    """Return the call for elements of other types: a kernel that takes them at steps."""
    need_same_numbers(op, op.input, op.result)
    shape = shape_of(op.input)
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    order = [int(v) for v in op.permutation.get_values()]
    return strided_call(op, op.input, 0, shape_of(op.result), tuple(steps[v] for v in order))


@kernel(TransposeOp, "s8, u8, s16, f32", rows=own_rows, stays=_moved_images)
def transpose(op: TransposeOp, constants: Constants) -> KernelCall:
    shape, out = shape_of(op.input), shape_of(op.result)
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    permutation = tuple(int(v) for v in op.permutation.get_values())
    if len(shape) > 4:
        return strided_call(op, op.input, 0, out, tuple(steps[v] for v in permutation))
    strides = four(tuple(steps[v] for v in permutation), 0)
    sizes, in_n = four(out), 0
    if permutation[: len(shape) - 2] == tuple(range(len(shape) - 2)):  # rows of the same number
        in_n, strides = sizes[2] * sizes[3], (0, 0, *strides[2:])
    rows = Rows.of(op, sizes[0] * sizes[1], in_n, sizes[2] * sizes[3])
    return _transpose_call(op, sizes[1:], strides, rows)


@kernel(ChannelPermutationOp, "s8, u8, s16, f32", "nhwc", rows=own_rows)
def channel_permutation(op: ChannelPermutationOp, constants: Constants) -> KernelCall:
    """Transpose groups and the channels in them, pixel by pixel."""
    need_same_numbers(op, op.input, op.result)
    channels, groups = channels_of(op.input), op.groups.value.data
    each = channels // groups
    rows = Rows.of(op, elements_of(op.input) // channels, channels, channels)
    return _transpose_call(op, (1, each, groups), (0, 0, 1, each), rows)


def _transpose_call(
    op: TransposeOp | ChannelPermutationOp,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    rows: Rows,
) -> KernelCall:
    size, stride = ("{" + ", ".join(map(str, v)) + "}" for v in (sizes, strides))
    kind = element_kind(op.input)
    name = f"transpose_{'s8' if kind == 'u8' else kind}"
    return KernelCall(name, (("size", size), ("stride", stride)), (op.input,), rows)
