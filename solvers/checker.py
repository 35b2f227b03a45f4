"""Stand-alone checker of certificates: `python checker.py CERTIFICATE.json`.

All that it says of its order and of every order is derived again: docs/concepts/certificates.md.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


class RejectedError(Exception):
    """The certificate does not prove what it says."""


def schema(certificate: Any) -> None:
    """Reject as malformed what has not exactly the form of docs/concepts/certificates.md.

    Objects have the keys named and no others, numbers are integers of 64 bits, neither true nor
    1.0, indices are in range, sets ascend, nothing is there twice. What follows converts nothing.
    """

    def expect(value: Any, form: type[Any] | Sequence[Any] | Mapping[str, Any], what: str) -> None:
        """A type, an integer of a range, a list of [one form], of (a form each), or an object."""
        kind: object = value.__class__
        if isinstance(form, type):
            need(kind is form, f"malformed: {what} is no {form.__name__}")
        elif isinstance(form, range):
            inside = kind is int and form.start <= value < form.stop  # `in` would convert 1.0
            need(inside, f"malformed: {what} is no integer of {form}")
        elif isinstance(form, Mapping):
            need(kind is dict and value.keys() == form.keys(), f"malformed: keys of object {what}")
            for key, part in form.items():
                expect(value[key], part, key)
        else:
            need(kind is list, f"malformed: {what} is no list")
            parts = form if isinstance(form, tuple) else [*form] * len(value)
            need(len(value) == len(parts), f"malformed: {what} has not {len(parts)} entries")
            for entry, part in zip(value, parts, strict=True):
                expect(entry, part, what)

    def flows_in(flows: list[Any]) -> list[Any]:
        expect(flows, [[(node, node, signed)]], "flow")
        return [[(tail, head) for tail, head, _ in flow] for flow in flows]

    signed, size = range(-(1 << 63), 1 << 63), range(1 << 63)
    top = {"format": str, "sha256": str, "graph": dict, "order": list, "proof": dict}
    expect(certificate, top | {"peak": size, "lower_bound": size}, "certificate")
    need(certificate["format"] == "memopt certificate 1", "malformed: unknown format")
    graph, order, proof = (certificate[key] for key in ("graph", "order", "proof"))
    expect([graph.get("names"), graph.get("groups")], ([str], list), "names or groups")
    count, groups = len(graph["names"]), graph["groups"]
    operator, group, node = range(count), range(len(groups)), range(count + 2 * len(groups) + 2)
    users = {"writers": [operator], "readers": [operator]}
    facts = {"name": str, "size": size, "is_input": bool, "is_output": bool}
    lists = {"predecessors": ([operator],) * count, "workspace": (signed,) * count, "names": list}
    lists |= {"groups": [{**users, **facts}], "inplace": [(operator, group, group)]}
    expect(graph, {"alignment": size[1:], **lists}, "graph")
    expect(order, (operator,) * count, "order")
    for used in [*graph["predecessors"], *(g[key] for g in groups for key in users)]:
        need(used == sorted(set(used)), "malformed: predecessors, writers or readers do not ascend")
    single: list[Any] = [order, [tuple(choice) for choice in graph["inplace"]]]
    if "flows" in proof:
        expect(proof, {"kind": str, "operator": operator, "flows": [dict]}, "proof")
        for flow in proof["flows"]:
            free = flow.get("operand") is None
            expect(flow, {"operand": type(None) if free else group, "flow": list}, "flow")
        single += [[flow["operand"] for flow in proof["flows"]]]
        single += flows_in([flow["flow"] for flow in proof["flows"]])
    else:
        back = {"backward": bool} if "backward" in proof else {}
        expect(proof, {"kind": str, "states": [list], "commits": [list], **back}, "proof")
        states, commits = proof["states"], proof["commits"]
        for i, state in enumerate(states):
            expect(state, (range(i + 1), *(operator,) * (len(state) - 1)), "state")
        full_commit = (range(len(states) + 1), [operator], list)
        for commit in commits:
            expect(commit, full_commit[: max(2, len(commit))], "commit")
        single += [[c[0] for c in commits], *(s[1:] for s in states), *(c[1] for c in commits)]
        single += flows_in([flow for commit in commits for flow in commit[2:]])
    need(proof["kind"] == ("flow" if "flows" in proof else "search"), "malformed: kind of proof")
    need(all(len(set(once)) == len(once) for once in single), "malformed: an entry is there twice")


def need(condition: object, reason: str) -> None:
    """Reject for `reason` unless `condition` holds."""
    if not condition:
        raise RejectedError(reason)


def bits(mask: int) -> Iterator[int]:
    """Indices of the set bits, ascending."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


