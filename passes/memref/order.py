"""Order of the operations of each block, fixed or free, and the peak of a function.

A step is an operation that touches memory, has regions or effects; all others (constants,
views, arithmetic, allocations) stand right before the first step that needs them. Steps keep their
mutual order if they touch the same allocation and one of them writes, or what is not allocated here
(arguments, globals, effects of which nothing is known), which counts as one. A step with regions,
and a call, works in the peak of its regions, or in the callee's frame.
"""

from dataclasses import dataclass

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from memopt.dialects.buffers.accesses import AllocationOp, access_of, memrefs
from memopt.dialects.buffers.control_flow import blocks_of
from memopt.dialects.memgraph.functions import body_of, read_values
from memopt.dialects.memgraph.names import operator_name
from memopt.passes.memref.aliases import OUTSIDE, operations_in
from memopt.passes.memref.live_ranges import Reading, Storage
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, Proof
from memopt.solvers.scheduling import schedule


@dataclass(frozen=True)
class Ordered:
    """The peak of a block in bytes, a bound on it over all orders, and what proves that."""

    peak: int
    lower_bound: int
    proof: Proof


@dataclass(frozen=True)
class Method:
    """How blocks are ordered: `name` as of memgraph-schedule, until `deadline`, if there is one."""

    name: str
    deadline: float | None = None


class Blocks:
    """The blocks of a function, ordered from the inside to the outside."""

    def __init__(self, reading: Reading, method: Method) -> None:
        self.reading, self.method = reading, method
        self.at_home: dict[Block, list[Storage]] = {}
        for storage in reading.storages:
            self.at_home.setdefault(storage.home, []).append(storage)

    def order(self) -> Ordered:
        """Put all blocks of the function into their order."""
        return self._order(body_of(self.reading.func))

    def _order(self, block: Block) -> Ordered:
        inner: dict[Operation, Ordered] = {}
        for op in block.ops:
            answers = [self._order(b) for b in blocks_of(op)]
            if answers:
                inner[op] = Ordered(
                    max(a.peak for a in answers),
                    max(a.lower_bound for a in answers),
                    "none" if any(a.proof == "none" for a in answers) else "search",
                )
        if not self.at_home.get(block) and not any(a.peak for a in inner.values()):
            return Ordered(0, 0, "flow")  # nothing is allocated here, so any order will do
        steps = Steps(block, self.reading)
        workspace = [inner[op].peak if op in inner else 0 for op in steps.operations]
        graph = self._graph(steps, workspace)
        limit = clock.left(self.method.deadline)
        answer = schedule(graph, self.method.name, limit)
        bound, proof = answer.lower_bound, answer.proof
        if any(a.proof == "none" or a.lower_bound < a.peak for a in inner.values()):
            least = [inner[op].lower_bound if op in inner else 0 for op in steps.operations]
            below = schedule(self._graph(steps, least), "source")
            bound, proof = below.lower_bound, below.proof
        if answer.order != tuple(range(len(graph))):
            steps.put([steps.operations[v] for v in answer.order])
        return Ordered(answer.peak, min(bound, answer.peak), proof)

    def _graph(self, steps: "Steps", workspace: list[int]) -> MemoryGraph:
        """Return the steps of a block with the storages that are at home there."""
        index, extra = steps.index, list(workspace)
        groups: list[Group] = []
        for storage in self.at_home.get(steps.block, ()):
            if isinstance(storage.op, CallOp):
                extra[index[storage.op]] += storage.bytes
                continue
            users = sorted(index[op] for op in storage.touches)
            writers = [v for v in users if storage.op in steps.writes[v]]
            first = writers[0] if writers else users[-1]
            # what is read before anything is written is there all the same
            writers = sorted({*writers, *(v for v in users if v <= first)})
            readers = tuple(v for v in users if v not in writers)
            groups.append(
                Group(
                    storage.name,
                    storage.bytes,
                    tuple(writers),
                    readers,
                    alignment=storage.alignment,
                )
            )
        names = tuple(map(operator_name, steps.operations))
        return MemoryGraph(names, steps.predecessors, tuple(groups), tuple(extra))


