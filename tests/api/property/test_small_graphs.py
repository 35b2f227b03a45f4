"""The native library solves JSON graphs as the reference does: the same orders, bounds and states,
and what it does not cover it leaves."""

import json
import random
from io import FileIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from native import needs_native

import memopt
from memopt.api import plain_graphs, small_graphs
from memopt.api.answers import Answers
from memopt.api.peaks import answer_of
from memopt.api.plain_graphs import json_text, plain_graph
from memopt.api.small_graphs import SMALL, small_text, solved
from memopt.solvers.native.library import library
from memopt.solvers.problems.memory_graph import profile
from memopt.solvers.scheduling.methods import auto
from memopt.solvers.theory.canonical import canonical_order

pytestmark = needs_native
GRAPHS, TEXTS = 40_000, 200_000


def random_json(rng: random.Random) -> dict[str, Any]:
    """A graph of up to 70 operators with all that plain JSON graphs have: several results, results
    that nobody reads, outputs that are read, inputs that nobody reads, weights, workspace."""
    count = rng.choice((1, 2, 5, 9, 14, 20, 28, 34, 64, 70))
    sizes = rng.choice(((16,), (1, 16, 40), (0, 5, 100, 1000), tuple(range(0, 400, 16))))
    inputs = [f"x{i}" for i in range(rng.randint(1, 3))]
    reach = rng.choice((2, 4, 12))
    names, nodes = list(inputs), list[dict[str, Any]]()
    for v in range(count):
        near = names[-reach:]
        read = [rng.choice(near) for _ in range(rng.choice((1, 1, 2, 2, 3, 9)))]
        results = [f"t{v}.{i}" for i in range(rng.choice((1, 1, 1, 2)))]
        node: dict[str, Any] = {"name": f"n{v}", "op": "Op", "inputs": read, "outputs": results}
        if rng.random() < 0.2:
            node["inputs"] = [*read, rng.choice(("w0", "w1"))]
        if rng.random() < 0.1:
            node["workspace"] = rng.choice((0, 24, [8, 100]))
        if rng.random() < 0.2:
            node["attrs"] = {"macs": rng.randint(0, 99), "scale": 1.5, "kind": "same"}
        nodes.append(node)
        names += results
    weights = [{"name": f"w{i}", "bytes": 100 + i, "is_weight": True} for i in range(2)]
    tensors = [{"name": name, "bytes": rng.choice(sizes)} for name in names]
    ends = rng.sample(names, min(len(names), rng.randint(1, 3)))
    read = {name for node in nodes for name in node["inputs"]}
    if rng.random() < 0.7:
        ends = [name for name in names if name not in read] or ends
    return {
        "tensors": tensors + weights,
        "nodes": nodes,
        "graph_inputs": inputs,
        "graph_outputs": list(dict.fromkeys(ends)),
    }


def test_orders_bounds_and_states_are_those_of_the_reference(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(1)
    texts = [json.dumps(random_json(rng)).encode() for _ in range(int(GRAPHS * fuzz))]
    monkeypatch.setattr(small_graphs, "WORK", 50_000)  # so that calls go on where others ended
    answers = solved(texts)
    met = searched = 0
    for text, answer in zip(texts, answers, strict=True):
        plain = plain_graph(text)
        if answer is None:  # many operators, phases, or a long search
            assert plain is None or len(plain.graph) > SMALL or rare(plain.graph)
            continue
        assert plain is not None
        graph, known = plain.graph, Answers()
        reference = answer_of(graph, None, known)
        assert (answer.indices, answer.peak, answer.lower_bound, answer.proof) == (
            *(reference.order, reference.peak, reference.lower_bound, reference.proof),
        ), text
        assert answer.order == tuple(graph.names[v] for v in reference.order)
        assert (answer.states, answer.work) == (reference.states, plain.work)
        assert profile(graph, answer.indices).peak == answer.peak == answer.lower_bound
        if auto.met(graph) is None:
            searched += 1
            form, _ = canonical_order(graph)
            assert known.get(form, None) is not None
        met += 1
    assert searched > len(texts) // 50 and met > len(texts) // 2


def rare(graph: Any) -> bool:
    """Return whether a small graph may be left: it has an operator with many before or behind, or
    needs a longer search."""
    many = max(map(len, (*graph.predecessors, *graph.successors)))
    return many >= 8 or not auto.solve(graph, fuse=False, local=False, max_states=1_000).optimal


def broken(rng: random.Random, text: bytes) -> bytes:
    """The text with a few bytes, names, numbers or whole values changed."""
    parts = (
        b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u0041", b"\x00", b"\xc3\xa9", b"\xff",
        b"-", b"0", b"9" * 30, b"1e9", b"1.5", b"true", b"null", b'"macs"', b'"storage"', b'"x0"',
        b'"name"', b'"shape": [2, 8], ', b'"dtype": "int8", ', b'"dtype": "int4", ', b" ", b"NaN",
        b'"attrs": {"macs": 3}, ', b'"attrs": [], ', b'"is_weight": 1, ', b"\xef\xbb\xbf",
    )  # fmt: skip
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text) + 1)
        end = at + rng.choice((0, 0, 1, 2, 30))
        if rng.random() < 0.3:  # at the start of an entry, where a key may stand
            at = end = text.find(b'"', text.find(b"{", at)) if b"{" in text[at:] else at
        text = text[:at] + rng.choice(parts) + text[end:]
    return text


