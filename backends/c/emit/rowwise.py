"""Calls that several families make: images row by row, bytes moved, one value made of one."""

from dataclasses import replace
from typing import Any

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.emit.call import Array, Constants, KernelCall, Rows, Table, split_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.operators.unary import UnaryOp

Fields = tuple[tuple[str, Any], ...]


def image_call(op: Operation, kernel: str, fields: Fields) -> KernelCall:
    """A kernel that makes rows of one image of rows of one (NHWC); images one after the other."""
    source, result = op.operands[0], op.results[0]
    shape, out = shape_of(source), shape_of(result)
    return KernelCall(
        kernel,
        fields,
        (source,),
        Rows.of(op, out[1], shape[2] * shape[3], out[2] * out[3]),
        batches=out[0],
        in_batch=(bytes_of(source.type) or 0) // shape[0],
        out_batch=(bytes_of(result.type) or 0) // out[0],
    )


def a_few(count: int) -> int:
    """Return how many of `count` parts of a row a kernel keeps in scratch at a time to take little
    of it, as little for any row; 0 if that is all. It takes 1.2 to 2 times the instructions."""
    few = 4 if count >= 8 else 2
    return few if few < count else 0


def copy_call(
    operand: SSAValue | Table, rows: int, row_bytes: int, strides: tuple[int, int]
) -> KernelCall:
    """`rows` stretches of `row_bytes` bytes, from and to `strides` bytes apart."""
    return KernelCall("copy", (("row_n", row_bytes),), (operand,), Rows(rows, *strides))


def as_bytes(array: Array) -> Array:
    """Return a constant as kernels that move bytes read it."""
    return np.frombuffer(array.tobytes(), np.uint8)


def tensor_or_bytes(value: SSAValue, constants: Constants) -> SSAValue | Table:
    """An operand of what moves bytes, as a table of bytes if it is a constant."""
    array = constants(value)
    return value if array is None else Table("uint8_t", as_bytes(array))


def moved(call: KernelCall, in_offset: int, out_offset: int, result: int = 0) -> KernelCall:
    """The call at other bytes of its operand and result, or for result number `result`."""
    return replace(call, in_offset=in_offset, out_offset=out_offset, result=result)


def rowwise(op: UnaryOp, kernel: str, fields: Fields = ()) -> KernelCall:
    """A kernel that makes one element of one, row by row."""
    rows, row_n = split_rows(shape_of(op.result))
    fields = (("row_n", row_n), *fields)
    return KernelCall(kernel, fields, (op.input,), Rows.of(op, rows, row_n, row_n))


def lookup(op: UnaryOp) -> KernelCall:
    """An operation of one byte, signed or not, as a table of 256: what it evaluates to. Kernels
    read the bytes as int8. Raises MemoptError where its numbers have no meaning."""
    every = np.arange(-128, 128).astype(np.int8).view(dtype_of(op.input))
    (table,) = op.evaluate([every])
    if table.itemsize == 1:
        of_bytes = Table("int8_t", table.view(np.int8), is_looked_up=True)
        return rowwise(op, "lookup_s8", (("table", of_bytes),))
    wide = Table("int16_t", table, is_looked_up=True)
    return rowwise(op, "lookup_s8_s16", (("table", wide),))
