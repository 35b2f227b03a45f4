"""Kernels of pools that remember the places of their elements, and of their inverse."""

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, refuse, tensor_or_table
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import moved
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.unpooling import MaxPoolPlacesOp, MaxUnpoolOp, PlacesOp


def _fields(
    op: PlacesOp, large: tuple[int, ...], small: tuple[int, ...]
) -> tuple[tuple[str, int], ...]:
    if not elements_of(op.operands[0]):
        raise refuse(op, "a tensor without elements")
    kernel, stride, pad = op.sizes()
    return (
        *(("images", large[0]), ("channels", large[3])),
        *(("large_h", large[1]), ("large_w", large[2])),
        *(("small_h", small[1]), ("small_w", small[2])),
        *(("k_h", kernel[0]), ("k_w", kernel[1])),
        *(("stride_h", stride[0]), ("stride_w", stride[1])),
        *(("pad_top", pad[0]), ("pad_left", pad[1])),
    )


@kernel(MaxPoolPlacesOp, "f32")
def max_pool_places(op: MaxPoolPlacesOp, constants: Constants) -> list[KernelCall]:
    """Return a call for the elements and one for their numbers."""
    fields = _fields(op, shape_of(op.input), shape_of(op.result))
    calls: list[KernelCall] = []
    for number in range(2):
        each = (*fields, ("numbers", number))
        call = KernelCall("max_pool_places_f32", each, (op.input,), Rows(1, 0, 0))
        calls.append(moved(call, 0, 0, number))
    return calls


@kernel(MaxUnpoolOp, "f32")
def max_unpool(op: MaxUnpoolOp, constants: Constants) -> KernelCall:
    fields = _fields(op, shape_of(op.result), shape_of(op.input))
    operands = tuple(tensor_or_table(op, v, constants) for v in op.operands)
    return KernelCall("max_unpool_f32", fields, operands, Rows(1, 0, 0))
