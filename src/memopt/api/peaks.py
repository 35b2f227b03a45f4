"""`memopt.peak(graph)`: the least RAM that a graph can do with, and what proves it.

Made for searches over architectures, which ask it of thousands of graphs. Small JSON graphs are
solved by the native library, to the same answer. Of others, equal ones (of up to 500 operators) are
searched once per process, whatever their names and whatever the order of their operators.
"""

import json
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp

from memopt.analysis.work import function_work
from memopt.api.answers import Answers, answers_at
from memopt.api.plain_graphs import GraphWork, json_text, plain_graph, weights_of
from memopt.api.small_graphs import SMALL, STATES, Answer, has_time, small_text, solved
from memopt.api.sources import Shapes, Source, operators_of, prepared, seconds, title, told
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.passes.memgraph_input_range import Ranges
from memopt.passes.plan.extract import extract
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, Proof, Schedule
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.methods import auto
from memopt.solvers.theory.canonical import Form, canonical_order, graph_of

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
    return peak_and_work(graph, pipeline, time_limit, shapes, input_ranges)[0]


def peak_and_work(
    graph: "Source | MemoryGraph",
    pipeline: str = "",
    time_limit: float | None = None,
    shapes: Shapes | None = None,
    input_ranges: Ranges | None = None,
    cache: str | None = None,
    is_left: bool = False,
) -> tuple[Peak, GraphWork]:
    """`peak`, and the work of the graph. Searches are shared with all that have the file `cache`. A
    graph that `is_left` by the native library is not given to it again. Raises as `peak`."""
    seconds(time_limit)
    work = GraphWork(None, None)
    if isinstance(graph, MemoryGraph):
        if input_ranges:
            raise ValueError("input_ranges: a MemoryGraph has bytes and no elements")
        problem, names, numbers = graph, graph.names, tuple(range(len(graph)))
        with told("graph"):
            problem.check()
    else:
        is_plain = not (pipeline or shapes or input_ranges or is_left)
        text = small_text(graph) if is_plain and has_time(time_limit) else None
        if text is not None and (small := solved([text])[0]) is not None:
            return peak_of(small), small.work
        problem, names, numbers, work = _problem(graph, pipeline, shapes, input_ranges)
    answer = answer_of(problem, time_limit, answers_at(cache))
    order = tuple(names[v] for v in answer.order)
    indices = tuple(numbers[v] for v in answer.order)
    return Peak(answer.peak, answer.lower_bound, answer.proof, order, indices), work


def peak_of(answer: Answer) -> Peak:
    """Return what the library found."""
    return Peak(answer.peak, answer.lower_bound, answer.proof, answer.order, answer.indices)


def answer_of(problem: MemoryGraph, time_limit: float | None, known: Answers) -> Schedule:
    """Return the schedule, its order in the numbers of `problem`; of a graph that has to be
    searched from what is `known`, and kept there."""
    if len(problem) > LARGEST:
        return schedule(problem, "auto", time_limit)
    quick = auto.met(problem, time_limit)
    if quick is not None:  # as with most small graphs, which are not worth a canonical form
        quick.verify(problem)
        return quick
    form, places = canonical_order(problem)
    solved = known.get(form, time_limit)
    if solved is None:
        solved = _searched(form, time_limit)
        known.put(form, time_limit, solved)
    answer = Schedule(
        tuple(places[v] for v in solved.order), solved.peak, solved.lower_bound, solved.proof,
        solved.states,
    )  # fmt: skip
    answer.verify(problem)  # the form is the graph under other numbers, or this says so
    return answer


def _searched(form: Form, time_limit: float | None) -> Schedule:
    graph, deadline = graph_of(form), clock.deadline(time_limit)
    if len(graph) <= SMALL:
        answer = schedule(graph, "auto", time_limit, fuse=False, local=False, max_states=STATES)
        if answer.optimal or clock.late(deadline):
            return answer
    return schedule(graph, "auto", clock.left(deadline))


def memory_graph(source: Source, pipeline: str = "") -> MemoryGraph:
    """The memory graph of a file or a decoded JSON graph with one function. Raises as `peak`."""
    return _problem(source, pipeline)[0]


def _problem(
    source: Source, pipeline: str, shapes: Shapes | None = None, input_ranges: Ranges | None = None
) -> tuple[MemoryGraph, tuple[str, ...], tuple[int, ...], GraphWork]:
    """The memory graph, its operators' names and numbers, and their work."""
    if not (pipeline or shapes or input_ranges):
        plain = plain_graph(source)
        if plain is not None:
            return plain.graph, plain.graph.names, tuple(range(len(plain.graph))), plain.work
    model = prepared(source, pipeline, shapes, input_ranges)
    with told(model.name):
        func = only_function(model.module)
        extracted = extract(func)
    number = {op: i for i, op in enumerate(operators_of(func))}
    executing = extracted.memory.operations
    names, numbers = tuple(map(title, executing)), tuple(number[op] for op in executing)
    return extracted.graph, names, numbers, work_of_source(source, func)


def work_of_source(source: Source, func: FuncOp) -> GraphWork:
    """Return the work of operators that know theirs; else the multiplications that a JSON graph's
    nodes state, and its weights, which its import leaves out."""
    work, text = function_work(func), json_text(source)
    options = [op.options for op in func.body.block.ops if isinstance(op, OpaqueOp)]
    said = [entries.data.get("macs") for entries in options if entries is not None]
    numbers = [m.value.data for m in said if isinstance(m, IntegerAttr)]
    macs = sum(numbers) if work.macs is None and numbers else work.macs
    weights = work.weights if text is None else weights_of(json.loads(text))
    return GraphWork(macs, weights)
