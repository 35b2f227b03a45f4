"""Operands of indices, which kernels read by `memopt_index.h`."""

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.emit.call import Constants, Table, element_kind, refuse
from memopt.dialects.operators.gathering import IndexingOp

WIDE, FROM_END = 1, 2


def indices_of(
    op: Operation, indices: SSAValue, constants: Constants
) -> tuple[SSAValue | Table, int]:
    """Return the indices, a tensor or a table in flash, and how they are read: of int64, from the
    end if below zero. Those in flash are neither."""
    kind, array = element_kind(indices), constants(indices)
    if array is None:
        if kind not in ("i32", "i64"):
            raise refuse(op, f"indices of {kind}")
        from_end = isinstance(op, IndexingOp) and op.from_end is not None
        return indices, (WIDE if kind == "i64" else 0) | (FROM_END if from_end else 0)
    places = op.places(array) if isinstance(op, IndexingOp) else array
    # what there is not is not there either, or has the same neighbour, as the last int32
    return Table("int32_t", places.clip(-(1 << 31), (1 << 31) - 1).astype("int32")), 0
