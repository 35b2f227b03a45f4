"""Broadcasts that no kernel's steps reach: a kernel of two operands, row by row where it can be.

[2, 4, 5, 6] + [2, 1, 1, 6]: 2 x 20 rows of 6, the right operand's the same for 20 of them.
"""

from collections.abc import Sequence
from itertools import groupby
from math import prod

from xdsl.ir import Operation

from memopt.backends.c.emit.call import KernelCall, Rows, bytes_per_element, refuse
from memopt.backends.c.emit.int8 import Fields
from memopt.dialects.memgraph.tensors import shape_of

DIMENSIONS = 6  # of memopt_broadcast_params

Group = tuple[int, int, int]
"""A size, whether the left operand has that dimension, and whether the right one has."""


def broadcast_call(op: Operation, kernel: str, fields: Fields) -> KernelCall:
    """`kernel` as binary_call would call it for the last dimensions, once for each row of the
    others. Refuses more dimensions than there are parameters for, and one row of a result where
    an operand is there as a whole."""
    shapes, out = [shape_of(v) for v in op.operands], shape_of(op.results[0])
    if not all(_reaches(shape, out) for shape in shapes):
        raise refuse(op, f"the broadcast {' with '.join(map(str, shapes))}")
    *outer, (row_n, *has) = groups_of(shapes, out)
    steps = (("a_step", has[0]), ("b_step", has[1]), ("a_row_step", 0), ("b_row_step", 0))
    row = KernelCall(kernel, (("row_n", row_n), *fields, *steps), (), Rows(1, 0, 0))
    widths = [bytes_per_element(op, v) for v in op.operands]
    units = [width * (row_n if of_row else 1) for width, of_row in zip(widths, has, strict=True)]
    return repeated_call(op, row, outer, units, row_n * bytes_per_element(op, op.results[0]))


def repeated_call(
    op: Operation, row: KernelCall, outer: Sequence[Group], units: Sequence[int], row_bytes: int
) -> KernelCall:
    """Return the call of `row` once for each index of the dimensions `outer`. It reads `units`
    bytes of each operand and makes `row_bytes`. Refuses more dimensions than there are parameters
    for."""
    if len(outer) > DIMENSIONS:
        raise refuse(op, f"a broadcast in {len(outer) + 1} dimensions")
    sizes = [1] * (DIMENSIONS - len(outer)) + [group[0] for group in outer]
    steps = [_braced(_steps(k, unit, outer)) for k, unit in enumerate(units)]
    return KernelCall(
        "broadcast",
        (
            ("kernel", f"memopt_{row.kernel}"),
            ("row", row),
            ("row_bytes", row_bytes),
            ("size", _braced(sizes)),
            ("step", _braced(steps)),
        ),
        tuple(op.operands),
        Rows(1, 0, prod(sizes) * row_bytes),
    )


def _reaches(shape: tuple[int, ...], out: tuple[int, ...]) -> bool:
    return all(n in (1, of) for n, of in zip(shape[::-1], out[::-1], strict=False))


def groups_of(shapes: Sequence[tuple[int, ...]], out: tuple[int, ...]) -> list[Group]:
    """Return neighbouring dimensions that each operand has or has not as one."""
    wide = [(1,) * (len(out) - len(s)) + s for s in shapes]
    dimensions = [
        (n, int(a == n), int(b == n)) for n, a, b in zip(out, *wide, strict=True) if n != 1
    ] or [(1, 1, 1)]
    return [
        (prod(n for n, *_ in group), *has)
        for has, group in groupby(dimensions, lambda g: (g[1], g[2]))
    ]


def _steps(operand: int, unit: int, outer: Sequence[Group]) -> list[int]:
    """Return the bytes of an operand, of so many in a row, to the next along each dimension."""
    steps = list[int]()
    for i, (_, *has) in enumerate(outer):
        behind = prod(n for n, *those in outer[i + 1 :] if those[operand])
        steps.append(behind * unit * has[operand])
    return [0] * (DIMENSIONS - len(steps)) + steps


def _braced(values: Sequence[int | str]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"
