"""The standard road from an imported module to a plan, and the figures of the file as it was."""

import json
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from memopt.analysis.constants import constants_of
from memopt.analysis.storage_groups import BlockMemory
from memopt.analysis.weights import weights_of
from memopt.backends.c.emit.lowering import check_kernels, check_rows
from memopt.compile.driver import check_module, in_budget
from memopt.compile.pipelines import SettledOptions, Step, plan, rules_of, source, with_branches
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import callees_first, depth_of, functions, only_function
from memopt.dialects.memgraph.plan import model_of, plan_of
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_fuse import MemgraphFusePass
from memopt.passes.memgraph_int8_io import MemgraphInt8IoPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.plan.planned import Planned, PlanningPass, RowBounds
from memopt.passes.plan.words import ALL, AUTO, NONE, RAM
from memopt.passes.rows.expand import NoRowsError, computing, cut
from memopt.passes.rows.numbers import drop_handed
from memopt.rewrites import NO_RULES
from memopt.solvers import clock
from memopt.targets.core.planned_for import runs_file, with_called
from memopt.targets.core.target import target_named
from memopt.text.diagnostics import progress

DECIDING = (MemgraphExpandRowsPass, MemgraphFusePass, MemgraphSchedulePass)
FEW = 64  # whole operators, which are planned sooner than their kernels look at them
STAGES = ("import", "rewrite", "fuse", "schedule", "place", "emit")


@dataclass
class Seconds:
    """Wall seconds of each stage of `memopt compile`, and the moment at which it began."""

    stages: dict[str, float] = field(default_factory=dict[str, float])
    began: float = field(default_factory=clock.now)

    @contextmanager
    def timed(self, stage: str, deadline: float | None = None) -> Generator[None]:
        """Count the seconds of what runs meanwhile, until a `deadline` if any, as those of a stage,
        "" for none."""
        start = clock.now()
        with progress(stage, deadline) if stage else nullcontext():
            yield
        if stage:
            self.stages[stage] = self.stages.get(stage, 0.0) + clock.now() - start

    def line(self) -> str:
        """Return the seconds of every stage as one line of JSON: no part of report.json, which is
        the same for the same input."""
        return json.dumps(
            {"seconds": {name: round(self.stages.get(name, 0), 6) for name in STAGES}}
        )

    def deadline(self, time_limit: float | None) -> float | None:
        """Until when to search, so that a limit includes reading, which `import` is, and writing,
        which takes about as much."""
        return (
            None if time_limit is None else self.began + time_limit - self.stages.get("import", 0)
        )


@dataclass(frozen=True)
class SourcePlan:
    """A module and its function as the file has them, with the plan of the file's own order, which
    nobody has verified, and the storage groups."""

    module: ModuleOp
    func: FuncOp
    plan: PlanAttr
    memory: BlockMemory


def rewritten(
    context: Context, module: ModuleOp, options: SettledOptions, seconds: Seconds
) -> tuple[ModuleOp, SettledOptions]:
    """Return a copy with the rules that are applied at once, and options that say so, for who plans
    it more than once in C; the module itself where something else has to come first."""
    rules = rules_of(options)
    first = options.state is not None or options.slide is not None
    if not rules.at_once or first:
        return module, options
    copy = module.clone()
    with seconds.timed("rewrite"):
        if options.int8_io:  # comes before the rules, and finds nothing to do after them
            MemgraphInt8IoPass().apply(context, copy)
        MemgraphRewritePass(rules.at_once).apply(context, copy)
    return copy, replace(options, applied=True)


def check_kernels_first(context: Context, module: ModuleOp, options: SettledOptions) -> None:
    """Raise MemoptError for an operator that the C backend would refuse, before anything is ordered
    or placed, which may take long."""
    searched = rules_of(options).searched
    network = before_rows(context, module, replace(options, rewrite=_at_once(options)))
    try:
        _check_lowering(network, options)
    except MemoptError:
        if not searched:
            raise
        # rules that are tried out may leave other operators
        _check_lowering(before_rows(context, module, options), options)


def _at_once(options: SettledOptions) -> str:
    return ",".join(rules_of(options).at_once) or NO_RULES


def _check_lowering(module: ModuleOp, options: SettledOptions) -> None:
    func = only_function(module)
    if not options.in_rows and len(func.body.block.ops) <= FEW:
        check_kernels_of(func, options.target)
        return
    constants = constants_of(weights_of(func), model_of(func))
    isa = isa_of(func, options.target)

    def runs_in_rows(op: Operation) -> bool:
        copy = func.clone()
        position = [k for k, other in enumerate(computing(func)) if other is op]
        if not cut(copy, position):
            return False
        with suppress(MemoptError):
            check_rows(copy, isa, constants)
            return True
        return False

    check_kernels(func, isa, constants, runs_in_rows if options.in_rows else None)


