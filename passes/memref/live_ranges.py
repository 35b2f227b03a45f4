"""Live ranges of a function's allocations and of the frames of what it calls, in its order.

Every operation has a number, those inside a region between that of its operation and the next. An
allocation has a home: its block, or, where it leaves a region as a result or goes on into the next
iteration, the block of that region's operation, and so on. It lives from the first to the last
operation of its home that touches it, all of a region's operation included.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue

from memopt.dialects.buffers.accesses import AllocationOp, access_of, alignment_of, allocated_bytes
from memopt.dialects.buffers.control_flow import flows
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of, operator_name, place_of
from memopt.dialects.memgraph.plan import model_of
from memopt.passes.memref.aliases import Aliases, Returned
from memopt.solvers.problems.placement import Buffer, PlacementProblem, round_up


@dataclass(frozen=True)
class Frame:
    """The arena of a function that is called, or of one that will be: bytes and alignment."""

    bytes: int
    alignment: int


@dataclass(frozen=True)
class Called:
    """The functions that a function may call, by name: where results lie, and frames."""

    returned: Returned
    frames: dict[str, Frame]


@dataclass(frozen=True)
class Storage:
    """Bytes for an allocation, or for the frame of a call: `copies` of `size` bytes, rounded up to
    `alignment`. `touches` are the operations of its `home` block during which it is in use."""

    op: Operation
    size: int
    alignment: int
    home: Block
    touches: tuple[Operation, ...]
    copies: int = 1

    @property
    def name(self) -> str:
        return name_of(self.op.results[0]) if self.op.results else operator_name(self.op)

    @property
    def bytes(self) -> int:
        """Return the bytes of all copies."""
        return self.size * self.copies


class Reading:
    """Use of memory by a function. Raises MemoptError, by name and place."""

    def __init__(self, func: FuncOp, called: Called) -> None:
        self.func, self.called = func, called
        self.aliases = Aliases(func, called.returned)
        self.least = model_of(func).alignment.data
        self.numbers: dict[Operation, int] = {}
        self.ends: dict[Operation, int] = {}
        self._count(body_of(func))
        self.users: dict[Operation, list[tuple[Operation, int]]] = {}  # allocation: (user, age)
        for op in self.numbers:
            access = access_of(op)
            for value in dict.fromkeys((*access.reads, *access.writes)):
                for root, age in self.aliases.of[value]:
                    if root is not None:
                        self.users.setdefault(root, []).append((op, age))

    def _count(self, block: Block) -> None:
        for op in block.ops:
            self.numbers[op] = len(self.numbers)
            for region in op.regions:
                for inner in region.blocks:
                    self._count(inner)
            self.ends[op] = len(self.numbers)

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """Return what needs bytes, in the order of the function; allocations that nothing touches
        are in use where they stand."""
        return tuple(self._storages())

    def _storages(self) -> Iterator[Storage]:
        for op in self.numbers:
            block = op.parent
            assert block is not None
            if isinstance(op, AllocationOp):
                home = self._home(op)
                steps = {ancestor_in(home, user) for user, _ in self.users.get(op, ())}
                outermost = ancestor_in(home, op)
                if outermost is not op or not steps:
                    steps.add(outermost)
                touches = tuple(sorted(steps, key=self.numbers.__getitem__))
                alignment = alignment_of(op, self.least)
                size = round_up(allocated_bytes(op), alignment)
                yield Storage(op, size, alignment, home, touches, self._copies(op))
            elif isinstance(op, CallOp):
                frame = self.called.frames.get(op.callee.string_value())
                if frame is not None and frame.bytes:
                    size = round_up(frame.bytes, frame.alignment)
                    yield Storage(op, size, frame.alignment, block, (op,))

    def _home(self, allocation: Operation) -> Block:
        """Return the outermost block that an allocation reaches as a value of it."""
        block = allocation.parent
        assert block is not None
        while (parent := block.parent_op()) is not None and parent is not self.func:
            if not any(
                allocation in self.aliases.allocations_of(flow.source)
                for flow in flows(parent)
                if _leaves(flow.source, block)
            ):
                break
            outer = parent.parent
            assert outer is not None
            block = outer
        return block

    def _copies(self, allocation: AllocationOp) -> int:
        """Return 2 for an allocation that is in use while the one of the iteration before is, else
        1. Raises MemoptError where more are, or where none can take turns."""
        users = self.users.get(allocation, ())
        if not any(age for _, age in users):
            return 1
        (loop,) = self.aliases.carried_by[allocation]

        def step(op: Operation) -> Operation:
            """Return the operation of a block of the loop that `op` is in; outside, `op`."""
            while (parent := op.parent_op()) is not None and loop.is_ancestor(op):
                if parent is loop:
                    return op
                op = parent
            return op

        fresh = [self.numbers[step(op)] for op, age in users if not age]
        older = [self.ends[step(op)] for op, age in users if age]
        if not fresh or max(older) <= min(fresh):
            return 1
        if any(age > 1 for _, age in users):
            what = f"{name_of(allocation.memref)} is in use with those of two iterations before"
            raise MemoptError(what, place_of(allocation))
        if loop.name != "scf.for":
            what = f"{loop.name} carries an allocation into the next one's lifetime"
            raise MemoptError(f"{what}; only scf.for takes turns", place_of(allocation))
        return 2

    @cached_property
    def problem(self) -> PlacementProblem:
        """Return the storages as buffers to be placed, in the order of the function."""
        return PlacementProblem(
            tuple(
                Buffer(
                    storage.name,
                    storage.bytes,
                    min(self.numbers[op] for op in storage.touches),
                    max(self.ends[op] for op in storage.touches),
                    index,
                    alignment=storage.alignment,
                )
                for index, storage in enumerate(self.storages)
            )
        )


def ancestor_in(block: Block, op: Operation) -> Operation:
    """Return the operation of `block` that `op` is, or is in."""
    ancestor = block.find_ancestor_op_in_block(op)
    assert ancestor is not None
    return ancestor


def _leaves(source: SSAValue, block: Block) -> bool:
    """Return whether a value that flows out of a block's terminator is one of that block's."""
    last = block.last_op
    return last is not None and source in last.operands
