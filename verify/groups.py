"""The verifier's own reading of a function: what executes, which values share bytes, how long.

It asks the operations what they do to memory and derives the rest again, in another way than
`analysis/`, whose results it is there to doubt: groups are merged as lists of places, and each
knows its first and its last step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import lcm

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, has_kind, read_values
from memopt.dialects.memgraph.interface import SUCCEED, Alias, OperatorMemory
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.tensors import MAX_BYTES, bytes_of
from memopt.dialects.operators.stateful import StatefulOp
from memopt.dialects.rows.alignment import alignment_of
from memopt.dialects.rows.operations import JoinOp, ReceiveOp, RowOp
from memopt.dialects.rows.state import RecallOp, StateOp


@dataclass
class Group:
    """Values that lie in one piece: each with its bytes from the start, the oldest first.

    `is_part`: of a tensor, so that its bytes are not rounded up to `alignment`, which is in bytes.
    `first` and `last` are steps, both inclusive; -1 while nothing touches it. `lines` are the bytes
    of cache lines that it shares with nothing, 0 for none, `rest` those behind the last part.
    """

    places: dict[SSAValue, int]
    size: int
    is_input: bool = False
    is_output: bool = False
    in_arena: bool = True
    is_part: bool = False
    first: int = -1
    last: int = -1
    alignment: int = 1
    lines: int = 0
    rest: int = 0

    @property
    def name(self) -> str:
        return name_of(next(iter(self.places)))

    @property
    def held(self) -> int:
        """The bytes that it takes up; the last part of a tensor may fill a line."""
        if self.is_part:
            return self.size + self.rest
        return self.size + -self.size % self.alignment

    def touch(self, step: int, writes: bool) -> None:
        """An operation of that step, not below any before it, writes or reads a member."""
        if writes and self.first < 0:
            self.first = step
        self.last = step


@dataclass
class Reading:
    """A block: `walk` has all of its operations, each with its step, None if it does not execute;
    `memory` says what operation i does, and `reads` what values it reads; `of_value` is (group,
    bytes from its start); `overwrites` lists (step, group of the result, group of the operand) of
    what is in place, or moved; `views` has the aliases of what costs nothing; `parts` says of each
    part that comes or dies alone what it is a part of, and how many bytes from its start; `joined`
    are the tensors of which parts come alone; `virtual` has the virtual tensors, each with its
    operands. `reads` has the parts of these. `added` says which operation adds up a value that
    is written over others."""

    walk: list[tuple[Operation, int | None]] = field(
        default_factory=list[tuple[Operation, int | None]]
    )
    operations: list[Operation] = field(default_factory=list[Operation])
    memory: list[OperatorMemory] = field(default_factory=list[OperatorMemory])
    reads: list[list[SSAValue]] = field(default_factory=list[list[SSAValue]])
    groups: list[Group] = field(default_factory=list[Group])
    of_value: dict[SSAValue, tuple[int, int]] = field(
        default_factory=dict[SSAValue, tuple[int, int]]
    )
    overwrites: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    views: dict[Operation, tuple[Alias, ...]] = field(
        default_factory=dict[Operation, tuple[Alias, ...]]
    )
    parts: dict[SSAValue, tuple[SSAValue, int]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, int]]
    )
    joined: set[SSAValue] = field(default_factory=set[SSAValue])
    virtual: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    added: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])

    def taken_apart(self, values: Iterable[SSAValue]) -> list[SSAValue]:
        """The values, a virtual tensor as its parts."""
        parts: list[SSAValue] = []
        for value in values:
            parts += self.taken_apart(self.virtual[value]) if value in self.virtual else [value]
        return parts


class _Pieces:
    """Values and where they lie in the piece that each is in; pieces are merged, the smaller into
    the larger."""

    def __init__(self) -> None:
        self.size: dict[SSAValue, int] = {}
        self.piece: dict[SSAValue, dict[SSAValue, int]] = {}

    def add(self, value: SSAValue, size: int) -> None:
        self.size[value] = size
        self.piece[value] = {value: 0}

    def tie(self, op: Operation, aliases: Sequence[Alias]) -> None:
        """Put each result where its alias says. Raises MemoptError."""
        for result, operand, offset in self._ties(op, aliases):
            here, other = self.piece[operand], self.piece[result]
            shift = here[operand] + offset - other[result]
            if here is other:
                if shift:
                    raise MemoptError("aliases contradict each other", place_of(op))
                continue
            if len(here) < len(other):
                here, other, shift = other, here, -shift
            for value, at in other.items():
                here[value] = at + shift
                self.piece[value] = here

    def _ties(
        self, op: Operation, aliases: Sequence[Alias]
    ) -> Iterable[tuple[SSAValue, SSAValue, int]]:
        """(result, operand, bytes between them); of a result with several parts, those that have
        any."""
        filled = {a.result for a in aliases if bytes_of(op.operands[a.operand].type)}
        for a in aliases:
            result, operand = op.results[a.result], op.operands[a.operand]
            hollow = a.result in filled and not bytes_of(operand.type)
            if hollow or result not in self.size:
                continue
            if operand not in self.size:
                text = f"{name_of(result)} aliases {name_of(operand)}, no buffer"
                raise MemoptError(text, place_of(op))
            yield result, operand, a.byte_offset

    def heap(self, values: Sequence[SSAValue]) -> None:
        """Put values, each a piece of its own or all one already, over one another."""
        here = self.piece[values[0]]
        for value in values[1:]:
            if self.piece[value] is not here:
                (at,) = self.piece[value].values()
                here[value] = at + here[values[0]]
                self.piece[value] = here

    def keeps_whole(self, op: Operation, aliases: Sequence[Alias], whole: set[SSAValue]) -> bool:
        """Return whether each of the caller's buffers, `whole`, would stay a piece of its own, no
        larger than it is, with these aliases."""
        values = {op.results[a.result] for a in aliases} | {op.operands[a.operand] for a in aliases}
        pieces = [self.piece[v] for v in values if v in self.piece]
        if not any(v in whole for piece in pieces for v in piece):
            return True
        trial = _Pieces()
        trial.size = self.size
        for piece in pieces:
            copied = dict(piece)
            trial.piece.update(dict.fromkeys(piece, copied))
        trial.tie(op, aliases)
        return all(trial.is_whole(trial.piece[v], whole) for v in values if v in trial.piece)

    def is_whole(self, piece: dict[SSAValue, int], whole: set[SSAValue]) -> bool:
        held = [v for v in piece if v in whole]
        low = min(piece.values())
        high = max(at + self.size[v] for v, at in piece.items())
        return not held or (
            len(held) == 1 and (piece[held[0]], self.size[held[0]]) == (low, high - low)
        )


@dataclass
class _Reader:
    """A function, read one operation after the other.

    `returned` values stay to the end; `at_the_caller` tells whether the caller has the buffers of
    what it gives and takes, `recalls` whether some values lie in a state.
    """

    returned: set[SSAValue]
    at_the_caller: bool
    recalls: bool
    pieces: _Pieces = field(default_factory=_Pieces)
    reading: Reading = field(default_factory=Reading)
    caller: set[SSAValue] = field(default_factory=set[SSAValue])

    def declare(self, value: SSAValue, size: int | None) -> None:
        if size is None:
            return
        self.pieces.add(value, size)
        is_end = isinstance(value, BlockArgument) or value in self.returned
        if (self.at_the_caller and is_end) or (self.recalls and _is_kept(value)):
            self.caller.add(value)

    def visit(self, op: Operation, memory: OperatorMemory) -> None:
        reading = self.reading
        if memory.sums:
            addends = [op.operands[k] for k in memory.sums]
            reading.added.update(dict.fromkeys(addends, op))
            check_addends(op, addends, memory.in_order)
            self.pieces.heap(addends)
        for result, size in zip(op.results, memory.results, strict=True):
            self.declare(result, size)
        free = tuple(a for a in memory.aliases if a.kind not in SUCCEED) if memory.aliases else ()
        if memory.executes and free:
            text = "it executes, so its results are no views of its operands"
            raise MemoptError(text, place_of(op))
        tied = tuple(a for a in free if not a.of_part and a.kind != "virtual") if free else ()
        if memory.executes or (self.caller and not self.pieces.keeps_whole(op, tied, self.caller)):
            reading.walk.append((op, len(reading.operations)))
            reading.operations.append(op)
            reading.memory.append(memory)
            reading.reads.append(reading.taken_apart(read_values(op)))
            return
        reading.walk.append((op, None))
        if memory.aliases:
            reading.views[op] = memory.aliases
            self.pieces.tie(op, tied)
            for alias in free:
                self._show(op, alias)

    def _show(self, op: Operation, alias: Alias) -> None:
        """Add what one alias of a view says of parts."""
        reading, result, operand = (
            self.reading,
            op.results[alias.result],
            op.operands[alias.operand],
        )
        if alias.kind == "virtual":
            if result in self.returned:
                raise MemoptError(f"{name_of(result)} is returned, but no buffer", place_of(op))
            reading.virtual.setdefault(result, []).append(operand)
        elif alias.kind == "part":
            reading.parts[result] = operand, alias.byte_offset
        elif alias.kind == "join":
            if reading.parts.get(operand):
                raise MemoptError(f"a row of {name_of(op.results[0])} is elsewhere too")
            reading.parts[operand] = result, -alias.byte_offset
            reading.joined.add(result)


def read_function(func: FuncOp, model: ModelAttr) -> Reading:
    """Read a function of one block and without hyper-nodes.

    What it returns stays to the end, and so do its arguments if the model keeps them. Raises
    MemoptError for what contradicts itself, or is read and never written.
    """
    block = body_of(func)
    returned = set(block.last_op.operands) if block.last_op is not None else set[SSAValue]()
    held_to_end = set[SSAValue](block.args) if model.io.data == "kept" else set[SSAValue]()
    recalls = has_kind(block.ops, (RecallOp, StatefulOp))
    reader = _Reader(returned, model.io.data == "caller", recalls)
    reading = reader.reading
    for argument in block.args:
        reader.declare(argument, bytes_of(argument.type))
        if _arrives_in_rows(argument):
            reader.caller.add(argument)
    for op in block.ops:
        reader.visit(op, behaviour_of(op, model))
    _close(reading, reader.pieces, returned, held_to_end, reader.caller)
    _check_parts_apart(reading, reader.pieces.size)
    _check_sum(reading, model.alignment.data)
    for step, op in enumerate(reading.operations):
        _touch(reading, step, op)
    _part(reading)
    by_rows = has_kind(block.ops, (RowOp, ReceiveOp))
    for group in reading.groups:
        group.alignment = _alignment(reading, group, model) if by_rows else model.alignment.data
    if model.align_io.data:
        _own_lines(reading, model.align_io.data)
    _end_lives(reading)
    return reading


def _end_lives(reading: Reading) -> None:
    """Say when the bytes of each group live. Raises MemoptError for one that nobody writes."""
    steps = max(len(reading.operations), 1)
    for group in reading.groups:
        if group.is_input:
            group.first = 0
        elif group.first < 0:
            owner = next(iter(group.places)).owner
            place = "" if isinstance(owner, Block) else place_of(owner)
            raise MemoptError(f"{group.name} is never written", place)
        group.last = steps - 1 if group.is_output else max(group.last, group.first)


def _own_lines(reading: Reading, lines: int) -> None:
    """Let each input and output in the arena begin and end with a line of a cache."""
    for group in reading.groups:
        if group.in_arena and (group.is_input or group.is_output) and not group.is_part:
            group.lines, group.alignment = lines, lcm(group.alignment, lines)
    ends: dict[SSAValue, tuple[int, Group]] = {}
    for part, (tensor, inside) in reading.parts.items():
        end = inside + (bytes_of(part.type) or 0)
        if reading.groups[reading.of_value[tensor][0]].lines and end >= ends.get(tensor, (0,))[0]:
            ends[tensor] = end, reading.groups[reading.of_value[part][0]]
    for end, last in ends.values():
        last.lines, last.rest = lines, -end % lines


def check_addends(op: Operation, addends: Sequence[SSAValue], in_order: bool) -> None:
    """Raise MemoptError unless nobody but `op` reads what is added, and it is made in the order in
    which it is added, where that is one."""
    for value in addends:
        if isinstance(value, BlockArgument) or [use.operation for use in value.uses] != [op]:
            raise MemoptError(f"{name_of(value)} is added to, but not for that alone", place_of(op))
    makers = [value.owner for value in addends]
    if not in_order or op.parent is None:
        return
    in_block = [other for other in op.parent.ops if other in set(makers)]
    if in_block != makers:
        raise MemoptError(
            "reals are added up in another order than that of the operands", place_of(op)
        )


def _alignment(found: Reading, group: Group, model: ModelAttr) -> int:
    """Return the bytes of alignment that suit every value in the group that is no view of
    another."""
    own = {alignment_of(v, model) for v in group.places if v.owner not in found.views}
    return lcm(*own) if own else model.alignment.data


def _arrives_in_rows(argument: SSAValue) -> bool:
    """Return whether `argument` stays with the caller, who hands over its rows one by one."""
    readers = [use.operation for use in argument.uses]
    return bool(readers) and all(isinstance(op, ReceiveOp | StateOp) for op in readers)


def _is_kept(value: SSAValue) -> bool:
    """Return whether `value` lies in a state that stays from run to run, outside the arena."""
    if isinstance(value.owner, StatefulOp):
        return value.owner.lies_in is not None
    if not isinstance(value.owner, RecallOp):
        return False
    return not any(isinstance(use.operation, JoinOp) for use in value.uses)


def _close(
    found: Reading,
    pieces: _Pieces,
    returned: set[SSAValue],
    kept: set[SSAValue],
    caller: set[SSAValue],
) -> None:
    """Number the pieces in the order of their oldest values; each begins at its lowest byte."""
    seen: dict[int, int] = {}
    for value, size in pieces.size.items():
        piece = pieces.piece[value]
        if len(piece) == 1:  # as most are
            found.of_value[value] = (len(found.groups), 0)
            is_input = isinstance(value, BlockArgument) or _is_kept(value)
            is_output = value in returned
            found.groups.append(
                Group({value: 0}, size, is_input, is_output or value in kept, value not in caller)
            )
            continue
        low = min(piece.values()) if id(piece) not in seen else 0
        if id(piece) not in seen:
            seen[id(piece)] = len(found.groups)
            size = max(at + pieces.size[v] for v, at in piece.items()) - low
            found.groups.append(Group({}, size, in_arena=not any(v in caller for v in piece)))
            for v in piece:
                piece[v] -= low
        group = found.groups[seen[id(piece)]]
        group.places[value] = piece[value]
        group.is_input |= isinstance(value, BlockArgument) or _is_kept(value)
        group.is_output |= value in returned or value in kept
        found.of_value[value] = (seen[id(piece)], piece[value])


def _part(found: Reading) -> None:
    """A tensor whose parts die alone has no bytes but theirs. Raises MemoptError for one that is
    read as a whole too, and for a part that is tied to something else."""
    for part, (tensor, _) in found.parts.items():
        mine, origin = (found.groups[found.of_value[v][0]] for v in (part, tensor))
        if len(mine.places) != 1 or tensor in found.parts:
            raise MemoptError(f"{name_of(part)} is no part that is there alone")
        mine.is_part = True
        if tensor in found.joined:
            origin.first = mine.first if origin.first < 0 else min(origin.first, mine.first)
            mine.is_output |= origin.is_output
            mine.in_arena, mine.last = origin.in_arena, max(mine.last, origin.last)
            continue
        if origin.last > max(origin.first, 0):
            raise MemoptError(
                f"{name_of(tensor)} is read as a whole, so its parts do not die alone"
            )
        mine.is_input, mine.is_output = origin.is_input, origin.is_output
        mine.in_arena, mine.first = origin.in_arena, origin.first
        mine.last = max(mine.last, mine.first)
    for tensor, _ in found.parts.values():
        found.groups[found.of_value[tensor][0]].size = 0


def _touch(found: Reading, step: int, op: Operation) -> None:
    """Record the groups that an operation reads and writes in its step, and those that it
    overwrites.

    Raises MemoptError for an alias in place that would destroy bytes which are still read.
    """
    groups, of_value = found.groups, found.of_value
    for value in found.reads[step]:
        at = of_value.get(value)
        if at is not None:
            groups[at[0]].touch(step, writes=False)
    for value in op.results:
        at = of_value.get(value)
        if at is not None:
            groups[at[0]].touch(step, writes=True)
    for alias in found.memory[step].aliases:
        if alias.kind not in SUCCEED:
            continue
        result, operand = op.results[alias.result], op.operands[alias.operand]
        for v in (result, operand):
            if v not in found.of_value:
                raise MemoptError(f"in place, but {name_of(v)} is no buffer", place_of(op))
        (new, a), (old, b) = found.of_value[result], found.of_value[operand]
        if a:
            raise MemoptError("in place, but its result is in a larger buffer", place_of(op))
        if b and b + groups[new].size > groups[old].size:
            text = f"in place {b} B into {groups[old].name}, which it leaves"
            raise MemoptError(text, place_of(op))
        size = bytes_of(operand.type)
        apart = {p for v in op.operands if v in found.virtual for p in found.taken_apart([v])}
        for v in found.reads[step]:
            group, at = found.of_value.get(v, (-1, 0))
            if group == old and (at != b or bytes_of(v.type) != size or v in apart):
                text = f"in place of {name_of(operand)}, of which another part is read too"
                raise MemoptError(text, place_of(op))
        found.overwrites.append((step, new, old))


def _check_parts_apart(found: Reading, sizes: dict[SSAValue, int]) -> None:
    """Raise MemoptError if two values of a group that are written apart share a byte."""
    runs = set(found.operations)
    for group in found.groups:
        if len(group.places) == 1:
            continue
        written = [
            (at, at + sizes[v], v)
            for v, at in group.places.items()
            if sizes[v] and (isinstance(v, BlockArgument) or v.owner in runs)
        ]
        written.sort(key=lambda part: part[:2])
        for (_, end, v), (start, _, w) in pairwise(written):
            if start < end and (v not in found.added or found.added[v] is not found.added.get(w)):
                text = f"memgraph.alias: {name_of(v)} and {name_of(w)} would lie over each other"
                owner = w.owner
                raise MemoptError(text, "" if isinstance(owner, Block) else place_of(owner))


def _check_sum(found: Reading, alignment: int) -> None:
    """Raise MemoptError if the buffers together are more than 64 bits can count."""
    sizes = [g.size for g in found.groups]
    sizes += [size for m in found.memory for size in m.workspace]
    total = sum(-(-size // alignment) * alignment for size in sizes)
    if total > MAX_BYTES:
        raise MemoptError(f"the buffers sum to {total} B, which overflows 64-bit sizes")
