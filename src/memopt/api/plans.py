"""`memopt.plan(model)`: an order and a place for every tensor, as one frozen answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from memopt.api.keywords import in_keywords, with_keywords
from memopt.api.sources import (
    Model,
    Shapes,
    Source,
    chosen,
    operators_of,
    prepared,
    seconds,
    title,
    told,
    weights_at_hand,
)
from memopt.backends.report import timeline_of, timeline_svg
from memopt.backends.report.records import Record, buffer_records, records_html
from memopt.backends.report.timeline import Timeline
from memopt.compile.driver import FILES, check_claims, new_context
from memopt.compile.options import PlanOptions, described
from memopt.compile.plan import Planned
from memopt.compile.read import Imported
from memopt.compile.request import Request
from memopt.compile.run_passes import Seconds
from memopt.compile.stages import plan as make_plan
from memopt.dialects.attributes.plan import Family, PlanAttr
from memopt.dialects.memgraph.functions import mark_unrun, only_function
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import bytes_offset, memory_at, model_of, places_of
from memopt.dialects.rows.operations import RowOp
from memopt.frontends.core.registry import all_frontends
from memopt.outputs import TARGETS as FORMS
from memopt.outputs import Wanted, emit
from memopt.passes.memgraph_input_range import Ranges
from memopt.solvers.problems.memory_graph import Proof


@dataclass(frozen=True)
class Plan:
    """Bytes throughout; the verifier has re-derived all of it.

    `order` has the operators' names as they run, one in rows once for each row, `indices` their
    numbers, from 0, among `Model.operators`: the file's order. Reshapes that cost nothing do not
    run. No order has a peak
    below `lower_bound`, as `proof` says: flow, search, ilp or none.
    `offsets` maps the names of the tensors in RAM to bytes from the start of the arena (a name that
    is there twice gets `#2` behind it); with several memories, or shared objects, to bytes from the
    start of its own, and `memories` says which that is. `family` is what the bounds range over:
    `order`, all orders of these operators, or `rows`, all orders of these rows. `module` is the
    plan as IR, `data` the bytes of the file if no path says where they are.
    """

    name: str
    target: str
    order: tuple[str, ...] = field(repr=False)
    indices: tuple[int, ...] = field(repr=False)
    peak: int
    lower_bound: int
    proof: Proof
    arena: int
    arena_lower_bound: int
    alignment: int
    offsets: Mapping[str, int] = field(repr=False)
    memories: Mapping[str, str] = field(repr=False)
    family: Family = field(repr=False)
    module: ModuleOp = field(repr=False, compare=False)
    data: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def optimal(self) -> bool:
        """Return whether no order has a smaller peak, proven."""
        return self.proof != "none" and self.peak == self.lower_bound

    @property
    def arena_optimal(self) -> bool:
        """Return whether no order, placed in any way, has a smaller arena, proven."""
        return self.proof != "none" and self.arena == self.arena_lower_bound

    @property
    def buffers(self) -> list[Record]:
        """Return a record per buffer, a list of dicts that pandas.DataFrame takes: its tensor, the
        row of that in a plan in rows, kind, bytes, memory, offset, first and last step."""
        return buffer_records(self._timeline)

    @cached_property
    def _timeline(self) -> Timeline:
        module = self.module.clone()
        with told(self.name), weights_at_hand(self.data, module):
            return timeline_of(only_function(module))

    def _repr_html_(self) -> str:
        facts = {
            "model": self.name,
            "target": self.target,
            "peak": self.peak,
            "no order below": self.lower_bound,
            "proof": self.proof,
            "arena": self.arena,
        }
        return f"{records_html([facts])}{timeline_svg(self._timeline)}"

    def emit(self, form: str = "mlir") -> str | bytes:
        """The plan as `memopt-opt -t FORM` writes it: mlir, c, tflite (bytes), json, svg, html or
        minimalloc-csv. Raises ValueError, and MemoptError for what the form cannot say."""
        chosen("form", form, FORMS)
        module = self.module.clone()
        with told(self.name):
            if form == "mlir":
                return emit(module, form, Wanted())
            with weights_at_hand(self.data, module):
                return emit(module, form, Wanted())


@dataclass(frozen=True, kw_only=True)
class PlanKeywords(PlanOptions):
    """The keywords of `memopt.plan`."""

    pipeline: str = ""
    shapes: Shapes | None = None
    input_ranges: Ranges | None = None


@with_keywords(PlanKeywords)
def plan(source: Source, options: PlanKeywords) -> Plan:
    """Plan a network of one function, as `memopt compile` does by the same words, and verify the
    plan. An option that is None is what it is on the command line by default.

    `source` is whatever `memopt.load` takes. `input_ranges` says between which numbers inputs of
    float32 are, {"x": (-1, 1)}, which the rule constant-channels counts on. `pipeline` is run
    first, as for `memopt.peak`. The options, sizes in bytes and times in seconds:

    OPTIONS

    Raises MemoptError for a network that cannot be planned, OSError, ValueError for an argument
    that there is not, and TypeError for a name of an option that there is not.

        >>> plan = memopt.plan("net.tflite", target="cortex-m4", rows="none")
        >>> plan.arena, plan.offsets["image"]
        (70880, 0)
    """
    check_words(options)
    began = Seconds()
    model = prepared(source, options.pipeline, options.shapes, options.input_ranges)
    with told(model.name), in_keywords():
        module, numbers = _numbered(model, options.runs_file)
        request = Request(path=Path(model.name), options=options)
        imported = imported_of(model, module, request, began)
        with weights_at_hand(model.data, module):
            planned = make_plan(imported)
        if FILES in module.attributes:  # not where the weights were meanwhile
            planned.after.attributes[FILES] = module.attributes[FILES]
        return _answer(model, planned, numbers)


def check_words(options: PlanOptions) -> None:
    """Raise ValueError for a word that no option has, and for a time limit that is none."""
    for name, _, entry in described():
        value, known = getattr(options, name), entry.names() if entry.names else entry.choices
        if known and value is not None:
            chosen(name, value, known)
    seconds(options.time_limit)


def imported_of(model: Model, module: ModuleOp, request: Request, began: Seconds) -> Imported:
    """Return a loaded model, of which `module` is planned, as the stages take it. Raises
    MemoptError for a false claim."""
    check_claims(model.module, model.data)
    return Imported(request, new_context(True), module, all_frontends().get(model.kind), began)


def _origin(op: Operation) -> tuple[object, ...]:
    """Return where an operator comes from: passes and rules keep it, and copies that passes insert
    have none."""
    return op.location, op.name, op.attributes.get("memgraph.names")


def _numbered(model: Model, runs_file: bool) -> tuple[ModuleOp, dict[tuple[object, ...], int]]:
    """A copy of the module in which every operator can be told from the others, and its number."""
    module = model.module.clone()
    if runs_file:
        mark_unrun(module)
    func = only_function(module)
    numbers: dict[tuple[object, ...], int] = {}
    for number, op in enumerate(operators_of(func)):
        if _origin(op) in numbers or isinstance(op.location, UnknownLoc):
            op.location = FileLineColLoc(StringAttr(model.name), IntAttr(number), IntAttr(0))
        numbers[_origin(op)] = number
    return module, numbers


def _answer(model: Model, planned: Planned, numbers: dict[tuple[object, ...], int]) -> Plan:
    known, target = planned.known, planned.options.target
    func, facts = known.func, known.plan
    executing = [op.operation if isinstance(op, RowOp) else op for op in known.memory.operations]
    ran = [(title(op), n) for op in executing if (n := numbers.get(_origin(op))) is not None]
    places = dict(_places(func))
    memories = {name: _called(where, facts) for name, (_, where) in places.items()}
    proof: Proof = facts.proof.data  # type: ignore[assignment]
    family: Family = facts.family.data  # type: ignore[assignment]
    return Plan(
        model.name,
        target,
        tuple(name for name, _ in ran),
        tuple(number for _, number in ran),
        facts.peak.data,
        facts.lower_bound.data,
        proof,
        facts.arena,
        facts.arena_lower_bound.data,
        model_of(func).alignment.data,
        MappingProxyType({name: offset for name, (offset, _) in places.items()}),
        MappingProxyType({} if facts.kind == "arena" else memories),
        family,
        planned.after,
        model.data,
    )


def _called(memory: str, plan: PlanAttr) -> str:
    """Return the key of a memory in `Plan.memories`: the name of a bank, the number of a shared
    object."""
    return str(plan.index(memory)) if plan.kind == "object" else memory


def _places(func: FuncOp) -> Iterator[tuple[str, tuple[int, str]]]:
    """(name, (bytes, memory)) of every placed value, each name once."""
    seen: dict[str, int] = {}
    for value, place in places_of(func).items():
        name, offset = name_of(value), bytes_offset(place)
        if offset is not None:
            seen[name] = seen.get(name, 0) + 1
            count = f"#{seen[name]}" if seen[name] > 1 else ""
            yield name + count, (offset, memory_at(place))
