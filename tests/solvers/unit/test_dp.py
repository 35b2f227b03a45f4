"""SERENITY's dynamic program: where it splits, what budgets do, what it claims when cut short."""

import pytest

from memopt.solvers.problems.memory_graph import Group, MemoryGraph, profile
from memopt.solvers.published.scheduling import dp
from memopt.solvers.scheduling import schedule

pytestmark = pytest.mark.quick


def cells(count: int, width: int, *, hourglass: bool = True) -> MemoryGraph:
    """`count` cells of `width` branches of two operators; a kept tensor from the start if not."""
    names: list[str] = []
    before: list[tuple[int, ...]] = []
    made: list[tuple[int, list[int]]] = []  # bytes and readers of what each operator makes

    def add(name: str, size: int, reads: list[int]) -> int:
        for p in reads:
            made[p][1].append(len(names))
        names.append(name)
        before.append(tuple(reads))
        made.append((size, []))
        return len(names) - 1

    last = add("in", 4, [])
    for cell in range(count):
        ends: list[int] = []
        for b in range(width):
            wide = add(f"wide{cell}.{b}", 20 + b, [last])
            ends.append(add(f"narrow{cell}.{b}", 3, [wide]))
        last = add(f"join{cell}", 4, ends)
    groups = [
        Group(name, size, (v,), tuple(readers), is_output=v == last)
        for v, (name, (size, readers)) in enumerate(zip(names, made, strict=True))
    ]
    if not hourglass:
        groups.append(Group("kept", 1, is_input=True, is_output=True))
    return MemoryGraph(tuple(names), tuple(before), tuple(groups))


def test_splits_only_where_one_tensor_is_live() -> None:
    graph = cells(3, 4)
    full = (1 << len(graph)) - 1
    assert [i.bit_count() for i in dp.hourglasses(graph)] == [1, 10, 19, 28]
    assert dp.hourglasses(graph)[-1] == full
    # the same cells, with one more byte live everywhere: no hourglass is left
    assert dp.hourglasses(cells(3, 4, hourglass=False)) == [full]


@pytest.mark.parametrize("divide", [True, False])
@pytest.mark.parametrize("budgets", [True, False])
def test_every_combination_gives_the_optimum(divide: bool, budgets: bool) -> None:
    graph = cells(2, 5)
    found = dp.solve(graph, divide=divide, budgets=budgets, width=20)
    assert found.proof == "search"
    assert found.peak == schedule(graph, "auto").peak == profile(graph, found.order).peak


def test_budgets_save_states() -> None:
    graph = cells(1, 8)
    plain = dp.solve(graph, divide=False, budgets=False)
    soft = dp.solve(graph)
    assert (plain.peak, plain.proof) == (soft.peak, soft.proof)
    assert soft.states < plain.states / 3


def test_no_solution_proves_a_bound() -> None:
    graph = cells(1, 6)
    best = schedule(graph, "auto").peak
    from memopt.solvers.theory.ideals import Walker

    run = dp.Run(Walker(graph), 0, graph.level(0), (1 << len(graph)) - 1, best - 1)
    assert run.solve(None, 10**6, None) == "no solution"
    assert run.dropped is not None and run.dropped <= best
    assert (
        dp.Run(Walker(graph), 0, graph.level(0), (1 << len(graph)) - 1, best).solve(2, 10**6, None)
        == "timeout"
    )


def test_out_of_time_or_memory_is_no_proof() -> None:
    graph = cells(1, 8)
    best = schedule(graph, "auto").peak
    for found in (
        dp.solve(graph, time_limit=0.0, width=1),
        dp.solve(graph, max_states=3, width=1),
        dp.solve(graph, budgets=False, max_states=3),
    ):
        found.verify(graph)
        assert found.proof == "none" and not found.optimal
        assert found.lower_bound <= best <= found.peak


def test_the_same_call_gives_the_same_answer() -> None:
    assert dp.solve(cells(2, 4)) == dp.solve(cells(2, 4))
