"""The verifier's own count of traffic off the chip, where the claim lists what is not kept on it.

memgraph.off_chip = #memgraph.off_chip<on_chip = 96, ..., moved = 128, ..., outside = [0, 1]>

It walks through the steps with what is on the chip in each, and shares nothing with the solvers.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from memopt.dialects.attributes.off_chip import OffChipAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.verify.groups import Reading, read_function


@dataclass
class _Life:
    """Steps that touch a tensor: `made` (-1 for an argument), `reads` ascending; `stays`: it is
    wanted at the end."""

    made: int
    reads: list[int]
    stays: bool

    def stretches(self, end: int) -> list[tuple[int, int, bool]]:
        """Return (first step, last step, read at the last) between its touches; `end` is behind
        the last step."""
        result: list[tuple[int, int, bool]] = []
        at = self.made
        for step in self.reads:
            result.append((at, step, True))
            at = step
        if self.stays:
            result.append((at, end, False))
        elif self.made >= 0 and not self.reads:
            result.append((at, at, False))
        return result


def check_outside(func: FuncOp, claim: OffChipAttr) -> None:
    """Raise MemoptError unless all that is not `outside` fits on the chip at once, in every step,
    and the rest moves the bytes that are stated."""
    place = f"@{func.sym_name.data}"
    reading, on_chip = read_function(func, model_of(func)), claim.on_chip.data
    alignment, end = model_of(func).alignment.data, len(reading.operations)
    outside = set(claim.outside.get_values())
    change = [0] * (end + 1)  # of the bytes that are kept, from step to step
    moved = number = 0
    lives = _lives(func, reading)
    beside = Counter(reading.of_value[value][0] for value in lives)
    for value, life in lives.items():
        size = exact = bytes_of(value.type) or 0
        if beside[reading.of_value[value][0]] == 1:
            size += -size % alignment
        reached, is_out = 0, False  # steps before it are counted already
        for first, last, is_read in life.stretches(end):
            if number in outside:
                is_out = True
                moved += exact if is_read else 0
            else:
                start, stop = max(first, reached), min(last + 1, end)
                change[start] += size
                change[stop] -= size
                reached = stop
            number += 1
        moved += exact if is_out and life.made >= 0 else 0
    if any(n >= number for n in outside) or len(outside) != len(claim.outside.get_values()):
        text = f"memgraph.off_chip: outside must list different numbers below {number}"
        raise MemoptError(text, place)
    steps = zip(reading.operations, reading.memory, accumulate(change[:-1]), strict=True)
    for op, memory, tensors in steps:
        size = tensors + sum(w + -w % alignment for w in memory.workspace)
        if size > on_chip:
            text = f"memgraph.off_chip: {size} B are kept in this step, {on_chip} B fit"
            raise MemoptError(text, place_of(op))
    if moved != claim.moved.data:
        text = f"memgraph.off_chip: what is outside moves {moved} B, not {claim.moved.data} B"
        raise MemoptError(text, place)


def _lives(func: FuncOp, reading: Reading) -> dict[SSAValue, _Life]:
    """Return the life of each value with bytes of its own in the arena. Raises MemoptError for
    what shares bytes in another way than by a view."""
    if reading.overwrites or reading.added or reading.virtual:
        others = [*reading.virtual, *reading.added]
        name = name_of(others[0]) if others else "a result in place"
        raise MemoptError(f"memgraph.off_chip: {name} is not modelled", f"@{func.sym_name.data}")
    block = body_of(func)
    returned = list(block.last_op.operands) if block.last_op is not None else []
    lives: dict[SSAValue, _Life] = {}
    shown: dict[SSAValue, list[SSAValue]] = {}

    def declare(value: SSAValue, step: int) -> None:
        at = reading.of_value.get(value)
        if at is not None and reading.groups[at[0]].in_arena:
            is_kept = isinstance(value, BlockArgument) and model_of(func).io.data == "kept"
            lives[value], shown[value] = _Life(step, [], is_kept), [value]

    for argument in block.args:
        declare(argument, -1)
    for op, step in reading.walk:
        if step is None:
            for alias in reading.views.get(op, ()):
                below = shown.get(op.operands[alias.operand], [])
                shown.setdefault(op.results[alias.result], []).extend(below)
            continue
        touched = {w for v in reading.reads[step] for w in shown.get(v, ())}
        for value in touched:
            lives[value].reads.append(step)
        for value in op.results:
            declare(value, step)
    for value in returned:
        for origin in shown.get(value, ()):
            lives[origin].stays = True
    return lives
