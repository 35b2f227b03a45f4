"""Simulation of a plan for its verifier: every executing operation writes the bytes of its results.

No byte that somebody still reads may be overwritten. No two contents lie over each other but for a
result in place of an operand that dies, so the contents in the way of a write are found by its
neighbours, without a look at all that live.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import read_values
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import is_move, memory_at, scratch_list
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.verify.groups import Reading
from memopt.verify.memories import Where, check_memory, named_memories
from memopt.verify.placement import check_reach, content_end, end_of


class Content(NamedTuple):
    """Bytes [start, end) of one memory, not empty, that hold `value` (None: scratch) through step
    `last`."""

    value: SSAValue | None
    memory: str
    start: int
    end: int
    last: int


@dataclass
class Contents:
    """All that is live. `apart` lists per memory (start, number) of contents that do not lie over
    each other, ascending; `over` numbers those that lie over one of them, as an in-place result
    does in its first step."""

    all: dict[int, Content] = field(default_factory=dict[int, Content])
    apart: dict[str, list[tuple[int, int]]] = field(
        default_factory=dict[str, list[tuple[int, int]]]
    )
    over: set[int] = field(default_factory=set[int])
    ends: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # a heap, by `last`
    count: int = 0

    def expire(self, step: int) -> None:
        """Forget what nobody reads in `step` or later."""
        while self.ends and self.ends[0][0] < step:
            number = heappop(self.ends)[1]
            content = self.all.pop(number)
            if number in self.over:
                self.over.discard(number)
            else:
                row = self.apart[content.memory]
                del row[bisect_left(row, (content.start, number))]
        for number in sorted(self.over) if self.over else ():
            if not self._beside(self.all[number]):
                self.over.discard(number)
                self._put_apart(number)

    def in_the_way(self, new: Content) -> list[Content]:
        """The contents that share a byte with `new`, the oldest first."""
        numbers = self._beside(new)
        if not numbers and not self.over:
            return []
        numbers += [n for n in self.over if _overlap(self.all[n], new)]
        return [self.all[n] for n in sorted(numbers)]

    def add(self, new: Content) -> None:
        """Write `new`, whatever it destroys."""
        number, self.count = self.count, self.count + 1
        self.all[number] = new
        heappush(self.ends, (new.last, number))
        if self._beside(new):
            self.over.add(number)
        else:
            self._put_apart(number)

    def _put_apart(self, number: int) -> None:
        content = self.all[number]
        insort(self.apart.setdefault(content.memory, []), (content.start, number))

    def _beside(self, new: Content) -> list[int]:
        """Return the numbers of the contents in `apart` that share a byte with `new`."""
        row = self.apart.get(new.memory, [])
        at = bisect_left(row, (new.start, -1))
        numbers: list[int] = []
        if at and self.all[row[at - 1][1]].end > new.start:
            numbers.append(row[at - 1][1])
        while at < len(row) and row[at][0] < new.end:
            numbers.append(row[at][1])
            at += 1
        return numbers


def _overlap(a: Content, b: Content) -> bool:
    return a.memory == b.memory and a.start < b.end and b.start < a.end


def simulate(
    block: Block, memory: Reading, where: Where, model: ModelAttr, plan: PlanAttr
) -> dict[str, int]:
    """Every write against every content that is still read. Returns the bytes that the buffers and
    the scratch need of every memory."""
    ends: dict[str, int] = {}
    named = named_memories(plan)
    for value, (name, offset) in where.items():
        if bytes_of(value.type):
            ends[name] = max(ends.get(name, 0), end_of(value, offset, memory))
    holds: dict[SSAValue, frozenset[SSAValue]] = {}  # of views; all else holds itself
    for op in memory.views:
        holds.update(_view_sources(op, memory))
    last = _last_reads(block, memory, holds)
    live = Contents()
    overwrites: dict[int, list[tuple[int, int]]] = {}
    for at, result, operand in memory.overwrites:
        overwrites.setdefault(at, []).append((result, operand))
    parts, func = _written_parts(memory, holds), block.parent_op()
    assert func is not None
    for argument in block.args:
        for v in parts.get(argument, [argument]):
            _write(v, last.get(v, 0), where, memory, live, (), func)
    for op, step in memory.walk:
        if step is None:
            if op in memory.views:
                _check_view(op, where, memory)
            continue
        live.expire(step)
        allowed = _overwritten(op, overwrites.get(step, ()), memory, holds, where)
        results = [v for r in op.results for v in parts.get(r, [r])] if parts else op.results
        for r in results:
            allowed = (*allowed, *_added_to(r, memory, where)) if r in memory.added else allowed
            _write(r, max(last.get(r, step), step), where, memory, live, allowed, op)
        for name, start, end in _scratch_places(op, memory.memory[step].workspace, model, named):
            content = Content(None, name, start, end, step)
            check_reach(end, model, None, op)
            _check_free(content, live, (), op)
            live.add(content)
            ends[name] = max(ends.get(name, 0), end)
    return ends


def _last_reads(
    block: Block, memory: Reading, holds: dict[SSAValue, frozenset[SSAValue]]
) -> dict[SSAValue, int]:
    """The last step that reads each content; what is kept or returned is read at the end."""
    last: dict[SSAValue, int] = {}
    returned = read_values(block.last_op) if block.last_op is not None else []
    for step, reads in enumerate((*memory.reads, returned)):  # ascending
        last.update(dict.fromkeys(reads, step))
    views = [(v, last.pop(v)) for v in list(last) if v in holds]
    for v, step in views:  # once each: keys in rows are read as a whole by every query
        for content in _flatten(v, holds):
            last[content] = max(last.get(content, step), step)
    if memory.groups and any(g.is_input and g.is_output for g in memory.groups):
        for v in block.args:  # kept inputs
            if v in memory.of_value and memory.groups[memory.of_value[v][0]].is_output:
                last[v] = len(memory.operations)
    return last


def _scratch_places(
    op: Operation, workspace: Sequence[int], model: ModelAttr, named: frozenset[str]
) -> Iterator[tuple[str, int, int]]:
    """(memory, start, end) of each scratch buffer with bytes. TFLM alone may be left to place
    some."""
    alignment, scratch = model.alignment.data, scratch_list(op)
    own_planner = model.scratch.data == "tflm"
    if (scratch is None or any(s.offset.data < 0 for s in scratch)) and not own_planner:
        if any(workspace):
            raise MemoptError("scratch has no offset", place_of(op))
        return
    placed = [s for s in scratch or () if s.offset.data >= 0]
    if any(s.offset.data % alignment for s in placed):
        raise MemoptError("scratch is not aligned", place_of(op))
    for buffer in placed:
        check_memory(buffer.place, named, None, op)
        start, size = buffer.offset.data, buffer.bytes.data
        if size:
            yield memory_at(buffer.place), start, start + -(-size // alignment) * alignment


def _view_sources(op: Operation, memory: Reading) -> dict[SSAValue, frozenset[SSAValue]]:
    """For a view, the operands whose bytes each result shows; a part shows its own."""
    sources: dict[SSAValue, set[SSAValue]] = {}
    for alias in memory.views.get(op, ()):
        if alias.kind == "part":
            continue
        sources.setdefault(op.results[alias.result], set()).add(op.operands[alias.operand])
    return {r: frozenset(v) for r, v in sources.items()}


def _written_parts(
    memory: Reading, holds: dict[SSAValue, frozenset[SSAValue]]
) -> dict[SSAValue, list[SSAValue]]:
    """Return the parts that stand for each written tensor, which may have them as a view shows it.

    Rows that are joined are written one by one and are left out. Raises MemoptError for parts of
    what is several written values.
    """
    parts_of: dict[SSAValue, list[SSAValue]] = {}
    for part, (tensor, _) in memory.parts.items():
        if tensor in memory.joined:
            continue
        written = _flatten(tensor, holds)
        if len(written) != 1:
            raise MemoptError(f"{name_of(part)} is a part of {len(written)} values, not of one")
        parts_of.setdefault(written[0], []).append(part)
    return parts_of


def _flatten(value: SSAValue, holds: dict[SSAValue, frozenset[SSAValue]]) -> list[SSAValue]:
    """The written values whose bytes `value` shows."""
    written: list[SSAValue] = []
    waiting = [value]
    while waiting:
        v = waiting.pop()
        sources = holds.get(v)
        if sources is None:
            written.append(v)
        else:
            waiting.extend(sources)
    return written


def _check_view(op: Operation, where: Where, memory: Reading) -> None:
    """A view lies where its alias says, and so does a part."""
    for v in (*op.operands, *op.results):
        if v in memory.parts and v in where:
            tensor, offset = memory.parts[v]
            name, start = where[tensor]
            if where[v] != (name, start + offset):
                raise MemoptError(f"{name_of(v)} is not where its tensor has it", place_of(op))
    for r in op.results:
        for v in op.operands:
            if v in where and r in where and memory.of_value[v][0] == memory.of_value[r][0]:
                shift = memory.of_value[r][1] - memory.of_value[v][1]
                if where[r] != (where[v][0], where[v][1] + shift):
                    raise MemoptError(
                        f"{name_of(r)} is a view of {name_of(v)} but lies elsewhere", place_of(op)
                    )


def _overwritten(
    op: Operation,
    overwrites: Sequence[tuple[int, int]],
    memory: Reading,
    holds: dict[SSAValue, frozenset[SSAValue]],
    where: Where,
) -> tuple[SSAValue, ...]:
    """Contents that `op` may write over: its in-place operands, which must be at the same place
    unless it moves them."""
    allowed: list[SSAValue] = []
    moves = bool(overwrites) and is_move(op)
    for result, operand in overwrites:
        for r in op.results:
            for v in op.operands:
                groups = memory.of_value.get(r), memory.of_value.get(v)
                if groups[0] is None or groups[1] is None:
                    continue
                if groups[0][0] == result and groups[1][0] == operand:
                    if where.get(r) != where.get(v) and not moves:
                        raise MemoptError(
                            f"{name_of(r)} is in place of {name_of(v)} but lies elsewhere",
                            place_of(op),
                        )
                    allowed.extend(_flatten(v, holds))
    return tuple(allowed)


def _added_to(value: SSAValue, memory: Reading, where: Where) -> list[SSAValue]:
    """Return the other values that are added up in the buffer of `value`. Raises MemoptError if one
    of them lies elsewhere."""
    op = memory.added[value]
    others = [v for v in op.operands if memory.added.get(v) is op]
    for other in others:
        if where.get(other) != where.get(value):
            text = f"{name_of(value)} is added to {name_of(other)} but lies elsewhere"
            raise MemoptError(text, place_of(op))
    return others


def _write(
    value: SSAValue,
    last: int,
    where: Where,
    memory: Reading,
    live: Contents,
    allowed: Sequence[SSAValue],
    op: Operation,
) -> None:
    if value in where and bytes_of(value.type):
        name, start = where[value]
        content = Content(value, name, start, content_end(value, start, memory), last)
        _check_free(content, live, allowed, op)
        live.add(content)


def _check_free(new: Content, live: Contents, allowed: Sequence[SSAValue], op: Operation) -> None:
    for old in live.in_the_way(new):
        if old.value not in allowed:
            name, held = (name_of(c.value) if c.value else "scratch" for c in (new, old))
            raise MemoptError(
                f"{name} at [{new.start}, {new.end}) overwrites {held} at "
                f"[{old.start}, {old.end}), which is live until step {old.last}",
                place_of(op),
            )
