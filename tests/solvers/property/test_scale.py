"""Work that large graphs take: counted, not timed."""

import random

import pytest
from cases import make
from oracles import random_graph

from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling.methods import auto
from memopt.solvers.theory import chains, segments
from memopt.solvers.theory.ideals import Sides

GRAPHS = 2_000


def blocks(count: int) -> MemoryGraph:
    """Return residual blocks one after the other."""
    nodes: list[tuple[str, str, str]] = []
    last = "x"
    for i in range(count):
        nodes += [(f"a{i}", last, f"a{i}:4"), (f"b{i}", f"a{i}", f"b{i}:16")]
        nodes.append((f"c{i}", f"{last} b{i}", f"c{i}:16"))
        last = f"c{i}"
    return make({"x": 16}, nodes, outputs=last)


def test_a_bound_that_the_first_order_meets_takes_no_square_of_bits() -> None:
    """Masks of the operators of each group are a square of the graph."""
    graph = blocks(100)
    assert auto.solve(graph).optimal
    squares = {"writer_masks", "reader_masks", "toucher_masks", "predecessor_masks"}
    assert not squares & vars(graph).keys()


def test_an_equal_module_is_cut_into_segments_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, searched = [blocks(5), blocks(5)], list[MemoryGraph]()
    canonical = chains.canonical

    def counted(sub: MemoryGraph, *how: object) -> tuple[segments.Segment, ...] | None:
        searched.append(sub)
        return canonical(sub, *how)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(chains, "canonical", counted)
    chains.forget()
    assert chains.chain_of(graphs[0]) == chains.chain_of(graphs[1])
    assert len(searched) == 1


def test_operators_that_are_ready_are_those_of_the_definition(fuzz: float) -> None:
    """Ideals that a search reaches know what is ready from those before."""
    rng = random.Random(0)
    reached = 0
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng, 9)
        search = segments._Search(  # pyright: ignore[reportPrivateUsage]
            graph, segments.ALL_CHAIN_RULES, segments.STATES
        )
        search.blocks()
        sides, full = Sides.of(graph), (1 << len(graph)) - 1
        for forward in (False, True):
            for done, ready in search.ready[forward].items():
                undone = full & ~done if forward else done
                masks = sides.up if forward else sides.down
                every = (v for v in range(len(graph)) if undone >> v & 1)
                assert ready == sum(1 << v for v in every if not masks[v] & undone), graph
                reached += 1
    assert reached
