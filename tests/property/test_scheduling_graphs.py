"""The benchmark graphs: known heuristics, bounds and optima, to the byte."""

from pathlib import Path
from typing import Any

import pytest
from graphs import load, optima

from memopt.solvers.bounds import flow_bound
from memopt.solvers.fusion import contract, expand, modules
from memopt.solvers.problem import profile
from memopt.solvers.scheduling import auto, fwd_rpo, rpo

# The manifest's reverse post-order starts from these graphs' many outputs in an order of its own.
OTHER_ROOTS = {
    "train_efficientnet_b0_b1",
    "train_tinytransformer_b1",
    "train_tinytransformer_b32",
}


def test_heuristics_and_the_bound_of_every_row(shared: Path) -> None:
    for row in optima(shared):
        graph = load(shared, row["graph"], row["prepare"])
        graph.check()
        assert len(graph) == row["operators"]
        source = tuple(range(len(graph)))
        assert profile(graph, source).peak == row["source"]
        assert profile(graph, fwd_rpo.order(graph)).peak == row["fwd_rpo"]
        if row["graph"] not in OTHER_ROOTS:
            assert profile(graph, rpo.order(graph)).peak == row["rpo"]
        assert flow_bound(graph, auto.heuristics(graph)).value == row["lower_bound"]


def test_auto_proves_every_row_that_has_an_optimum(shared: Path) -> None:
    for row in optima(shared):
        if row["optimum"] is not None:
            found = auto.solve(load(shared, row["graph"], row["prepare"]))
            assert (found.peak, found.lower_bound) == (row["optimum"], row["optimum"]), row
            assert found.optimal, row


def test_open_rows_keep_a_valid_gap(shared: Path) -> None:
    def gap(row: dict[str, Any]) -> tuple[int, int]:
        found = auto.solve(load(shared, row["graph"], row["prepare"]), max_states=30_000)
        assert not found.optimal
        return found.lower_bound, found.peak

    for row in optima(shared):
        if row["optimum"] is None:
            lower, peak = gap(row)
            assert row["lower_bound"] <= lower < peak <= row["best_known"]


@pytest.mark.parametrize("name", ["hrnet_w18_small_v1", "nasnet_a_imagenet", "randwire_s0"])
def test_fusion_keeps_heuristic_orders(shared: Path, name: str) -> None:
    graph = load(shared, name, "frelu,view")
    small, members = contract(graph, modules(graph))
    small.check()
    assert len(small) < 0.7 * len(graph)
    for order in auto.heuristics(small):
        assert profile(graph, expand(order, members)).peak == profile(small, order).peak


def test_hrnet_v1_in_place(shared: Path) -> None:
    """theory.md: 7936 -> 6368 KB without in-place Add, 6144 -> 5120 KB with it."""
    plain = load(shared, "hrnet_w18_small_v1", "frelu")
    inplace = load(shared, "hrnet_w18_small_v1", "frelu", inplace=True)
    inplace.check()
    assert profile(plain, rpo.order(plain)).peak == 7936 * 1024
    assert profile(inplace, rpo.order(inplace)).peak == 6144 * 1024
    for graph, best in ((plain, 6368), (inplace, 5120)):
        found = auto.solve(graph)
        assert (found.peak, found.optimal) == (best * 1024, True)