def check_kernels_of(func: FuncOp, target: str) -> None:
    """Raise MemoptError for an operator of whole tensors that has no kernel on the target."""
    check_kernels(func, isa_of(func, target))


def isa_of(func: FuncOp, target: str) -> tuple[str, ...]:
    """Return the instruction sets of a target, with what kernels of a library may call besides."""
    return with_called(target_named(target), model_of(func)).isa


def before_rows(context: Context, module: ModuleOp, options: SettledOptions) -> ModuleOp:
    """Return a copy with all that is done before operators are cut into rows or ordered, but for
    the rules that try out rows themselves, which may take long and change no kernel."""
    copy = module.clone()
    steps = [step for step in plan(options) if not _counts_rows(step.run)]
    end = next(k for k, step in enumerate(steps) if isinstance(step.run, DECIDING))
    _run(context, copy, steps[:end], Seconds())
    return copy


def _counts_rows(step: ModulePass) -> bool:
    """Return whether a step tries out rows itself, which may take long, and changes no kernel."""
    return isinstance(step, MemgraphRewritePass) and step.rows


WholePeaks = dict[SettledOptions, int]
"""Bytes of the peak of a network's whole operators, by the options that they were ordered by."""


def plan_module(
    context: Context,
    module: ModuleOp,
    options: SettledOptions,
    seconds: Seconds,
    whole_peaks: WholePeaks | None = None,
) -> dict[FuncOp, Planned]:
    """Plan every function of `module`, verified at the end, and what is known of each
    function then. A time limit counts since `seconds` began; without one `whole_peaks` gets that
    of a module of one function if it is found on the way. Raises MemoptError.

    With rows=auto neither whole operators nor all rows have a smaller arena: the pass that chooses
    rows counts no scratch of fast kernels, and sees what the rules left that rows need.
    """
    with ExitStack() as at_end:
        if options.in_rows:
            at_end.callback(drop_handed)
        rivals = _rivals(options)
        imported = module.clone() if rivals else module
        seconds.stages.setdefault("rewrite", 0.0)
        deadline = seconds.deadline(options.time_limit)
        bounds: dict[FuncOp, RowBounds] = {}
        known = _run(context, module, plan(options), seconds, deadline, bounds)
        for rival in rivals:
            if _is_least(known, rival, bounds.values()):
                continue
            if rival.rows == NONE and _are_whole(known, imported):
                continue
            other = imported.clone()
            peaks = None if deadline is not None or rival.rows != NONE else whole_peaks
            smaller = _smaller(context, other, rival, seconds, deadline, _cost(known), peaks)
            if smaller is not None:
                known = smaller
                _take_over(module, other)
    check_module(module)
    return known


def _rivals(options: SettledOptions) -> list[SettledOptions]:
    """Return the options beside rows=auto that may have a smaller arena: whole operators, and all
    rows where fast kernels, chosen later, take scratch."""
    if options.rows != AUTO or options.fit is not None or options.memory is not None:
        return []
    grows = options.optimize != RAM and options.may_be_fast
    rows = (ALL,) * grows + (NONE,) * (not options.stream_input)
    return [replace(options, rows=name) for name in rows]


def _is_least(
    known: Mapping[FuncOp, Planned], rival: SettledOptions, bounds: Collection[RowBounds]
) -> bool:
    """Return whether no plan of a rival's rows has a smaller arena, for it has more to hold than
    what is bounded: wider alignment, padding of its own, scratch of fast kernels."""
    if rival.rows == NONE:
        # rules that are searched with rows are left out of what is bounded
        searched = rules_of(replace(rival, rows=AUTO)).by_rows
        least = 0 if searched else sum(b.whole for b in bounds)
    else:
        least = sum(b.rows for b in bounds)
    return _cost(known)[0] <= least


def _smaller(
    context: Context,
    module: ModuleOp,
    options: SettledOptions,
    seconds: Seconds,
    deadline: float | None,
    least: tuple[int, int],
    peaks: WholePeaks | None,
) -> dict[FuncOp, Planned] | None:
    """Plan `module` if that costs less than `least`, and return what is known then; None if it does
    not, most often as soon as the peak is bounded, or if no time is left. `peaks` gets the peak."""
    steps = plan(options)
    places = next(k for k, step in enumerate(steps) if step.stage == "place")
    if clock.late(deadline):
        return None
    try:
        _run(context, module, steps[:places], seconds, deadline)
        plans = [planned for f in functions(module) if (planned := plan_of(f))]
        if peaks is not None and len(plans) == 1:
            peaks[options] = plans[0].peak.data
        if sum(planned.lower_bound.data for planned in plans) > least[0]:
            return None
        known = _run(context, module, steps[places:], seconds, deadline)
    except NoRowsError:
        return None
    return known if _cost(known) < least else None


