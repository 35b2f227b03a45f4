"""Calls of the kernel that takes elements at steps."""

import math

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.emit.call import KernelCall, Rows, bytes_per_element, refuse

DIMENSIONS = 8  # of memopt_strided_params


def strided_call(
    op: Operation, value: SSAValue, start: int, sizes: tuple[int, ...], steps: tuple[int, ...]
) -> KernelCall:
    """The elements of `value` from number `start` on, see StridedOp. Dimensions that are one walk
    are one. Refuses more than there are parameters for."""
    walk: list[tuple[int, int]] = []
    for size, step in zip(sizes, steps, strict=True):
        if size == 1:
            continue
        if walk and walk[-1][1] == size * step:
            walk[-1] = (walk[-1][0] * size, step)
        else:
            walk.append((size, step))
    if len(walk) > DIMENSIONS:
        raise refuse(op, f"elements in {len(walk)} dimensions, only in {DIMENSIONS}")
    if 0 in sizes:
        raise refuse(op, "a tensor without elements")
    walk = [(1, 1)] * (DIMENSIONS - len(walk)) + walk
    width = bytes_per_element(op, value)
    size, step = ("{" + ", ".join(map(str, v)) + "}" for v in zip(*walk, strict=True))
    fields = (("bytes", width), ("start", start), ("size", size), ("step", step))
    return KernelCall("strided", fields, (value,), Rows(1, 0, math.prod(sizes) * width))
