"""The checker alone: it accepts what is true, and each kind of tampering has its own refusal."""

import ast
import copy
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from one_way import ENDS_ABOVE, READ_BEFORE_WRITTEN, UNREAD, claim, search
from places import ROOT

from memopt.solvers.checker import RejectedError, check
from memopt.solvers.errors import NoCertificateError
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, profile
from memopt.solvers.theory.certificates import certificate, certificate_text
from memopt.solvers.theory.closure import Closure, Way, level_flow
from memopt.solvers.theory.network import Network
from memopt.solvers.theory.reversal import backward

CHECKER = ROOT / "solvers" / "checker.py"


def liberis() -> MemoryGraph:
    """Liberis' Figure 1: 4,960 B at best, 4,704 B by T6; so only a search proves it."""
    sizes = (1568, 3136, 1568, 512, 512, 256, 256, 512)
    edges = {0: (0,), 1: (1, 3), 2: (2,), 3: (4,), 4: (5,), 5: (6,), 6: (6,)}
    groups = tuple(
        Group(
            f"t{i}", s, (i - 1,) if i else (), edges.get(i, ()), is_input=i == 0, is_output=i == 7
        )
        for i, s in enumerate(sizes)
    )
    before = ((), (0,), (1,), (0,), (2,), (3,), (4, 5))
    return MemoryGraph(tuple(f"op{i + 1}" for i in range(7)), before, groups)


BEST = (0, 3, 5, 1, 2, 4, 6)


def in_place() -> MemoryGraph:
    """x(10) -> relu in place -> y(10): 10, though a naive cut says 20 (theory.md, T6)."""
    return MemoryGraph(
        ("relu",),
        ((),),
        (
            Group("x", 10, readers=(0,), is_input=True),
            Group("y", 10, writers=(0,), is_output=True),
        ),
        inplace=(InPlace(0, 1, 0),),
    )


def by_search() -> dict[str, Any]:
    return json.loads(certificate_text(certificate(liberis(), BEST, 4960)))


def by_flow() -> dict[str, Any]:
    return json.loads(certificate_text(certificate(liberis(), BEST, 4704)))


def test_true_certificates_of_both_kinds() -> None:
    search, flow = by_search(), by_flow()
    assert (search["proof"]["kind"], flow["proof"]["kind"]) == ("search", "flow")
    assert check(search) == "peak 4960 B, no order below 4960 B (search)"
    assert check(flow) == "peak 4960 B, no order below 4704 B (flow)"
    assert check(certificate(in_place(), (0,), 10)).startswith("peak 10 B, no order below 10 B")


def rehash(c: dict[str, Any]) -> None:
    """A forger would not forget the hash."""
    text = json.dumps(c["graph"], sort_keys=True, separators=(",", ":"))
    c["sha256"] = hashlib.sha256(text.encode()).hexdigest()


def drop_edge(c: dict[str, Any]) -> None:
    c["graph"]["predecessors"][6] = [4]


def grow(c: dict[str, Any]) -> None:
    c["graph"]["groups"][1]["size"] += 1


def grow_and_rehash(c: dict[str, Any]) -> None:
    grow(c)
    rehash(c)


def drop_state(c: dict[str, Any]) -> None:
    c["proof"]["states"].pop()


def swap_order(c: dict[str, Any]) -> None:
    c["order"][0], c["order"][-1] = c["order"][-1], c["order"][0]


def claim_more(c: dict[str, Any]) -> None:
    c["lower_bound"] += 1


def claim_peak(c: dict[str, Any]) -> None:
    c["peak"] -= 1


def list_end(c: dict[str, Any]) -> None:
    c["proof"]["states"].append([0, *c["order"]])


def not_ready(c: dict[str, Any]) -> None:
    c["proof"]["states"].insert(0, [0, 6])


def false_commit(c: dict[str, Any]) -> None:
    c["proof"]["commits"] = [[0, c["proof"]["states"][0][1:]]]  # it allocates: the level rises


def commit_to_nothing(c: dict[str, Any]) -> None:
    c["proof"]["commits"] = [[0, []]]


def commit_above(c: dict[str, Any]) -> None:
    """A commit whose end is low enough, by way of the bound itself."""
    c["proof"] = {"kind": "search", "states": [[0, 0], [1, 3, 5, 1]], "commits": [[1, [3, 5, 1]]]}