class Steps:
    """The steps of a block in its order, with what each must follow."""

    def __init__(self, block: Block, reading: Reading) -> None:
        self.block, self.reading = block, reading
        self.last = block.last_op
        self.operations: list[Operation] = []
        self.reads: list[set[Operation | None]] = []
        self.writes: list[set[Operation | None]] = []
        for op in block.ops:
            reads, writes, runs = self._touched(op)
            if runs and op is not self.last:
                self.operations.append(op)
                self.reads.append(reads)
                self.writes.append(writes)
        self.index = {op: v for v, op in enumerate(self.operations)}
        self.predecessors = self._predecessors()

    def _touched(self, op: Operation) -> tuple[set[Operation | None], set[Operation | None], bool]:
        """Return the allocations, and OUTSIDE, that an operation reads and that it writes, and
        whether it is a step."""
        reads: set[Operation | None] = set()
        writes: set[Operation | None] = set()
        runs = bool(op.regions)
        if isinstance(op, AllocationOp) and op not in self.reading.users:
            writes.add(op)  # it takes bytes where it stands
            runs = True
        for inner in (op, *(o for block in blocks_of(op) for o in operations_in(block))):
            access = access_of(inner)
            if is_free(inner, self.reading):
                continue
            for value in access.reads:
                reads |= {root for root, _ in self.reading.aliases.of[value]}
            for value in access.writes:
                writes |= {root for root, _ in self.reading.aliases.of[value]}
            if access.anything or access.frees:
                writes.add(OUTSIDE)
            if isinstance(inner, AllocationOp) and inner is not op:
                writes.add(inner)  # where it leaves its region
            runs = runs or not access.is_none
        return reads, writes, runs

    def _predecessors(self) -> tuple[tuple[int, ...], ...]:
        made_by: dict[SSAValue, set[int]] = {}
        writer: dict[Operation | None, int] = {}
        readers: dict[Operation | None, list[int]] = {}
        predecessors: list[tuple[int, ...]] = []
        for op in self.block.ops:
            before = {v for value in read_values(op) for v in made_by.get(value, ())}
            v = self.index.get(op)
            if v is None:
                made_by.update((r, before) for r in op.results)
                continue
            for root in self.reads[v] | self.writes[v]:
                before |= {writer[root]} if root in writer else set()
            for root in self.writes[v]:
                before.update(readers.pop(root, ()))
                writer[root] = v
            for root in self.reads[v] - self.writes[v]:
                readers.setdefault(root, []).append(v)
            predecessors.append(tuple(sorted(before - {v})))
            made_by.update((r, {v}) for r in op.results)
        return tuple(predecessors)

    def put(self, order: list[Operation]) -> None:
        """Put the steps into an order; each other operation stands before the first that needs it,
        and one that gives an allocation back at the end."""
        operations = list(self.block.ops)
        place = {op: k for k, op in enumerate(operations)}
        last = self.last
        ends = [last] if last is not None and last.has_trait(IsTerminator) else []
        wanted, seen = list[Operation](), set[Operation]()

        def need(op: Operation) -> None:
            waiting = [(op, False)]
            while waiting:
                now, is_ready = waiting.pop()
                if is_ready:
                    wanted.append(now)
                elif now not in seen:
                    seen.add(now)
                    waiting.append((now, True))
                    owners = {v.owner for v in read_values(now)}
                    needed = [o for o in owners if isinstance(o, Operation) and o in place]
                    waiting += [(o, False) for o in sorted(needed, key=place.__getitem__)[::-1]]

        for op in order:
            need(op)
        for op in operations:
            if op not in ends:
                need(op)
        for op in (*wanted, *ends):
            op.detach()
            self.block.add_op(op)


def is_free(op: Operation, reading: Reading) -> bool:
    """Return whether an operation gives back an allocation of this function, which the arena does
    not need."""
    return access_of(op).frees and bool(reading.aliases.allocations_of(memrefs(op.operands)[0]))


def in_order(reading: Reading, method: Method) -> Ordered:
    """Put the blocks of a function into the order that the method finds."""
    return Blocks(reading, method).order()
