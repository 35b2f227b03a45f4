"""Any function of a byte."""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, i8
from xdsl.irdl import prop_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    element_of,
    integer_type,
    limits_of,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.operators.base import ROUNDING, TYPES, Range
from memopt.dialects.operators.unary import UnaryOp, extremes_of_bytes

ENTRIES = 256


@operation_definition
class LookupOp(UnaryOp):
    """The entry of each byte in a `table` of 256, the first of which is of the least byte."""

    name = "memgraph.lookup"
    table = prop_def(DenseArrayBase.constr(i8))
    assembly_format = "$input `table` $table" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        super().verify_()
        for value in (self.input, self.result):
            bits = integer_type(element_of(value))
            self.require(bits in ((8, False), (8, True)), "a tensor of bytes is needed")
        count = len(self.table)
        self.require(count == ENTRIES, f"a table of {ENTRIES} entries is needed, not of {count}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if operands[0].itemsize > 1 or dtype_of(self.result).itemsize > 1:
            raise unknown(self, f"a table of {operands[0].dtype} for {dtype_of(self.result)}")
        entries = cast("DenseArrayBase[Any]", self.table).get_values()
        table = np.array(entries, np.int8).view(dtype_of(self.result))
        return [table[operands[0].astype(np.int16) - limits_of(self, self.input)[0]]]

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Return the ends of the result, exactly."""
        return extremes_of_bytes(self, least[0], most[0])
