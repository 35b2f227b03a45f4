"""`memopt.peak(graph)`: the least RAM that a graph can do with, and what proves it.

Made for searches over architectures, which ask it of thousands of graphs. Equal graphs (of up to
500 operators) are solved once per process, whatever their names and whatever the order of their
operators.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp

from memopt.analysis.work import function_work
from memopt.api.plain_graphs import plain_graph
from memopt.api.sources import Shapes, Source, operators_of, prepared, seconds, title, told
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.passes.memgraph_input_range import Ranges
from memopt.passes.plan.extract import extract
from memopt.solvers.problems.memory_graph import MemoryGraph, Proof, Schedule
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.methods import auto
from memopt.solvers.theory.canonical import canonical_order, graph_of

REMEMBERED = 4_096  # graphs whose answer one process keeps
SMALL, STATES = 32, 1_000  # up to so many operators and states a search beats contracting first
LARGEST = 500  # operators of a graph that is looked up before it is solved


class Peak(NamedTuple):
    """Bytes: the peak of the best order found, and what no order is below. Optimal if they are
    equal; `proof` says what the bound rests on: flow, search, ilp, or none.

    `order` has the operators' names in that order, `indices` their numbers, from 0, among
    `Model.operators` of the graph after the pipeline. Reshapes that cost nothing do not run."""

    peak: int
    lower_bound: int
    proof: Proof
    order: tuple[str, ...] = ()
    indices: tuple[int, ...] = ()

    @property
    def optimal(self) -> bool:
        return self.proof != "none" and self.peak == self.lower_bound


def peak(
    graph: "Source | MemoryGraph",
    *,
    pipeline: str = "",
    time_limit: float | None = None,
    shapes: Shapes | None = None,
    input_ranges: Ranges | None = None,
) -> Peak:
    """The least peak over all orders of the operators, in bytes, as far as it is proven.

    `graph` is whatever `memopt.load` takes, or a MemoryGraph. `pipeline` is run first on what is
    not a MemoryGraph, as after `memopt-opt -p`:
    "memgraph-model{alignment=1},memgraph-prepare{conventions=frelu}". Without it alignment is 16.
    `shapes` and `input_ranges`, which the rule constant-channels counts on, are as of `plan`.
    `time_limit` in seconds: then the best order that is found, and what is proven until then.

    Raises MemoptError for a graph that is none, OSError, and ValueError for a pipeline or time
    limit that there is not, and for ranges of a MemoryGraph, which has no elements.

        >>> memopt.peak({"tensors": [{"name": "x", "bytes": 16}, {"name": "y", "bytes": 32}],
        ...              "nodes": [{"name": "n", "op": "Relu", "inputs": ["x"], "outputs": ["y"]}],
        ...              "graph_inputs": ["x"], "graph_outputs": ["y"]})
        Peak(peak=48, lower_bound=48, proof='flow', order=('n',), indices=(0,))
    """
    return peak_and_macs(graph, pipeline, time_limit, shapes, input_ranges)[0]


def peak_and_macs(
    graph: "Source | MemoryGraph",
    pipeline: str = "",
    time_limit: float | None = None,
    shapes: Shapes | None = None,
    input_ranges: Ranges | None = None,
) -> tuple[Peak, int | None]:
    """`peak`, and the multiplications of the graph, None if nobody knows. Raises as `peak`."""
    seconds(time_limit)
    macs: int | None = None
    if isinstance(graph, MemoryGraph):
        if input_ranges:
            raise ValueError("input_ranges: a MemoryGraph has bytes and no elements")
        problem, names, numbers = graph, graph.names, tuple(range(len(graph)))
        with told("graph"):
            problem.check()
    else:
        problem, names, numbers, macs = _problem(graph, pipeline, shapes, input_ranges)
    answer = _answer(problem, time_limit)
    order = tuple(names[v] for v in answer.order)
    indices = tuple(numbers[v] for v in answer.order)
    return Peak(answer.peak, answer.lower_bound, answer.proof, order, indices), macs


def _answer(problem: MemoryGraph, time_limit: float | None) -> Schedule:
    """The schedule, its order in the numbers of `problem`."""
    if len(problem) > LARGEST:
        return schedule(problem, "auto", time_limit)
    quick = auto.met(problem, time_limit)
    if quick is not None:  # as with most small graphs, which are not worth a canonical form
        quick.verify(problem)
        return quick
    form, places = canonical_order(problem)
    # what was cut short is not remembered
    solved = (
        _remembered(form) if time_limit is None else schedule(graph_of(form), "auto", time_limit)
    )
    answer = Schedule(
        tuple(places[v] for v in solved.order), solved.peak, solved.lower_bound, solved.proof
    )
    answer.verify(problem)  # the form is the graph under other numbers, or this says so
    return answer


@lru_cache(REMEMBERED)
def _remembered(form: tuple[Any, ...]) -> Schedule:
    graph = graph_of(form)
    if len(graph) <= SMALL:
        answer = schedule(graph, "auto", None, fuse=False, local=False, max_states=STATES)
        if answer.optimal:
            return answer
    return schedule(graph, "auto", None)


def memory_graph(source: Source, pipeline: str = "") -> MemoryGraph:
    """The memory graph of a file or a decoded JSON graph with one function. Raises as `peak`."""
    return _problem(source, pipeline)[0]


def _problem(
    source: Source,
    pipeline: str,
    shapes: Shapes | None = None,
    input_ranges: Ranges | None = None,
) -> tuple[MemoryGraph, tuple[str, ...], tuple[int, ...], int | None]:
    """The memory graph, its operators' names and numbers, and their multiplications."""
    if not (pipeline or shapes or input_ranges):
        plain = plain_graph(source)
        if plain is not None:
            return plain.graph, plain.graph.names, tuple(range(len(plain.graph))), plain.macs
    model = prepared(source, pipeline, shapes, input_ranges)
    with told(model.name):
        func = only_function(model.module)
        extracted = extract(func)
    number = {op: i for i, op in enumerate(operators_of(func))}
    executing = extracted.memory.operations
    names, numbers = tuple(map(title, executing)), tuple(number[op] for op in executing)
    return extracted.graph, names, numbers, _macs(func)


def _macs(func: FuncOp) -> int | None:
    """Return the multiplications of operators that know theirs, else those that a JSON graph's
    nodes state."""
    known = function_work(func).macs
    options = [op.options for op in func.body.block.ops if isinstance(op, OpaqueOp)]
    said = [entries.data.get("macs") for entries in options if entries is not None]
    numbers = [m.value.data for m in said if isinstance(m, IntegerAttr)]
    return sum(numbers) if known is None and numbers else known
