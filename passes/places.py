"""Writing where every buffer lies: in one arena, in several memories, or in shared objects."""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue

from memopt.dialects.memory import is_buffer
from memopt.dialects.operations import is_constant_expression
from memopt.dialects.plan import MEMORIES, SCRATCH, set_places
from memopt.dialects.plan_attributes import ObjectAttr, ScratchAttr, SlotAttr, UnplacedAttr
from memopt.passes.extract import Extracted
from memopt.solvers.problem import round_up

PlaceAt = Callable[[int, int], int | SlotAttr | ObjectAttr]


def write_places(extracted: Extracted, order: Sequence[int], place_at: PlaceAt) -> None:
    """Write the place of every value and of all scratch into the function.

    `place_at` takes a buffer of `live_ranges(extracted.graph, order)` and bytes from its start; it
    answers an offset in the arena, or a place in another memory.
    """
    func, memory, model = extracted.func, extracted.memory, extracted.model
    func.attributes.pop(MEMORIES, None)  # whoever places in memories says afterwards in which

    def where(value: SSAValue) -> Attribute:
        at = memory.of_value.get(value)
        group = extracted.group_of[at[0]] if at else None
        if at and group is not None:
            found = place_at(group, at[1])
            return IntegerAttr(found, i64) if isinstance(found, int) else found
        if at:
            return UnplacedAttr("caller")
        constant = is_buffer(value.type) and is_constant_expression(value, model)
        return UnplacedAttr("constant" if constant else "runtime")

    set_places(func, where)
    next_buffer = len(extracted.graph.groups)
    for index in order:
        op, m = memory.operations[index], memory.memory[index]
        if extracted.graph.extra[index] <= 0:
            continue
        inside = 0
        scratch: list[ScratchAttr] = []
        for size in m.workspace:
            scratch.append(ScratchAttr(size, place_at(next_buffer, inside)))
            inside += round_up(size, model.alignment.data)
        next_buffer += 1
        op.attributes[SCRATCH] = ArrayAttr(scratch)
