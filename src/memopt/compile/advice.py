"""Options that would save RAM, and the bytes that each gives.

    advice = advice_of(advised, seconds)
    advice[0].option, advice[0].arena          # "--int8-io", 24640

What an option gives is estimated in numbers, in at most a third of the time that the plan took: a
plan of such an arena is known, and where it meets a bound it is `solved`; else the option, which
searches longer, gives about as much, most often less. How much is looked at is counted in steps, so
that the same input has the same advice on every machine; with a time limit for the whole command
there may be less of it, which is said.

Nothing is placed or written in IR for an estimate. Whole operators and, as far as the work allows,
all rows are ordered and placed by what the choice of rows begins with, without the searches behind
it. So there may be a smaller arena, unless a bound on the arenas of both shows that there is none.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from memopt.compile.compare import Task, plan_task, task_of
from memopt.compile.driver import import_bytes
from memopt.compile.options import PlanOptions
from memopt.compile.pipelines import SettledOptions, rules_of
from memopt.compile.plan_request import settled
from memopt.compile.rewritten_network import rewrite_network
from memopt.compile.run_passes import Seconds, WholePeaks, before_rows, check_kernels_of
from memopt.compile.target_facts import facts_without_a_build, tflm_facts
from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.attributes.rewrites import rewrites_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, functions, only_function
from memopt.dialects.rows.steps import steps_of
from memopt.frontends.core.registry import Frontend
from memopt.passes.memgraph_int8_io import store_border
from memopt.passes.memgraph_kernels import may_become
from memopt.passes.plan.extract import extract
from memopt.passes.plan.notes import note
from memopt.passes.plan.rewrite_search import runnable, runnable_copy
from memopt.passes.plan.words import ALL, AUTO, BALANCED, NONE, RAM, SPEED
from memopt.passes.rows.expand import computing, cut, expand
from memopt.passes.rows.stream_input import close_stream, receive_rows
from memopt.rewrites import ALL as ALL_RULES
from memopt.rewrites import NO_RULES, SAFE, SEARCH, facts_of, named_rules
from memopt.solvers import clock
from memopt.solvers.placement import at_first_sight
from memopt.solvers.problems.memory_graph import MemoryGraph, live_ranges
from memopt.solvers.scheduling import schedule
from memopt.solvers.theory.bounds import trivial
from memopt.targets.core.target import target_names
from memopt.text.diagnostics import write_file

STEPS = 1_700  # in rows, of all options together: about half a second
STATES = 6_000  # of the search for one order
ORDERS = ("auto", "source")  # that take about as long on every network
WORTH = 0.05  # of the RAM: an option that saves less is not named
SHARE = 1 / 3  # of the time that the plan took, for all options together where time is limited
DEVICE = "cortex-m4"  # the C target that is named to who plans for TFLM
PLACES = ("auto", PlanOptions.place)  # other plans than of the least arena are asked for on purpose


@dataclass
class Work:
    """The steps in rows that may still be looked at, and the moment when time is over."""

    steps: int = STEPS
    deadline: float | None = None


@dataclass(frozen=True)
class Estimate:
    """Bytes of an arena, and bytes below which no arena is; 0: none are known."""

    arena: int
    bound: int

    @property
    def is_least(self) -> bool:
        """Return whether there is no smaller arena."""
        return self.arena == self.bound


@dataclass(frozen=True)
class Advice:
    """An option of the command line, about the bytes of the arena that it gives, and of all RAM as
    `--ram` counts them, None where they are not known; `solved`: it gives no other arena. Of these
    bytes fast kernels may take so many as are `for_speed`."""

    option: str
    arena: int
    ram: int | None
    solved: bool
    for_speed: int = 0

    def entry(self) -> dict[str, Any]:
        """Return the entry of report.json."""
        return {"option": self.option, "ram": self.ram, "arena": self.arena, "solved": self.solved}


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
    the plan took, no option is looked at."""
    now, limited = clock.now(), seconds.deadline(planned.request.time_limit)
    work, spent = Work(), now - seconds.began
    if limited is not None:
        work.deadline = min(now + SHARE * spent, limited - spent)
    named, skipped = list[Advice](), list[str]()
    for option in _options(planned, limit, work):
        if clock.late(work.deadline):
            skipped.append(option.name)
            continue
        with suppress(MemoptError):
            advice = option.advise()
            named += [] if advice is None else [replace(advice, option=option.name)]
    if skipped:
        name = only_function(planned.task.ready).sym_name.data
        note(name, f"the time limit left no time for advice on {', '.join(skipped)}")
    worth = [advice for advice in named if _is_worth(advice, planned, limit)]
    return tuple(sorted(worth, key=lambda advice: (advice.ram or advice.arena, advice.option)))


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


