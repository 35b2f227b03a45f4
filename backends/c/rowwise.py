"""Calls that several families make: bytes moved, one value made of one, a table of 256."""

from collections.abc import Callable
from dataclasses import replace

from xdsl.ir import SSAValue

from memopt.backends.c.call import KernelCall, Rows, Table, size_of, split_rows
from memopt.dialects.operators.unary import UnaryOp
from memopt.dialects.tensors import bytes_of, shape_of


def copy_call(
    operand: SSAValue | Table, rows: int, row_bytes: int, strides: tuple[int, int]
) -> KernelCall:
    """`rows` stretches of `row_bytes` bytes, from and to `strides` bytes apart."""
    return KernelCall("copy", "uint8_t", (("row_n", row_bytes),), (operand,), Rows(rows, *strides))


def moved(call: KernelCall, in_offset: int, out_offset: int, result: int = 0) -> KernelCall:
    """The call at other elements of its operand and result, or for result number `result`."""
    return replace(call, in_offset=in_offset, out_offset=out_offset, result=result)


def bytes_per_element(value: SSAValue) -> int:
    """Bytes of one element."""
    return (bytes_of(value.type) or 0) // max(1, size_of(value))


def rowwise(
    op: UnaryOp, kernel: str, result: str, fields: tuple[tuple[str, object], ...], operand: str
) -> KernelCall:
    """A kernel that makes one element of one, row by row."""
    rows, row_n = split_rows(shape_of(op.result))
    return KernelCall(
        kernel,
        result,
        (("row_n", row_n), *fields),  # type: ignore[arg-type]
        (op.input,),
        Rows(rows, row_n, row_n),
        operand_types=(operand,),
    )


def lookup(op: UnaryOp, function: Callable[[int], int]) -> KernelCall:
    """An int8 function of one value as a table of 256."""
    import numpy as np

    table = np.array([function(x) for x in range(-128, 128)], dtype=np.int8)
    fields = (("table", Table("int8_t", table)),)
    return rowwise(op, "lookup_s8", "int8_t", fields, "int8_t")
