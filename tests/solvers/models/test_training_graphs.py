"""Training steps of up to 2,000 operators: what the scheduler claims of them is true."""

import pytest
from benchmarks.tables.training import SHAPES, training_graph

from memopt.api.peaks import memory_graph
from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.best_first import Search
from memopt.solvers.scheduling.methods import greedy
from memopt.solvers.theory.bounds import trivial
from memopt.solvers.theory.chains import chains
from memopt.solvers.theory.fusion import modules
from memopt.solvers.theory.splits import forced_cuts, parts, splits


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
    assert chains(graph, time_limit=0.0) == []
    order = greedy.order(graph)
    forced = sorted(forced_cuts(graph), key=int.bit_count)
    assert splits(graph, order, trivial(graph), time_limit=0.0) == forced
    found = schedule(graph, "auto", 0.0)
    assert found.peak <= profile(graph, range(len(graph))).peak
    assert trivial(graph) <= found.lower_bound <= found.peak
    assert not found.optimal or found.peak == found.lower_bound


def test_a_search_that_begins_too_late_proves_nothing_and_can_go_on() -> None:
    """The clock is looked at before the first state, and inside a chain of commits."""
    graph = graph_of("chain", 300, 0)
    peak = profile(graph, range(len(graph))).peak
    search = Search(graph, trivial(graph), peak + 1)
    search.run(deadline=0.0)
    assert (search.states, search.exhausted, search.order) == (0, False, None)
    search.run()
    assert search.exhausted and search.order is not None
    assert profile(graph, search.order).peak == search.lower_bound


def test_parts_know_what_passes_them() -> None:
    """Levels carried from part to part are those of the definition."""
    graph = graph_of("residual", 300, 0)
    order = greedy.order(graph)
    bound = profile(graph, order).peak
    ideals = splits(graph, order, bound)
    found = parts(graph, ideals)
    assert len(found) > 20
    for part, low in zip(found, [0, *ideals], strict=True):
        assert part.through + part.graph.level(0) == graph.level(low)
