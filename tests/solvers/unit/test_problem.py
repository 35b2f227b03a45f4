"""The memory graph: what is well formed, what a schedule and a placement must keep to."""

from dataclasses import replace

import pytest

from memopt.solvers.memories import Bank, Height, MemoryProblem, Tenant, Use
from memopt.solvers.problems.memory_graph import (
    Buffer,
    Group,
    InPlace,
    MemoryGraph,
    Placement,
    PlacementProblem,
    ProblemError,
    Schedule,
    live_ranges,
    profile,
    topological_order,
)
from memopt.solvers.theory.segments import OF_GROUPS, preceded

pytestmark = pytest.mark.quick

CHAIN = MemoryGraph(
    ("a", "b"),
    ((), (0,)),
    (
        Group("x", 10, readers=(0,), is_input=True),
        Group("t", 4, writers=(0,), readers=(1,)),
        Group("y", 1, writers=(1,), is_output=True),
    ),
)


def test_profile_of_a_chain() -> None:
    CHAIN.check()
    facts = profile(CHAIN, (0, 1))
    assert (facts.levels, facts.steps, facts.peak) == ((10, 4, 1), (14, 5), 14)


def test_alignment_rounds_every_size() -> None:
    assert profile(replace(CHAIN, alignment=16), (0, 1)).steps == (32, 32)


def test_inputs_outputs_and_unread_inputs() -> None:
    groups = (
        *CHAIN.groups,
        Group("unread", 100, is_input=True),
        Group("returned", 1000, is_input=True, is_output=True),
        Group("kept", 10000, readers=(0,), is_input=True, is_output=True),
        Group("dead", 5, writers=(1,)),
    )
    facts = profile(replace(CHAIN, groups=groups), (0, 1))
    assert facts.levels == (11110, 11004, 11001)
    assert facts.steps == (11114, 11010)


def test_a_group_of_two_writers_lives_from_the_first_write() -> None:
    graph = MemoryGraph(
        ("p", "q", "use"),
        ((), (), (0, 1)),
        (
            Group("pq", 25, writers=(0, 1), readers=(2,)),
            Group("y", 4, writers=(2,), is_output=True),
        ),
    )
    assert profile(graph, (0, 1, 2)).steps == (25, 25, 29)


def test_in_place_only_where_the_operand_dies() -> None:
    groups = (
        Group("x", 10, readers=(0, 1), is_input=True),
        Group("p", 10, writers=(0,), is_output=True),
        Group("q", 3, writers=(1,), is_output=True),
    )
    graph = MemoryGraph(("relu", "other"), ((), ()), groups, inplace=(InPlace(0, 1, 0),))
    graph.check()
    assert profile(graph, (1, 0)).steps == (13, 13)
    assert profile(graph, (0, 1)).steps == (20, 23)
    assert profile(graph, (1, 0)).inplace == (None, InPlace(0, 1, 0))
    buffers = live_ranges(graph, (1, 0)).buffers
    assert [b.base for b in buffers] == [0, 0, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predecessors": ((1,), (0,))}, "cycle"),
        ({"predecessors": ((), (7,))}, "out of range"),
        ({"predecessors": ((),)}, "differ in length"),
        ({"alignment": 0}, "not positive"),
        ({"groups": (Group("x", -1, is_input=True),)}, "negative size"),
        ({"groups": (Group("x", 1, readers=(9,), is_input=True),)}, "out of range"),
        ({"groups": (Group("x", 1, readers=(0,)),)}, "neither an input nor written"),
        ({"inplace": (InPlace(0, 9, 0),)}, "out of range"),
        ({"inplace": (InPlace(0, 0, 1),)}, "written there and nowhere else"),
        ({"inplace": (InPlace(1, 2, 0),)}, "read there and not be kept"),
    ],
)
def test_malformed_problems_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        replace(CHAIN, **change).check()  # pyright: ignore[reportArgumentType]


def test_a_larger_result_cannot_be_in_place() -> None:
    groups = (CHAIN.groups[0], replace(CHAIN.groups[1], size=11), CHAIN.groups[2])
    with pytest.raises(ProblemError, match="larger"):
        replace(CHAIN, groups=groups, inplace=(InPlace(0, 1, 0),)).check()


@pytest.mark.parametrize(("inside", "fits"), [(0, True), (1, True), (2, False), (-1, False)])
def test_what_lies_inside_its_operand_does_not_leave_it(inside: int, fits: bool) -> None:
    groups = (Group("x", 10, readers=(0,), is_input=True), Group("y", 9, (0,), is_output=True))
    graph = MemoryGraph(("relu",), ((),), groups, inplace=(InPlace(0, 1, 0, inside),))
    if fits:
        graph.check()
        assert [(b.base, b.at) for b in live_ranges(graph, (0,)).buffers] == [(0, 0), (0, inside)]
        return
    with pytest.raises(ProblemError, match=f"does not lie {inside} B into 'x'"):
        graph.check()


