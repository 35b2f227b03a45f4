"""The one way into the schedulers: methods, options, what is loaded, what is refused."""

import subprocess
import sys

import pytest

from memopt.modules import modules_in
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, ProblemError
from memopt.solvers.registry import function_of, options_of
from memopt.solvers.scheduling import METHODS, schedule

pytestmark = pytest.mark.quick

FILES = modules_in("memopt.solvers.scheduling.methods", "memopt.solvers.published.scheduling")
HEURISTICS = [
    m for m in METHODS if "time_limit" not in options_of(function_of(FILES, m, "method", "solve"))
]

GRAPH = MemoryGraph(
    ("a", "b", "c"),
    ((), (), (0, 1)),
    (
        Group("x", 10, readers=(0, 1), is_input=True),
        Group("p", 4, writers=(0,), readers=(2,)),
        Group("q", 40, writers=(1,), readers=(2,)),
        Group("y", 1, writers=(2,), is_output=True),
    ),
)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(method: str) -> None:
    found = schedule(GRAPH, method, time_limit=10)
    assert found.peak == 54
    # T6 alone, which is all that a heuristic pays for, is 50 here
    assert found.lower_bound == (50 if method in HEURISTICS else 54)
    assert found.optimal == (found.lower_bound == 54)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_the_empty_problem(method: str) -> None:
    graph = MemoryGraph((), (), (Group("x", 7, is_input=True),))
    found = schedule(graph, method)
    assert (found.order, found.peak, found.optimal) == ((), 7, True)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_a_single_operator_without_tensors(method: str) -> None:
    found = schedule(MemoryGraph(("a",), ((),), ()), method)
    assert (found.order, found.peak) == ((0,), 0)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ProblemError, match="unknown method 'magic'"):
        schedule(GRAPH, "magic")
    with pytest.raises(ProblemError, match="'rpo' has no option 'seed'"):
        schedule(GRAPH, "rpo", seed=1)


def test_source_needs_a_legal_source_order() -> None:
    backwards = MemoryGraph(("b", "a"), ((1,), ()), ())
    with pytest.raises(ProblemError, match="'b' runs before 'a'"):
        schedule(backwards, "source")
    assert schedule(backwards, "auto").order == (1, 0)


def test_malformed_problems_are_refused() -> None:
    with pytest.raises(ProblemError, match="cycle"):
        schedule(MemoryGraph(("a", "b"), ((1,), (0,)), ()), "auto")


def test_a_method_loads_only_what_it_needs() -> None:
    code = (
        "import sys, memopt.solvers.scheduling as s;"
        "from memopt.solvers.problems.memory_graph import *;"
        "assert not any(m.startswith('ortools') for m in sys.modules);"
        "s.schedule(MemoryGraph(('a',), ((),), (Group('y', 1, (0,)),)), 'rpo');"
        "assert not any(m.startswith('ortools') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def ladder(rungs: int) -> MemoryGraph:
    """Two chains of growing and shrinking tensors that meet at the end: heuristics fail on it."""
    sizes = [7, 31, 3, 44, 2, 29, 5, 61, 1, 23]
    groups = [Group("x", 5, readers=(0, rungs), is_input=True)]
    before: list[tuple[int, ...]] = []
    for chain in (0, 1):
        for i in range(rungs):
            v = chain * rungs + i
            before.append((v - 1,) if i else ())
            reader = 2 * rungs if i == rungs - 1 else v + 1
            size = sizes[(i * (3 + chain)) % len(sizes)]
            groups.append(Group(f"t{v}", size, (v,), (reader,)))
    before.append((rungs - 1, 2 * rungs - 1))
    groups.append(Group("y", 1, (2 * rungs,), is_output=True))
    return MemoryGraph(tuple(f"op{v}" for v in range(2 * rungs + 1)), tuple(before), tuple(groups))


def test_the_same_call_gives_the_same_answer() -> None:
    graph = ladder(40)
    for method in ("auto", "search", "greedy"):
        assert schedule(graph, method) == schedule(graph, method)


@pytest.mark.parametrize("method", ["auto", "search", "ilp"])
def test_no_time_still_gives_a_valid_answer(method: str) -> None:
    graph = ladder(12)
    hurried, best = schedule(graph, method, time_limit=0.0), schedule(graph, "auto")
    assert best.optimal
    assert hurried.lower_bound <= best.peak <= hurried.peak
