"""Broadcasts that no kernel's steps reach: a kernel of two operands, row by row where it can be.

[2, 4, 5, 6] + [2, 1, 1, 6]: 2 x 20 rows of 6, the right operand's the same for 20 of them.
"""

from collections.abc import Sequence
from itertools import groupby
from math import prod

from xdsl.ir import Operation

from memopt.backends.c.call import KernelCall, Rows, bytes_per_element, refuse
from memopt.backends.c.int8 import Fields
from memopt.dialects.tensors import shape_of

DIMENSIONS = 6  # of memopt_broadcast_params


def broadcast_call(op: Operation, kernel: str, fields: Fields) -> KernelCall:
    """`kernel` as binary_call would call it for the last dimensions, once for each row of the
    others. Refuses more dimensions than there are parameters for, and one row of a result where
    an operand is there as a whole."""
    shapes, out = [shape_of(v) for v in op.operands], shape_of(op.results[0])
    if not all(_reaches(shape, out) for shape in shapes):
        raise refuse(op, f"the broadcast {' with '.join(map(str, shapes))}")
    groups = _groups(shapes, out)
    *outer, (row_n, *has) = groups
    if len(outer) > DIMENSIONS:
        raise refuse(op, f"a broadcast in {len(groups)} dimensions")
    steps = (("a_step", has[0]), ("b_step", has[1]), ("a_row_step", 0), ("b_row_step", 0))
    row = KernelCall(kernel, (("row_n", row_n), *fields, *steps), (), Rows(1, 0, 0))
    sizes = [1] * (DIMENSIONS - len(outer)) + [g[0] for g in outer]
    size = prod(shape_of(op.results[0])) * bytes_per_element(op, op.results[0])
    return KernelCall(
        "broadcast",
        (
            ("kernel", f"memopt_{kernel}"),
            ("row", row),
            ("row_bytes", row_n * bytes_per_element(op, op.results[0])),
            ("size", _braced(sizes)),
            ("step", _braced([_braced(_steps(op, k, groups)) for k in range(2)])),
        ),
        tuple(op.operands),
        Rows(1, 0, size),
    )


def _reaches(shape: tuple[int, ...], out: tuple[int, ...]) -> bool:
    return all(n in (1, of) for n, of in zip(shape[::-1], out[::-1], strict=False))


def _groups(shapes: Sequence[tuple[int, ...]], out: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """(size, whether the left operand has it, the right one) of neighbouring dimensions that each
    operand has or has not."""
    wide = [(1,) * (len(out) - len(s)) + s for s in shapes]
    found = [
        (n, int(a == n), int(b == n)) for n, a, b in zip(out, *wide, strict=True) if n != 1
    ] or [(1, 1, 1)]
    return [
        (prod(n for n, *_ in group), *has) for has, group in groupby(found, lambda g: (g[1], g[2]))
    ]


def _steps(op: Operation, operand: int, groups: Sequence[tuple[int, int, int]]) -> list[int]:
    """Bytes of an operand to the next along each dimension but the last."""
    width, found = bytes_per_element(op, op.operands[operand]), list[int]()
    for i, (_, *has) in enumerate(groups[:-1]):
        behind = prod(n for n, *those in groups[i + 1 :] if those[operand])
        found.append(behind * width * has[operand])
    return [0] * (DIMENSIONS - len(found)) + found


def _braced(values: Sequence[int | str]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"
