"""`memgraph-fuse{rule=auto}`: contract modules that may run in one piece, or in segments, freely.

Before:
    %a = memgraph.opaque "conv"(%x) : (tensor<8xi8>) -> tensor<16xi8>
    %b = memgraph.opaque "conv"(%a) : (tensor<16xi8>) -> tensor<8xi8>
    %c = memgraph.opaque "other"(%x) : ...
After:
    %b = memgraph.fused (%0 = %x : tensor<8xi8>) kept [0] -> tensor<8xi8> {
      %a = memgraph.opaque "conv"(%0) : (tensor<8xi8>) -> tensor<16xi8>
      %1 = memgraph.opaque "conv"(%a) : (tensor<16xi8>) -> tensor<8xi8>
      memgraph.yield %1 : tensor<8xi8>
    }
    %c = memgraph.opaque "other"(%x) : ...

A module with a valley inside becomes a chain of `memgraph.segment`, held together by tokens of type
`!memgraph.chain`; others may run between two segments.

Which modules: solvers/theory/chains.py (theory.md T2). What crosses a border, and which modules no
region can hold, so that they are left as they are: regions.py. Scheduling opens the nodes again and
derives again that they were safe.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.memgraph.functions import body_of, has_kind, read_values
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.structure import HyperNode
from memopt.dialects.rows.state import SlideOp
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.inplace import write_inplace
from memopt.passes.plan.option import option
from memopt.passes.plan.planned import Planned, PlanningPass, undecided
from memopt.passes.plan.regions import Builder, inner_views
from memopt.solvers import clock
from memopt.solvers.fusion import RULES, contractions
from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, mask_of, topological_order
from memopt.solvers.theory.chains import Chain
from memopt.solvers.theory.segments import linked


@dataclass(frozen=True)
class MemgraphFusePass(PlanningPass):
    """Contract modules of operators that may run in one piece, or in segments, without loss.

    `rule` says which: `auto` all that is found, as canonical segment chains (theory.md T2, T3, T4);
    `t3` only what becomes one node by a cheap test; `zhong` the paper's Algorithm 1 with its
    conditions corrected. After `time_limit` seconds what was found is contracted: it is as safe.
    """

    name = "memgraph-fuse"

    rule: str = option(
        "auto", "which modules are contracted: t3, zhong (the paper's), or what suits", RULES
    )
    time_limit: int | float | None = option(None, "seconds")

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        if model_of(func).align_io.data:  # whose lines a node would count as other buffers
            text = "inputs and outputs have lines of their own (align_io)"
            raise PassFailedException(f"memgraph-fuse: @{func.sym_name.data}: {text}")
        started, deadline = clock.now(), clock.deadline(self.time_limit)
        # the nodes have to be made too, which takes as long as it takes to read the function, so
        # after half of the time there is none left for any
        half = None if self.time_limit is None else clock.deadline(self.time_limit / 2)
        try:
            extracted = undecided(func, known, deadline=half)
        except clock.TimeIsOverError:
            return None
        seconds = clock.left(clock.sooner(deadline, clock.now() - started))
        contract(extracted, self.rule, seconds)
        return Planned(extracted)  # who opens the nodes needs it again


def contract(extracted: Extracted, rule: str, time_limit: float | None) -> int:
    """Contract what is safe in a function without a plan; the number of hyper-nodes made."""
    deadline = clock.deadline(time_limit)
    if has_kind(extracted.memory.operations, (HyperNode, SlideOp)):  # a state is not for regions
        return 0
    if extracted.memory.virtual or extracted.memory.sums:  # nor are tensors in parts, or sums
        return 0
    graph = extracted.graph
    chosen: list[Chain] = []
    views: dict[Sequence[int], frozenset[Operation]] = {}
    place = {op: i for i, op in enumerate(extracted.memory.views)}
    for chain in contractions(graph, rule, clock.left(deadline)):
        inner = {segment: inner_views(extracted, segment, place.keys()) for segment in chain}
        known = {segment: shown for segment, shown in inner.items() if shown is not None}
        if len(known) == len(chain):
            chosen.append(chain)
            views |= known
    if not chosen:
        return 0
    orders = [[v for s in chain for v in s] for chain in chosen]
    strict = linked(graph, orders)
    masks = ancestor_masks(strict)
    # before any operand has become a node's result
    write_inplace(extracted, [c for order in orders for c in _inplace(strict, masks, order)])
    builder = Builder(extracted, place, masks)
    for chain in chosen:
        anchor = extracted.memory.operations[max(v for s in chain for v in s)]
        token: SSAValue | None = None
        for s in chain:
            node = builder.build(s, views[s], anchor, token, len(chain) > 1, s is not chain[-1])
            anchor, token = node, node.tokens[1]
    builder.finish()
    _delay_views(body_of(extracted.func))
    return sum(map(len, chosen))


def _delay_views(block: Block) -> None:
    """Move what stands before an operand of it, now made by a hyper-node, right behind that."""
    operations = list(block.ops)
    place = {op: i for i, op in enumerate(operations)}
    readers: list[list[int]] = [[] for _ in operations]
    ordered = True
    missing: list[int] = []  # of each operation, producers that have not been emitted
    for i, op in enumerate(operations):
        producers = {place[v.op] for v in read_values(op) if isinstance(v, OpResult)}
        missing.append(len(producers))
        for p in producers:
            readers[p].append(i)
        ordered = ordered and max(producers, default=-1) < i
    if ordered:
        return
    sequence: list[Operation] = []
    for at in range(len(operations)):
        ready = [at] if missing[at] == 0 else []  # a heap: of those up to `at`, the first first
        while ready:
            i = heapq.heappop(ready)
            sequence.append(operations[i])
            for r in readers[i]:
                missing[r] -= 1
                if missing[r] == 0 and r <= at:
                    heapq.heappush(ready, r)
    for op in sequence:
        op.detach()
    block.add_ops(sequence)


def _inplace(graph: MemoryGraph, masks: Sequence[int], order: Sequence[int]) -> list[InPlace]:
    """Return the pairs in place of a module's operators in their order; nobody outside decides
    that."""
    if not any(graph.candidates[v] for v in order):
        return []
    done = 0
    for v in order:
        done |= masks[v]
    done &= ~mask_of(order)
    result: list[InPlace] = []
    for v in order:
        choice = graph.taken_over(done, v)
        if choice is not None:
            result.append(choice)
        done |= 1 << v
    return result


def ancestor_masks(graph: MemoryGraph) -> list[int]:
    """For each operator the bit mask of all operators before it."""
    masks = [0] * len(graph)
    for v in topological_order(graph):
        for p in graph.predecessors[v]:
            masks[v] |= masks[p] | 1 << p
    return masks
