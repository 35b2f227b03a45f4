"""Liberis' recursion: deep graphs, what it claims when cut short."""

import sys

import pytest

from memopt.solvers.problems.memory_graph import Group, MemoryGraph
from memopt.solvers.published.scheduling import liberis
from memopt.solvers.scheduling import schedule

pytestmark = pytest.mark.quick


def chain(length: int) -> MemoryGraph:
    groups = [
        Group(
            f"t{v}", 1 + v % 3, (v,), (v + 1,) if v + 1 < length else (), is_output=v + 1 == length
        )
        for v in range(length)
    ]
    before = tuple((v - 1,) if v else () for v in range(length))
    return MemoryGraph(tuple(f"op{v}" for v in range(length)), before, tuple(groups))


def test_deeper_than_pythons_stack() -> None:
    assert sys.getrecursionlimit() < 1500
    found = liberis.solve(chain(1500))
    assert (found.peak, found.proof, found.states) == (5, "search", 1501)


def test_cut_short_is_no_proof() -> None:
    wide = MemoryGraph(
        tuple(f"op{v}" for v in range(30)),
        ((),) * 30,
        tuple(Group(f"t{v}", v + 1, (v,), is_output=True) for v in range(30)),
    )
    for found in (liberis.solve(wide, max_states=100), liberis.solve(wide, time_limit=0.0)):
        found.verify(wide)
        assert found.proof == "none" and not found.optimal
        assert found.lower_bound <= schedule(wide, "auto").peak <= found.peak
        assert found.states < 200
