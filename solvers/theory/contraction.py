"""Memory graph that is contracted step by step, each step in time of what it touches.

A node is named by the least operator in it. Every mask is of the operators that the graph began
with, of which `alive` are the names of nodes: what is before or after a node is then the same
whatever is contracted elsewhere, since a separable module is before, after or beside it as a whole
(theory.md section 3, condition 1).

Bytes that the same nodes touch in the same way are one group: a node in the middle of a training
step holds thousands of weights, and each look at it would take as long.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from memopt.solvers.problems.masks import key_of
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, bits, mask_of
from memopt.solvers.theory.ideals import Sides

Nodes = tuple["int | Nodes", ...]


class Changes(NamedTuple):
    """Nodes that were made, and the rest of each set of nodes between the same others."""

    nodes: list[int]
    alike: list[set[int]]


class Block(NamedTuple):
    """Nodes that run in one go, in this order; `rise` is the bytes of their hill above the level
    before them."""

    nodes: tuple[int, ...]
    rise: int


@dataclass
class Contraction:
    """Contracted rest of a graph whose operators are numbered topologically."""

    groups: Sequence[Group]  # as they were, for names and flags
    names: Sequence[str]
    inplace: Sequence[InPlace]
    unread_inputs: int
    alignment: int
    alive: int
    sides: Sides
    place: list[tuple[int, int]]  # of each node in the order of `ideals.renumber`
    predecessors: list[dict[int, int]]  # each with its rank among them
    successors: list[set[int]]
    links: dict[int, int]  # predecessors that chains asked for, and nothing else
    sizes: list[int]
    writer_masks: list[int]
    reader_masks: list[int]
    toucher_masks: list[int]
    touches: list[set[int]]
    extra: list[int]
    candidates: list[Sequence[InPlace]]
    inner: dict[int, Nodes]  # of nodes of several operators, the nodes that they were made of
    masks: dict[int, int]  # and all operators in them
    units: dict[int, int]  # of nodes of a chain of several, the operators of the chain
    in_units: int  # of all such chains
    chains: dict[int, int]  # of nodes of a chain of any length, the number of the chain
    alike: dict[tuple[int, ...], set[int]]  # nodes by all that is before and after them
    pinned: Counter[int]  # groups of in-place candidates, which stay apart
    number: int = 0  # of the chain made last
    changed: list[int] = field(default_factory=list[int])  # nodes made since `changes` was asked
    left: list[set[int]] = field(default_factory=list[set[int]])  # what they were alike to

    @staticmethod
    def of(graph: MemoryGraph) -> "Contraction":
        """Return the graph, before anything in it is contracted."""
        count, sides = len(graph), Sides.of(graph)
        alike: dict[tuple[int, ...], set[int]] = {}
        for v, (up, down) in enumerate(zip(sides.up, sides.down, strict=True)):
            alike.setdefault(key_of(up, down), set()).add(v)
        return Contraction(
            groups=graph.groups,
            names=graph.names,
            inplace=graph.inplace,
            unread_inputs=graph.unread_inputs,
            alignment=graph.alignment,
            alive=(1 << count) - 1,
            sides=sides,
            place=[(v, 0) for v in range(count)],
            predecessors=[
                {p: i for i, p in enumerate(dict.fromkeys(ps))} for ps in graph.predecessors
            ],
            links={},
            successors=list(map(set, graph.successors)),
            sizes=list(graph.sizes),
            writer_masks=list(graph.writer_masks),
            reader_masks=list(graph.reader_masks),
            toucher_masks=list(graph.toucher_masks),
            touches=list(map(set, graph.touches)),
            extra=list(graph.extra),
            candidates=list(graph.candidates),
            inner={},
            masks={},
            units={},
            in_units=0,
            chains={},
            alike=alike,
            pinned=Counter([g for c in graph.inplace for g in (c.result, c.operand)]),
        )

    def count(self, members: int) -> int:
        """Return the number of nodes in a mask."""
        return (members & self.alive).bit_count()

    def has(self, node: int) -> bool:
        """Return whether `node` is the name of a node."""
        return bool(self.alive >> node & 1)

    def nodes(self, members: int) -> tuple[int, ...]:
        """Return the nodes in a mask, in the order of all."""
        return self.in_order(bits(members & self.alive))

    def in_order(self, nodes: Iterable[int]) -> tuple[int, ...]:
        """Return these nodes in the order of all."""
        return tuple(sorted(nodes, key=self.place.__getitem__))

    def before(self, node: int) -> list[int]:
        """Return the predecessors of a node, in the order in which its operators name them."""
        ranks = self.predecessors[node]
        return sorted(ranks, key=ranks.__getitem__)

    def mask(self, node: int) -> int:
        """Return the mask of all operators in a node."""
        return self.masks.get(node) or 1 << node

    def operators(self, node: int) -> Iterator[int]:
        """Yield all operators in a node, in their order."""
        waiting: list[int | Nodes] = [self.inner.get(node, node)]
        while waiting:
            first = waiting.pop()
            if isinstance(first, int):
                yield first
            else:
                waiting += reversed(first)

    def changes(self) -> Changes:
        """Return the changes since the last call."""
        result = Changes(self.changed, self.left)
        self.changed, self.left = [], []
        return result

    def number_chains(self, operators: Sequence[int]) -> None:
        """Number the chains, each of one node now, by the least of their operators, of which
        `operators` gives the numbers that count; there are no changes since."""
        named = [
            (min([operators[v] for v in self.operators(n)]), n) for n in self.inner if self.has(n)
        ]
        self.chains = {node: i for i, (_, node) in enumerate(sorted(named), 1)}
        self.number = len(named)
        self.changes()

    def contract(self, chain: Sequence[Block]) -> None:
        """Make a node of each block of a separable module, one after the other."""
        new = [min(block.nodes) for block in chain]
        into = {v: node for node, block in zip(new, chain, strict=True) for v in block.nodes}
        masks = [sum(map(self.mask, block.nodes)) for block in chain]
        for v in into:
            alike = self.alike[self._key(v)]
            alike.discard(v)
            self.left.append(alike)
            self.units.pop(v, None)
        self._link(into, chain)
        self._put_in_order(new, masks)
        for node, block, mask in zip(new, chain, masks, strict=True):
            if len(block.nodes) > 1:
                self.inner[node] = tuple([self.inner.get(v, v) for v in block.nodes])
                self.masks[node] = mask
                self._join(node, block)
        self.number += 1
        for node in new:
            alike = self.alike.setdefault(self._key(node), set())
            alike.add(node)
            self.left.append(alike)
            self.chains[node] = self.number
            if len(new) > 1:
                self.units[node] = sum(masks)
        self.in_units &= ~sum(masks)
        if len(new) > 1:
            self.in_units |= sum(masks)
        self.changed += new

    def _key(self, node: int) -> tuple[int, ...]:
        return key_of(self.sides.up[node], self.sides.down[node])

    def _link(self, into: Mapping[int, int], chain: Sequence[Block]) -> None:
        """Link new nodes to the predecessors of their operators, and each to the one before."""
        for v in into:  # what a chain asked for that is in this one now
            p = self.links.pop(v, None)
            if p is not None:
                del self.predecessors[v][p]
                self.successors[p].discard(v)
        before: dict[int, dict[int, int]] = {}
        after: dict[int, set[int]] = {}
        for block in chain:
            node = into[block.nodes[0]]
            waited = [into.get(p, p) for v in block.nodes for p in self.before(v)]
            order = dict.fromkeys([p for p in waited if p != node])
            before[node] = {p: rank for rank, p in enumerate(order)}
            after[node] = {into.get(s, s) for v in block.nodes for s in self.successors[v]} - {node}
        ranks: dict[tuple[int, int], int] = {}
        for v, node in into.items():
            for p in self.predecessors[v]:
                self.successors[p].discard(v)
            for s in [s for s in self.successors[v] if s not in into]:
                rank = self.predecessors[s].pop(v)
                ranks[s, node] = min(rank, ranks.get((s, node), rank))
        for (s, node), rank in ranks.items():
            self.predecessors[s][node] = rank
        for node in before:
            self.predecessors[node], self.successors[node] = before[node], after[node]
            for p in before[node]:
                if p not in before:
                    self.successors[p].add(node)
        for a, b in pairwise(before):
            if a not in before[b]:
                before[b][a] = len(into) + len(before[b])
                self.successors[a].add(b)
                self.links[b] = a

    def _put_in_order(self, new: Sequence[int], masks: Sequence[int]) -> None:
        """Find the nodes before and after the new ones, and their places: each as if it had the
        number of its least operator, but behind those of its chain that it follows."""
        up, down, members = self.sides.up, self.sides.down, sum(masks)
        before = after = 0
        for v in bits(members & self.alive):
            before |= up[v]
            after |= down[v]
        done, latest = before & ~members, -1
        self.alive &= ~members
        for i, (node, mask) in enumerate(zip(new, masks, strict=True)):
            up[node] = done
            done |= mask
            down[node] = (after | members) & ~done
            self.alive |= 1 << node
            self.place[node] = (latest, i) if node < latest else (node, 0)
            latest = max(latest, node)

    def _join(self, node: int, block: Block) -> None:
        """Give the node what its nodes touched, without what lives inside, and its workspace."""
        old, bit = mask_of(block.nodes), 1 << node
        touched: set[int] = set()
        for v in block.nodes:
            touched |= self.touches[v]
            self.pinned.subtract([g for c in self.candidates[v] for g in (c.result, c.operand)])
            self.touches[v], self.candidates[v] = set(), ()
        same: dict[tuple[int, int, bool, bool], int] = {}
        touched_groups, added = set[int](), 0
        for g in sorted(touched):
            for masks in (self.writer_masks, self.reader_masks, self.toucher_masks):
                if masks[g] & old:
                    masks[g] = masks[g] & ~old | bit
            group, writers = self.groups[g], self.writer_masks[g]
            if self.toucher_masks[g] == bit and not (group.is_input or group.is_output):
                continue
            if writers & bit and not group.is_input and not writers & self.sides.up[node]:
                added += self.sizes[g]
            key = writers, self.reader_masks[g], group.is_input, group.is_output
            first = g if self.pinned[g] else same.setdefault(key, g)
            touched_groups.add(first)
            if first != g:
                self.sizes[first] += self.sizes[g]
                for v in bits(self.toucher_masks[g] & ~bit):
                    self.touches[v].discard(g)
        self.touches[node], self.extra[node] = touched_groups, block.rise - added
