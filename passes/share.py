"""`method=shared-objects` of memgraph-place, and its kind: an object for each buffer, no arena.

Before:  %a = memgraph.relu %x {memgraph.order = 0 : i64} : (T) -> T
After:   %a = memgraph.relu %x {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<1>]}

The plan lists the bytes of the objects and what bounds their sum (solvers/shared_objects/).
"""

from dataclasses import replace

from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.errors import MemoptError
from memopt.dialects.place_attributes import ObjectAttr
from memopt.passes.places import write_places
from memopt.passes.planned import Facts, Planned
from memopt.solvers.problems.memory_graph import ProblemError, live_ranges
from memopt.solvers.shared_objects import METHODS, share

__all__ = ["METHODS", "share_function"]


def share_function(
    planned: Planned, facts: Facts, method: str, time_limit: float | None
) -> Planned:
    """Write the objects of one function's buffers; the plan is not written yet.

    Raises MemoptError for TFLM, which has one arena, and PassFailedException if a solver refuses.
    """
    extracted = planned.extracted
    func = extracted.func
    name = f"@{func.sym_name.data}"
    if extracted.model.target.data == "tflm":
        text = "TensorFlow Lite Micro has one arena and takes no shared objects"
        raise MemoptError(f"--place={method}: {text}", name)
    order = range(len(extracted.graph))
    try:
        answer = share(live_ranges(extracted.graph, order), method, time_limit)
    except ProblemError as error:
        raise PassFailedException(f"memgraph-place: {name}: {error}") from error
    # buffers of 0 bytes are in the first object; if all are, one arena of 0 bytes is the same
    objects = [max(k, 0) for k in answer.objects]
    if answer.sizes:
        write_places(extracted, order, lambda buffer, inside: ObjectAttr(objects[buffer], inside))
    else:
        write_places(extracted, order, lambda _, inside: inside)
    arena, sizes = (answer.total, facts.lower_bound), (answer.sizes, answer.lower_bound)
    return replace(planned, facts=replace(facts, arena=arena, objects=sizes), is_written=False)