def no_alignment(c: dict[str, Any]) -> None:
    c["graph"]["alignment"] = 0
    rehash(c)


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (drop_edge, "hashed"),
        (grow, "hashed"),
        (grow_and_rehash, "the order's peak is 4961 B"),
        (drop_state, "missing state"),
        (swap_order, "not ready"),
        (claim_more, "missing state"),
        (claim_peak, "the order's peak is 4960 B"),
        (list_end, "the end is among the states"),
        (not_ready, "not ready"),
        (false_commit, "false commit"),
        (commit_to_nothing, "false commit"),
        (commit_above, "no way"),
        (no_alignment, "malformed"),
    ],
)
def test_a_tampered_search_is_rejected(
    tamper: Callable[[dict[str, Any]], None], reason: str
) -> None:
    found = by_search()
    tamper(found)
    with pytest.raises(RejectedError, match=reason):
        check(found)


def more_flow(c: dict[str, Any]) -> None:
    c["proof"]["flows"][0]["flow"][0][2] += 1


def too_much(c: dict[str, Any]) -> None:
    for arc in c["proof"]["flows"][0]["flow"]:
        arc[2] *= 2


def no_flow(c: dict[str, Any]) -> None:
    c["proof"]["flows"] = []


def less_flow(c: dict[str, Any]) -> None:
    next(arc for arc in c["proof"]["flows"][0]["flow"] if arc[2] > 1)[2] -= 1


def backwards(c: dict[str, Any]) -> None:
    c["proof"]["flows"][0]["flow"][0][2] = -1


def from_nowhere(c: dict[str, Any]) -> None:
    c["proof"]["flows"][0]["flow"] = [[23, 21, 512], [21, 22, 512], [22, 24, 512]]  # t7: no input


def to_nowhere(c: dict[str, Any]) -> None:
    c["proof"]["flows"][0]["flow"] = [[23, 7, 1568], [7, 8, 1568], [8, 24, 1568]]  # t0: not held


def invented_arc(c: dict[str, Any]) -> None:
    nodes = 7 + 2 * 8
    c["proof"]["flows"][0]["flow"].append([nodes, nodes + 1, 1000])  # source to sink


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (grow, "hashed"),
        (claim_more, "below the bound"),
        (more_flow, "too much|lost or made"),
        (too_much, "too much"),
        (less_flow, "lost or made"),
        (backwards, "too much"),
        (from_nowhere, "too much"),
        (to_nowhere, "too much"),
        (no_flow, "operand None: a flow below the bound, or none"),
        (invented_arc, "too much"),
    ],
)
def test_a_tampered_flow_is_rejected(tamper: Callable[[dict[str, Any]], None], reason: str) -> None:
    found = by_flow()
    tamper(found)
    with pytest.raises(RejectedError, match=reason):
        check(found)


def test_every_in_place_alternative_needs_its_flow() -> None:
    found = certificate(in_place(), (0,), 10)
    assert [f["operand"] for f in found["proof"]["flows"]] == [None, 0]
    naive = copy.deepcopy(found)
    plain = naive["proof"]["flows"][0]["flow"]
    naive["proof"]["flows"][1]["flow"] = plain
    naive["lower_bound"] = 20
    with pytest.raises(RejectedError, match="too much"):  # the result counts as paid
        check(naive)
    found["proof"]["flows"].pop()
    with pytest.raises(RejectedError, match="operand 0: a flow below the bound, or none"):
        check(found)


def from_the_end() -> dict[str, Any]:
    way = Way(backward(liberis()), 4960, tuple(reversed(range(7))), True)
    assert way.run(1000, None, 10_000)
    return json.loads(certificate_text(certificate(liberis(), BEST, 4960) | {"proof": way.proof()}))


def read_forward(c: dict[str, Any]) -> None:
    c["proof"]["backward"] = False


def commit_upwards(c: dict[str, Any]) -> None:
    c["proof"]["commits"].append([1, [5]])  # t6 (256 B) taken back for t4 (512 B): the level rises


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (drop_state, "missing state"),
        (claim_more, "missing state"),
        (commit_upwards, "false commit"),
        (read_forward, "not ready"),
        (list_end, "not ready"),
        (grow_and_rehash, "the order's peak is 4961 B"),
    ],
)
def test_a_tampered_search_from_the_end_is_rejected(
    tamper: Callable[[dict[str, Any]], None], reason: str
) -> None:
    found = from_the_end()
    assert check(found) == "peak 4960 B, no order below 4960 B (search)"
    tamper(found)
    with pytest.raises(RejectedError, match=reason):
        check(found)


