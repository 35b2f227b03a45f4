"""The standard pipelines by name: which passes run, and why each stands where it does.

`plan` leads from an imported module to a plan that is verified (`memopt compile`, `report`,
`memopt.plan`), `source` to the figures of the file as it was, with which `report` compares. Which
rules belong to reading a format its frontend says. `memopt-opt --list-passes` prints all of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import (
    Float64Type,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
)
from xdsl.passes import ModulePass

from memopt.compile.options import PlanOptions
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import AnyTensor
from memopt.passes.memgraph_branches import MemgraphBranchesPass
from memopt.passes.memgraph_expand_rows import AUTO, NONE, MemgraphExpandRowsPass
from memopt.passes.memgraph_fuse import MemgraphFusePass
from memopt.passes.memgraph_int8_io import MemgraphInt8IoPass
from memopt.passes.memgraph_kernels import RAM, MemgraphKernelsPass
from memopt.passes.memgraph_memory import MemgraphMemoryPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_nhwc_io import MemgraphNhwcIoPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.memgraph_slide import MemgraphSlidePass
from memopt.passes.memgraph_verify_plan import MemgraphVerifyPlanPass
from memopt.passes.plan.share import METHODS as SHARED_OBJECTS
from memopt.rewrites import NO_RULES, SEARCH, SETS, Rule, named_rules, rule_of
from memopt.targets.cmsis_nn import CALLED
from memopt.targets.core.kernels import may_be_fast
from memopt.targets.core.registry import target_named

ROWS_ALIGNMENT = 4
"""Bytes: what float rows and int32 sums need. A row that is rounded up to 16 wastes more."""


def rows_alignment(module: ModuleOp) -> int:
    """Bytes that plans in rows need: 8 where tensors in memory have wider elements than floats."""
    blocks = (block for op in module.walk() for region in op.regions for block in region.blocks)
    arguments = {a.type for block in blocks for a in block.args}
    results = {r.type for op in module.walk() if not isinstance(op, ConstantOp) for r in op.results}
    wide = (IntegerType(64), IntegerType(64, Signedness.UNSIGNED), Float64Type())
    tensors = [cast("AnyTensor", t) for t in results | arguments if isinstance(t, TensorType)]
    return 8 if any(t.element_type in wide for t in tensors) else ROWS_ALIGNMENT


@dataclass(frozen=True, kw_only=True)
class SettledOptions(PlanOptions):
    """Options of a plan in which none is left open; `rows` and `rewrite` name several with commas.
    `alignment` are the bytes of plans in rows (`rows_alignment`)."""

    rows: str = NONE
    rewrite: str = NO_RULES
    optimize: str = RAM
    alignment: int = ROWS_ALIGNMENT

    @property
    def in_rows(self) -> bool:
        """Return whether operators are cut into rows."""
        return self.rows != NONE

    @property
    def may_be_fast(self) -> bool:
        """Return whether kernels of the target take scratch to be faster."""
        return self.is_compiled and may_be_fast(target_named(self.target))


@dataclass(frozen=True)
class Step:
    """One pass of a pipeline. Its seconds count for `stage` of `report.json`, "" for none. Where it
    runs `again`, then only on functions whose plan the last pass that does not has dropped."""

    stage: str
    run: ModulePass
    why: str
    again: bool = False


@dataclass(frozen=True)
class Rules:
    """Rewrite rules that are applied at once, that are searched, and that are searched with
    operators in rows."""

    at_once: tuple[str, ...]
    searched: tuple[str, ...]
    by_rows: tuple[str, ...]


def rules_of(options: SettledOptions) -> Rules:
    """Return the rules that are asked for; of a set of them those that leave what can be planned
    so."""
    wanted = options.rewrite.split(",")
    names = named_rules(wanted)
    if len(wanted) == 1 and wanted[0] in SETS:
        names = tuple(n for n in names if _is_planned(rule_of(n), options))
    searched = tuple(name for name in names if rule_of(name).applied == SEARCH)
    by_rows = tuple(n for n in searched if options.in_rows and rule_of(n).unbuffered)
    at_once = tuple(name for name in names if name not in searched)
    return Rules(at_once, tuple(n for n in searched if n not in by_rows), by_rows)


def _is_planned(rule: type[Rule], options: SettledOptions) -> bool:
    """Return whether what a rule leaves can be planned so: rows that are no buffers are not kept
    from run to run, and neither they nor whole tensors are put into several memories."""
    return not rule.unbuffered or (options.memory is None and options.slide is None)


def _model(options: SettledOptions) -> ModulePass:
    return MemgraphModelPass(
        options.target,
        alignment=options.alignment if options.in_rows else None,
        io=options.io,
        inplace=options.inplace or ("on" if options.is_compiled or options.in_rows else None),
        scratch=CALLED if options.cmsis_nn else None,
    )


def _rows(options: SettledOptions) -> ModulePass:
    limit = options.time_limit if options.rows == AUTO else None
    names = tuple(options.rows.split(","))
    return MemgraphExpandRowsPass(names, options.fit, limit, options.stream_input)


def _order(options: SettledOptions) -> ModulePass:
    return MemgraphSchedulePass(options.schedule, options.time_limit)


def _places(options: SettledOptions) -> ModulePass:
    return MemgraphPlacePass(options.place, options.time_limit)


def _has_fast_kernels(options: SettledOptions) -> bool:
    one_arena = options.memory is None and options.place not in SHARED_OBJECTS
    return options.may_be_fast and one_arena


def _plans_again(options: SettledOptions) -> bool:
    return _has_fast_kernels(options) and options.optimize != RAM


@dataclass(frozen=True)
class Row:
    """A row of the table: the pass that options make, `when` it runs, and why it stands there."""

    stage: str
    build: Callable[[SettledOptions], ModulePass]
    when: Callable[[SettledOptions], bool]
    why: str
    again: bool = False


def _always(_: SettledOptions) -> bool:
    return True


# A row that is searched takes what is left of the time limit. Rows of operators are not contracted:
# `fit` counts on the order that it found.
TABLE = (
    Row(
        "rewrite",
        lambda _: MemgraphInt8IoPass(),
        lambda o: o.int8_io,
        "before all else, for it changes the operators",
    ),
    Row(
        "rewrite",
        lambda o: MemgraphRewritePass(rules_of(o).at_once),
        lambda o: bool(rules_of(o).at_once),
        "before rows, which take it on",
    ),
    Row(
        "rewrite",
        lambda _: MemgraphNhwcIoPass(),
        lambda o: o.nhwc_io,
        "once all that can is channels last",
    ),
    Row(
        "rewrite",
        lambda _: MemgraphRewritePass(("frames-as-rows",)),
        lambda o: o.slide is not None,
        "before rows, which are frames where a window slides",
    ),
    Row(
        "rewrite",
        lambda _: MemgraphRewritePass(("pad-into-window",)),
        lambda o: o.in_rows,
        "before rows, of which those that are padding are no operands",
    ),
    Row("", _model, _always, "first, for every other pass counts by it"),
    Row(
        "rewrite",
        lambda o: MemgraphRewritePass(rules_of(o).searched, time_limit=o.time_limit),
        lambda o: bool(rules_of(o).searched),
        "after the model, by which it counts, and before rows",
    ),
    Row(
        "rewrite",
        lambda o: MemgraphRewritePass(rules_of(o).by_rows, time_limit=o.time_limit, rows=True),
        lambda o: bool(rules_of(o).by_rows),
        "after all others, for it tries out the rows",
    ),
    Row("", _rows, lambda o: o.in_rows, "before the order, which is one of rows"),
    Row(
        "",
        lambda o: MemgraphSlidePass(o.slide or 0, o.kept),
        lambda o: o.slide is not None,
        "before the order, which is one of rows that are new",
    ),
    Row(
        "fuse",
        lambda o: MemgraphFusePass(time_limit=o.time_limit),
        lambda o: o.fuse and not o.in_rows,
        "before the order, to leave its search less; it opens them again",
    ),
    Row("schedule", _order, _always, "before the places, for live ranges follow from the order"),
    Row(
        "place",
        _places,
        lambda o: o.memory is None,
        "after the order, which `joint` may change once more",
    ),
    Row(
        "place",
        lambda o: MemgraphMemoryPass(o.memory or "", time_limit=o.time_limit),
        lambda o: o.memory is not None,
        "after the order, to which it adds copies between memories",
    ),
    Row(
        "place",
        lambda o: MemgraphKernelsPass(o.optimize, o.fit),
        _has_fast_kernels,
        "after the places, between which there is room for scratch",
    ),
    Row("schedule", _order, _plans_again, "with the scratch of fast kernels", again=True),
    Row("place", _places, _plans_again, "with the scratch of fast kernels", again=True),
    Row(
        "",
        lambda _: MemgraphVerifyPlanPass(placed=True),
        _always,
        "last, and it trusts none of the others",
    ),
)


def plan(options: SettledOptions | None = None) -> tuple[Step, ...]:
    """From an imported module to a verified plan.

    Of rewrite rules those that are asked for, for a rule changes which operators there are, and the
    one that rows need. Raises ValueError for options that are wrong.
    """
    chosen = options or SettledOptions(target="generic")
    rows = [row for row in TABLE if row.when(chosen)]
    return tuple(Step(row.stage, row.build(chosen), row.why, row.again) for row in rows)


def with_branches(steps: Sequence[Step], depth: int) -> tuple[Step, ...]:
    """Return `steps` for a module whose operators run functions that run others, `depth` deep: what
    a function needs is known when those that it runs are placed."""
    at = next((i for i, step in enumerate(steps) if isinstance(step.run, MemgraphPlacePass)), None)
    if not depth or at is None:
        return tuple(steps)
    order = next(step for step in steps if isinstance(step.run, MemgraphSchedulePass))
    places, end = steps[at], at + 1
    counted = replace(places, run=MemgraphBranchesPass(), why="once what operators run has places")
    again = (counted, replace(order, again=True), replace(places, again=True))
    return (*steps[:end], *again * depth, *steps[end:])


def source(tflm: bool = True, scratch: bool = True) -> tuple[Step, ...]:
    """The file's own order, placed by TFLM's own planner.

    By the rules of TFLM, with the scratch that its kernels ask for or without; else by those of a
    format of which no runtime is known: nothing in place, reshapes copy.
    """
    model = (
        MemgraphModelPass("tflm", scratch=None if scratch else "none")
        if tflm
        else MemgraphModelPass("generic", 16, "arena", "off", "off", "none")
    )
    return (
        Step("", model, "first, for every other pass counts by it"),
        Step("", MemgraphSchedulePass("source"), "the operators as they stand in the file"),
        Step("", MemgraphPlacePass("tflm"), "where the interpreter would place the tensors"),
    )


PIPELINES: Mapping[str, Callable[[], tuple[Step, ...]]] = {"plan": plan, "source": source}
