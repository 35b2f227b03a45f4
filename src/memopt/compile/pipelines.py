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
from memopt.targets.core.registry import target_named, target_names

ROWS_ALIGNMENT = 4
"""Bytes: what float rows and int32 sums need. A row that is rounded up to 16 wastes more."""


def rows_alignment(module: ModuleOp) -> int:
    """Bytes that plans in rows need: 8 where tensors in memory have wider elements than floats."""
    blocks = (block for op in module.walk() for region in op.regions for block in region.blocks)
    arguments = {a.type for block in blocks for a in block.args}
    made = {r.type for op in module.walk() if not isinstance(op, ConstantOp) for r in op.results}
    wide = (IntegerType(64), IntegerType(64, Signedness.UNSIGNED), Float64Type())
    tensors = [cast("AnyTensor", t) for t in made | arguments if isinstance(t, TensorType)]
    return 8 if any(t.element_type in wide for t in tensors) else ROWS_ALIGNMENT


@dataclass(frozen=True)
class Choices:
    """How to plan: methods as on the command line, seconds for the whole plan; `rows` and
    `stream_input` as of memgraph-expand-rows, `fit` too, bytes, which needs rows=auto; `slide` as
    rows of memgraph-slide, which needs `stream_input`, and `kept`, bytes, which needs `slide`;
    `optimize` as of memgraph-kernels, for targets whose kernels are ours; `alignment`, bytes, of
    plans in rows (`rows_alignment`); `cmsis_nn`, whether C calls CMSIS-NN, whose scratch counts."""

    schedule: str = "auto"
    place: str = "joint"
    time_limit: float | None = None
    fuse: bool = True
    io: str | None = None
    inplace: str | None = None
    memory: str | None = None
    rows: tuple[str, ...] = (NONE,)
    fit: int | None = None
    stream_input: bool = False
    int8_io: bool = False
    nhwc_io: bool = False
    slide: int | None = None
    kept: int | None = None
    rewrite: tuple[str, ...] = (NO_RULES,)
    optimize: str = RAM
    alignment: int = ROWS_ALIGNMENT
    cmsis_nn: bool = False

    @property
    def in_rows(self) -> bool:
        return self.rows != (NONE,)


@dataclass(frozen=True)
class Step:
    """One pass of a pipeline. Its seconds count for `stage` of `report.json`, "" for none. Where it
    runs `again`, then only on functions whose plan the last pass that does not has dropped."""

    stage: str
    run: ModulePass
    why: str
    again: bool = False


def plan(target: str = "generic", choices: Choices | None = None) -> tuple[Step, ...]:
    """From an imported module to a verified plan.

    Of rewrite rules those that are asked for, for a rule changes which operators there are, and the
    one that rows need.
    Raises ValueError for options that are wrong.
    """
    chosen = choices or Choices()
    limit = chosen.time_limit
    compiled = target in target_names("c")
    fast = compiled and may_be_fast(target_named(target))
    inplace = chosen.inplace or ("on" if compiled or chosen.in_rows else None)
    model = MemgraphModelPass(target, io=chosen.io, inplace=inplace)
    if chosen.cmsis_nn:
        model = replace(model, scratch=CALLED)
    if chosen.in_rows:
        model = replace(model, alignment=chosen.alignment)
    searched = limit if chosen.rows == (AUTO,) else None
    rows = MemgraphExpandRowsPass(chosen.rows, chosen.fit, searched, chosen.stream_input)
    cut = Step("", rows, "before the order, which is one of rows")
    slide = () if chosen.slide is None else (_sliding(chosen.slide, chosen.kept),)
    fuse = MemgraphFusePass(time_limit=limit)
    schedule = MemgraphSchedulePass(chosen.schedule, limit)
    contract = Step("fuse", fuse, "before the order, to leave its search less; it opens them again")
    # rows are not contracted: `fit` counts on the order that it found
    if chosen.memory is None:
        place = MemgraphPlacePass(chosen.place, limit)
        places = Step("place", place, "after the order, which `joint` may change once more")
    else:
        memory = MemgraphMemoryPass(chosen.memory, time_limit=limit)
        places = Step("place", memory, "after the order, to which it adds copies between memories")
    order = Step("schedule", schedule, "before the places, for live ranges follow from the order")
    border = Step("rewrite", MemgraphInt8IoPass(), "before all else, for it changes the operators")
    pads = MemgraphRewritePass(("pad-into-window",))
    inside = Step("rewrite", pads, "before rows, of which those that are padding are no operands")
    turn = MemgraphRewritePass(("frames-as-rows",))
    frames = Step("rewrite", turn, "before rows, which are frames where a window slides")
    at_once, searched, by_rows = rules_of(chosen)
    asked = Step("rewrite", MemgraphRewritePass(at_once), "before rows, which take it on")
    images = Step("rewrite", MemgraphNhwcIoPass(), "once all that can is channels last")
    search = MemgraphRewritePass(searched, time_limit=limit)
    counted = Step("rewrite", search, "after the model, by which it counts, and before rows")
    tried = MemgraphRewritePass(by_rows, time_limit=limit, rows=True)
    in_rows = Step("rewrite", tried, "after all others, for it tries out the rows")
    return (
        *((border,) if chosen.int8_io else ()),
        *((asked,) if at_once else ()),
        *((images,) if chosen.nhwc_io else ()),
        *((frames,) if chosen.slide is not None else ()),
        *((inside,) if chosen.in_rows else ()),
        Step("", model, "first, for every other pass counts by it"),
        *((counted,) if searched else ()),
        *((in_rows,) if by_rows else ()),
        *((cut,) if chosen.in_rows else ()),
        *slide,
        *((contract,) if chosen.fuse and not chosen.in_rows else ()),
        order,
        places,
        *(_fast_kernels(chosen, order, places) if fast and chosen.memory is None else ()),
        Step("", MemgraphVerifyPlanPass(placed=True), "last, and it trusts none of the others"),
    )


def _fast_kernels(chosen: Choices, order: Step, places: Step) -> tuple[Step, ...]:
    """Kernels that are fast, and what has to be found again with their scratch."""
    if chosen.place in SHARED_OBJECTS:
        return ()
    kernels = MemgraphKernelsPass(chosen.optimize, chosen.fit)
    fast = Step("place", kernels, "after the places, between which there is room for scratch")
    again = () if chosen.optimize == RAM else (order, places)
    return (fast, *(replace(step, again=True) for step in again))


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


def rules_of(chosen: Choices) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The rules that are asked for: those applied at once, those applied by search, and those
    searched with operators in rows. Of a set of them only those that leave what can be planned so.
    """
    wanted = chosen.rewrite
    names = named_rules(wanted)
    if len(wanted) == 1 and wanted[0] in SETS:
        names = tuple(n for n in names if _is_planned(rule_of(n), chosen))
    searched = tuple(name for name in names if rule_of(name).applied == SEARCH)
    by_rows = tuple(n for n in searched if chosen.in_rows and rule_of(n).unbuffered)
    at_once = tuple(name for name in names if name not in searched)
    return at_once, tuple(n for n in searched if n not in by_rows), by_rows


def _is_planned(rule: type[Rule], chosen: Choices) -> bool:
    """Whether what a rule leaves can be planned so: rows that are no buffers are not kept from run
    to run, and neither they nor whole tensors are put into several memories."""
    return not rule.unbuffered or (chosen.memory is None and chosen.slide is None)


def _sliding(rows: int, kept: int | None) -> Step:
    return Step(
        "", MemgraphSlidePass(rows, kept), "before the order, which is one of rows that are new"
    )


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