def _most(planned: Advised, limit: int | None) -> int:
    """Return the bytes of the largest arena that is worth naming for the same target."""
    before = planned.arena if planned.ram is None else planned.ram
    fitting = 0 if limit is None else limit - (before - planned.arena)
    return max(fitting, int(planned.arena - WORTH * before))


@dataclass(frozen=True)
class _Option:
    """An option that may save RAM, and what returns its advice, without the name; None for none."""

    name: str
    advise: Callable[[], Advice | None]


def _options(planned: Advised, limit: int | None, work: Work) -> Iterator[_Option]:
    """Yield the options that may save RAM, or fit into `limit` bytes, to be looked at in this
    order."""
    request, options = planned.request, planned.task.options
    arena_limit = _most(planned, limit)
    if request.runs_file:
        if request.rewrite is None:
            yield _Option("--rewrite=safe", lambda: _rewritten_file(planned))
        yield _Option(f"--target={DEVICE}", lambda: _as_c(planned, work))
        return
    plain = options.memory is None and options.slide is None and not options.cmsis_nn
    if request.target not in target_names("c") or not plain or options.place not in PLACES:
        return

    def changed(**words: Any) -> Advice | None:
        return _changed(planned, arena_limit, work, **words)

    if not options.int8_io and _has_real_border(planned.task.ready):
        yield _Option("--int8-io", lambda: changed(int8_io=True))
    if options.in_rows and not options.stream_input:
        yield _Option("--stream-input", lambda: changed(stream_input=True))
    if options.optimize == SPEED:
        yield _Option("--optimize=ram", lambda: changed(optimize=RAM))
    if request.rewrite in (None, SAFE):
        spends = options.spends_cycles or _is_missed(planned, limit)  # also with --rewrite=all
        yield _Option("--rewrite=all", lambda: _rewritten(planned, arena_limit, work, spends))
        if not spends:
            yield _Option(
                "--rewrite=all --optimize=ram", lambda: _spending(planned, arena_limit, work)
            )


def _has_real_border(module: ModuleOp) -> bool:
    """Return whether --int8-io changes something. Raises nothing: what it refuses changes
    nothing."""
    block = body_of(only_function(module))
    ends = (*block.args, *(() if block.last_op is None else block.last_op.operands))
    if all(is_stored(v) for v in ends):
        return False
    with suppress(MemoptError):
        return store_border(only_function(module.clone()))
    return False


def _changed(planned: Advised, most: int, work: Work, **words: Any) -> Advice | None:
    """Estimate the task's network with other options, which apply to what is rewritten already."""
    task = planned.task
    options = replace(task.options, **words)
    network = before_rows(planned.context, task.ready, options)
    return _estimated(planned, network, options, most, work)


def _is_missed(planned: Advised, limit: int | None) -> bool:
    """Return whether the plan needs more than `limit` bytes."""
    needed = planned.arena if planned.ram is None else planned.ram
    return limit is not None and needed > limit


def _spending(planned: Advised, most: int, work: Work) -> Advice | None:
    """Estimate the task's network with all rules, also those that cost cycles; None if none of
    these is legal anywhere."""
    task = replace(planned.task, options=replace(planned.task.options, optimize=RAM))
    slower = [r for r in named_rules((ALL_RULES,)) if facts_of(r).slower]
    if not any(runnable(only_function(task.ready), dict.fromkeys(slower)).values()):
        return None
    return _rewritten(replace(planned, task=task), most, work, spends=True)


def _rewritten(planned: Advised, most: int, work: Work, spends: bool) -> Advice | None:
    """Estimate the task's network with all rules, those that cost cycles only if it `spends` them;
    the usual ones may be applied already. None if no other does anything."""
    task = planned.task
    every = [r for r in named_rules((ALL_RULES,)) if spends or not facts_of(r).slower]
    usual = _rules(settled(planned.request, task.ready, planned.frontend))
    more = set(every).difference(usual)
    rules = rules_of(task.options)
    wanted = more.union(rules.at_once, rules.searched, rules.by_rows)
    at_once = [r for r in every if r in wanted and facts_of(r).applied != SEARCH]
    options = replace(task.options, rewrite=",".join(at_once) or NO_RULES, applied=False)
    network = before_rows(planned.context, task.ready, options)
    func = only_function(network)
    did = {done.rule.data for done in rewrites_of(func) if done.sites.data}
    searched = [r for r in every if r in more and facts_of(r).applied == SEARCH]
    if not apply_everywhere(func, searched) and not did & more:
        return None
    return _estimated(planned, network, options, most, work)


def _rules(options: SettledOptions) -> tuple[str, ...]:
    return named_rules(options.rewrite.split(","))