def _are_whole(known: Mapping[FuncOp, Planned], imported: ModuleOp) -> bool:
    """Return whether no operator is in rows, and all buffers have the bytes that a plan of whole
    operators gives them, whose alignment is that of `imported`: that plan would be the same."""
    alignment = max(model_of(func).alignment.data for func in functions(imported))
    return all(
        planned.facts is not None
        and planned.facts.family == "order"
        and all(g.size % alignment == 0 for g in planned.extracted.graph.groups)
        and all(size % alignment == 0 for size in planned.extracted.graph.workspace)
        for planned in known.values()
    )


def _cost(known: Mapping[FuncOp, Planned]) -> tuple[int, int]:
    """Bytes of all arenas, then calls."""
    facts = [planned.facts for planned in known.values()]
    calls = sum(len(planned.extracted.graph) for planned in known.values())
    return sum(f.arena for f in facts if f is not None), calls


def _take_over(module: ModuleOp, other: ModuleOp) -> None:
    """Put the operations of another module in place of its own."""
    for op in list(module.ops):
        op.detach()
        op.erase()
    moved = list(other.ops)
    for op in moved:
        op.detach()
    module.body.block.add_ops(moved)
    module.attributes = dict(other.attributes)


def _run(
    context: Context,
    module: ModuleOp,
    steps: Sequence[Step],
    seconds: Seconds,
    deadline: float | None = None,
    bounds: dict[FuncOp, RowBounds] | None = None,
) -> dict[FuncOp, Planned]:
    """Run the steps one after the other; what one derives of a function it hands to the next. What
    is known of other rows than those chosen is put into `bounds`."""
    known: dict[FuncOp, Planned | None] = {}
    dropped: set[FuncOp] = set()

    funcs = list(functions(module))
    steps = with_branches(steps, max(map(depth_of, funcs)) if len(funcs) > 1 else 0)
    passes = [step.run for step in steps]
    for i, step in enumerate(steps):
        with seconds.timed(step.stage, deadline):
            if not isinstance(step.run, PlanningPass):
                in_budget(passes[i:], deadline).apply(context, module)
                known.clear()
                continue
            if step.run.reads_others:
                known.update({f: planned and planned.write() for f, planned in known.items()})
            waiting = [f for f in callees_first(module) if not step.again or f in dropped]
            for number, func in enumerate(waiting):
                limited = in_budget(passes[i:], deadline, number, len(waiting))
                assert isinstance(limited, PlanningPass)
                planned = known[func] = limited.plan(func, known.get(func))
                if bounds is not None and planned is not None and planned.arrangement is not None:
                    bounds[func] = planned.arrangement.bounds
        if not step.again:
            dropped = {f for f, planned in known.items() if planned is None or not planned.facts}
    return {func: planned.write() for func, planned in known.items() if planned is not None}


def as_it_was(context: Context, module: ModuleOp, is_tflite: bool) -> SourcePlan:
    """Return the function of a copy of the imported module in the file's own order, placed by
    TFLM's own planner.

    For a .tflite file with the scratch that TFLM's kernels ask for; other formats have none, and
    what follows from their constants alone is no operator: a converter computes it.
    """
    copy = module.clone()
    tflm = is_tflite or runs_file(only_function(module))
    known = _run(context, copy, source(tflm, scratch=is_tflite), Seconds())
    func = only_function(copy)
    return SourcePlan(copy, func, plan_facts(func), known[func].extracted.memory)


def plan_facts(func: FuncOp) -> PlanAttr:
    """The plan of a planned function. Raises MemoptError if there is none with offsets."""
    plan = plan_of(func)
    if plan is None or not plan.placed:
        raise MemoptError("the function has no placed plan", f"@{func.sym_name.data}")
    return plan


def whole_peak(
    context: Context, module: ModuleOp, options: SettledOptions, seconds: Seconds, known: WholePeaks
) -> int | None:
    """Bytes of the peak of whole operators, as `--rows=none` orders them, beside a plan in rows, of
    those that are `known` if it is; None if no time is left to find it."""
    deadline = seconds.deadline(options.time_limit)
    if clock.late(deadline):
        return None
    whole_options = replace(options, rows=NONE, fit=None, stream_input=False, slide=None, kept=None)
    if whole_options in known:
        return known[whole_options]
    steps = [step for step in plan(whole_options) if step.stage != "place"][:-1]
    copy = module.clone()
    _run(context, copy, steps, Seconds(), deadline)
    planned = plan_of(only_function(copy))
    return None if planned is None else planned.peak.data
