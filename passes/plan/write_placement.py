"""Writing where every buffer lies: in one arena, or in several memories."""

from collections.abc import Callable, Sequence
from itertools import accumulate, count

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, SSAValue

from memopt.dialects.attributes.placement import ScratchAttr, SlotAttr, UnplacedAttr
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.plan import SCRATCH, set_places
from memopt.dialects.memgraph.tensors import is_buffer
from memopt.dialects.operators.base import is_constant_expression
from memopt.passes.plan.extract import Extracted
from memopt.solvers.problems.memory_graph import round_up

PlaceAt = Callable[[int, int], int | SlotAttr]


def write_placement(
    extracted: Extracted, order: Sequence[int], place_at: PlaceAt, scratch_at: PlaceAt | None = None
) -> None:
    """Write the place of every value and of all scratch into the function.

    `place_at` takes a buffer of `live_ranges(extracted.graph, order)` and bytes from its start; it
    answers an offset in the only arena, or a place in one of several memories. `scratch_at` takes
    an operator and the index of one of its scratches; without it they lie one behind the other in
    the operator's workspace.
    """
    func, memory, model = extracted.func, extracted.memory, extracted.model

    def where(value: SSAValue) -> Attribute:
        at = memory.of_value.get(value)
        piece = memory.groups[at[0]].piece if at else None
        if at and piece is not None:  # a part lies where its tensor lies
            at = piece[0], piece[1] + at[1]
        group = extracted.group_of[at[0]] if at else None
        if at and group is not None:
            place = place_at(group, at[1])
            return number(place) if isinstance(place, int) else place
        if at:
            return UnplacedAttr("caller")
        if value in memory.virtual:
            return UnplacedAttr("virtual")
        constant = is_buffer(value.type) and is_constant_expression(value, model)
        return UnplacedAttr("constant" if constant else "runtime")

    set_places(func, where)
    workspaces = count(len(extracted.graph.groups))
    at_one = extracted.shared
    for index in order:
        sizes = memory.memory[index].workspace
        shared = {k: at_one[index, k] for k in range(len(sizes)) if (index, k) in at_one}
        if extracted.graph.extra[index] <= 0 and not shared:
            continue
        if scratch_at is not None:
            places = [scratch_at(index, k) for k in range(len(sizes))]
        else:
            workspace = next(workspaces) if extracted.graph.extra[index] > 0 else None
            own = [0 if k in shared else size for k, size in enumerate(sizes)]
            starts = accumulate((round_up(s, model.alignment.data) for s in own), initial=0)
            places: list[int | SlotAttr] = []
            for k, start in zip(range(len(sizes)), starts, strict=False):
                if k in shared:
                    places.append(place_at(shared[k], 0))
                else:
                    places.append(0 if workspace is None else place_at(workspace, start))
        memory.operations[index].attributes[SCRATCH] = ArrayAttr(
            [ScratchAttr(size, place) for size, place in zip(sizes, places, strict=False)]
        )
