"""Training steps of up to 2,000 operators: what the scheduler claims of them is true."""

import pytest

from memopt.api import memory_graph
from memopt.benchmarks.training import SHAPES, training_graph
from memopt.solvers.bounds import trivial
from memopt.solvers.fusion import modules
from memopt.solvers.problem import MemoryGraph, profile
from memopt.solvers.scheduling import schedule


def graph_of(shape: str, operators: int, seed: int) -> MemoryGraph:
    return memory_graph(training_graph(shape, operators, seed), "memgraph-model{alignment=1}")


@pytest.mark.parametrize("shape", SHAPES)
def test_the_generator_is_deterministic_and_writes_whole_steps(shape: str) -> None:
    data = training_graph(shape, 300, 1)
    assert data == training_graph(shape, 300, 1) != training_graph(shape, 300, 2)
    made = [t for node in data["nodes"] for t in node["outputs"]]
    read = {t for node in data["nodes"] for t in node["inputs"]}
    assert len(made) == len(set(made))
    assert set(made) - read == set(data["graph_outputs"][1:])  # the loss is read by its gradient
    ops = [node["op"] for node in data["nodes"]]
    assert ops.count("update") == ops.count("weight_grad") == ops.count("conv") > 20
    assert 240 <= len(ops) <= 500


@pytest.mark.parametrize("shape", SHAPES)
def test_auto_within_few_states(shape: str) -> None:
    """A limit of work instead of time: an answer, not above the file's order, with a true bound."""
    graph = graph_of(shape, 600, 0)
    found = schedule(graph, "auto", max_states=2_000)
    source = profile(graph, range(len(graph))).peak
    assert trivial(graph) <= found.lower_bound <= found.peak <= source
    assert found.peak <= 1.01 * found.lower_bound


def test_no_time_is_an_answer_too() -> None:
    """With no time left each phase ends at once, and what is claimed still holds."""
    graph = graph_of("mixed", 2_000, 0)
    assert modules(graph, time_limit=0.0) == []
    found = schedule(graph, "auto", 0.0)
    assert found.peak <= profile(graph, range(len(graph))).peak
    assert trivial(graph) <= found.lower_bound <= found.peak
    assert not found.optimal or found.peak == found.lower_bound
