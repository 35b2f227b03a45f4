"""Random graphs with what captures say (storages, mutation, state, `after`) against every order.

Counted here from the JSON alone: an order is legal if each node finds in every storage what it
finds in the file's order; a storage that is not persistent is there from the first node that writes
it to the last that uses it.
"""

import random
from itertools import permutations
from typing import Any

import memopt
from memopt.api.plain_graphs import plain_graph
from memopt.solvers.problems.memory_graph import round_up
from memopt.solvers.scheduling import schedule

GRAPHS = 5_000
Graph = dict[str, Any]


def random_capture(rng: random.Random) -> Graph:
    """Up to seven nodes: each makes a tensor or writes one, of some of which it sees a part."""
    graph: Graph = {"name": "g", "graph_inputs": ["x"], "graph_outputs": [], "nodes": []}
    tensors: dict[str, Graph] = {"x": {"bytes": 16 * rng.randint(0, 4)}}
    for name in ("w", "m"):
        tensors[name] = {"bytes": 32, "persistent": True}
    given = list(tensors)
    made: list[str] = []
    for k in range(rng.randint(2, 7)):
        reads = rng.sample([*given, *made], min(rng.randint(1, 3), 3 + len(made)))
        node: Graph = {"name": f"n{k}", "op": "op", "inputs": reads, "outputs": []}
        if rng.random() < 0.4:
            node["mutates"] = rng.sample(reads, rng.randint(1, len(reads)))
        if not node.get("mutates") or rng.random() < 0.3:
            name = f"t{k}"
            tensors[name] = {"bytes": 16 * rng.randint(1, 6)}
            node["outputs"] = [name]
            made.append(name)
            if rng.random() < 0.3 and tensors[name]["bytes"] > 16:  # a view of its end
                view = {"bytes": 16, "storage": name, "offset": tensors[name]["bytes"] - 16}
                tensors[f"v{k}"] = view
                made.append(f"v{k}")
        if k and rng.random() < 0.2:
            node["after"] = [f"n{rng.randrange(k)}"]
        graph["nodes"].append(node)
    graph["graph_outputs"] = [rng.choice(made)] if made else ["x"]
    graph["tensors"] = [{"name": name, **entry} for name, entry in tensors.items()]
    return graph


def least_peak(graph: Graph) -> int:
    """The smallest peak of all legal orders, in bytes."""
    tensors = {t["name"]: t for t in graph["tensors"]}
    size: dict[str, int] = {}
    for name, t in tensors.items():
        storage = t.get("storage", name)
        size[storage] = max(size.get(storage, 0), t.get("offset", 0) + t["bytes"])

    def of(names: list[str]) -> set[str]:
        return {tensors[n].get("storage", n) for n in names}

    nodes = graph["nodes"]
    reads = [of(n["inputs"]) for n in nodes]
    writes = [of([*n["outputs"], *n.get("mutates", [])]) for n in nodes]
    numbers = {n["name"]: k for k, n in enumerate(nodes)}
    after = [{numbers[a] for a in n.get("after", [])} for n in nodes]
    ends = of(graph["graph_outputs"])
    arena = {s for s in size if not tensors[s].get("persistent")}

    def seen(order: tuple[int, ...]) -> tuple[dict[int, dict[str, int]], dict[str, int]]:
        """Who wrote last what each node reads or writes, and what is there at the end."""
        writer: dict[str, int] = {}
        found: dict[int, dict[str, int]] = {}
        for k in order:
            found[k] = {s: writer.get(s, -1) for s in reads[k] | writes[k]}
            writer.update(dict.fromkeys(writes[k], k))
        return found, writer

    source = tuple(range(len(nodes)))
    meaning, best = seen(source), -1
    for order in permutations(source):
        at = {k: step for step, k in enumerate(order)}
        late = all(at[a] < at[k] for k in source for a in after[k])
        if not late or seen(order) != meaning:
            continue
        level = [0] * len(nodes)
        for s in arena:
            used = [at[k] for k in source if s in reads[k] | writes[k]]
            first = 0 if s == "x" else min(used)
            last = len(nodes) - 1 if s in ends else max(used, default=0)
            for step in range(first, last + 1):
                level[step] += round_up(size[s], 16)
        best = max(level) if best < 0 else min(best, max(level))
    return best


def test_the_least_peak_of_all_orders(fuzz: float) -> None:
    rng = random.Random(12)
    mutated = 0
    for _ in range(max(120, int(GRAPHS * fuzz))):
        graph = random_capture(rng)
        found = memopt.peak(graph)
        least = least_peak(graph)
        assert found.optimal and found.peak == least, graph
        plain = plain_graph(graph)
        assert plain is None or schedule(plain.graph).peak == least, graph
        mutated += any("mutates" in n for n in graph["nodes"])
    assert mutated > 50


def test_plans_of_them_are_verified(fuzz: float) -> None:
    """By the verifier, which simulates them: no byte is overwritten that is still read."""
    rng = random.Random(13)
    for _ in range(max(30, int(GRAPHS * fuzz / 10))):
        graph = random_capture(rng)
        found = memopt.plan(graph)
        assert found.peak == memopt.peak(graph).peak <= found.arena
