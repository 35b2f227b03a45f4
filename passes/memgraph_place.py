"""`memgraph-place{method=auto}`: give every buffer its offset in the arena.

Before:  %a = memgraph.relu %x {memgraph.order = 0 : i64} : (T) -> T
After:   %a = memgraph.relu %x {memgraph.order = 0 : i64, memgraph.offset = [1024 : i64]} : (T) -> T

Arguments get theirs as an argument attribute, scratch in `memgraph.scratch`; what is not in the
arena is `#memgraph.unplaced<constant|caller|runtime>`. A function without a schedule keeps its
order, as `--schedule=source` would. `method=shared-objects` and its kind give each buffer one of
several objects instead of an offset (`share.py`). `method=joint` may change the order (`joint.py`),
and so may `joint-olla`, a published program.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.attributes.runtimes import scratch_requests
from memopt.dialects.memgraph.write_plan import Facts
from memopt.passes.memgraph_schedule import order_function
from memopt.passes.plan import share
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.inplace import chosen_by
from memopt.passes.plan.joint import find_order, restore_order, write_other_order, write_tried
from memopt.passes.plan.option import method_options, option, with_options
from memopt.passes.plan.planned import Arrangement, Planned, PlanningPass, read_plan, undecided
from memopt.passes.plan.write_placement import write_placement
from memopt.solvers import clock, joint, placement, shared_objects
from memopt.solvers.methods import JOINT
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import ProblemError, live_ranges
from memopt.solvers.problems.placement import Placement
from memopt.solvers.registry import function_of, options_of
from memopt.targets.tflm.arena import tflm_arena, write_scratch

METHODS = (*placement.METHODS, "joint", *JOINT, *share.METHODS)


@with_options((*placement.options(), *shared_objects.options()))
@dataclass(frozen=True)
class MemgraphPlacePass(PlanningPass):
    """Give every buffer its offset in the arena.

    What the strategies' files declare goes to the strategy, which refuses by name what it does not
    have.
    """

    name = "memgraph-place"

    method: str = option("auto", "how the offsets are found", METHODS)
    time_limit: int | float | None = option(None, "seconds")

    def plan(self, func: FuncOp, known: Planned | None) -> Planned:
        return place_known(func, known, self.method, self.time_limit, **method_options(self))


def place_known(
    func: FuncOp, known: Planned | None, method: str, time_limit: float | None, **options: object
) -> Planned:
    """Place one function's buffers; the plan is not written yet.

    Without an order it keeps its own. Raises PassFailedException if a solver refuses.
    """
    started, deadline = clock.now(), clock.deadline(time_limit)
    planned = known if known is not None and known.facts is not None else read_plan(func)
    if planned is None or planned.facts is None:
        planned, _ = order_function(func, known, "source", None)
    facts, extracted = planned.facts, planned.extracted
    assert facts is not None
    # the offsets have to be written too, which takes no longer than it took to read the plan
    deadline = clock.sooner(deadline, clock.now() - started)
    if method == "joint":
        _refuse_options(method, options, ())
    if method in share.METHODS:
        return share.share_function(planned, facts, method, clock.left(deadline), **options)
    if method in JOINT:
        return _place_by_program(planned, facts, method, clock.left(deadline), options)
    around = tflm_lays_scratch(extracted)
    # TFLM drops an input that nobody reads at once, so its arena may be smaller by these bytes.
    dropped = extracted.graph.unread_inputs if around else 0
    bound = max(0, facts.lower_bound - dropped)
    first = "auto" if method == "joint" else method
    if method == "joint":
        extracted.refuse_partition("memgraph-place", "method=joint")
        known_places = planned.arrangement
        if known_places is not None and known_places.stands and not around:
            return _as_arranged(planned, facts, known_places)
    limit = clock.left(deadline, joint.OWN_ORDER if method == "joint" else 1.0)
    placed = None
    if method != "joint" or facts.family != "rows":
        placed = _place(extracted, around, first, limit, options)
    if placed is None or (method == "joint" and placed[0] > bound and not clock.late(deadline)):
        planned, arena, bound = _place_jointly(planned, facts, placed, around, deadline)
        bound = max(0, bound - dropped)
        facts = planned.facts or facts
    else:
        arena = placed[0]
    placed_facts = facts.in_one_arena(arena, bound)
    # TFLM's scratch is written by other rules
    return Planned(planned.extracted, placed_facts) if around else planned.placed(placed_facts)


def _as_arranged(planned: Planned, facts: Facts, arranged: Arrangement) -> Planned:
    """Write the places by which rows were chosen into the function, which stands as it did then."""
    joint = arranged.joint
    arena = joint.placement.arena
    _write_offsets(arranged.extracted, joint.placement.offsets, joint.order)
    write_tried(planned.func, joint, arena == joint.lower_bound)
    return planned.placed(facts.in_one_arena(arena, joint.lower_bound))


def tflm_lays_scratch(extracted: Extracted) -> bool:
    """Return whether TFLM lays scratch around our offsets: of a .tflite file, planned with its
    scratch.

    Kept inputs it would overwrite: a plan that has both is for another run time (the writer refuses
    it), and everything lies where we put it.
    """
    model, func = extracted.model, extracted.func
    requests = scratch_requests(model)
    if requests is None or "memgraph.source" not in func.attributes:
        return False
    return model.io.data != "kept" or not any(requests(op, model) for op in func.body.block.ops)


def _place(
    extracted: Extracted,
    around: bool,
    method: str,
    time_limit: float | None,
    options: dict[str, object],
) -> tuple[int, Placement]:
    """The arena in bytes, and the offsets that were written."""
    if around:  # from a .tflite file, so TFLM will run it
        return _place_around_scratch(extracted, method, time_limit, options)
    answer = _solve(extracted, method, time_limit, options)
    return answer.arena, answer


def _place_jointly(
    planned: Planned,
    facts: Facts,
    placed: tuple[int, Placement] | None,
    around: bool,
    deadline: float | None,
) -> tuple[Planned, int, int]:
    """Take another order if its arena is smaller than what is placed already; also (arena, bound on
    the arena of any order)."""
    func = planned.func
    arena, own = placed or (None, None)
    # scratch is laid around the offsets of TFLM's plans, which say nothing of the graph's arena
    known = None if around else own
    limit = clock.left(deadline, 0.75 if around else 1.0)
    fresh, joint_answer = find_order(planned, facts, limit, known)
    chosen = None if joint_answer.chosen is None else chosen_by(fresh, joint_answer.chosen)
    other = write_other_order(fresh, joint_answer.order, facts, chosen)
    if around:
        smaller, _ = _place_around_scratch(other.extracted, "auto", clock.left(deadline), {})
    else:
        smaller = joint_answer.placement.arena
    # not even as small: a limit was too short for what is known, or scratch lies otherwise
    if arena is not None and own is not None and smaller >= arena + (not around):
        other = restore_order(planned, facts)
        _write_offsets(other.extracted, own.offsets, range(len(other.extracted.graph)))
        smaller = write_scratch(func) if around else arena
    elif not around:
        _write_offsets(fresh, joint_answer.placement.offsets, joint_answer.order)
    write_tried(func, joint_answer, smaller == joint_answer.lower_bound)
    return other, smaller, joint_answer.lower_bound


def _refuse_options(method: str, options: dict[str, object], known: Sequence[str]) -> None:
    """Raise PassFailedException for an option that is not `known` to a method."""
    for name in sorted(options):
        if name not in known:
            text = f"{method} has no option {name.replace('_', '-')!r}"
            raise PassFailedException(f"memgraph-place: {text}")


def _place_by_program(
    planned: Planned,
    facts: Facts,
    method: str,
    time_limit: float | None,
    options: dict[str, object],
) -> Planned:
    """Take the order and the places of a published program, of which `method` is the name."""
    program = function_of(JOINT, method, "placement", "solve")
    _refuse_options(method, options, options_of(program))
    planned.extracted.refuse_partition("memgraph-place", f"method={method}")
    if tflm_lays_scratch(planned.extracted):
        raise PassFailedException(f"memgraph-place: {method}: TFLM lays scratch itself")
    func = planned.func
    fresh = undecided(func, planned)
    order = range(len(fresh.graph))
    try:
        answer: joint.Joint = program(fresh.graph, order, facts.lower_bound, time_limit, **options)
    except ProblemError as error:
        raise PassFailedException(f"memgraph-place: @{func.sym_name.data}: {error}") from error
    chosen = chosen_by(fresh, answer.chosen or ())
    other = write_other_order(fresh, answer.order, facts, chosen)
    _write_offsets(fresh, answer.placement.offsets, answer.order)
    write_tried(func, answer, answer.settled)
    ordered, arena = other.facts or facts, answer.placement.arena
    return other.placed(ordered.in_one_arena(arena, answer.lower_bound))


def _solve(
    extracted: Extracted, method: str, time_limit: float | None, options: dict[str, object]
) -> Placement:
    """Solve and write the offsets."""
    problem = live_ranges(extracted.graph, range(len(extracted.graph)))
    try:
        answer = place(problem, method, time_limit, **options)
    except ProblemError as error:
        name = extracted.func.sym_name.data
        raise PassFailedException(f"memgraph-place: @{name}: {error}") from error
    _write_offsets(extracted, answer.offsets, range(len(extracted.graph)))
    return answer


def _place_around_scratch(
    extracted: Extracted, method: str, time_limit: float | None, options: dict[str, object]
) -> tuple[int, Placement]:
    """Place for TFLM's run time, which packs scratch around the tensors that have offsets.

    So the arena is what its planner makes of our offsets, not what we would make of the scratch:
    several placements are tried, among them TFLM's own, and the scratch is written where it will
    lie.
    """
    tries: tuple[str, ...] = ("auto", "greedy-by-size", "tflm") if method == "auto" else (method,)
    answers: list[Placement] = []
    heads: list[tuple[int, int]] = []
    for index, attempt in enumerate(tries):
        answers.append(_solve(extracted, attempt, time_limit, options))
        heads.append((tflm_arena(extracted.func).head, index))
    best = min(heads)[1]
    if best != len(tries) - 1:
        _write_offsets(extracted, answers[best].offsets, range(len(extracted.graph)))
    return write_scratch(extracted.func), answers[best]


def _write_offsets(extracted: Extracted, offsets: Sequence[int], order: Sequence[int]) -> None:
    """Write the offsets of `live_ranges(extracted.graph, order)` into the function."""
    write_placement(extracted, order, lambda buffer, inside: offsets[buffer] + inside)
