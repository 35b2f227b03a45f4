"""How wide the tables of rows are: a place is a number of units, its highest bits say in which
memory if there are several."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from memopt.backends.c.emit.call import refuse
from memopt.backends.c.emit.layout import Address
from memopt.backends.c.rows.row_places import Places
from memopt.backends.c.rows.row_program import Move, RowOperator
from memopt.backends.c.rows.row_runs import more_of


@dataclass(frozen=True)
class Numbers:
    """`bases`: the memories that rows lie in, pointers in C. `unit`: the largest power of two of
    which every place, in bytes, is a multiple. Bits: of a place, of those the ones that number a
    memory, of a row's number and of an operator's. `more`: above all numbers of operators, added to
    one in calls[] for each row that is made besides the first."""

    bases: tuple[str, ...]
    unit: int
    place_bits: int
    memory_bits: int
    row_bits: int
    operator_bits: int
    more: int

    def place(self, address: Address) -> int:
        memory = self.bases.index(address.base)
        return (memory << (self.place_bits - self.memory_bits)) + address.offset // self.unit


def numbers_of(
    operators: Sequence[RowOperator],
    received: Places = (),
    moves: Sequence[Move] = (),
    more: int = 0,
) -> Numbers:
    """Return the types of numbers into which all tables fit.

    `received` are the places of an input's rows, `more` how many rows a call makes at most besides
    the first. Refuses places that no table reaches.
    """
    tables: list[Places] = [received, *(p for o in operators for p in o.places)]
    tables += [(m.to, m.source) for m in moves]
    addresses = [a for places in tables for a in places]
    bases = tuple(dict.fromkeys(a.base for a in addresses))
    common = gcd(*(a.offset for a in addresses)) or 1
    unit = common & -common
    memory_bits = (len(bases) - 1).bit_length()
    reach = max(a.offset for a in addresses) // unit << memory_bits
    if reach >= 1 << 32:
        raise refuse(operators[0].whole, "rows so far apart that no table reaches them")
    counts = [len(moves), *(len(p) for p in tables)]
    for o in operators:
        counts.append(o.call.call.rows.end)
        if (w := o.call.window) is not None:
            counts += (w.step, w.before, w.size, w.per)
    above = len(operators) + bool(moves)  # a row to be received
    return Numbers(
        bases,
        unit,
        16 if reach < 1 << 16 else 32,
        memory_bits,
        16 if max(counts) < 1 << 15 else 32,
        8 if above + more * more_of(above) <= 255 else 16,
        more_of(above),
    )
