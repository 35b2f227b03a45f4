"""A module as it was and planned: what `compile`, `report` and `memopt.plan` compare."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.backends.checked import Checked, checked
from memopt.backends.tflm import is_safe, make_safe
from memopt.compile.options import PlanOptions
from memopt.compile.pipelines import SettledOptions, rules_of
from memopt.compile.plan_request import is_tflite, lowered, settled
from memopt.compile.run_passes import (
    Seconds,
    SourcePlan,
    WholePeaks,
    as_it_was,
    plan_facts,
    plan_module,
    rewritten,
)
from memopt.dialects.memgraph.errors import nearest
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.frontends.core.registry import Frontend
from memopt.passes.memgraph_place import METHODS as PLACEMENTS
from memopt.passes.rows.minimise import DoesNotFitError
from memopt.rewrites import NO_RULES, facts_of, kinds_in, names_of
from memopt.solvers.scheduling import METHODS
from memopt.text.usage import UsageError


@dataclass(frozen=True)
class Task:
    """A network to plan by `options`: `imported` is what the file says, `ready` what is planned;
    `whole_peaks` what is known of its whole operators."""

    imported: ModuleOp
    ready: ModuleOp
    options: SettledOptions
    is_tflite: bool
    whole_peaks: WholePeaks = field(default_factory=WholePeaks, compare=False)


def task_of(
    context: Context,
    module: ModuleOp,
    request: PlanOptions,
    frontend: Frontend | None,
    seconds: Seconds,
) -> Task:
    """Return what `memopt compile` plans of a module that `frontend` read. Raises MemoptError, and
    UsageError for options that contradict each other."""
    imported, ready = lowered(module, request, frontend)
    options = settled(request, ready, frontend)
    check_options(options)
    ready, options = rewritten(context, ready, options, seconds)
    return Task(imported, ready, options, is_tflite(frontend))


def plan_task(
    context: Context, task: Task, seconds: Seconds
) -> tuple[SourcePlan, ModuleOp, Checked]:
    """Return the task's network as it was, planned, and what is known of its function.

    For TFLM the file's own order stays where ours would need more. Raises MemoptError."""
    only_function(task.ready)
    before = as_it_was(context, task.imported, task.is_tflite)
    after, known = plan_alone(context, task, seconds)
    old, new, func = before.plan, known.plan, known.func
    if task.options.runs_file:
        needs_more = task.is_tflite and new.arena > old.arena
        if needs_more or not (is_safe(func) or make_safe(func)):
            after = before.module.clone()
        now = only_function(after)
        if now is not func or plan_of(now) != new:
            return before, after, checked(now)
    return before, after, known


def plan_alone(context: Context, task: Task, seconds: Seconds) -> tuple[ModuleOp, Checked]:
    """Return the task's network planned, compared with nothing, and what is known of its function.
    Rules that cost cycles are applied where nothing fits without. Raises MemoptError."""
    after, options = task.ready.clone(), task.options
    try:
        known = plan_module(context, after, options, seconds, task.whole_peaks)
    except DoesNotFitError:
        slower = replace(options, may_be_slow=True)
        if not _have_more_to_do(slower, options, task.ready):
            raise
        after = task.ready.clone()
        known = plan_module(context, after, slower, seconds)
    func = only_function(after)
    return after, Checked(func, plan_facts(func), known[func].extracted.memory)


def _have_more_to_do(options: SettledOptions, others: SettledOptions, module: ModuleOp) -> bool:
    """Return whether rules of `options` that those of `others` lack may do something."""
    more = set(rules_of(options).searched).difference(rules_of(others).searched)
    kinds = names_of(kinds_in(module)) if more else frozenset[str]()
    return any(facts_of(rule).may_be_met(kinds) for rule in more)


# What a runtime that reads the file itself does not have, and why.
OF_C: tuple[tuple[Callable[[SettledOptions], bool], str], ...] = (
    (lambda o: o.slide is not None, "--slide: TensorFlow Lite Micro runs every window anew"),
    (lambda o: o.stream_input, "--stream-input: TensorFlow Lite Micro takes its input as a whole"),
    (
        lambda o: o.fit is not None and o.in_rows,
        "--fit: TensorFlow Lite Micro runs whole operators, no rows",
    ),
    (lambda o: o.in_rows, "--rows: TensorFlow Lite Micro runs whole operators, no rows"),
    (
        lambda o: o.rewrite != NO_RULES,
        "--rewrite: a .tflite is written again as it is; memopt compile writes one with less in it",
    ),
    (lambda o: o.state is not None, "--state: the .tflite keeps its inputs and outputs"),
    (
        lambda o: o.memory is not None,
        "--memory: TensorFlow Lite Micro has its tensors in one memory, and its structures there "
        "or in another: --ram=persistent:8K,tensors:20K",
    ),
    (lambda o: o.int8_io, "--int8-io: the .tflite keeps its inputs and outputs"),
    (lambda o: o.nhwc_io, "--nhwc-io: the .tflite keeps its inputs and outputs"),
)


def check_options(options: SettledOptions) -> None:
    """Raise UsageError for what contradicts itself, or is not there."""
    for value, known, flag in (
        (options.schedule, METHODS, "--schedule"),
        (options.place, PLACEMENTS, "--place"),
    ):
        if value not in known:
            raise UsageError(f"{flag}={value}{nearest(value, known)}: one of {', '.join(known)}")
    if options.memory is not None:
        check_memory(options)
    for is_given, why in OF_C if options.runs_file else ():
        if is_given(options):
            raise UsageError(why)
    if options.cmsis_nn and not options.is_compiled:
        raise UsageError("--cmsis-nn: of C targets, whose code calls the library")
    if options.cmsis_nn and options.in_rows:
        raise UsageError("--cmsis-nn: the library computes whole operators, no rows")
    if options.stream_input and not options.in_rows:
        raise UsageError(
            "--stream-input needs operators in rows: --rows=all, auto or names, or --fit"
        )


def check_memory(options: SettledOptions) -> None:
    """Raise UsageError for a --memory that cannot be read, or with a --place beside it."""
    from memopt.passes.memgraph_memory import parse_banks  # for the few who have several

    try:
        parse_banks(options.memory or "")
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from None
    if options.place != PlanOptions.place:
        raise UsageError("--memory places the buffers itself; leave --place out")
