"""The integer programs against exhaustive search; OLLA's control edges cost nothing."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from cases import make, with_edges
from oracles import optimum, random_graph, random_order

from memopt.solvers.published.scheduling import ilp_olla
from memopt.solvers.scheduling import METHODS, schedule
from memopt.solvers.scheduling.integer import ALONE
from memopt.solvers.scheduling.methods import ilp
from memopt.solvers.theory.bounds import flow_bound

PROGRAMS = 2_000
SEEDS = 2


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("solver", ["cp-sat", "highs"])
@pytest.mark.parametrize("method", ["ilp", "ilp-olla"])
def test_equals_brute_force(
    method: str,
    solver: str,
    seed: int,
    fuzz: float,
    record_property: Callable[[str, object], None],
) -> None:
    """With every option; the variables are as many as are counted without the program."""
    rng = random.Random(f"{method} {solver} {seed}")
    programs, telling = int(PROGRAMS * fuzz / SEEDS), 0
    for _ in range(programs):
        graph = random_graph(rng, 6)
        start = random_order(rng, graph) if rng.random() < 0.3 else None
        bound = flow_bound(graph, [random_order(rng, graph)]).value if rng.random() < 0.3 else None
        options: dict[str, Any] = {"pruning": rng.random() < 0.7}
        if method == "ilp-olla":
            options |= {"control": rng.random() < 0.7, "precedence": rng.random() < 0.7}
        module = ilp if method == "ilp" else ilp_olla
        found = module.solve(graph, bound=bound, warm_start=start, solver=solver, **options)
        found.verify(graph)
        assert (found.peak, found.optimal, found.proof) == (optimum(graph), True, "ilp"), graph
        assert found.states == module.count(graph, **options), graph
        telling += found.states > 0
    record_property("brute force", (f"{method}, {solver}", programs, telling))


def test_pruning_only_leaves_variables_out() -> None:
    rng = random.Random(9)
    fewer = 0
    for _ in range(40):
        graph = random_graph(rng, 6)
        with_it, without = (
            ilp.solve(graph, bound=None, warm_start=None, pruning=p) for p in (True, False)
        )
        assert with_it.peak == without.peak
        assert with_it.states <= without.states
        fewer += with_it.states < without.states
    assert fewer


def test_the_same_call_gives_the_same_answer() -> None:
    graph = random_graph(random.Random(4), 8)
    assert ilp.solve(graph, bound=None, warm_start=None) == ilp.solve(graph, None, None, None)


def test_out_of_time_is_no_proof() -> None:
    rng = random.Random(5)
    graph = random_graph(rng, 30, unread=False)
    while len(graph) < 25:
        graph = random_graph(rng, 30, unread=False)
    found = ilp.solve(graph, time_limit=0.0)
    found.verify(graph)
    assert found.proof == "none"


# -- OLLA's control edges ---------------------------------------------------------------------

# p makes what the release v reads, and 30 B that stay; v may not push p before the chain a, b, c
ANCHOR = make(
    {},
    [
        ("r", "", "x:1"),
        ("p", "x", "g:1 q:30"),
        ("v", "g", "t:0"),
        ("a", "x", "i:20"),
        ("b", "i", "j:20"),
        ("c", "j", "k:1"),
    ],
    outputs="q k t",
)


def test_olla_anchors_by_level_alone_would_raise_the_optimum() -> None:
    """Functions 3 and 4 take c: level 3 > 2 of v, reached from r, which v descends from."""
    v, c = 2, 5
    assert optimum(ANCHOR) == 41
    assert optimum(with_edges(ANCHOR, [(v, c)])) == 52
    assert ilp_olla.control_edges(ANCHOR) == []
    assert ilp_olla.solve(ANCHOR).peak == 41


def test_control_edges_cost_nothing(fuzz: float) -> None:
    rng = random.Random(6)
    edges = 0
    for _ in range(int(10_000 * fuzz)):
        graph = random_graph(rng, 9)
        found = ilp_olla.control_edges(graph)
        if found:
            edges += len(found)
            ordered = with_edges(graph, found)
            ordered.check()
            assert optimum(ordered) == optimum(graph), graph
    assert edges


# -- where it starts -----------------------------------------------------------------------------


@pytest.mark.parametrize("module", [ilp, ilp_olla])
def test_an_order_that_meets_the_bound_is_proven_without_a_program(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of `auto` and the min-cut bound meet: no program is stated, none is solved."""

    def stated(*_: object) -> None:
        raise AssertionError("no program is needed")

    monkeypatch.setattr(module, "new_model", stated)
    rng, met = random.Random(7), 0
    for _ in range(100):
        graph = random_graph(rng, 8)
        best = optimum(graph)
        if flow_bound(graph, [random_order(rng, graph)]).value == best:
            found = module.solve(graph, bound="flow", warm_start="auto")
            assert (found.peak, found.optimal, found.states) == (best, True, 0), graph
            met += 1
    assert met > 30


def test_the_integer_program_starts_from_auto_and_the_min_cut_bound() -> None:
    rng = random.Random(8)
    for _ in range(30):
        graph = random_graph(rng, 7)
        assert ilp.solve(graph) == ilp.solve(graph, bound="flow", warm_start="auto")
        alone = schedule(graph, "ilp", **ALONE)
        assert alone == ilp.solve(graph, bound=None, warm_start=None)
        assert alone.proof == "ilp"


@pytest.mark.parametrize("method", METHODS)
def test_whoever_meets_a_bound_that_it_has_shown_has_proven_it(method: str) -> None:
    """Without time, too: a peak that equals the bound is never left without a proof."""
    rng = random.Random(method)
    for _ in range(60):
        graph = random_graph(rng, 8)
        if method == "source" and any(
            p > v for v, before in enumerate(graph.predecessors) for p in before
        ):
            continue
        found = schedule(graph, method, 0.0, **({"bound": "flow"} if "ilp" in method else {}))
        assert found.optimal == (found.peak == found.lower_bound), graph
