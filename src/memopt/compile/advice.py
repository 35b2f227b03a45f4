"""Options that would save RAM: each is planned and verified before it is named.

    advice = advice_of(advised, seconds)
    advice[0].option, advice[0].arena          # "--int8-io", 24640

Options are planned by heuristics, with all operators in rows: an option gives at most what stands
here, and where that meets the bound of such plans it is `solved`. So that the same input has the
same advice on every machine, the limits of the heuristics are work and not time: each look at the
clock counts as a millisecond. With a time limit for the whole command they are seconds.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.compile.compare import Task, plan_alone, plan_task, task_of
from memopt.compile.driver import import_bytes
from memopt.compile.narrowing import narrowed
from memopt.compile.options import PlanOptions
from memopt.compile.run_passes import Seconds, check_kernels_first
from memopt.compile.target_facts import facts_without_a_build, tflm_facts
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.frontends.core.registry import Frontend
from memopt.passes.memgraph_expand_rows import ALL
from memopt.passes.memgraph_int8_io import store_border
from memopt.passes.memgraph_kernels import BALANCED, RAM, SPEED, may_become
from memopt.rewrites import SAFE
from memopt.solvers import clock
from memopt.targets.core.registry import target_names
from memopt.text.diagnostics import write_file

WORTH = 0.05  # of the RAM: an option that saves less is not named
SECONDS = 80.0  # of work, for an option that only changes the borders
SEARCHING = 15.0  # for all options that search together
LOOK = 1e-3  # seconds of work that a look at the clock stands for: .05 to 2.5 ms by measurement
SHARE = 1 / 3  # of the time that the plan took, for all options together where time is limited
DEVICE = "cortex-m4"  # the C target that is named to who plans for TFLM
HEURISTIC = "greedy-by-size"
PLACES = ("auto", PlanOptions.place)  # other plans than of the least arena are asked for on purpose


@dataclass(frozen=True)
class Advice:
    """An option of the command line, the bytes of the arena that it gives at most, and those of all
    RAM as `--ram` counts them, None where they are not known; `solved`: it gives no other arena.
    Of these bytes fast kernels may take so many as are `for_speed`."""

    option: str
    arena: int
    ram: int | None
    solved: bool
    for_speed: int = 0

    def entry(self) -> dict[str, Any]:
        """Return the entry of report.json."""
        return {
            "option": self.option,
            "ram": self.ram,
            "arena": self.arena,
            "solved": self.solved,
        }


@dataclass(frozen=True)
class Advised:
    """A plan to advise on: a module that `frontend` read, its request, the task made of it, bytes
    of its arena, and of all RAM, None where they are not known."""

    context: Context
    module: ModuleOp
    frontend: Frontend | None
    request: PlanOptions
    task: Task
    arena: int
    ram: int | None


def advice_of(planned: Advised, seconds: Seconds, limit: int | None = None) -> tuple[Advice, ...]:
    """Return the options that save at least a twentieth of the RAM, or fit into `limit` bytes what
    does not; the most first. `seconds` are those of the plan; where a time limit leaves less than
    the plan took, no option is planned."""
    spent, limited = clock.now() - seconds.began, seconds.deadline(planned.request.time_limit)
    if limited is not None:
        # what reads and writes a network takes about as long for each option
        begin = clock.sooner(limited, spent)
        found = _planned(planned, None, min(SHARE * spent, clock.left(limited) or 0.0), begin)
    else:
        looks = count(1)
        with clock.reading(lambda: LOOK * next(looks)):
            found = _planned(planned, SECONDS, SEARCHING)
    worth = [advice for advice in found if _is_worth(advice, planned, limit)]
    return tuple(sorted(worth, key=lambda advice: (advice.ram or advice.arena, advice.option)))


def _planned(
    planned: Advised, each: float | None, together: float, begin: float | None = None
) -> list[Advice]:
    """Return what options give: one that does not search is planned in the seconds that `each` has,
    those that do, or all where that is None, in the seconds that they have `together`; none begins
    after the moment `begin`."""
    left, found = together, list[Advice]()
    for option in _options(planned):
        alone = each if not option.searches else None
        began = clock.now()
        deadline = began + (left if alone is None else alone)
        if clock.late(deadline) or clock.late(begin):
            continue
        with suppress(MemoptError):
            advice = option.plan(deadline)
            if advice is not None and not (option.searches and clock.late(deadline)):
                found.append(replace(advice, option=option.name))
        if alone is None:
            left -= clock.now() - began
    return found


def fitting_text(advice: Sequence[Advice], limit: int) -> str:
    """Return the end of a refusal: the options that fit into `limit` bytes, "" for none."""
    fitting = [a for a in advice if (a.arena if a.ram is None else a.ram) <= limit]
    named = (f"{a.option}: {a.arena if a.ram is None else a.ram:,} B" for a in fitting)
    return f"; what would fit: {', '.join(named)}" if fitting else ""


def _is_worth(advice: Advice, planned: Advised, limit: int | None) -> bool:
    if planned.ram is None or advice.ram is None:
        before, after = planned.arena, advice.arena
    else:
        before, after = planned.ram, advice.ram
    fits = limit is not None and before > limit >= after
    return fits or (after < before and before - after + advice.for_speed >= WORTH * before)


@dataclass(frozen=True)
class _Option:
    """An option that may save RAM. `plan` plans it until a deadline: the advice without its name,
    None if nothing changes. `searches`: that may take as long as the plan."""

    name: str
    plan: Callable[[float], Advice | None]
    searches: bool = False


def _options(planned: Advised) -> Iterator[_Option]:
    """Yield the options that may save RAM, those that search last."""
    request, options = planned.request, planned.task.options
    if request.target == "tflm":
        if request.rewrite is None:
            yield _Option("--rewrite=safe", lambda deadline: _narrowed(planned, deadline))
        yield _Option(f"--target={DEVICE}", lambda deadline: _as_c(planned, deadline))
        return
    plain = options.memory is None and options.slide is None and not options.cmsis_nn
    if request.target not in target_names("c") or not plain or options.place not in PLACES:
        return
    if not options.int8_io and _has_real_border(planned.task.ready):
        yield _Option("--int8-io", lambda until: _changed(planned, until, int8_io=True))
    if options.in_rows and not options.stream_input:
        yield _Option("--stream-input", lambda until: _changed(planned, until, stream_input=True))
    if options.optimize == SPEED:
        yield _Option("--optimize=ram", lambda until: _changed(planned, until, optimize=RAM), True)
    if request.rewrite in (None, SAFE):
        yield _Option("--rewrite=all", lambda until: _rewritten(planned, until), True)


def _has_real_border(module: ModuleOp) -> bool:
    """Return whether --int8-io changes something. Raises nothing: what it refuses changes
    nothing."""
    with suppress(MemoptError):
        return store_border(only_function(module.clone()))
    return False


def _changed(planned: Advised, deadline: float, **options: Any) -> Advice | None:
    """Plan the task's network with other options, which apply to what is rewritten already."""
    changed = replace(planned.task.options, **options)
    return _solved(planned, replace(planned.task, options=changed), deadline)


