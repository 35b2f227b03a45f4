"""Local search that ejects what is in the way, at heights closer and closer to the load.

For thousands of buffers: a move looks at what is live with one of them. Each height takes a share
of the bytes between the load and the best answer away; one that is not reached in `PATIENCE` is
left for a nearer one, for which the search goes on from where it is: what its weights have learned
is worth more than the answer that it began with. When the limit strikes, what still waits is placed
on top of what stands, if that is soon done. Without a time limit the work is bounded.
"""

from memopt.solvers import clock
from memopt.solvers.placement.ejections import FAILED, PAUSED, SOLVED, Ejections
from memopt.solvers.placement.first_answer import first_answer
from memopt.solvers.placement.native_ejections import NativeEjections, ejections_of
from memopt.solvers.placement.neighbours import pairs_of
from memopt.solvers.placement.rectangles import floor_of, offsets_of, placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem

WORK = 2_000_000  # pieces looked at without a time limit
PATIENCE = 20_000_000  # pieces looked at for a height, the first time, beside letting all sink
FIRST_SHARE = 0.3  # of the bytes above the floor that a height takes away
LEAST_SHARE = 0.01
STATED = 20  # times as long as counting the pairs it takes until the search begins
LIFTED = 20  # looks at the clock for which what still waits may be placed when time is over


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """`time_limit` in seconds; without one the work is bounded."""
    deadline = clock.deadline(time_limit)
    best = first_answer(problem, deadline)
    return improve(problem, problem.items, best, clock.left(deadline))


def improve(
    problem: PlacementProblem,
    items: tuple[Item, ...],
    best: Placement,
    seconds: float | None,
    enough: int = 0,
) -> Placement:
    """Return the best placement found from `best`, which is never worse; stops at the floor, or at
    `enough` bytes."""
    deadline, floor = clock.deadline(seconds), floor_of(problem, items)
    enough = max(floor, enough)
    if best.arena <= enough or clock.late(deadline):
        return best
    started = clock.now()
    looked_at = PATIENCE + 4 * pairs_of(items)
    if clock.late(clock.sooner(deadline, STATED * (clock.now() - started))):
        return best
    search = ejections_of(items)
    work = WORK if deadline is None else 1 << 62
    share, begins = FIRST_SHARE, True
    while best.arena > enough and search.work < work and not clock.late(deadline):
        height = best.arena - max(1, int((best.arena - enough) * share))
        if begins:
            search.begin(offsets_of(problem, items, best), height)
        else:
            search.lift(height)
        status = _run(search, min(work, search.work + looked_at), deadline)
        if status != SOLVED and (status == FAILED or not clock.late(deadline)):
            share /= 2
            begins = share < LEAST_SHARE or status == FAILED
            if share < LEAST_SHARE:
                share, looked_at = FIRST_SHARE, 2 * looked_at
                if status == FAILED:
                    break
            continue
        if status != SOLVED:
            search.lift()
            if search.advance(search.work + LIFTED * search.interval) != SOLVED:
                break
        begins = True
        answer = placement_of(problem, items, search.offsets)
        if answer.arena < best.arena:
            best, share = answer, FIRST_SHARE
            clock.tell(best.arena, floor)
    return best


def _run(search: Ejections | NativeEjections, until: int, deadline: float | None) -> int:
    """Go on until so many pieces were looked at, or the time is over."""
    status = PAUSED
    while status == PAUSED and search.work < until and not clock.late(deadline):
        status = search.advance(min(until, search.work + search.interval))
    return status
