"""Operations that add up one buffer: which of them overwrites it, which add, and which is the last.

    %1 = memgraph.conv_2d %a, ...          overwrites, whatever its place among the operands
    %2 = memgraph.conv_2d %b, ...          adds to what is there; of reals, it finishes the sum
    %y = memgraph.accumulate %1, %2, ...   requantises sums of integers, is nothing for reals

As they stand in the function, which is their planned order.
"""

from dataclasses import dataclass

from xdsl.ir import Block, Operation

from memopt.backends.c.call import Constants, Table, refuse
from memopt.backends.c.float32 import float_bias, float_result_range
from memopt.dialects.operators.accumulation import AccumulateOp, sum_of
from memopt.dialects.stored import is_stored

Fields = tuple[tuple[str, "int | float | str | Table"], ...]


@dataclass(frozen=True)
class Part:
    """What an operation does to the buffer of a sum: it `adds` to what is there or overwrites it,
    and may be the `last` to add."""

    whole: AccumulateOp
    adds: bool
    last: bool

    @property
    def finishes(self) -> bool:
        """Whether it leaves the result of the sum."""
        return self.last and not is_stored(self.whole.result)


def part_of(op: Operation) -> Part:
    """What an operation of which there is a sum does to its buffer."""
    whole, block = sum_of(op), op.parent
    assert whole is not None and isinstance(block, Block)
    makers = {v.owner for v in whole.sums}
    found = [other for other in block.ops if other in makers]
    return Part(whole, found[0] is not op, found[-1] is op)


def real_part(op: Operation, channels: int, constants: Constants) -> Fields:
    """The fields adds, act_min, act_max and bias of reals that are added up: bias and activation
    come with the last of them. Refuses a mean."""
    part = part_of(op)
    if part.whole.mean is not None:
        raise refuse(part.whole, f"a mean of what {op.name} leaves, only of means")
    bias = part.whole.bias if part.finishes else None
    return (
        ("adds", int(part.adds)),
        *float_result_range(part.whole if part.finishes else op),
        ("bias", float_bias(op, bias, channels, constants)),
    )
