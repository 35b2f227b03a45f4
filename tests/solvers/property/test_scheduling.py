"""What the schedulers claim when they are heuristics or cut short; the model, stated four times.

`test_brute_force.py` holds the exact methods against exhaustive search.
"""

import random
import re

import pytest
from exhaustive import Bytes
from oracles import naive_steps, optimum, random_graph, random_order

from memopt.modules import modules_in
from memopt.solvers.problems.array_profile import array_profile
from memopt.solvers.problems.memory_graph import (
    Group,
    MemoryGraph,
    ProblemError,
    check_order,
    follow,
    profile,
)
from memopt.solvers.published.scheduling import dp, liberis
from memopt.solvers.registry import function_of, options_of
from memopt.solvers.scheduling import METHODS, schedule
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.ideals import Walker, renumber

GRAPHS = 20_000
FILES = modules_in("memopt.solvers.scheduling.methods", "memopt.solvers.published.scheduling")
HEURISTICS = [
    m for m in METHODS if "time_limit" not in options_of(function_of(FILES, m, "method", "solve"))
]


def test_the_heuristics_are_found() -> None:
    """They take no option, not even a time limit."""
    assert {"greedy", "rpo", "fwd-rpo", "source"} <= set(HEURISTICS)
    assert not {"auto", "search", "dp", "liberis", "ilp", "ilp-olla"} & set(HEURISTICS)


@pytest.mark.parametrize("method", HEURISTICS)
def test_heuristics_claim_only_what_is_true(method: str, fuzz: float) -> None:
    rng = random.Random(method)
    for _ in range(int(GRAPHS * fuzz / 8)):
        graph = random_graph(rng, 7)
        try:
            found = schedule(graph, method)
        except ProblemError as error:
            assert method == "source" and "runs before" in str(error)
            continue
        best = optimum(graph)
        assert found.lower_bound <= best <= found.peak, graph
        assert not found.optimal or found.peak == best, graph


def test_profile_walker_and_definition_agree(fuzz: float) -> None:
    rng = random.Random(1)
    for _ in range(int(GRAPHS * fuzz)):
        graph, _ = renumber(random_graph(rng, 10))
        order = random_order(rng, graph)
        facts = profile(graph, order)
        assert list(facts.steps) == naive_steps(graph, order), graph
        assert array_profile(graph, order) == facts, graph
        of, walker, done, level = Bytes(graph), Walker(graph), 0, Walker(graph).start
        for i, v in enumerate(order):
            assert facts.levels[i] == graph.level(done) == of.level(done)
            assert facts.steps[i] == graph.step(done, v) == of.level(done) + of.cost(done, v)
            step, level = walker.run(done, level, v)
            done |= 1 << v
            assert step == facts.steps[i]
            assert level == facts.levels[i + 1]


def test_what_ran_beside_the_same_before_is_not_walked_again(
    monkeypatch: pytest.MonkeyPatch, fuzz: float
) -> None:
    rng, walked = random.Random(4), list[int]()
    run = Walker.run

    def counted(walker: Walker, done: int, level: int, operator: int) -> tuple[int, int]:
        walked.append(operator)
        return run(walker, done, level, operator)

    monkeypatch.setattr(Walker, "run", counted)
    again = 0
    for _ in range(max(40, int(GRAPHS * fuzz))):
        graph, _ = renumber(random_graph(rng, 10))
        walker, asked = Walker(graph), 0
        for order in (random_order(rng, graph) for _ in range(4)):
            for i, j in ((i, i + rng.randint(1, 3)) for i in range(len(order))):
                done, part = (sum(1 << v for v in order[a:b]) for a, b in ((0, i), (i, j)))
                asked += part.bit_count()
                before = graph.level(done) - (0 if done else graph.unread_inputs)
                steps, level = list[int](), before
                for v in sorted(order[i:j]):
                    step, level = run(walker, done, level, v)
                    steps.append(step)
                    done |= 1 << v
                done ^= part
                assert walker.run_all(done, before, part) == (max(steps), level), graph
        again += asked - len(walked)
        walked.clear()
    assert again > 0


def test_arrays_refuse_what_is_no_order() -> None:
    rng = random.Random(3)
    for _ in range(100):
        graph, _ = renumber(random_graph(rng, 8))
        order = list(random_order(rng, graph))
        for wrong in (order[:-1], [*order[:-1], order[0]], order[::-1]):
            try:
                check_order(graph, wrong)
            except ProblemError as error:
                with pytest.raises(ProblemError, match=re.escape(str(error))):
                    array_profile(graph, wrong)
            else:
                assert array_profile(graph, wrong) == follow(graph, wrong)


def test_bytes_that_sum_to_more_than_arrays_hold_are_walked() -> None:
    huge = Group("x", 2**61, readers=(0,), is_input=True), Group("y", 2**62, writers=(0,))
    graph = MemoryGraph(("a",), ((),), huge)
    assert array_profile(graph, (0,)) == follow(graph, (0,))


def test_search_that_is_cut_short_stays_valid(fuzz: float) -> None:
    rng = random.Random(2)
    short = 0
    for _ in range(int(GRAPHS * fuzz / 8)):
        graph = random_graph(rng, 9)
        found = search.solve(
            graph, bound=0, max_states=rng.randint(0, 4), kill_moves=rng.random() < 0.5
        )
        found.verify(graph)
        best = optimum(graph)
        assert found.lower_bound <= best <= found.peak, graph
        assert not found.optimal or found.peak == best, graph
        short += found.proof == "none"
    assert short


def test_dp_and_liberis_cut_short_stay_valid(fuzz: float) -> None:
    rng = random.Random(5)
    short = 0
    for _ in range(int(GRAPHS * fuzz / 4)):
        graph = random_graph(rng, 9)
        best = optimum(graph)
        for found in (
            dp.solve(graph, max_states=rng.randint(0, 8), width=rng.randint(1, 4)),
            liberis.solve(graph, max_states=rng.randint(0, 6)),
        ):
            found.verify(graph)
            assert found.lower_bound <= best <= found.peak, graph
            assert not found.optimal or found.peak == best, graph
            short += found.proof == "none"
    assert short