def _as_c(planned: Advised, work: Work) -> Advice | None:
    """Estimate the network for a C target, whose RAM has other parts."""
    request = PlanOptions(target=DEVICE)
    task = task_of(planned.context, planned.module, request, planned.frontend, Seconds())
    network = before_rows(planned.context, task.ready, task.options)
    check_kernels_of(only_function(network), DEVICE)
    limit = planned.arena if planned.ram is None else planned.ram
    board = replace(planned, task=task, ram=None)
    advice = _estimated(board, network, task.options, limit, work)
    if advice is None:
        return None
    return replace(advice, ram=facts_without_a_build(network, DEVICE, advice.arena)["ram"])


def _rewritten_file(planned: Advised) -> Advice | None:
    """Plan the file that `--rewrite=safe` writes; its RAM is the interpreter's whole arena."""
    network = rewrite_network(planned.task.imported, (SAFE,)).network
    if network is None:
        return None
    with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
        path = Path(folder, "narrowed.tflite")
        write_file(path, network)
        module = import_bytes(network, path.suffix, str(path), path)
        task = replace(planned.task, imported=module, ready=module, whole_peaks=WholePeaks())
        _, after, known = plan_task(planned.context, task, Seconds())
        arena = known.plan.arena
        return Advice("", arena, tflm_facts(after, arena, path)["ram"], True)


def _estimated(
    planned: Advised, network: ModuleOp, options: SettledOptions, most: int, work: Work
) -> Advice | None:
    """Return what a network has at most, None for an arena of more than `most` bytes. Fast kernels
    may then take what `balanced` allows; what the device needs beside the arena stays."""
    estimate = estimated(network, options, most, work)
    if estimate is None:
        return None
    grows = options.optimize == BALANCED and options.may_be_fast
    arena = may_become(estimate.arena) if grows else estimate.arena
    ram = None if planned.ram is None else planned.ram - planned.arena + arena
    least = estimate.is_least and not grows and options.fit is None
    return Advice("", arena, ram, least, arena - estimate.arena)


def estimated(network: ModuleOp, options: SettledOptions, most: int, work: Work) -> Estimate | None:
    """Return the least arena that is found for a network which is cut into rows next; None if it
    has more than `most` bytes. Raises MemoptError for what cannot be planned."""
    func, *others = functions(network)
    if others or options.schedule not in ORDERS:
        return None
    graph, estimates = extract(func).graph, list[Estimate | None]()
    if not options.stream_input:
        if graph.first_level > most:  # the inputs, also of rows
            return None
        if options.rows in (NONE, AUTO):
            estimates.append(_placed(graph, options, most, work))
    if options.in_rows:
        estimates.append(_in_rows(func, options, most, work))
    placed = [estimate for estimate in estimates if estimate is not None and estimate.arena <= most]
    if not placed:
        return None
    least = min(placed, key=lambda estimate: estimate.arena)
    return replace(least, bound=min(0 if e is None else e.bound for e in estimates))


def apply_everywhere(func: FuncOp, rules: Sequence[str]) -> bool:
    """Apply rules that a search would apply, wherever they are legal, to a copy in the place of the
    function; return whether any was."""
    copy, sites = runnable_copy(func, dict.fromkeys(rules))
    copy.detach()
    Rewriter.replace_op(func, copy)
    return any(sites.values())


def _in_rows(func: FuncOp, options: SettledOptions, most: int, work: Work) -> Estimate | None:
    """Return the arena of a function whose operators are cut as `options` say, of `auto` all."""
    steps = sum(len(steps_of(op) or (0,)) for op in computing(func))
    if steps > work.steps or clock.late(work.deadline):
        return None
    work.steps -= steps
    if options.stream_input:
        receive_rows(func)
    if options.rows in (ALL, AUTO):
        cut(func, range(len(computing(func))))
    else:
        expand(func, frozenset(options.rows.split(",")))
    if options.stream_input:
        close_stream(func)
    return _placed(extract(func).graph, options, most, work)


def _placed(graph: MemoryGraph, options: SettledOptions, most: int, work: Work) -> Estimate | None:
    """Return the arena of a graph, ordered and placed without a search for places; more than `most`
    bytes are those of a bound or peak. None where time is over."""
    least = trivial(graph)
    if least > most:
        return Estimate(least, least)
    if clock.late(work.deadline):
        return None
    states = {"max_states": STATES} if options.schedule == "auto" else {}
    ordered = schedule(graph, options.schedule, clock.left(work.deadline), **states)
    if ordered.peak > most:
        return Estimate(ordered.peak, ordered.lower_bound)
    placement = at_first_sight(live_ranges(graph, ordered.order))
    return Estimate(placement.arena, ordered.lower_bound)
