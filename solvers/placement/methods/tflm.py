"""TensorFlow Lite Micro's own GreedyMemoryPlanner, reproduced exactly: the baseline.

As in tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc (Apache-2.0; read, not copied):
buffers with an offline offset are laid first, as they come; the others are listed from the last
added to the first, sorted by size, descending and stable, and put one by one into the first gap
that holds them. Live ranges there are closed: [first, last] is [first, last + 1) here. A buffer of
0 bytes still ends a gap.

The ids there are the order in which the allocator adds the buffers: tensors by their index in the
file, then scratch buffers. `order` gives that order where it is not the problem's own.
"""

from collections.abc import Sequence

from memopt.solvers.placement.address_space import address_space
from memopt.solvers.placement.rectangles import placement_of
from memopt.solvers.problems.placement import Placement, PlacementProblem


def solve(
    problem: PlacementProblem, time_limit: float | None = None, order: Sequence[int] | None = None
) -> Placement:
    """`order` lists the buffers as TFLM would add them; `time_limit` is not used."""
    items = problem.items
    index_of = {b: item.index for item in items for b in item.members}
    added = [index_of[b] for b in (range(len(problem.buffers)) if order is None else order)]
    ids = [items[index] for index in dict.fromkeys(added)]
    online = sorted((i for i in reversed(ids) if i.fixed is None), key=lambda i: -i.size)
    space = address_space(items)
    for item in [i for i in ids if i.fixed is not None] + online:
        offset = space.first_fit(item) if item.fixed is None else item.fixed
        if item.pieces:
            space.put(item, offset)
        else:
            space.end_gap(item, offset)
    return placement_of(problem, items, space.offsets)
