"""The standard pipelines by name: which passes run, and why each stands where it does.

`plan` leads from an imported module to a plan that is verified (`memopt compile`, `report`,
`memopt.plan`), `source` to the figures of the file as it was, with which `report` compares. Which
rules belong to reading a format its frontend says. `memopt-opt --list-passes` prints all of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import Float64Type, IntegerType, ModuleOp, Signedness, TensorType
from xdsl.passes import ModulePass

from memopt.compile.options import PlanOptions, described
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import AnyTensor
from memopt.passes.plan.share import METHODS as SHARED_OBJECTS
from memopt.passes.plan.words import AUTO, NONE, RAM
from memopt.plugin import PASSES
from memopt.rewrites import NO_RULES, SEARCH, SETS, Facts, facts_of, named_rules
from memopt.targets.cmsis_nn import CALLED
from memopt.targets.core.kernels import may_be_fast
from memopt.targets.core.target import target_named

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
    `alignment` are the bytes of plans in rows (`rows_alignment`). Of `rewrite` the rules that are
    applied at once may be `applied` already, and those that cost cycles `may_be_slow`."""

    rows: str = NONE
    rewrite: str = NO_RULES
    optimize: str = RAM
    alignment: int = ROWS_ALIGNMENT
    applied: bool = False
    may_be_slow: bool = False

    @property
    def in_rows(self) -> bool:
        """Return whether operators are cut into rows."""
        return self.rows != NONE

    @property
    def may_be_fast(self) -> bool:
        """Return whether kernels of the target take scratch to be faster."""
        return self.is_compiled and may_be_fast(target_named(self.target))

    @property
    def spends_cycles(self) -> bool:
        """Return whether bytes are worth cycles: few are asked for, or memories have so many."""
        return self.optimize == RAM or self.memory is not None or self.may_be_slow


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
    """Return the rules that are asked for and not applied yet; of a set of them those that leave
    what can be planned so, and that cost no cycles which nobody wants to spend."""
    wanted = options.rewrite.split(",")
    names = named_rules(wanted)
    if len(wanted) == 1 and wanted[0] in SETS:
        names = tuple(n for n in names if _is_wanted(facts_of(n), options))
    searched = tuple(name for name in names if facts_of(name).applied == SEARCH)
    by_rows = tuple(n for n in searched if options.in_rows and facts_of(n).virtual)
    at_once = tuple(name for name in names if name not in searched and not options.applied)
    return Rules(at_once, tuple(n for n in searched if n not in by_rows), by_rows)


def _is_wanted(rule: Facts, options: SettledOptions) -> bool:
    """Return whether a rule of a set is worth its cycles, and what it leaves can be planned so:
    virtual rows are not kept from run to run, and neither they nor whole tensors are put into
    several memories."""
    if rule.slower and not options.spends_cycles:
        return False
    return not rule.virtual or (options.memory is None and options.slide is None)


def _model(options: SettledOptions) -> Mapping[str, object]:
    return {
        "alignment": options.alignment if options.in_rows else None,
        "inplace": options.inplace or ("on" if options.is_compiled or options.in_rows else None),
        "scratch": CALLED if options.cmsis_nn else None,
    }


def _rows(options: SettledOptions) -> Mapping[str, object]:
    limit = options.time_limit if options.rows == AUTO else None
    return {"rows": tuple(options.rows.split(",")), "time_limit": limit}


def _has_fast_kernels(options: SettledOptions) -> bool:
    one_arena = options.memory is None and options.place not in SHARED_OBJECTS
    return options.may_be_fast and one_arena


def _plans_again(options: SettledOptions) -> bool:
    return _has_fast_kernels(options) and options.optimize != RAM


# Pass -> (option of a plan, option of the pass that takes its value).
SET: dict[str, list[tuple[str, str]]] = {}
for _name, _, _entry in described():
    for _run, _, _field in (each.partition(".") for each in _entry.sets):
        SET.setdefault(_run, []).append((_name, _field))


@dataclass(frozen=True)
class Row:
    """A row of the table: the pass by name, `when` it runs, why it stands there, and options of it
    that are not those that `PlanOptions` sets."""

    stage: str
    run: str
    when: Callable[[SettledOptions], bool]
    why: str
    given: Callable[[SettledOptions], Mapping[str, object]] = lambda _: {}
    again: bool = False

    def built(self, options: SettledOptions) -> Step:
        """Return the row as a step, its pass with what the options say."""
        values: dict[str, Any] = {
            field: value
            for name, field in SET.get(self.run, ())
            if (value := getattr(options, name)) is not None
        }
        run = _pass(self.run)(**values | dict(self.given(options)))
        return Step(self.stage, run, self.why, self.again)


@cache
def _pass(name: str) -> Any:
    """Return the class of a pass, which is loaded for the pipelines that have it."""
    return PASSES[name]()


def _always(_: SettledOptions) -> bool:
    return True


