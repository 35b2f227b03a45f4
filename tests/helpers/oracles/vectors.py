"""Certificates made by hand, one for each trap of the checker that random ones seldom fall into."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from forgeries import Certificate, rehash
from malformed import MALFORMED
from one_way import ENDS_ABOVE, READ_BEFORE_WRITTEN, UNREAD, claim, search
from places import TESTS

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph
from memopt.solvers.theory.certificates import certificate
from memopt.solvers.theory.closure import Way
from memopt.solvers.theory.reversal import backward

HONEST = TESTS / "solvers" / "unit" / "certificates" / "f1.src.cert"


def texts() -> Iterator[str]:
    """All of them, as text."""
    honest = HONEST.read_text(encoding="utf-8")
    yield honest
    for old, new in (
        ('"peak":25', '"peak":26,"peak":25'),
        ('"size":10', '"size":11'),  # not hashed again
        ('"peak":25', '"peak":24'),
        (
            "}",
            "",
        ),
    ):
        assert old in honest
        yield honest.replace(old, new, 1)
    for change in MALFORMED.values():
        found = json.loads(honest)
        change(found)
        rehash_if_it_can_be(found)
        yield json.dumps(found)
    parts = (in_place, from_the_end, flows, commits, ways, others)
    yield from (json.dumps(found) for part in parts for found in part())


def rehash_if_it_can_be(found: Certificate) -> None:
    """So that what is malformed in the graph is not refused for its hash alone."""
    if isinstance(found["graph"], dict):
        rehash(found)


def in_place() -> Iterator[Certificate]:
    """Bounds of 0, so that nothing but the graph can be refused: which choices there may be."""
    x = Group("x", 10, readers=(0,), is_input=True)
    y = Group("y", 10, writers=(0,), is_output=True)
    choice = (InPlace(0, 1, 0),)

    def one(x: Group, y: Group, peak: int, *more: Group) -> Certificate:
        return claim(MemoryGraph(("v",), ((),), (x, y, *more), inplace=choice), peak)

    yield one(x, y, 10)
    yield one(x, Group("y", 5, writers=(0,), is_output=True), 10)
    yield one(x, Group("y", 11, writers=(0,), is_output=True), 10)  # too large
    yield one(x, Group("y", 10, writers=(0,), is_input=True), 20)  # there already
    yield one(Group("x", 10, readers=(0,), is_input=True, is_output=True), y, 10)  # is kept
    yield one(Group("x", 10, (0,), (0,), is_input=True), y, 10)  # is written
    yield one(Group("x", 10, is_input=True), y, 10)  # is not read
    yield one(Group("x", 10, (0,), (), is_input=True), y, 10)  # is written, not read
    two = MemoryGraph(
        ("v",),
        ((),),
        (x, y, Group("z", 10, writers=(0,)), Group("u", 10, readers=(0,), is_input=True)),
        inplace=(InPlace(0, 1, 0), InPlace(0, 2, 3)),
    )
    yield claim(two, 30)
    both = MemoryGraph(
        ("v", "w"),
        ((), (0,)),
        (x, Group("y", 10, writers=(0, 1), is_output=True)),
        inplace=choice,
    )
    yield claim(both, 10)


def from_the_end() -> Iterator[Certificate]:
    """Graphs whose steps differ if they are read from the end, and what that seems to prove."""
    for graph, peak, bound in (
        (UNREAD, 11, 16),
        (ENDS_ABOVE, 5, 10),
        (READ_BEFORE_WRITTEN, 10, 18),
    ):
        order = range(len(graph))
        way = Way(backward(graph), bound, tuple(reversed(order)), True)
        proof = way.proof() if way.run(1000, None, 10_000) else search([], [], backward=True)
        yield claim(graph, peak, bound, proof)
        yield claim(graph, peak)
    yield claim(READ_BEFORE_WRITTEN, 10) | {"lower_bound": 1, "proof": search([], [])}


def flows() -> Iterator[Certificate]:
    """One operator after another: what lies in the flow's way, and arcs that are nobody's."""
    chain = MemoryGraph(
        ("a", "b"),
        ((), (0,)),
        (
            Group("x", 3, readers=(0,), is_input=True),
            Group("t", 4, writers=(0,), readers=(1,)),
            Group("y", 5, writers=(1,), is_output=True),
        ),
    )
    found = certificate(chain, (0, 1), 9)
    assert found["proof"]["kind"] == "flow"
    yield found
    [flow] = found["proof"]["flows"]
    source = 2 + 2 * 3
    yield change_flow(found, [*flow["flow"], [0, 0, 0]])  # an arc without flow is no fault
    # straight into what b reads: only by way of a, which has run
    direct = [a for a in flow["flow"] if a[0] != source or a[1] != 0]
    yield change_flow(found, [*(a for a in direct if a[1] != 4), [source, 4, 4]])
    yield change_flow(found, [[source, 4, 4], [4, 5, 4], [5, 1, 4], [source, 6, 5], [6, 7, 5]])


def change_flow(found: Certificate, flow: list[list[int]]) -> Certificate:
    proof = found["proof"] | {"flows": [{"operand": None, "flow": flow}]}
    return found | {"proof": proof}


def commits() -> Iterator[Certificate]:
    """Commits that would prove what is false, and some that are good."""
    # 0 frees x; 1 only allocates; 2 is dear, and runs better before 1
    valley = MemoryGraph(
        ("0", "1", "2", "3"),
        ((), (), (0,), (1, 2)),
        (
            Group("x", 20, readers=(0,), is_input=True),
            Group("b", 2, writers=(0,), readers=(2,)),
            Group("c", 9, writers=(1,), readers=(3,)),
            Group("d", 1, writers=(2,), readers=(3,)),
        ),
        workspace=(0, 0, 15, 0),
    )
    order = [0, 2, 1, 3]
    for entry in ([0, [0, 1]], [0, [0, 1], []]):
        yield claim(valley, 22, 25, search([[0, 0, 1]], [entry])) | {"order": order}
    for bound in (22, 23):  # the step of the commit is the bound, or below it
        yield claim(valley, 22, bound, search([[0, 0]], [[0, [0]]])) | {"order": order}
    yield claim(valley, 22, 22, search([], [])) | {"order": order}
    # with a dear end, what leads to it can be shown: 0 and 2, by way of a state as low as the last
    dear = replace(valley, workspace=(0, 0, 15, 30))
    way = [12, 4, 5, 0, 6, 7, 2, 10, 11, 3, 13]
    through = [[tail, head, 1] for tail, head in pairwise(way)]
    for bound in (40, 41):
        yield claim(dear, 40, bound, search([[0, 0, 2]], [[0, [0, 2], through]]))
    yield claim(dear, 40, 41, search([], [[0, [0]]]))  # to a state that is not listed
    for bound in (21, 22, 23):  # by way of a step of 22
        yield claim(dear, 40, bound, search([[0, 0], [1, 2]], [[0, [0]]]))
    yield claim(dear, 40, 20, search([[0, 0], [1, 0, 2]], []))  # an operator again
    unread = MemoryGraph(
        ("a", "b"),
        ((), ()),
        (
            Group("unread", 7, is_input=True),
            Group("t", 4, writers=(0,), is_output=True),
            Group("y", 5, writers=(1,), is_output=True),
        ),
        workspace=(0, 9),
    )
    yield claim(unread, 18, 18, search([[0, 0]], [[0, [0]]]))
    yield claim(unread, 18, 17, search([[0, 0]], [[0, [0]]]))


def ways() -> Iterator[Certificate]:
    """Searches that are closed, though a checker that asks for more ways on would miss a state."""

    def given(name: str, size: int, *readers: int) -> Group:
        return Group(name, size, readers=readers, is_input=True)

    # a has run: b frees the first input, b and c the second, which needs no way of its own
    nested = MemoryGraph(
        ("a", "b", "c", "d", "dear"),
        ((), (), (), (), (0, 1, 2, 3)),
        (given("x", 5, 0, 1), given("y", 5, 1, 2), given("z", 5, 3)),
        workspace=(0, 0, 0, 0, 50),
    )
    states = [[0, 0], [1, 1], [1, 3], [2, 3], [4, 2]]
    gone = [[0, [0]], [2, [3]], [3, [1]], [4, [2]]]
    yield claim(nested, 50, 50, search(states, gone))
    # v has run in place, and is no way on
    over = MemoryGraph(
        ("v", "dear"),
        ((), (0,)),
        (given("x", 10, 0), Group("r", 10, (0,), (1,))),
        workspace=(0, 50),
        inplace=(InPlace(0, 1, 0),),
    )
    yield claim(over, 60, 60, search([[0, 0]], []))
    # nothing is saved where the result has no bytes
    empty = MemoryGraph(
        ("v", "dear"),
        ((), ()),
        (given("x", 0, 0), Group("r", 0, (0,), is_output=True)),
        workspace=(0, 50),
        inplace=(InPlace(0, 1, 0),),
    )
    yield claim(empty, 50, 50, search([], []))
    # u frees something before v can run over x: then v is a way on from there
    before = MemoryGraph(
        ("u", "v", "q", "dear"),
        ((), (), (), (0, 1, 2)),
        (given("x", 10, 0, 1), given("z", 5, 0), given("y", 5, 2), Group("r", 10, (1,), (3,))),
        workspace=(0, 0, 0, 50),
        inplace=(InPlace(1, 3, 0),),
    )
    states = [[0, 0], [0, 2], [1, 2], [3, 1]]
    yield claim(before, 60, 60, search(states, [[1, [2]], [2, [0]], [3, [1]]]))
    # the start alone is the bound, and the only step is below it
    start = MemoryGraph(("v",), ((),), (given("x", 10, 0),), workspace=(-5,))
    yield claim(start, 10, 10, search([], []))


def others() -> Iterator[Certificate]:
    """Orders that are none, and groups that nobody writes."""
    t = Group("t", 4, writers=(0,), readers=(1,))
    chain = MemoryGraph(("a", "b"), ((), (0,)), (t,))
    yield claim(chain, 4)
    yield claim(chain, 4) | {"order": [1, 0]}
    found = claim(MemoryGraph(("a",), ((),), (Group("t", 4, writers=(0,)),)), 4)
    found["graph"]["predecessors"] = [[0]]
    rehash(found)
    yield found
    yield claim(MemoryGraph(("a",), ((),), (Group("t", 4, readers=(0,)),)), 0)
    yield claim(MemoryGraph(("a",), ((),), (Group("t", 0, is_output=True),)), 0)