def _rewritten(planned: Advised, deadline: float) -> Advice | None:
    request = replace(planned.request, rewrite="all", time_limit=_left(deadline))
    how = planned.context, planned.module, request, planned.frontend, Seconds()
    return _solved(planned, task_of(*how), deadline)


def _as_c(planned: Advised, deadline: float) -> Advice | None:
    request = PlanOptions(target=DEVICE, time_limit=_left(deadline))
    how = planned.context, planned.module, request, planned.frontend, Seconds()
    task = task_of(*how)
    check_kernels_first(planned.context, task.ready, task.options)
    advice, after = _quickly(planned.context, task, deadline)
    return replace(advice, ram=facts_without_a_build(after, DEVICE, advice.arena)["ram"])


def _narrowed(planned: Advised, deadline: float) -> Advice | None:
    """Plan the file that `--rewrite=safe` writes; its RAM is the interpreter's whole arena."""
    found = narrowed(planned.task.imported, (SAFE,)).network
    if found is None:
        return None
    with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
        path = Path(folder, "narrowed.tflite")
        write_file(path, found)
        module = import_bytes(found, path.suffix, str(path), path)
        task = replace(planned.task, imported=module, ready=module)
        _, after, known = plan_task(planned.context, task, Seconds())
        arena = known.plan.arena
        return Advice("", arena, tflm_facts(after, arena, path)["ram"], True)


def _solved(planned: Advised, task: Task, deadline: float) -> Advice:
    """Plan a task for the same target. What the device needs beside the arena stays."""
    advice = _quickly(planned.context, task, deadline)[0]
    if planned.ram is None:
        return advice
    return replace(advice, ram=planned.ram - planned.arena + advice.arena)


def _left(deadline: float) -> float:
    """Return the seconds until then, and some where there are none: what is begun is finished."""
    return max(0.1, deadline - clock.now())


def _quickly(context: Context, task: Task, deadline: float) -> tuple[Advice, ModuleOp]:
    """Return what a task's plan by heuristics gives, all operators in rows if any are, and that
    plan. Fast kernels may then take what `balanced` allows."""
    options = task.options
    is_balanced = options.optimize == BALANCED and options.may_be_fast
    options = replace(
        options,
        rows=ALL if options.in_rows else options.rows,
        fit=None,
        optimize=RAM if is_balanced else options.optimize,
        place=HEURISTIC,
        time_limit=_left(deadline),
    )
    after, known = plan_alone(context, replace(task, options=options), Seconds())
    plan = known.plan
    arena = may_become(plan.arena) if is_balanced else plan.arena
    least = plan.proof.data != "none" and arena == plan.arena_lower_bound.data
    return Advice("", arena, None, least, arena - plan.arena), after
