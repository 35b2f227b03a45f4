"""Check of a plan's partition: parts run one after the other, in their numbers.

    %a = ... {memgraph.partition = 0 : i64, memgraph.order = 0 : i64}
    %b = ... {memgraph.partition = 1 : i64, memgraph.order = 1 : i64}

A part that nobody is in is no fault: dead code may have gone. Part of the plan verifier, so it
shares no code with the passes that partition.
"""

from collections.abc import Sequence

from xdsl.ir import Operation

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import operator_name, place_of
from memopt.dialects.memgraph.plan import PARTITION, is_number


def check_parts(operations: Sequence[Operation]) -> None:
    """Raise MemoptError unless the parts of executing operations never decrease along their order.

    Either all of them have a part or none has.
    """
    if all(PARTITION not in op.attributes for op in operations):
        return
    reached = 0
    for op in operations:
        attr = op.attributes.get(PARTITION)
        name = operator_name(op)
        if attr is None:
            raise MemoptError(f"{name!r} has no {PARTITION}, other operations have", place_of(op))
        if not is_number(attr) or attr.value.data < 0:
            raise MemoptError(f"{PARTITION} must be a number from 0 on", place_of(op))
        if attr.value.data < reached:
            raise MemoptError(
                f"{name!r} of part {attr.value.data} runs after part {reached} has begun",
                place_of(op),
            )
        reached = attr.value.data