def test_what_lies_inside_its_operand_is_aligned() -> None:
    groups = (Group("x", 32, readers=(0,), is_input=True), Group("y", 4, (0,), is_output=True))
    graph = MemoryGraph(("relu",), ((),), groups, inplace=(InPlace(0, 1, 0, 4),), alignment=16)
    with pytest.raises(ProblemError, match="does not lie 4 B into 'x'"):
        graph.check()
    replace(graph, inplace=(InPlace(0, 1, 0, 16),)).check()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Schedule((1, 0), 14, 0, "none"), "runs before"),
        (Schedule((0, 0), 14, 0, "none"), "not a permutation"),
        (Schedule((0,), 14, 0, "none"), "not a permutation"),
        (Schedule((0, 1), 13, 0, "none"), "peak is 14 B"),
        (Schedule((0, 1), 14, 15, "none"), "above the peak"),
    ],
)
def test_false_schedules_are_refused(answer: Schedule, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        answer.verify(CHAIN)


def test_optimal_needs_a_proof() -> None:
    assert Schedule((0, 1), 14, 14, "flow").optimal
    assert not Schedule((0, 1), 14, 14, "none").optimal
    assert not Schedule((0, 1), 14, 13, "search").optimal


def test_the_empty_problem() -> None:
    graph = MemoryGraph((), (), (Group("x", 7, is_input=True),))
    graph.check()
    assert profile(graph, ()).peak == 7
    assert topological_order(graph) == ()


PLACEMENT = PlacementProblem(
    (Buffer("a", 16, 0, 2, 0, None, 16), Buffer("b", 8, 1, 3, 1), Buffer("c", 4, 2, 3, 2, 0))
)


@pytest.mark.parametrize(
    ("offsets", "arena", "message"),
    [
        ((0, 16, 0), 25, "the arena is 24"),
        ((0, 8, 0), 16, "overlap"),
        ((8, 24, 0), 32, "not aligned"),
        ((0, 16, 4), 24, "fixed at 0"),
        ((0, 16), 24, "one offset per buffer"),
        ((-16, 16, 0), 24, "not aligned"),
    ],
)
def test_false_placements_are_refused(offsets: tuple[int, ...], arena: int, message: str) -> None:
    PLACEMENT.check()
    Placement((0, 16, 0), 24).verify(PLACEMENT)
    with pytest.raises(ProblemError, match=message):
        Placement(offsets, arena).verify(PLACEMENT)


def test_load_is_the_largest_live_sum() -> None:
    assert PLACEMENT.load == 24
    assert live_ranges(CHAIN, (0, 1)).load == 14


def test_sums_above_64_bits_are_refused_by_name() -> None:
    half = 1 << 61
    groups = (*CHAIN.groups, *(Group(f"g{i}", half, writers=(0,)) for i in range(2)))
    with pytest.raises(ProblemError, match=r"with .g1. the sum is .* overflows 64-bit sizes"):
        replace(CHAIN, groups=groups).check()
    with pytest.raises(ProblemError, match="overflows 64-bit sizes"):
        replace(CHAIN, workspace=(half, -2 * half)).check()
    buffers = tuple(Buffer(f"b{i}", half, 0, 1, i) for i in range(3))
    with pytest.raises(ProblemError, match="with 'b1' the sum is"):
        PlacementProblem((*buffers[:2], Buffer("b2", 1, 0, 1, 2, fixed=8))).check()
    with pytest.raises(ProblemError, match="with 'b2' the sum is"):
        PlacementProblem(buffers).check()
    tenant = Tenant("t", (Height(4, 5, 1 << 50),), (Use(0, 1 << 50),))
    with pytest.raises(ProblemError, match="with 't' the sum is"):
        MemoryProblem((Bank("m", 1 << 50, 1 << 13),), (tenant,), 1).check()


def test_another_precedence_keeps_what_follows_from_the_groups() -> None:
    """It is derived once, and is what it would be if it were derived again."""
    graph = MemoryGraph(
        ("a", "b", "c"),
        ((), (), (0, 1)),
        (
            Group("x", 3, readers=(0, 1), is_input=True),
            Group("s", 5, writers=(0,), readers=(2,)),
            Group("t", 6, writers=(1,), readers=(2,)),
            Group("y", 5, writers=(2,), is_output=True),
        ),
        (0, 2, 0),
        (InPlace(2, 3, 1),),
        alignment=4,
    )
    graph.check()
    before = profile(graph, (1, 0, 2))
    other = preceded(graph, ((1,), (), (0, 1)))
    assert other.touches is graph.touches and other.writes is graph.writes
    fresh = replace(graph, predecessors=((1,), (), (0, 1)))
    for name in OF_GROUPS:
        assert getattr(other, name) == getattr(fresh, name), name
    assert profile(other, (1, 0, 2)) == before
    assert other.successors == fresh.successors != graph.successors
    with pytest.raises(ProblemError):
        profile(other, (0, 1, 2))