def answer_to(text: bytes) -> object:
    try:
        return memopt.peak(text)
    except (memopt.MemoptError, TypeError) as error:
        return str(error)


def test_hostile_texts_are_refused_as_without_the_library(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read by the reference, as the same graph, what the library reads; all else is its own, so
    that each refusal has the same words."""
    rng, accepted, refused = random.Random(2), 0, 0
    texts = [json.dumps(random_json(rng)).encode() for _ in range(40)]
    hostile = [broken(rng, rng.choice(texts)) for _ in range(int(TEXTS * fuzz))]
    answers = solved(hostile)
    for text, answer in zip(hostile, answers, strict=True):
        if answer is None:
            refused += 1
            continue
        accepted += 1
        plain = plain_graph(text)
        assert plain is not None, text
        assert (answer.work, sorted(answer.order)) == (plain.work, sorted(plain.graph.names))
        assert profile(plain.graph, answer.indices).peak == answer.peak
    assert accepted > len(hostile) // 50 and refused > len(hostile) // 4
    unsolved = [text for text, answer in zip(hostile, answers, strict=True) if answer is None]
    for text in unsolved[: int(TEXTS * fuzz / 20)]:
        native = answer_to(text)
        monkeypatch.setenv("MEMOPT_NATIVE", "0")
        assert answer_to(text) == native
        monkeypatch.delenv("MEMOPT_NATIVE")


def test_many_tensors_are_left() -> None:
    """A search takes longer with each, and the library looks at no clock. Weights do not count."""
    names = [f"y{i}" for i in range(257)]
    weights = [{"name": f"v{i}", "bytes": 1, "is_weight": True} for i in range(300)]
    for count in (256, 257):
        nodes = [{"name": "n", "op": "Op", "inputs": names[:1], "outputs": names[1:count]}]
        tensors = [{"name": name, "bytes": 16} for name in names] + weights
        ends = {"graph_inputs": names[:1], "graph_outputs": names[1:2]}
        graph = {"nodes": nodes, "tensors": tensors, **ends}
        (answer,) = solved([json.dumps(graph).encode()])
        assert (answer is None) == (count == 257)
        assert memopt.peak(graph).peak == 16 * count


def test_sizes_that_do_not_fit_into_64_bits_are_left() -> None:
    graph = random_json(random.Random(3))
    for size in (1 << 53, 1 << 62, 1 << 63, 10**40, -1):
        graph["tensors"][0]["bytes"] = size
        assert solved([json.dumps(graph).encode()]) == [None]
    assert solved([]) == [] and solved([b""]) == [None]


def test_a_call_gets_as_many_bytes_as_it_may_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All texts that are left once per call would be looked at as often as there are calls; a text
    that is long is not even read."""
    native, lengths = library(), list[int]()
    assert native is not None

    def solve(texts: bytes, ends: Any, *given: Any) -> int:
        lengths.append(len(texts))
        return native.memopt_json_graphs_solve(texts, ends, *given)

    texts = [json.dumps(random_json(random.Random(seed))).encode() for seed in range(60)]
    wanted = [answer and answer[:-1] for answer in solved(texts)]
    monkeypatch.setattr(small_graphs, "WORK", 20_000)
    monkeypatch.setattr(
        small_graphs, "library", lambda: SimpleNamespace(memopt_json_graphs_solve=solve)
    )
    assert [answer and answer[:-1] for answer in solved(texts)] == wanted
    assert len(lengths) > 3 and max(lengths) <= 20_000 + max(map(len, texts))
    path = tmp_path / "g.json"
    path.write_bytes(texts[0] + b" " * small_graphs.LONGEST)
    assert small_text(path) is small_text(path.read_bytes()) is None
    assert small_text(texts[0]) == texts[0] and json_text(path) == path.read_bytes()
    lengths.clear()
    assert memopt.peak(path)[:3] == memopt.peak(texts[0])[:3]
    assert len(lengths) == 1

    class Unread(FileIO):
        def read(self, size: "int | None" = -1, /) -> bytes:
            raise AssertionError

    monkeypatch.setattr(plain_graphs, "FileIO", Unread)
    assert small_text(path) is None


def test_peak_asks_the_library_and_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    for graph in (random_json(rng) for _ in range(20)):
        answers: list[tuple[memopt.Peak, memopt.Peak]] = []
        for native in ("0", "1"):
            monkeypatch.setenv("MEMOPT_NATIVE", native)
            assert solved([b"{}"]) == [None]
            answers.append((memopt.peak(graph), memopt.peak(graph, time_limit=60)))
        assert answers[0] == answers[1]
        assert answers[0][0] == answers[0][1]
