"""The plan verifier for functions of memrefs: runs them on what the bytes may hold.

It shares no code with what plans, and has its own table of accesses (memref_accesses.py). Overlap
is not looked for between live ranges: the function is executed with sets in place of values. A
memref is the set of places that it may be, and each place is `fresh` (allocated, nothing written),
`held` (what was written is there) or `lost` (something else was written over it). Reading what may
be lost is a fault. Loops run until nothing changes. The peak follows from what the execution saw
(memref_peak.py).

    write %a      places over the bytes of %a that are held become lost; %a becomes held
    read %a       a fault if it may be lost
    alloc         the place is fresh; one of the iteration before becomes one older

A loop that neither allocates nor carries memrefs runs as one heap of accesses in any order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.memref import DeallocOp
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.buffers.accesses import (
    AllocationOp,
    alignment_of,
    allocated_bytes,
    is_memref,
    memrefs,
)
from memopt.dialects.buffers.control_flow import PARALLEL, is_loop, is_structured
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.fingerprint import fingerprint
from memopt.dialects.memgraph.functions import body_of, functions
from memopt.dialects.memgraph.names import full_name, name_of, place_of
from memopt.dialects.memgraph.plan import (
    TURNS,
    bytes_offset,
    is_number,
    model_of,
    offsets_of,
    plan_of,
    scratch_list,
)
from memopt.verify.memref_accesses import accessed
from memopt.verify.memref_peak import Seen

FRESH, HELD, LOST = "fresh", "held", "lost"
OLD = 2  # iterations before; what is older counts as this
Place = tuple[Operation, int]  # an allocation, and how many of it have been made since
Places = frozenset[Place | None]  # None: of the caller's, or a global
States = frozenset[str]


@dataclass
class Memory:
    """Knowledge at one point of the execution."""

    of: dict[SSAValue, Places] = field(default_factory=dict[SSAValue, Places])
    states: dict[Place, States] = field(default_factory=dict[Place, States])

    def copy(self) -> "Memory":
        return Memory(dict(self.of), dict(self.states))

    def join(self, other: "Memory") -> None:
        """Add what may be so after `other`."""
        for value, places in other.of.items():
            self.of[value] = self.of.get(value, frozenset[Place | None]()) | places
        for place, states in other.states.items():
            self.states[place] = self.states.get(place, frozenset[str]()) | states


@dataclass(frozen=True)
class Extent:
    """Bytes of the arena, from `start`: `turns` times `size`."""

    start: int
    size: int
    turns: int = 1

    @property
    def end(self) -> int:
        return self.start + self.size * self.turns

    def meets(self, other: "Extent") -> bool:
        """Return whether they share a byte."""
        return self.start < other.end and other.start < self.end and self.size * other.size > 0


def verify_memrefs(func: FuncOp) -> PlanAttr:
    """Check the plan of a function of memrefs. Raises MemoptError with the first fault."""
    place = f"@{func.sym_name.data}"
    plan = plan_of(func)
    if plan is None or not plan.placed or plan.kind != "arena":
        raise MemoptError("the function has no plan of memrefs; run --plan-memrefs first", place)
    if fingerprint(func) != plan.fingerprint.data:
        raise MemoptError("stale plan: the function has changed since it was planned", place)
    execution = Execution(func, plan.arena)
    memory = Memory()
    for argument in memrefs(body_of(func).args):
        memory.of[argument] = frozenset({None})
    execution.run(body_of(func), memory)
    execution.note(memory)
    last = body_of(func).last_op
    for value in memrefs(last.operands) if last is not None else ():
        if memory.of.get(value) != frozenset({None}):
            text = f"{name_of(value)} is returned and lies in the arena"
            raise MemoptError(text, place_of(last) if last is not None else place)
    end = max((e.end for e in execution.extents.values()), default=0)
    if end != plan.arena:
        raise MemoptError(f"the arena is {end} B, the plan says {plan.arena} B", place)
    sizes = {op: extent.end - extent.start for op, extent in execution.extents.items()}
    peak = execution.seen.peak(body_of(func), sizes)
    if peak != plan.peak.data:
        raise MemoptError(f"the peak is {peak} B, the plan says {plan.peak.data} B", place)
    return plan


def frame_alignment(func: FuncOp) -> int:
    """Return the bytes that the start of a function's arena has to be a multiple of."""
    least = model_of(func).alignment.data
    wanted = [least]
    for op in func.body.walk():
        if isinstance(op, AllocationOp):
            wanted.append(alignment_of(op, least))
        elif isinstance(op, CallOp) and (callee := _callee(op)) is not None:
            wanted.append(frame_alignment(callee))
    return max(wanted)