class Graph:
    """The memory graph, in bytes; bit i of an executed set is the i-th operator of the order."""

    def __init__(self, data: Any, order: list[int], way: int = 1) -> None:
        n, groups, grain = len(order), data["groups"], data["alignment"]
        self.count, self.full, self.place = n, (1 << n) - 1, {v: i for i, v in enumerate(order)}
        self.before, self.up = [0] * n, [0] * n  # direct predecessors, all ancestors
        for v, ps in enumerate(data["predecessors"]):  # `way` -1: from the end of the graph
            for a, b in ([self.place[v], self.place[p]][::way] for p in ps):
                self.before[a] |= 1 << b
        self.sizes = [-(-g["size"] // grain) * grain for g in groups]
        self.extra = [-(-data["workspace"][v] // grain) * grain for v in order]
        self.touchers = [self.mask([*g["writers"], *g["readers"]]) for g in groups]
        self.writers = [self.mask(g["writers"]) for g in groups] if way == 1 else self.touchers
        self.given, self.held = ([g[k] for g in groups] for k in ("is_input", "is_output")[::way])
        self.touched: list[list[int]] = [[] for _ in order]
        self.network: dict[tuple[int, int], int] = {}  # arcs of T6 and their bytes
        self.much, self.source = sum(self.sizes) + 1, n + 2 * len(groups)
        self.sink, self.start, self.unread = self.source + 1, 0, 0
        for v in range(n):
            for p in bits(self.before[v]):
                self.up[v] |= self.up[p] | 1 << p
                self.network[v, p] = self.much
        for g, mask in enumerate(self.touchers):
            need(self.given[g] or self.writers[g], "a group that nobody writes")
            into, out, lost = n + 2 * g, n + 2 * g + 1, not mask and not self.held[g]
            self.start += self.sizes[g] * self.given[g]
            self.unread += self.sizes[g] * lost  # inputs that end with the first step
            late = bits(0 if self.given[g] else mask & ~self.writers[g])
            need(all(self.up[v] & self.writers[g] for v in late), "read before it is written")
            arcs = [(w, into) for w in bits(self.writers[g])] + [(out, u) for u in bits(mask)]
            arcs += [(self.source, into)] * self.given[g] + [(out, self.sink)] * self.held[g]
            self.network |= dict.fromkeys(arcs, self.much) | {(into, out): self.sizes[g]}
            for v in bits(mask):
                self.touched[v].append(g)
        self.inplace: dict[int, list[tuple[int, int]]] = {}  # (result, operand) by operator
        for o, r, x in list[tuple[int, int, int]](data["inplace"]):
            v = self.place[o]
            self.inplace.setdefault(v, []).append((r, x))
            fits = self.writers[r] == 1 << v and self.sizes[r] <= self.sizes[x]
            dies = self.touchers[x] & ~self.writers[x] & 1 << v
            survives = self.given[r] or self.held[x] or len({r for r, _ in self.inplace[v]}) > 1
            need(fits and dies and not survives, "an operator that cannot run in place")
        ends = [t for g, t in enumerate(self.touchers) if self.sizes[g] and not self.held[g]]
        ends += [1 << v for v in range(n) if self.extra[v]]
        es = sorted({self.closure(e) for e in ends}, key=int.bit_count)
        self.events = [(e, [b for b in es[:i][-40:] if not b & ~e]) for i, e in enumerate(es)]

    def mask(self, operators: Iterable[int]) -> int:
        """Operators as the file numbers them, as an executed set."""
        return sum(1 << p for p in {self.place[v] for v in operators})

    def closure(self, operators: int) -> int:
        """The operators and all that must run before them."""
        for v in bits(operators):
            operators |= self.up[v]
        return operators

    def run(self, done: int, level: int, operators: Iterable[int]) -> tuple[int, int, int]:
        """(largest step, executed, level after) of running operators one by one."""
        peak = 0
        for v in operators:
            need(not self.before[v] & ~done and not done >> v & 1, "an operator that is not ready")
            todo, fresh, freed = self.full & ~(done | 1 << v), 0, 0
            for g in self.touched[v]:
                if not (self.given[g] or self.writers[g] & done):  # else there already
                    fresh += self.sizes[g]
                if not (self.held[g] or self.touchers[g] & todo):
                    freed += self.sizes[g]
            taken = [r for r, x in self.inplace.get(v, ()) if not self.touchers[x] & todo]
            peak = max(peak, level + fresh + self.extra[v] - sum(self.sizes[r] for r in taken[:1]))
            level += fresh - freed - (0 if done else self.unread)
            done |= 1 << v
        return peak, done, level

    def flow(self, arcs: Iterable[list[int]], run: int, never: int, paid: Iterable[int]) -> int:
        """A flow's value: no ideal with `run`, without `never`, has less in it, `paid` included."""
        ties = {(self.source, v): self.much for v in bits(run)}
        ties |= {(self.source, self.count + 2 * g): self.much for g in paid}
        ties |= {(v, self.sink): self.much for v in bits(never)}
        balance = [0] * (self.sink + 1)
        for tail, head, amount in arcs:
            t, h = self.place.get(tail, tail), self.place.get(head, head)
            need(0 <= amount <= ties.get((t, h), self.network.get((t, h), 0)), "too much in an arc")
            balance[t] -= amount
            balance[h] += amount
        need(not any(balance[: self.source]), "flow is lost or made on the way")
        return balance[self.sink]

    def branches(self, done: int, level: int) -> Iterator[tuple[int, int]]:
        """(largest step, executed after) of the ways on that any better order may be bent to."""
        todo, moves = self.full & ~done, list[tuple[int, int]]()  # (operators, the last of them)
        if min(self.extra) < 0 or (self.unread and not done):  # one operator at a time
            moves = [(1 << v, 1 << v) for v in bits(todo) if not self.before[v] & todo]
        else:
            needs = {e & todo for e, inner in self.events if not any(b & todo for b in inner)} - {0}
            least = [k for k in needs if not any(m != k and not m & ~k for m in needs)]
            moves = [(k, 0) for k in least]
            for v, r, x in [(v, *c) for v, cs in self.inplace.items() for c in cs if todo >> v & 1]:
                k = self.closure(self.touchers[x]) & todo
                last = self.sizes[r] and not any(self.up[u] >> v & 1 for u in bits(k))
                if last and all(m & ~k | m & 1 << v for m in least):  # v frees first
                    moves.append((k, 1 << v))
        for k, last in moves or [(todo, 0)]:
            yield self.run(done, level, [*bits(k & ~last), *bits(last)])[:2]

    def check_flow(self, proof: Any, bound: int) -> None:
        """T6: whatever the order, one operator runs at a step of at least `bound` bytes."""
        v, flows = self.place[proof["operator"]], {f["operand"]: f["flow"] for f in proof["flows"]}
        results = {g for g in self.touched[v] if self.writers[g] >> v & 1}
        for r, x in [(None, None), *self.inplace.get(v, ())]:
            others = 0 if x is None else self.touchers[x] & ~(1 << v)
            if not any(self.up[u] >> v & 1 for u in bits(others)):  # else v cannot run over x
                flow = self.flow(flows.get(x, ()), self.before[v] | others, 1 << v, results - {r})
                need(flow + self.extra[v] >= bound, f"operand {x}: a flow below the bound, or none")

    def check_search(self, proof: Any, bound: int) -> None:
        """No way leads from {} to the end below `bound`: the states are closed, and not the end."""
        commits: dict[int, Any] = {c[0]: c[1:] for c in proof["commits"]}
        states, listed = {0: self.start}, [0]
        for parent, *names in list[list[int]](proof["states"]):
            done, order = listed[parent], [self.place[v] for v in names]
            _, done, level = self.run(done, states[done], order)
            need(done not in states, "a state twice")
            states[done] = level
            listed.append(done)
        need(self.full not in states or self.start >= bound, "the end is among the states")
        for i, done in enumerate(listed if self.start < bound else list[int]()):
            if i in commits:
                self.check_commit(done, states, commits[i], bound)
            elif any(s < bound and d not in states for s, d in self.branches(done, states[done])):
                raise RejectedError(f"missing state: a successor of state {i}")

    def check_commit(self, done: int, states: dict[int, int], entry: Any, bound: int) -> None:
        """T1: going straight from `done` to the end of the commit loses nothing below `bound`."""
        step, after, level = self.run(done, states[done], [self.place[v] for v in entry[0]])
        need(step < bound and after in states and (done or not self.unread), "false commit: no way")
        if len(entry) > 1:
            least = self.flow(entry[1], done, self.full & ~after, ())
        else:  # without a flow nothing may be freed before the last operator
            inside = {e & ~done for e, _ in self.events if not e & ~after} - {0}
            least = states[done] if inside <= {after & ~done} else -1
        need(level <= least and entry[0], "false commit: a lower level may lie between")


def check(certificate: Any) -> str:
    """Return the proven bound as a line. Raises RejectedError with the first fault."""
    schema(certificate)
    text = json.dumps(certificate["graph"], sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    need(digest == certificate["sha256"], "the graph is not the one that was hashed")
    graph, proof = Graph(certificate["graph"], certificate["order"]), certificate["proof"]
    peak = max(graph.run(0, graph.start, range(graph.count))[0], graph.start)
    need(peak == certificate["peak"], f"the order's peak is {peak} B")
    if proof.get("backward"):
        # choices in place and inputs never read are refused there, as what cannot be
        need(min(graph.extra, default=0) >= 0, "a graph that cannot be read from its end")
        graph = Graph(certificate["graph"], certificate["order"][::-1], -1)
    prove = graph.check_flow if proof["kind"] == "flow" else graph.check_search
    prove(proof, certificate["lower_bound"])
    return f"peak {peak} B, no order below {certificate['lower_bound']} B ({proof['kind']})"


def parse(text: str) -> Any:
    """JSON, unless an object has a key twice. Raises RejectedError."""

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "malformed: a key twice")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=fields)
    except (ValueError, RecursionError) as error:  # no JSON, too many digits, nested too deep
        raise RejectedError(f"malformed: no JSON: {error}") from None


if __name__ == "__main__":
    try:
        print("accepted:", check(parse(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    except (RejectedError, OSError, ValueError, IndexError) as reason:
        sys.exit(f"rejected: {reason}")