def one_way_graphs() -> list[tuple[str, str, MemoryGraph, int]]:
    """Name, why it is refused, graph, and a false bound that its steps seem to prove if they are
    read from the end."""
    return [
        ("unread", "nobody writes", UNREAD, 16),
        ("ends above", "cannot be read from its end", ENDS_ABOVE, 10),
        ("read before written", "read before it is written", READ_BEFORE_WRITTEN, 18),
        ("in place", "cannot run in place", in_place(), 20),
    ]


@pytest.mark.parametrize(("name", "reason", "graph", "bound"), one_way_graphs())
def test_a_graph_that_cannot_be_read_from_its_end(
    name: str, reason: str, graph: MemoryGraph, bound: int
) -> None:
    order = list(range(len(graph)))
    peak = profile(graph, order).peak
    assert peak < bound, name
    claimed = claim(graph, peak, bound, search([], [], backward=True))
    way = Way(backward(graph), bound, tuple(reversed(order)), True)
    with suppress(NoCertificateError):  # of what runs in place in every order: its steps are right
        if way.run(1000, None, 10_000):
            claimed["proof"] = way.proof()
    with pytest.raises(RejectedError, match=reason):
        check(claimed)
    assert certificate(graph, order, peak)["proof"].get("backward", False) is False


def valley() -> MemoryGraph:
    """Down by way of a valley: a(20) is read by 0 -> b(2), by 1 -> c(9); 0 also frees x(20)."""
    return MemoryGraph(
        ("0", "1", "2"),
        ((), (), (0, 1)),
        (
            Group("x", 20, readers=(0,), is_input=True),
            Group("b", 2, writers=(0,), readers=(2,)),
            Group("c", 9, writers=(1,), readers=(2,)),
            Group("y", 1, writers=(2,), is_output=True),
        ),
    )


def test_a_commit_past_a_valley_needs_a_flow_and_has_none() -> None:
    """{} -> {0, 1} ends at 11 B, but {0} between has 2 B: going straight on could cost."""
    graph = valley()
    claim = certificate(graph, (0, 1, 2), 22)
    states = [[0, 0, 1]]
    value, flow = level_flow(Network(graph), 0, 0b11)
    assert value == 2
    for entry in ([0, [0, 1]], [0, [0, 1], [list(a) for a in flow]]):
        claim["lower_bound"] = 30
        claim["proof"] = {"kind": "search", "states": states, "commits": [entry]}
        with pytest.raises(RejectedError, match="lower level may lie between"):
            check(claim)


def test_a_commit_to_a_state_that_is_not_listed() -> None:
    """x(8) -> a -> t(2) -> b -> y(1) needs 10; a alone ends lower than it began."""
    graph = MemoryGraph(
        ("a", "b"),
        ((), (0,)),
        (
            Group("x", 8, readers=(0,), is_input=True),
            Group("t", 2, writers=(0,), readers=(1,)),
            Group("y", 1, writers=(1,), is_output=True),
        ),
    )
    claim = certificate(graph, (0, 1), 10)
    claim["lower_bound"] = 11
    claim["proof"] = {"kind": "search", "states": [], "commits": [[0, [0]]]}
    with pytest.raises(RejectedError, match="no way"):
        check(claim)


def test_inputs_that_nobody_reads_are_paid_in_the_first_step() -> None:
    graph = MemoryGraph(
        ("a", "b"),
        ((), (0,)),
        (
            Group("unread", 7, is_input=True),
            Group("t", 4, writers=(0,), readers=(1,)),
            Group("y", 5, writers=(1,), is_output=True),
        ),
    )
    assert check(certificate(graph, (0, 1), 11)).startswith("peak 11 B, no order below 11 B")
    assert Closure(graph, 12).moves(0, 7, ())[1] is False  # T1 does not hold at {}


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", '{"graph": 1}', '{"sha256": "", "graph": {}}', "[" * 100_000]
)
def test_the_file_alone_refuses_what_is_no_certificate(text: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("rejected: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), "x", None, [1]])
def test_a_bound_that_is_no_number_is_rejected(bound: object) -> None:
    found = by_search()
    found["lower_bound"] = bound
    with pytest.raises(RejectedError):
        check(found)


def test_the_file_alone_accepts(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(certificate_text(certificate(liberis(), BEST, 4960)))
    done = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "accepted: peak 4960 B, no order below 4960 B (search)\n"


def test_small_and_of_the_standard_library_only() -> None:
    text = CHECKER.read_text()
    assert len(text.splitlines()) <= 280
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names <= set(sys.stdlib_module_names)
