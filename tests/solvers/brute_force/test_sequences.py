"""Modules of one order only: what is derived by a walk is what search finds for any module."""

import random
from itertools import accumulate, pairwise

import pytest

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, profile
from memopt.solvers.theory import fusion_check
from memopt.solvers.theory.chains import chain_of
from memopt.solvers.theory.fusion import Sides
from memopt.solvers.theory.fusion_check import is_safe_chain
from memopt.solvers.theory.sequences import shape_along
from memopt.solvers.theory.small_module import along, cut_out, is_sequence

GRAPHS = 600


def sequence(rng: random.Random) -> MemoryGraph:
    """A random problem of 2 to 9 operators of which each needs the one before it."""
    n = rng.randint(2, 9)
    groups: list[Group] = []
    for i in range(rng.randint(1, 2 * n)):
        first = rng.randrange(n)
        later = tuple(v for v in range(first + 1, min(n, first + 4)) if rng.random() < 0.4)
        size, kept = rng.randint(0, 9), rng.random() < 0.1
        if rng.random() < 0.2:
            groups.append(Group(f"g{i}", size, (), (first, *later), True, kept))
        else:
            groups.append(Group(f"g{i}", size, (first,), later, False, kept))
    before = tuple(tuple(u for u in range(v) if u == v - 1 or rng.random() < 0.1) for v in range(n))
    inplace: list[InPlace] = []
    for r, result in enumerate(groups):
        v = result.writers[0] if result.writers else -1
        if all(c.operator != v for c in inplace) and rng.random() < 0.5:
            inplace += [
                InPlace(v, r, o)
                for o, operand in enumerate(groups)
                if v in operand.readers and not operand.is_output and result.size <= operand.size
            ]
    names, work = tuple(map(str, range(n))), tuple(rng.choice([-1, 0, 0, 3]) for _ in range(n))
    graph = MemoryGraph(names, before, tuple(groups), work, tuple(inplace), rng.choice([1, 4]))
    graph.check()
    return graph


def test_levels_and_shape_are_those_of_the_search() -> None:
    rng = random.Random(0)
    for _ in range(GRAPHS):
        graph = sequence(rng)
        order = range(len(graph))
        local, _ = cut_out(graph, order, (1 << len(graph)) - 1, 0)
        assert is_sequence(local)
        facts, chain = profile(graph, order), chain_of(graph)
        assert along(local, order) == (list(facts.levels), list(facts.steps))
        assert chain is not None
        shape = shape_along(facts.levels, facts.steps)
        assert shape == [(s.hill, s.start, s.end) for s in chain]


def test_blocks_are_safe_where_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> bool:
        return False

    rng = random.Random(1)
    answers: list[bool] = []
    for _ in range(GRAPHS):
        graph = sequence(rng)
        n = len(graph)
        cuts = sorted(rng.sample(range(1, n), rng.randint(0, min(2, n - 1))))
        chain = chain_of(graph)
        if rng.random() < 0.2 and chain is not None:
            cuts = list(accumulate(len(s.operators) for s in chain[:-1]))
        first, *rest = [tuple(range(a, b)) for a, b in pairwise([0, *cuts, n])]
        answers.append(is_safe_chain(graph, (first, *rest), Sides.of(graph)))
        with monkeypatch.context() as patch:
            patch.setattr(fusion_check, "_is_sequence_cut_well", never)
            assert is_safe_chain(graph, (first, *rest), Sides.of(graph)) == answers[-1]
    assert min(answers.count(True), answers.count(False)) > GRAPHS // 20
