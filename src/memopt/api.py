"""What other programs call: `memopt.peak(graph)`.

    import memopt
    memopt.peak("net.tflite")          # Peak(peak=55296, lower_bound=55296, proof='flow')
    memopt.peak({"tensors": [...], "nodes": [...], "graph_inputs": [...], "graph_outputs": [...]})

The least peak over all orders of the operators, in bytes, as far as it is proven: made for searches
over architectures, which ask it of thousands of graphs. Equal graphs (of up to 500 operators) are
solved once per process, whatever their names and whatever the order of their operators.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.dialects.errors import MemoptError
from memopt.dialects.plan import functions
from memopt.passes.extract import extract
from memopt.solvers.canonical import canonical, graph_of
from memopt.solvers.problem import MemoryGraph, Proof
from memopt.solvers.scheduling import schedule

REMEMBERED = 4_096  # graphs whose answer one process keeps
LARGEST = 500  # operators of a graph that is looked up before it is solved


class Peak(NamedTuple):
    """Bytes: the peak of the best order found, and what no order is below. Optimal if they are
    equal; `proof` says what the bound rests on."""

    peak: int
    lower_bound: int
    proof: Proof

    @property
    def optimal(self) -> bool:
        return self.proof != "none" and self.peak == self.lower_bound


Source = str | Path | Mapping[str, Any] | MemoryGraph


def peak(graph: Source, *, pipeline: str = "", time_limit: float | None = None) -> Peak:
    """Peak, bound and proof of a graph.

    `graph` is a path (.tflite, .onnx, .json, .mlir), a decoded JSON graph, or a MemoryGraph.
    `pipeline` is run first on what is not a MemoryGraph, as after `memopt-opt -p`:
    "memgraph-model{alignment=1},memgraph-prepare{conventions=frelu}". Without it alignment is 16.
    `time_limit` in seconds. Raises MemoptError, ProblemError, OSError, and UsageError for a
    pipeline that there is not.
    """
    found = graph if isinstance(graph, MemoryGraph) else memory_graph(graph, pipeline)
    found.check()
    if time_limit is not None or len(found) > LARGEST:  # what was cut short is not remembered
        return _solve(found, time_limit)
    return _remembered(canonical(found))


@lru_cache(REMEMBERED)
def _remembered(form: tuple[Any, ...]) -> Peak:
    return _solve(graph_of(form), None)


def _solve(graph: MemoryGraph, time_limit: float | None) -> Peak:
    answer = schedule(graph, "auto", time_limit)
    return Peak(answer.peak, answer.lower_bound, answer.proof)


def memory_graph(source: str | Path | Mapping[str, Any], pipeline: str = "") -> MemoryGraph:
    """The memory graph of a file or a decoded JSON graph with one function."""
    module = _module(source)
    if pipeline:
        from memopt.driver import build_pipeline

        context = Context()
        for step in build_pipeline(pipeline):
            step.apply(context, module)
    found = list(functions(module))
    if len(found) != 1:
        raise MemoptError(f"a graph of one function is needed, there are {len(found)}")
    return extract(found[0]).graph


def _module(source: str | Path | Mapping[str, Any]) -> ModuleOp:
    from memopt.driver import MODELS, check_module, load_model, load_text, new_context

    if isinstance(source, Mapping):
        from memopt.frontends.json_graph import read

        return read(json.dumps(dict(source)).encode(), "graph")
    path = Path(source)
    if path.suffix in MODELS:
        return load_model(path, {})
    if path.suffix != ".mlir":
        raise MemoptError(
            "unknown kind of file, expected .tflite, .onnx, .json or .mlir", str(path)
        )
    module = load_text(new_context(True), path.read_text(encoding="utf-8"), str(path))
    check_module(module)
    return module
