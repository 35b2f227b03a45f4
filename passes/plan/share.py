"""`method=shared-objects` of memgraph-place, and its kind: an object for each buffer, no arena.

Before:  %a = memgraph.relu %x {memgraph.order = 0 : i64} : (T) -> T
After:   %a = memgraph.relu %x {memgraph.order = 0 : i64,
                                memgraph.offset = [#memgraph.slot<object1, 0>]} : (T) -> T

An object is a memory of the plan that holds one buffer at a time; the plan says what bounds the
sum of their bytes (solvers/shared_objects/).
"""

from dataclasses import replace

from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.attributes.memories import MemoryAttr
from memopt.dialects.attributes.placement import SlotAttr
from memopt.dialects.attributes.runtimes import interpreter_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.write_plan import Facts
from memopt.passes.plan.planned import Planned
from memopt.passes.plan.write_placement import write_placement
from memopt.solvers.problems.memory_graph import ProblemError, live_ranges
from memopt.solvers.problems.placement import PlacementProblem
from memopt.solvers.shared_objects import METHODS, share

__all__ = ["METHODS", "share_function"]


def share_function(
    planned: Planned, facts: Facts, method: str, time_limit: float | None, **options: object
) -> Planned:
    """Write the objects of one function's buffers; the plan is not written yet.

    Raises MemoptError for TFLM, which has one arena, and PassFailedException if a solver refuses.
    """
    extracted = planned.extracted
    func = extracted.func
    name = f"@{func.sym_name.data}"
    if runtime := interpreter_of(extracted.model):
        text = f"{runtime} has one arena and takes no shared objects"
        raise MemoptError(f"--place={method}: {text}", name)
    extracted.refuse_parts(f"--place={method}")
    order = range(len(extracted.graph))
    buffers = live_ranges(extracted.graph, order).buffers
    # what lies above its base, in place inside a larger buffer, has all of an object up to its end
    enlarged = [replace(b, size=b.at + b.size, at=0) for b in buffers]
    try:
        answer = share(PlacementProblem(tuple(enlarged)), method, time_limit, **options)
    except ProblemError as error:
        raise PassFailedException(f"memgraph-place: {name}: {error}") from error
    # buffers of 0 bytes are in the first object; if all are, one arena of 0 bytes is the same
    if not answer.sizes:
        write_placement(extracted, order, lambda _, inside: inside)
        return planned.placed(facts.in_one_arena(0, facts.lower_bound))
    names = [f"object{k}" for k in range(len(answer.sizes))]
    object_of = [names[max(k, 0)] for k in answer.objects]
    write_placement(
        extracted,
        order,
        lambda buffer, inside: SlotAttr(object_of[buffer], buffers[buffer].at + inside),
    )
    memories = [MemoryAttr(n, "object", s) for n, s in zip(names, answer.sizes, strict=True)]
    shared_facts = facts.placed(memories, facts.lower_bound, answer.lower_bound)
    return planned.placed(shared_facts)
