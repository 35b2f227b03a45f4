"""Corrupted certificates: random changes of the JSON, and changes that a forger would make.

The forger raises the bound, and then adds flow, states, commits and arcs that look right. He never
forgets the hash.
"""

import hashlib
import json
import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from oracles import optimum, random_graph, random_order

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph
from memopt.solvers.theory.certificates import certificate
from memopt.solvers.theory.closure import Way
from memopt.solvers.theory.ideals import renumber
from memopt.solvers.theory.reversal import backward, reversible

Certificate = dict[str, Any]
ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 0.5, 1.0, 1e30, "", "0", "1", " 1", [], {}, [0], [[0]],
    1 << 63, -(1 << 63), 1 << 64, 10**40, float("nan"), float("inf"),
)  # fmt: skip


def is_list(value: Any) -> bool:
    return isinstance(value, list)


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def part(found: Certificate, key: str) -> Any:
    """What is there, if anything is."""
    value: Any = found.get(key)
    return value


def rehash(found: Certificate) -> None:
    """The hash of the graph as it stands."""
    text = json.dumps(found["graph"], sort_keys=True, separators=(",", ":"))
    found["sha256"] = hashlib.sha256(text.encode()).hexdigest()


def graph_of(found: Certificate) -> MemoryGraph:
    """The memory graph that a certificate of the right form speaks of."""
    g = found["graph"]
    return MemoryGraph(
        tuple(g["names"]),
        tuple(map(tuple, g["predecessors"])),
        tuple(
            Group(
                x["name"],
                x["size"],
                tuple(x["writers"]),
                tuple(x["readers"]),
                x["is_input"],
                x["is_output"],
            )
            for x in g["groups"]
        ),
        tuple(g["workspace"]),
        tuple(InPlace(*c) for c in g["inplace"]),
        g["alignment"],
    )


def true_certificates(seed: str, count: int, operators: int = 5) -> Iterator[tuple[str, int]]:
    """(certificate as text, optimum) of random graphs: tight ones and slack ones, all kinds."""
    for i in range(count):
        rng = random.Random(f"{seed} {i}")
        graph = random_graph(rng, operators, negative=rng.random() < 0.2)
        best, order = optimum(graph), random_order(rng, graph)
        bound = best if rng.random() < 0.7 else rng.randint(0, best)
        found = certificate(graph, order, bound)
        yield json.dumps(found), best
        numbered, old = renumber(graph)
        ways = [Way(numbered, bound, old)]
        if reversible(numbered) and not graph.inplace and min(graph.extra) >= 0:
            ways.append(Way(backward(numbered), bound, old[::-1], True))
        for way in ways:
            if best > graph.level(0) and way.run(1000, None, 10**6):
                yield json.dumps(found | {"proof": way.proof()}), best


def corrupt(rng: random.Random, text: str) -> Certificate:
    """A copy with one to four changes."""
    found: Certificate = json.loads(text)
    if rng.random() < 0.6:
        found["lower_bound"] += rng.choice((1, 1, 1, 2, 5, 20))
        for _ in range(rng.randint(0, 3)):
            rng.choice((_more_flow, _more_flow, _more_states, _commits, _anything))(rng, found)
    else:
        for _ in range(rng.randint(1, 3)):
            rng.choice((_anything, _graph, _more_flow, _more_states, _commits))(rng, found)
    if rng.random() < 0.95 and is_object(part(found, "graph")):
        rehash(found)
    return found


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of everything inside."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        inside = waiting.pop()
        keys: list[Any] = list(inside) if is_object(inside) else list(range(len(inside)))
        for key in keys:
            found.append((inside, key))
            if is_object(inside[key]) or is_list(inside[key]):
                waiting.append(inside[key])
    return found


def _anything(rng: random.Random, found: Certificate) -> None:
    inside, key = rng.choice(_places(found))
    value, what = inside[key], rng.random()
    if isinstance(value, int) and not isinstance(value, bool) and what < 0.6:
        inside[key] = value + rng.choice((-1, 1, 1, 2, 10, -value))
    elif what < 0.75:
        inside[key] = deepcopy(rng.choice(ODD))
    elif is_list(inside) and what < 0.85:
        inside.insert(rng.randint(0, len(inside)), json.loads(json.dumps(value)))
    elif is_list(inside) and what < 0.9:
        other = rng.randrange(len(inside))
        inside[key], inside[other] = inside[other], inside[key]
    elif what < 0.97 or is_list(inside):
        del inside[key]
    else:
        inside["x"] = deepcopy(rng.choice(ODD))


