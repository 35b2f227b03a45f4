"""OLLA's program and the layer below it: spans, control edges, two solvers, options."""

import pytest

from memopt.solvers.problems.memory_graph import Group, MemoryGraph, ProblemError
from memopt.solvers.programs.mathopt import EXACT, SOLVERS, new_model
from memopt.solvers.published.scheduling import ilp_olla
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.integer import ALONE
from memopt.solvers.scheduling.methods import ilp

# a chain of gradients, each read by the next and by an update without results
GRADIENTS = MemoryGraph(
    ("g0", "g1", "g2", "g3", "u0", "u1", "u2"),
    ((), (0,), (1,), (2,), (0,), (1,), (2,)),
    (
        Group("d0", 8, (0,), (1, 4)),
        Group("d1", 8, (1,), (2, 5)),
        Group("d2", 8, (2,), (3, 6)),
        Group("y", 8, (3,), is_output=True),
    ),
)


def test_control_edges_make_updates_early_and_spans_short() -> None:
    assert ilp_olla.control_edges(GRADIENTS) == [(4, 1), (5, 2), (6, 3)]
    assert ilp_olla.count(GRADIENTS) < ilp_olla.count(GRADIENTS, control=False)
    assert ilp_olla.count(GRADIENTS, control=False) < ilp_olla.count(
        GRADIENTS, pruning=False, control=False
    )
    # reachability leaves less than the longest paths
    assert ilp_olla.count(GRADIENTS, control=False) < ilp_olla.count(
        GRADIENTS, control=False, precedence=False
    )
    for control in (True, False):
        found = ilp_olla.solve(GRADIENTS, control=control)
        assert (found.peak, found.proof) == (16, "ilp")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["ilp", "ilp-olla"])
def test_both_programs_on_both_solvers(method: str, solver: str) -> None:
    found = schedule(
        GRADIENTS, method, time_limit=60, solver=solver, warm_start="rpo", bound="flow"
    )
    assert (found.peak, found.lower_bound, found.optimal) == (16, 16, True)
    again = schedule(GRADIENTS, method, solver=solver, **ALONE)
    assert again == schedule(GRADIENTS, method, solver=solver, **ALONE)
    assert again.proof == "ilp"


def test_unknown_words_are_refused_by_name() -> None:
    with pytest.raises(ProblemError, match="unknown solver 'gurobi': one of cp-sat, highs"):
        ilp.solve(GRADIENTS, solver="gurobi")
    with pytest.raises(ProblemError, match="bound=least: bytes, flow, or none"):
        ilp_olla.solve(GRADIENTS, bound="least")
    with pytest.raises(ProblemError, match="unknown method 'magic'"):
        ilp.solve(GRADIENTS, warm_start="magic")
    with pytest.raises(ProblemError, match="permutation"):
        ilp.solve(GRADIENTS, warm_start=(0, 1))


def test_highs_claims_nothing_beyond_its_tolerance() -> None:
    """Sizes of many units: the order is right, the proof would rest on rounding."""
    graph = MemoryGraph(
        ("a", "b"),
        ((), (0,)),
        (Group("x", 2 * EXACT + 1, (0,), (1,)), Group("y", 7, (1,), is_output=True)),
    )
    highs, exact = (schedule(graph, "ilp", solver=s, **ALONE) for s in ("highs", "cp-sat"))
    assert highs.peak == exact.peak == 2 * EXACT + 8
    assert (highs.proof, exact.proof) == ("none", "ilp")


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_program_without_a_solution(solver: str) -> None:
    model = new_model(solver)
    x, y = model.new_bool_var("x"), model.new_int_var(0, 3, "y")
    model.add(x + y >= 5)
    answer = model.minimize(y)
    assert not answer.found and not answer.optimal


@pytest.mark.parametrize("solver", SOLVERS)
def test_constraints_mean_the_same(solver: str) -> None:
    model = new_model(solver)
    a, b, c = (model.new_bool_var(n) for n in "abc")
    total = model.new_int_var(0, 100, "total")
    model.add_exactly_one([a, b])
    model.add_at_most_one([b, c])
    model.add_implication(a, c)
    model.add_bool_or([b], [c])
    model.add(5 * a + 7 * b + c <= total)
    model.add_hint(a, 1)
    answer = model.minimize(total)
    assert answer.optimal and answer.bound == 7
    assert [answer.value(x) for x in (a, b, c, total)] == [0, 1, 0, 7]
