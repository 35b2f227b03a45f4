"""Options that would save RAM: each is planned and verified before it is named.

    advice = advice_of(advised, seconds)
    advice[0].option, advice[0].arena          # "--int8-io", 24640

Options are planned by heuristics, with all operators in rows: what an option gives is at most what
stands here. Those that take little are always planned, so that the same input has the same advice;
those that search are left out where there is no time for them.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.backends.checked import Checked
from memopt.before_after import Task, plan_alone, plan_task, task_of
from memopt.cli.target_facts import facts_without_a_build, tflm_facts
from memopt.diagnostics import write_file
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import only_function
from memopt.driver import import_bytes
from memopt.frontends.core.registry import Frontend
from memopt.narrowing import narrowed
from memopt.passes.memgraph_expand_rows import ALL
from memopt.passes.memgraph_int8_io import store_border
from memopt.passes.memgraph_kernels import RAM, SPEED
from memopt.passes.pipelines import Choices
from memopt.plan_request import PlanRequest
from memopt.planning import Seconds, check_kernels_first
from memopt.rewrites import SAFE
from memopt.solvers import clock
from memopt.targets.core.registry import target_names

WORTH = 0.05  # of the RAM: an option that saves less is not named
SHARE = 1 / 3  # of the time that the plan took, for all options together
LEAST_SECONDS = 1.0  # for all options together
MOST_SECONDS = 5.0  # for all options that search, and for one that takes little
DEVICE = "cortex-m4"  # the C target that is named to who plans for TFLM
HEURISTIC = "greedy-by-size"
PLACES = ("auto", Choices.place)  # other plans than of the least arena are asked for on purpose


@dataclass(frozen=True)
class Advice:
    """An option of the command line, the bytes of the arena that it gives, and those of all RAM as
    `--ram` counts them, None where they are not known."""

    option: str
    arena: int
    ram: int | None

    def entry(self) -> dict[str, Any]:
        """Return the entry of report.json."""
        return {"option": self.option, "ram": self.ram, "arena": self.arena}


@dataclass(frozen=True)
class Advised:
    """A plan to advise on: a module that `frontend` read, its request, the task made of it, bytes
    of its arena, and of all RAM, None where they are not known."""

    context: Context
    module: ModuleOp
    frontend: Frontend | None
    request: PlanRequest
    task: Task
    arena: int
    ram: int | None


def advice_of(planned: Advised, seconds: Seconds, limit: int | None = None) -> tuple[Advice, ...]:
    """Return the options that save at least a twentieth of the RAM, or fit into `limit` bytes what
    does not; the most first. `seconds` are those of the plan, of which a third is spent; where
    a time limit leaves less than the plan took, no option is planned."""
    spent = clock.now() - seconds.began
    deadline = clock.now() + min(MOST_SECONDS, max(LEAST_SECONDS, SHARE * spent))
    limited = seconds.deadline(planned.request.time_limit)
    if limited is not None:
        deadline = min(deadline, limited)
    found: list[Advice] = []
    for option in _options(planned):
        if clock.late(clock.sooner(limited, spent)):
            break  # what reads and writes a network takes about as long for each
        if option.searches and clock.late(deadline):
            continue
        with suppress(MemoptError):
            solved = option.plan(deadline if option.searches else _while_busy(deadline, limited))
            if solved is not None and not (option.searches and clock.late(deadline)):
                found.append(replace(solved, option=option.name))
    worth = [advice for advice in found if _is_worth(advice, planned, limit)]
    return tuple(sorted(worth, key=lambda advice: (advice.ram or advice.arena, advice.option)))


def fitting_text(advice: Sequence[Advice], limit: int) -> str:
    """Return the end of a refusal: the options that fit into `limit` bytes, "" for none."""
    fitting = [a for a in advice if (a.arena if a.ram is None else a.ram) <= limit]
    named = (f"{a.option}: {a.arena if a.ram is None else a.ram:,} B" for a in fitting)
    return f"; what would fit: {', '.join(named)}" if fitting else ""


def _while_busy(deadline: float, limited: float | None) -> float:
    """Return until when an option that takes little is planned, at the latest."""
    latest = max(deadline, clock.now() + MOST_SECONDS)
    return latest if limited is None else min(latest, limited)


def _is_worth(advice: Advice, planned: Advised, limit: int | None) -> bool:
    if planned.ram is None or advice.ram is None:
        before, after = planned.arena, advice.arena
    else:
        before, after = planned.ram, advice.ram
    fits = limit is not None and before > limit >= after
    return fits or before - after >= WORTH * before


@dataclass(frozen=True)
class _Option:
    """An option that may save RAM. `plan` plans it until a deadline: the advice without its name,
    None if nothing changes. `searches`: that may take as long as the plan."""

    name: str
    plan: Callable[[float], Advice | None]
    searches: bool = False


def _options(planned: Advised) -> Iterator[_Option]:
    """Yield the options that may save RAM, those that search last."""
    request, choices = planned.request, planned.task.choices
    if request.target == "tflm":
        if request.rewrite is None:
            yield _Option("--rewrite=safe", lambda deadline: _narrowed(planned, deadline))
        yield _Option(f"--target={DEVICE}", lambda deadline: _as_c(planned, deadline))
        return
    plain = choices.memory is None and choices.slide is None and not choices.cmsis_nn
    if request.target not in target_names("c") or not plain or choices.place not in PLACES:
        return
    if not choices.int8_io and _has_real_border(planned.task.ready):
        yield _Option("--int8-io", lambda until: _changed(planned, until, int8_io=True))
    if choices.in_rows and not choices.stream_input:
        yield _Option("--stream-input", lambda until: _changed(planned, until, stream_input=True))
    if choices.optimize == SPEED:
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
    choices = replace(planned.task.choices, **options)
    return _solved(planned, replace(planned.task, choices=choices), deadline)


def _rewritten(planned: Advised, deadline: float) -> Advice | None:
    request = replace(planned.request, rewrite="all", time_limit=_left(deadline))
    how = planned.context, planned.module, request, planned.frontend, Seconds()
    return _solved(planned, task_of(*how), deadline)


def _as_c(planned: Advised, deadline: float) -> Advice | None:
    request = PlanRequest(DEVICE, time_limit=_left(deadline))
    how = planned.context, planned.module, request, planned.frontend, Seconds()
    task = task_of(*how)
    check_kernels_first(planned.context, task.ready, task.target, task.choices)
    after, known = _quickly(planned.context, task, deadline)
    arena = known.plan.arena
    return Advice("", arena, facts_without_a_build(after, DEVICE, arena)["ram"])


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
        return Advice("", arena, tflm_facts(after, arena, path)["ram"])


def _solved(planned: Advised, task: Task, deadline: float) -> Advice:
    """Plan a task for the same target. What the device needs beside the arena stays."""
    arena = _quickly(planned.context, task, deadline)[1].plan.arena
    ram = None if planned.ram is None else planned.ram - planned.arena + arena
    return Advice("", arena, ram)


def _left(deadline: float) -> float:
    """Return the seconds until then, and some where there are none: what is begun is finished."""
    return max(0.1, deadline - clock.now())


def _quickly(context: Context, task: Task, deadline: float) -> tuple[ModuleOp, Checked]:
    """Return the plan of a task by heuristics, all operators in rows if any are."""
    rows = (ALL,) if task.choices.in_rows else task.choices.rows
    choices = replace(
        task.choices,
        rows=rows,
        fit=None,
        optimize=RAM,
        place=HEURISTIC,
        time_limit=_left(deadline),
    )
    return plan_alone(context, replace(task, choices=choices), Seconds())