def _graph(rng: random.Random, found: Certificate) -> None:
    """Another graph of the right form, most of the time: smaller, so that the bound is false."""
    graph = part(found, "graph")
    if not is_object(graph):
        return
    spots = [p for p in _places(graph) if p[1] not in ("name", "names")]
    inside, key = rng.choice(spots) if spots else (found, "peak")
    value = inside[key]
    if isinstance(value, bool):
        inside[key] = not value
    elif isinstance(value, int):
        inside[key] = max(0, value - rng.randint(-1, 8))
    elif is_list(value) and value:
        value.pop(rng.randrange(len(value)))
    elif is_list(value):
        value.append(rng.choice((0, 1, 2, [0, 1, 0], [1, 2, 0])))


def _numbers(found: Certificate) -> tuple[int, int]:
    graph = part(found, "graph")
    if not is_object(graph):
        return 1, 1
    names, groups = part(graph, "names"), part(graph, "groups")
    return (
        max(len(names), 1) if is_list(names) else 1,
        max(len(groups), 1) if is_list(groups) else 1,
    )


def _flows(found: Certificate) -> list[list[Any]]:
    proof = part(found, "proof")
    if not is_object(proof):
        return []
    flows: list[Any] = [f.get("flow") for f in _list(proof, "flows") if is_object(f)]
    flows += [c[2] for c in _list(proof, "commits") if is_list(c) and len(c) > 2]
    return [f for f in flows if is_list(f) and all(_is_arc(a) for a in f)]


def _is_arc(arc: Any) -> bool:
    return is_list(arc) and len(arc) == 3 and all(type(v) is int for v in arc)


def _list(proof: dict[str, Any], key: str) -> list[Any]:
    value = part(proof, key)
    return value if is_list(value) else []


def _more_flow(rng: random.Random, found: Certificate) -> None:
    """More of it along a way from the source to the sink, of old arcs or new ones."""
    flows = _flows(found)
    if not flows:
        return
    flow, (n, m) = rng.choice(flows), _numbers(found)
    source, sink, more = n + 2 * m, n + 2 * m + 1, rng.randint(1, 12)
    if rng.random() < 0.2 and flow:
        rng.choice(flow)[2] *= 2
        return
    node, seen = source, set[int]()
    while node != sink and len(seen) < 12:
        seen.add(node)
        old = [a for a in flow if a[0] == node]
        if old and rng.random() < 0.7:
            arc = rng.choice(old)
        else:
            step = rng.randrange(sink + 1)
            arc = [node, step if rng.random() < 0.8 else sink, 0]
            same = [a for a in flow if a[:2] == arc[:2]]
            if not same or rng.random() < 0.2:  # as the same arc once more
                flow.append(arc)
            else:
                arc = same[0]
        arc[2] += more
        node = arc[1]
        if node in seen:
            return


def _path(rng: random.Random, n: int) -> list[int]:
    return rng.sample(range(n), rng.randint(0, min(n, 3)))


def _more_states(rng: random.Random, found: Certificate) -> None:
    """One more of the closed set, one less, or a search where there was a flow."""
    proof, (n, _) = part(found, "proof"), _numbers(found)
    if not is_object(proof):
        return
    if "states" not in proof or rng.random() < 0.1:
        proof = found["proof"] = dict[str, Any](kind="search", states=[], commits=[])
    states = proof["states"]
    if not is_list(states):
        return
    if states and rng.random() < 0.4:
        states.pop(rng.randrange(len(states)))
    else:
        states.append([rng.randint(0, len(states)), *_path(rng, n)])
    if rng.random() < 0.2:
        proof["backward"] = rng.random() < 0.7


def _commits(rng: random.Random, found: Certificate) -> None:
    """One more, with or without a flow; or all states but those that commits lead to are left."""
    proof, (n, m) = part(found, "proof"), _numbers(found)
    if not is_object(proof) or "states" not in proof:
        return
    states, commits = _list(proof, "states"), _list(proof, "commits")
    if commits and rng.random() < 0.3:
        commits.pop(rng.randrange(len(commits)))
        return
    state = rng.randint(0, len(states))
    path = _path(rng, n)
    if rng.random() < 0.6:
        states.append([state, *path])
    entry: list[Any] = [state, path]
    if rng.random() < 0.5:
        g = rng.randrange(m)
        into, out, source, sink = n + 2 * g, n + 2 * g + 1, n + 2 * m, n + 2 * m + 1
        x = rng.randint(0, 20)
        entry.append([[source, into, x], [into, out, x], [out, sink, x]])
    commits.append(entry)