def _callee(call: CallOp) -> FuncOp | None:
    """Return the function that is called, None if it has no body here."""
    module: Operation | None = call
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    named = call.callee.string_value()
    known = functions(module) if module is not None else ()
    return next((f for f in known if f.sym_name.data == named), None)


class Execution:
    """A function as it runs in an arena of so many bytes."""

    def __init__(self, func: FuncOp, arena: int) -> None:
        self.func, self.arena = func, arena
        self.least = model_of(func).alignment.data
        self.extents: dict[Operation, Extent] = {}
        self.made_in: dict[Block, list[SSAValue]] = {}
        self.seen = Seen()
        for op in func.body.walk():
            if isinstance(op, AllocationOp):
                self.extents[op] = self._extent(op)
            elif isinstance(op, CallOp):
                frame = self._frame(op)
                if frame is not None:
                    self.extents[op] = frame

    def _extent(self, op: AllocationOp) -> Extent:
        """Return where an allocation lies, as its attributes say."""
        offset = bytes_offset((offsets_of(op) or (None,))[0])
        if offset is None:
            raise MemoptError(f"{name_of(op.memref)} has no offset", place_of(op))
        alignment, turns = alignment_of(op, self.least), op.attributes.get(TURNS)
        if offset < 0 or offset % alignment:
            text = f"{name_of(op.memref)}: offset {offset} is no multiple of {alignment}"
            raise MemoptError(text, place_of(op))
        if turns is not None and not (is_number(turns) and turns.value.data == OLD):
            raise MemoptError(f"{TURNS} is 2 or not there", place_of(op))
        size = -(-allocated_bytes(op) // alignment) * alignment
        extent = Extent(offset, size, 1 if turns is None else OLD)
        if extent.end > self.arena:
            text = f"{name_of(op.memref)} ends at {extent.end} B, the arena at {self.arena} B"
            raise MemoptError(text, place_of(op))
        return extent

    def _frame(self, op: CallOp) -> Extent | None:
        """Return the bytes in which a function works that is called, None if it needs none."""
        callee, scratch = _callee(op), scratch_list(op) or ()
        name = op.callee.string_value()
        plan = None if callee is None else plan_of(callee)
        if callee is None or (plan is not None and not plan.arena):
            if scratch:
                raise MemoptError(f"@{name} needs no bytes, but has some", place_of(op))
            return None
        if plan is None or not plan.placed:
            raise MemoptError(f"@{name} has no plan", place_of(op))
        if len(scratch) != 1 or scratch[0].bytes.data < plan.arena:
            text = f"the {plan.arena} B of @{name} are not counted where it is called"
            raise MemoptError(text, place_of(op))
        offset, alignment = scratch[0].offset.data, frame_alignment(callee)
        if offset < 0 or offset % alignment:
            text = f"the bytes of @{name} lie at {offset}, no multiple of {alignment}"
            raise MemoptError(text, place_of(op))
        frame = Extent(offset, scratch[0].bytes.data)
        if frame.end > self.arena:
            text = f"the bytes of @{name} end at {frame.end} B, the arena at {self.arena} B"
            raise MemoptError(text, place_of(op))
        return frame

    # -- one operation ----------------------------------------------------------------------------

    def run(self, block: Block, memory: Memory, weak: bool = False) -> None:
        """Run the operations of a block. With `weak` each may run or not."""
        if not weak:
            self._forget(block, memory)
        for op in block.ops:
            if isinstance(op, AllocationOp):
                self._allocate(op, memory)
            elif op.regions and not weak and is_loop(op) and not self._is_flat(op):
                self._loop(op, memory)
            elif op.regions:
                self._regions(op, memory, weak)
            else:
                self._leaf(op, memory, weak)

    def _forget(self, block: Block, memory: Memory) -> None:
        """Forget what a block's operations made when it last ran, and the places that are no
        value's any more: nothing can read them."""
        if block not in self.made_in:
            self.made_in[block] = [
                v
                for op in block.walk()
                for v in memrefs((*op.results, *(a for b in _blocks(op) for a in b.args)))
            ]
        self.note(memory)
        for value in self.made_in[block]:
            memory.of.pop(value, None)
        known = {place for places in memory.of.values() for place in places}
        memory.states = {p: states for p, states in memory.states.items() if p in known}

    def _allocate(self, op: AllocationOp, memory: Memory) -> None:
        """Make the places of an allocation one older, and a new one that is fresh."""

        def older(place: Place | None) -> Place | None:
            if place is None or place[0] is not op:
                return place
            return op, min(place[1] + 1, OLD)

        for value, places in memory.of.items():
            if any(p is not None and p[0] is op for p in places):
                memory.of[value] = frozenset(map(older, places))
        states: dict[Place, States] = {}
        for place, known in memory.states.items():
            aged = older(place)
            assert aged is not None
            states[aged] = states.get(aged, frozenset[str]()) | known
        states[op, 0] = frozenset({FRESH})
        memory.states = states
        memory.of[op.memref] = frozenset({(op, 0)})

    def _meet(self, a: Place, b: Place) -> bool:
        """Return whether two places share bytes: of one allocation, those that do not take
        turns."""
        if a[0] is not b[0]:
            return self.extents[a[0]].meets(self.extents[b[0]])
        extent = self.extents[a[0]]
        apart = extent.turns == OLD and {a[1], b[1]} == {0, 1}
        return extent.size > 0 and not apart

    def _leaf(self, op: Operation, memory: Memory, weak: bool) -> None:
        access = accessed(op)
        if isinstance(op, CallOp):
            self._call(op, memory)
            return
        if not is_structured(op):
            sources = access.shows
            places = self._places(sources, op, memory) if sources else frozenset({None})
            for result in memrefs(op.results):
                before = memory.of.get(result) if weak else None
                memory.of[result] = places | (before or places)
        if isinstance(op, DeallocOp):
            places = self._places(op.operands, op, memory)
            if None in places and len(places) > 1:
                raise MemoptError(f"{op.name} frees what may be the caller's", place_of(op))
        self._read(access.reads, op, memory)
        self._write(access.writes, op, memory, weak)
        self._read(access.reads, op, memory)

    def _places(self, values: Iterable[SSAValue], op: Operation, memory: Memory) -> Places:
        places: set[Place | None] = set()
        for value in values:
            known = memory.of.get(value)
            if not known:
                text = f"{full_name(op)} uses {name_of(value)}, whose bytes are not known"
                raise MemoptError(text, place_of(op))
            places |= known
        return frozenset(places)

    def note(self, memory: Memory) -> None:
        """Note which values may lie in which allocations."""
        for value, places in memory.of.items():
            for place in places:
                if place is not None:
                    self.seen.holds(value, place[0])

    def _read(self, values: Iterable[SSAValue], op: Operation, memory: Memory) -> None:
        for value in values:
            for place in self._places((value,), op, memory):
                if place is not None:
                    self.seen.touches(op, place[0])
                if place is not None and LOST in memory.states[place]:
                    text = f"{full_name(op)} reads {name_of(value)}, which is overwritten by then"
                    raise MemoptError(text, place_of(op))

    def _write(self, values: Iterable[SSAValue], op: Operation, memory: Memory, weak: bool) -> None:
        for value in values:
            places = self._places((value,), op, memory)
            sure = not weak and len(places) == 1
            for place in places:
                if place is None:
                    continue
                self.seen.touches(op, place[0])
                met = [p for p in memory.states if p != place and self._meet(p, place)]
                if place[1] == OLD:  # of two that are older, one may lie over the other
                    met.append(place)
                self._lose(met, memory, sure)
                states = memory.states[place]
                if FRESH in states:
                    rest = states - {FRESH} if sure else states
                    memory.states[place] = rest | {HELD}

    def _lose(self, places: Iterable[Place], memory: Memory, sure: bool) -> None:
        for place in places:
            states = memory.states[place]
            if HELD in states:
                memory.states[place] = (states - {HELD} if sure else states) | {LOST}

    def _call(self, op: CallOp, memory: Memory) -> None:
        """Run a call: the callee may write its frame and all memrefs that it is given, at any
        time."""
        given = memrefs(op.operands)
        places = self._places(given, op, memory)
        if _callee(op) is None and places - {None}:
            text = f"a memref escapes into @{op.callee.string_value()}, which has no body"
            raise MemoptError(text, place_of(op))
        frame = self.extents.get(op)
        if frame is not None:
            met = [p for p in memory.states if self.extents[p[0]].meets(frame)]
            for place in met:
                if place in places:
                    text = f"@{op.callee.string_value()} works in what it is given"
                    raise MemoptError(text, place_of(op))
            self._lose(met, memory, sure=True)
        self._read(given, op, memory)
        self._write(given, op, memory, weak=True)
        self._read(given, op, memory)
        for result in memrefs(op.results):
            memory.of[result] = places | {None}

    # -- operations with regions ------------------------------------------------------------------

    def _is_flat(self, op: Operation) -> bool:
        """Return whether a loop carries no memrefs, and nothing in it allocates."""
        return not any(
            isinstance(inner, AllocationOp)
            or inner in self.extents
            or (inner.regions and memrefs(inner.results))
            or any(is_memref(a.type) for b in _blocks(inner) for a in b.args)
            for inner in op.walk()
        )

    def _regions(self, op: Operation, memory: Memory, weak: bool) -> None:
        """Run the regions of a branch one or the other; of all else, which must not allocate, until
        nothing changes."""
        self._leaf(op, memory, weak)
        if is_structured(op) and not is_loop(op) and not weak:
            start, ends = memory.copy(), list[Memory]()
            for block in _blocks(op):
                ends.append(start.copy())
                self.run(block, ends[-1])
                last = block.last_op
                for value, result in zip(last.operands if last else (), op.results, strict=False):
                    if is_memref(result.type):
                        ends[-1].of[result] = self._places((value,), op, ends[-1])
            if any(not region.blocks for region in op.regions) or op.name == "affine.if":
                ends.append(start)
            if ends:
                memory.of, memory.states = ends[0].of, ends[0].states
            for end in ends[1:]:
                memory.join(end)
            return
        if not weak and not self._is_flat(op):
            kind = full_name(op)
            known = "runs its iterations at one time" if kind in PARALLEL else "is not known"
            raise MemoptError(f"there is an allocation inside {kind}, which {known}", place_of(op))
        before: dict[Place, States] | None = None
        while before != memory.states:
            before = dict(memory.states)
            for block in _blocks(op):
                self.run(block, memory, weak=True)

    def _loop(self, op: Operation, memory: Memory) -> None:
        """Run a loop until nothing changes, and leave what may be so after any of its turns."""
        if isinstance(op, ForOp):
            carried = list(zip(op.body.block.args[1:], op.iter_args, op.results, strict=True))
            for argument, init, _ in carried:
                if is_memref(argument.type):
                    memory.of[argument] = self._places((init,), op, memory)
            while True:
                turn = memory.copy()
                self.run(op.body.block, turn)
                last = op.body.block.last_op
                assert last is not None
                self._bind(last.operands, op.body.block.args[1:], op, turn)
                if not _adds(memory, turn):
                    break
                memory.join(turn)
            for argument, _, result in carried:
                if is_memref(result.type):
                    memory.of[result] = self._places((argument,), op, memory)
        elif isinstance(op, WhileOp):
            before, after = op.before_region.block, op.after_region.block
            self._bind(op.arguments, before.args, op, memory)
            while True:
                turn = memory.copy()
                self.run(before, turn)
                condition = before.last_op
                assert condition is not None
                self._bind(condition.operands[1:], after.args, op, turn)
                self._bind(condition.operands[1:], op.results, op, turn)
                end = turn.copy()
                self.run(after, turn)
                last = after.last_op
                assert last is not None
                self._bind(last.operands, before.args, op, turn)
                if not _adds(memory, turn):
                    break
                memory.join(turn)
            memory.of, memory.states = end.of, end.states
        else:
            while True:
                turn = memory.copy()
                for block in _blocks(op):
                    if any(is_memref(a.type) for a in block.args):
                        raise MemoptError(f"{op.name} carries a memref", place_of(op))
                    self.run(block, turn)
                if not _adds(memory, turn):
                    return
                memory.join(turn)

    def _bind(
        self,
        sources: Iterable[SSAValue],
        targets: Iterable[SSAValue],
        op: Operation,
        memory: Memory,
    ) -> None:
        """Let targets be what the sources are, all at one time."""
        pairs = [
            (target, self._places((source,), op, memory))
            for source, target in zip(sources, targets, strict=True)
            if is_memref(target.type)
        ]
        memory.of.update(pairs)


def _blocks(op: Operation) -> Iterator[Block]:
    for region in op.regions:
        if len(region.blocks) > 1:
            text = f"{full_name(op)} has a region of {len(region.blocks)} blocks"
            raise MemoptError(text, place_of(op))
        yield from region.blocks


def _adds(known: Memory, turn: Memory) -> bool:
    """Return whether something may be so after a turn that was not known before it."""
    values = any(places - known.of.get(v, frozenset()) for v, places in turn.of.items())
    return values or any(
        states - known.states.get(place, frozenset()) for place, states in turn.states.items()
    )