MODEL, SCHEDULE, PLACE = "memgraph-model", "memgraph-schedule", "memgraph-place"
AGAIN = "with the scratch of fast kernels"
# A row that is searched takes what is left of the time limit. Rows of operators are not contracted:
# `fit` counts on the order that it found.
TABLE = (
    Row(
        "rewrite",
        "memgraph-tie-state",
        lambda o: o.state is not None,
        "first, for its names are those of the file",
    ),
    Row(
        "rewrite",
        "memgraph-int8-io",
        lambda o: o.int8_io,
        "before all else, for it changes the operators",
    ),
    Row(
        "rewrite",
        "memgraph-rewrite",
        lambda o: bool(rules_of(o).at_once),
        "before rows, which take it on",
        lambda o: {"rules": rules_of(o).at_once},
    ),
    Row("rewrite", "memgraph-nhwc-io", lambda o: o.nhwc_io, "once all that can is channels last"),
    Row(
        "rewrite",
        "memgraph-rewrite",
        lambda o: o.slide is not None,
        "before rows, which are frames where a window slides",
        lambda _: {"rules": ("frames-as-rows",)},
    ),
    Row(
        "rewrite",
        "memgraph-rewrite",
        lambda o: o.in_rows,
        "before rows, of which those that are padding are no operands",
        lambda _: {"rules": ("pad-into-window",)},
    ),
    Row("", MODEL, _always, "first, for every other pass counts by it", _model),
    Row(
        "rewrite",
        "memgraph-rewrite",
        lambda o: bool(rules_of(o).searched),
        "after the model, by which it counts, and before rows",
        lambda o: {"rules": rules_of(o).searched, "time_limit": o.time_limit},
    ),
    Row(
        "rewrite",
        "memgraph-rewrite",
        lambda o: bool(rules_of(o).by_rows),
        "after all others, for it tries out the rows",
        lambda o: {"rules": rules_of(o).by_rows, "time_limit": o.time_limit, "rows": True},
    ),
    Row(
        "",
        "memgraph-expand-rows",
        lambda o: o.in_rows,
        "before the order, which is one of rows",
        _rows,
    ),
    Row(
        "",
        "memgraph-slide",
        lambda o: o.slide is not None,
        "before the order, which is one of rows that are new",
    ),
    Row(
        "fuse",
        "memgraph-fuse",
        lambda o: o.fuse and not o.in_rows and o.align_io is None,
        "before the order, to leave its search less; it opens them again",
    ),
    Row("schedule", SCHEDULE, _always, "before the places, for live ranges follow from the order"),
    Row(
        "place",
        PLACE,
        lambda o: o.memory is None,
        "after the order, which `joint` may change once more",
    ),
    Row(
        "place",
        "memgraph-memory",
        lambda o: o.memory is not None,
        "after the order, to which it adds copies between memories",
    ),
    Row(
        "place",
        "memgraph-kernels",
        _has_fast_kernels,
        "after the places, between which there is room for scratch",
    ),
    Row("schedule", SCHEDULE, _plans_again, "with the scratch of fast kernels", again=True),
    Row("place", PLACE, _plans_again, "with the scratch of fast kernels", again=True),
    Row(
        "",
        "memgraph-verify-plan",
        _always,
        "last, and it trusts none of the others",
        given=lambda _: {"placed": True},
    ),
)


def plan(options: SettledOptions | None = None) -> tuple[Step, ...]:
    """From an imported module to a verified plan.

    Of rewrite rules those that are asked for, for a rule changes which operators there are, and the
    one that rows need. Raises ValueError for options that are wrong.
    """
    chosen = options or SettledOptions(target="generic")
    return tuple(row.built(chosen) for row in TABLE if row.when(chosen))


def with_branches(steps: Sequence[Step], depth: int) -> tuple[Step, ...]:
    """Return `steps` for a module whose operators run functions that run others, `depth` deep: what
    a function needs is known when those that it runs are placed."""
    names = [step.run.name for step in steps]
    if not depth or PLACE not in names:
        return tuple(steps)
    at, order = names.index(PLACE), steps[names.index(SCHEDULE)]
    places, end, run = steps[at], at + 1, _pass("memgraph-branches")()
    counted = replace(places, run=run, why="once what operators run has places")
    again = (counted, replace(order, again=True), replace(places, again=True))
    return (*steps[:end], *again * depth, *steps[end:])


def source(tflm: bool = True, scratch: bool = True) -> tuple[Step, ...]:
    """The file's own order, placed by TFLM's own planner.

    By the rules of TFLM, with the scratch that its kernels ask for or without; else by those of a
    format of which no runtime is known: nothing in place, reshapes copy.
    """
    model, schedule, place = _pass(MODEL), _pass(SCHEDULE), _pass(PLACE)
    counted = (
        model("tflm", scratch=None if scratch else "none")
        if tflm
        else model("generic", 16, "arena", "off", "off", "none")
    )
    return (
        Step("", counted, "first, for every other pass counts by it"),
        Step("", schedule("source"), "the operators as they stand in the file"),
        Step("", place("tflm"), "where the interpreter would place the tensors"),
    )


PIPELINES: Mapping[str, Callable[[], tuple[Step, ...]]] = {"plan": plan, "source": source}
