"""Storage groups of one block: which values share an address, who writes and reads each group.

A group is one base and one size. Views and slices join groups (union-find with byte offsets);
an in-place alias keeps two groups, the second of which starts where the first ends.
"""

from bisect import insort
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from math import lcm

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import has_kind, read_values
from memopt.dialects.memgraph.interface import SUCCEED, Alias, OperatorMemory
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.structure import ConstantOp, HyperNode
from memopt.dialects.memgraph.tensors import MAX_BYTES, bytes_of
from memopt.dialects.rows.alignment import alignment_of, rest_of_line
from memopt.dialects.rows.operations import ReceiveOp, RowOp, is_received
from memopt.dialects.rows.state import KEPT, lies_in_state

OF_ROWS = (RowOp, ReceiveOp, HyperNode)  # what they make may be a row that lies alone
Behaviour = Callable[[Operation, ModelAttr], OperatorMemory]


@dataclass(slots=True)
class Storage:
    """One storage group. `members` are values with their byte offset from the group's base;
    `writers` and `readers` are indices of executing operations, ascending.

    `piece` is (group, byte offset) of what a part that dies alone is a part of; that group keeps
    its base, and all of its bytes are its parts'. `alignment` is bytes; a part has none of its own.
    """

    members: list[tuple[SSAValue, int]]
    size: int = 0
    alignment: int = 1
    writers: list[int] = field(default_factory=list[int])
    readers: list[int] = field(default_factory=list[int])
    is_input: bool = False
    is_output: bool = False
    in_arena: bool = True
    piece: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        return name_of(self.members[0][0])

    @property
    def taken(self) -> int:
        """Bytes rounded up to the alignment."""
        return -(-self.size // self.alignment) * self.alignment


@dataclass(frozen=True)
class Sum:
    """Values that lie in one buffer, to which who makes them adds, in this order or in any; `op`
    reads the sum."""

    op: Operation
    values: tuple[SSAValue, ...]
    in_order: bool


@dataclass
class BlockMemory:
    """A block as its executing operations and its storage groups.

    `of_value` gives group and byte offset; `overwrites` the fixed in-place aliases and moves as
    (operator, result group, operand group); `views` the operations that cost nothing; `virtual`
    the virtual tensors, with the values that are read instead; `sums` what is added up.
    """

    operations: list[Operation]
    memory: list[OperatorMemory]
    groups: list[Storage]
    of_value: dict[SSAValue, tuple[int, int]]
    overwrites: list[tuple[int, int, int]]
    views: list[Operation]
    virtual: dict[SSAValue, tuple[SSAValue, ...]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, ...]]
    )
    sums: list[Sum] = field(default_factory=list[Sum])

    def inside(self, step: int, group: int) -> int:
        """Return where the operation of `step` overwrites a group: bytes from its start."""
        values = self.operations[step].operands
        places = (at for v in values if (at := self.of_value.get(v)) is not None and at[0] == group)
        return next(places)[1]  # what it reads of the group it reads at one place, or it must not

    def read_by(self, op: Operation) -> Sequence[SSAValue]:
        """Return the values that `op` reads; for a virtual tensor, those of its parts."""
        values = read_values(op) if op.regions else op.operands
        if not self.virtual:
            return values
        return [part for v in values for part in self.virtual.get(v, (v,))]


@dataclass
class _Union:
    """Union-find over values with byte offsets; each root knows the bytes that its values span.

    `sizes` are the bytes of each value. `spans`, of roots of several values, and `pins` are
    (start, end) relative to the root; pins are buffers of the caller.
    """

    sizes: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    parent: dict[SSAValue, tuple[SSAValue, int]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, int]]
    )
    spans: dict[SSAValue, tuple[int, int]] = field(default_factory=dict[SSAValue, tuple[int, int]])
    pins: dict[SSAValue, list[tuple[int, int]]] = field(
        default_factory=dict[SSAValue, list[tuple[int, int]]]
    )

    def add(self, value: SSAValue, size: int, pinned: bool) -> None:
        self.sizes[value] = size
        if pinned:
            self.pins[value] = [(0, size)]

    def span(self, root: SSAValue) -> tuple[int, int]:
        return self.spans.get(root) or (0, self.sizes[root])

    def find(self, value: SSAValue) -> tuple[SSAValue, int]:
        path: list[SSAValue] = []
        while value in self.parent:
            path.append(value)
            value = self.parent[value][0]
        total = 0
        for v in reversed(path):
            total += self.parent[v][1]
            self.parent[v] = (value, total)
        return (value, total if path else 0)

    def join(self, op: Operation, aliases: Sequence[Alias]) -> None:
        """address(result) = address(operand) + byte_offset, for each alias of `op`; an operand of
        no bytes beside others lies anywhere, so it ties nothing to the rest of its own group."""
        for alias in aliases if len(aliases) == 1 else _with_bytes(op, aliases):
            result, operand = op.results[alias.result], op.operands[alias.operand]
            if result not in self.sizes:
                continue
            if operand not in self.sizes:
                text = f"{name_of(result)} aliases {name_of(operand)}, no buffer"
                raise MemoptError(text, place_of(op))
            (a, da), (b, db) = self.find(result), self.find(operand)
            shift = db + alias.byte_offset - da  # address(a) - address(b)
            if a is not b:
                self._put(a, b, shift)
            elif shift:
                raise MemoptError("aliases contradict each other", place_of(op))

    def overlay(self, values: Sequence[SSAValue]) -> None:
        """Let values of one type, each alone or over the others, lie at the first one's address."""
        first = self.find(values[0])[0]
        for value in values[1:]:
            root = self.find(value)[0]
            if root is not first:
                self._put(root, first, 0)

    def _put(self, a: SSAValue, b: SSAValue, shift: int) -> None:
        """address(a) = address(b) + shift, of two roots."""
        self.parent[a] = (b, shift)
        (low, high), (start, end) = self.span(a), self.span(b)
        self.spans[b] = min(start, low + shift), max(end, high + shift)
        moved = [(x + shift, y + shift) for x, y in self.pins.pop(a, ())]
        if moved:
            self.pins[b] = [*self.pins.get(b, ()), *moved]

    def fits_caller(self, op: Operation, aliases: Sequence[Alias]) -> bool:
        """Return whether the caller's buffers stay apart, and whole, when `aliases` are joined."""
        values = {op.results[a.result] for a in aliases} | {op.operands[a.operand] for a in aliases}
        if not any(self.find(v)[0] in self.pins for v in values):
            return True
        trial = _Union(self.sizes, dict(self.parent), dict(self.spans), dict(self.pins))
        trial.join(op, aliases)
        return all(
            trial.pins.get(root) in (None, [trial.span(root)])
            for root in {trial.find(v)[0] for v in values}
        )


def _with_bytes(op: Operation, aliases: Sequence[Alias]) -> list[Alias]:
    """Without the empty parts of results that have others."""
    full = [a for a in aliases if bytes_of(op.operands[a.operand].type)]
    results = {a.result for a in full}
    return [a for a in aliases if a in full or a.result not in results]


@dataclass
class _Walk:
    """The values and operations of a block, gathered one operation after the other.

    `returned` values are buffers, those in `to_end` stay; `caller` tells whether the caller has
    the buffers of what it gives and takes, `recalls` whether some values lie in a state.
    """

    memory: BlockMemory
    returned: Set[SSAValue]
    to_end: Set[SSAValue]
    caller: bool
    recalls: bool
    union: _Union = field(default_factory=_Union)
    parts: list[tuple[Operation, Alias]] = field(default_factory=list[tuple[Operation, Alias]])

    def visit(self, op: Operation, memory: OperatorMemory) -> None:
        """Add the results of `op`, and the operation itself or the views that it is."""
        for result, size in zip(op.results, memory.results, strict=True):
            if size is not None:
                self.union.add(result, size, self._is_pinned(result))
        free = [a for a in memory.aliases if a.kind not in SUCCEED] if memory.aliases else []
        if memory.executes and free:
            text = "it executes, so its results are no views of its operands"
            raise MemoptError(text, place_of(op))
        tied = [a for a in free if a.ties] if free else []
        if memory.executes or (self.caller and not self.union.fits_caller(op, tied)):
            self.memory.operations.append(op)
            self.memory.memory.append(memory)
        elif memory.aliases:
            self._show(op, free)
            self.union.join(op, tied)
        if memory.sums:
            values = tuple(op.operands[k] for k in memory.sums)
            self.memory.sums.append(Sum(op, values, memory.in_order))
            self.union.overlay(values)

    def _is_pinned(self, result: SSAValue) -> bool:
        """Return whether a result lies in a buffer of the caller or in a state."""
        at_the_caller = self.caller and result in self.returned
        return at_the_caller or (self.recalls and lies_in_state(result))

    def _show(self, op: Operation, aliases: Iterable[Alias]) -> None:
        """Add a view, the parts that it shows, and its results that are no buffers."""
        virtual = self.memory.virtual
        self.memory.views.append(op)
        self.parts += [(op, a) for a in aliases if a.of_part]
        for result in {op.results[a.result] for a in aliases if a.kind == "virtual"}:
            if result in self.to_end:
                text = f"{name_of(result)} is returned, so it is a buffer"
                raise MemoptError(text, place_of(op))
            virtual[result] = tuple(v for o in op.operands for v in virtual.get(o, (o,)))


def block_memory(
    block: Block,
    model: ModelAttr,
    returned: Iterable[SSAValue],
    kept: Iterable[SSAValue],
    behaviour: Behaviour,
) -> BlockMemory:
    """Storage groups of `block`, whose arguments are inputs and whose operations do as `behaviour`
    says.

    `returned` values stay to the end, `kept` ones (inputs) too. A view that would tie together two
    buffers of the caller, or make one larger than it is, is an operation that copies. Raises
    MemoptError for sizes that are not known and for aliases that contradict each other.
    """
    ended = set(returned)
    caller = model.io.data == "caller" and isinstance(block.parent_op(), FuncOp)
    present = list(block.ops)
    recalls = has_kind(present, KEPT)
    answer = BlockMemory([], [], [], {}, [], [])
    walk = _Walk(answer, ended, ended.union(kept), caller, recalls)
    for argument in block.args:
        size = bytes_of(argument.type)
        if size is not None:
            walk.union.add(argument, size, caller or is_received(argument))
    for op in present:
        if not isinstance(op, ConstantOp) or ALIAS in op.attributes:
            walk.visit(op, behaviour(op, model))

    groups = _groups(walk.union, walk.to_end, recalls)
    answer.groups = groups
    answer.of_value = {v: (i, offset) for i, g in enumerate(groups) for v, offset in g.members}
    _cut_into_parts(answer, walk.parts)
    of_rows = {kind for kind in {type(op) for op in present} if issubclass(kind, OF_ROWS)}
    _align(answer, model, of_rows, isinstance(block.parent_op(), HyperNode))
    _check_apart(answer, walk.union.sizes)
    check_sum(answer, model)
    for index, (op, memory) in enumerate(zip(answer.operations, answer.memory, strict=True)):
        _touch(answer, index, op)
        overwritten(answer, index, op, memory)
    _share_touches(answer, walk.parts)
    _check_written(groups)
    return answer


def _check_written(groups: Iterable[Storage]) -> None:
    """Raise MemoptError for a group that is no input and that nobody writes."""
    for group in groups:
        if not group.is_input and not group.writers:
            owner = group.members[0][0].owner
            place = "" if isinstance(owner, Block) else place_of(owner)
            raise MemoptError(f"{group.name} is never written", place)


def _groups(union: _Union, to_end: Set[SSAValue], recalls: bool) -> list[Storage]:
    """The groups in the order of their first values, of which those in `to_end` stay; `recalls`
    tells whether some may lie in a state."""
    roots: dict[SSAValue, list[tuple[SSAValue, int]]] = {}
    for value in union.sizes:
        root, offset = union.find(value) if value in union.parent else (value, 0)
        roots.setdefault(root, []).append((value, offset))
    groups: list[Storage] = []
    for root, members in roots.items():
        if len(members) == 1:  # as most are
            group = Storage(members, union.sizes[root])
            group.is_input = not isinstance(root, OpResult) or (recalls and lies_in_state(root))
            group.is_output, group.in_arena = root in to_end, root not in union.pins
            groups.append(group)
            continue
        base = min(offset for _, offset in members)
        group = Storage([(v, offset - base) for v, offset in members] if base else members)
        group.size = max(offset + union.sizes[v] for v, offset in group.members)
        group.is_input = any(
            not isinstance(v, OpResult) or (recalls and lies_in_state(v)) for v, _ in members
        )
        group.is_output = any(v in to_end for v, _ in members)
        group.in_arena = root not in union.pins
        groups.append(group)
    return groups


def _cut_into_parts(answer: BlockMemory, parts: Sequence[tuple[Operation, Alias]]) -> None:
    """Give the parts of a tensor their place in its group, which has no bytes but theirs.

    Raises MemoptError for a part that shares its group.
    """
    for op, alias in parts:
        group, base, inside = _part_of(answer, op, alias)
        origin = answer.groups[base]
        if len(group.members) > 1 or origin.piece is not None or group.piece is not None:
            raise MemoptError(f"{group.name} is no part that is there alone", place_of(op))
        group.piece = base, inside + abs(alias.byte_offset)
        group.is_input |= origin.is_input
        group.is_output |= origin.is_output
        group.in_arena = origin.in_arena
        origin.size = 0


def _align(
    answer: BlockMemory, model: ModelAttr, of_rows: Set[type[Operation]], in_node: bool
) -> None:
    """Give each group the alignment that suits all that is written into it: the model's, but for
    rows that lie alone, which operations `of_rows` make or which are arguments of a hyper-node."""
    aligned, views = model.alignment.data, set(answer.views)
    lines = 0 if in_node else model.align_io.data
    for group in answer.groups:
        has_lines = lines and group.in_arena and (group.is_input or group.is_output)
        if group.piece is not None:
            if has_lines:
                base, at = group.piece
                group.size += rest_of_line(at + group.size, answer.groups[base].members, lines)
            continue
        group.alignment = lcm(aligned, lines) if has_lines else aligned
        is_argument = not isinstance(group.members[0][0], OpResult)
        if has_lines or not (of_rows or (in_node and is_argument)):
            continue  # as most: arguments come first, and are the first of their groups
        written = [v for v, _ in group.members if v.owner not in views]
        with_own = [v for v in written if not isinstance(v, OpResult) or type(v.op) in of_rows]
        if with_own:
            alignments = [alignment_of(v, model) for v in with_own]
            group.alignment = lcm(*alignments, *[aligned] * (len(with_own) < len(written)))


def _part_of(answer: BlockMemory, op: Operation, alias: Alias) -> tuple[Storage, int, int]:
    """The group of a part, that of its tensor, and where the tensor begins in there."""
    part, tensor = op.results[alias.result], op.operands[alias.operand]
    if alias.kind == "join":
        part, tensor = tensor, part
    return answer.groups[answer.of_value[part][0]], *answer.of_value[tensor]


def _share_touches(answer: BlockMemory, parts: Sequence[tuple[Operation, Alias]]) -> None:
    """Give the writers of a tensor to its parts, and the readers of a joined tensor to its rows."""
    for op, alias in parts:
        group, base, _ = _part_of(answer, op, alias)
        origin = answer.groups[base]
        if alias.kind == "join":
            group.readers = sorted({*group.readers, *origin.readers})
            for step in group.writers:
                insort(origin.writers, step)
        elif origin.readers:
            reader = answer.operations[origin.readers[0]]
            text = f"{origin.name} is read as a whole, so its parts do not die alone"
            raise MemoptError(text, place_of(reader))
        else:
            group.writers = list(origin.writers)


def _check_apart(answer: BlockMemory, sizes: dict[SSAValue, int]) -> None:
    """Within a group, what is written apart lies apart. Raises MemoptError."""
    shared = [g for g in answer.groups if len(g.members) > 1]
    runs = set(answer.operations) if shared else set[Operation]()
    of_sum = {v: total for total in answer.sums for v in total.values}
    for group in shared:
        written = sorted(
            (
                (offset, offset + sizes[v], v)
                for v, offset in group.members
                if sizes[v] and (isinstance(v, BlockArgument) or v.owner in runs)
            ),
            key=lambda part: part[:2],
        )
        for (_, end, v), (start, _, w) in pairwise(written):
            added = v in of_sum and of_sum[v] is of_sum.get(w)
            if start < end and not added:
                place = "" if isinstance(w.owner, Block) else place_of(w.owner)
                raise MemoptError(
                    f"memgraph.alias: {name_of(v)} and {name_of(w)} would lie over each other",
                    place,
                )


def check_sum(answer: BlockMemory, model: ModelAttr) -> None:
    """Raise MemoptError at the first buffer with which all of them overflow 64 bits: then so may
    offsets and levels. Whatever order and placement, they do not exceed the sum."""
    alignment, total = model.alignment.data, 0
    sizes = [g.size for g in answer.groups]
    sizes += [size for memory in answer.memory for size in memory.workspace]
    if sum(-(-size // alignment) * alignment for size in sizes) <= MAX_BYTES:
        return

    def add(size: int, name: str, owner: Block | Operation) -> None:
        nonlocal total
        total += -(-size // alignment) * alignment
        if total > MAX_BYTES:
            operation = owner.parent_op() if isinstance(owner, Block) else owner
            if isinstance(operation, FuncOp):
                place = f"@{operation.sym_name.data}"
            else:
                place = place_of(operation) if operation is not None else ""
            text = f"with {name} the buffers sum to {total} B, which overflows 64-bit sizes"
            raise MemoptError(text, place)

    for group in answer.groups:
        add(group.size, group.name, group.members[0][0].owner)
    for op, memory in zip(answer.operations, answer.memory, strict=True):
        for size in memory.workspace:
            add(size, "scratch", op)


def _touch(answer: BlockMemory, index: int, op: Operation) -> None:
    for v in op.results:
        at = answer.of_value.get(v)
        if at is not None:
            _add_last(answer.groups[at[0]].writers, index)
    for v in answer.read_by(op):
        at = answer.of_value.get(v)
        if at is not None:
            _add_last(answer.groups[at[0]].readers, index)


def overwritten(answer: BlockMemory, index: int, op: Operation, memory: OperatorMemory) -> None:
    """Add what an operation overwrites. Raises MemoptError for a place that is not its own."""
    for alias in memory.aliases:
        pair = op.results[alias.result], op.operands[alias.operand]
        if alias.kind in SUCCEED:
            for v in pair:
                if v not in answer.of_value:
                    raise MemoptError(f"in place, but {name_of(v)} is no buffer", place_of(op))
            (result, a), (operand, b) = (answer.of_value[v] for v in pair)
            if a:
                raise MemoptError("in place, but its result is in a larger buffer", place_of(op))
            if b and b + answer.groups[result].size > answer.groups[operand].size:
                text = f"in place {b} B into {answer.groups[operand].name}, which it leaves"
                raise MemoptError(text, place_of(op))
            if reads_other_part(op, pair[1], answer):
                raise MemoptError(
                    f"in place of {name_of(pair[1])}, of which another part is read too",
                    place_of(op),
                )
            answer.overwrites.append((index, result, operand))


def _add_last(indices: list[int], index: int) -> None:
    """Add the greatest index so far, once."""
    if not indices or indices[-1] != index:
        indices.append(index)


def reads_other_part(op: Operation, operand: SSAValue, memory: BlockMemory) -> bool:
    """Return whether `op` reads bytes of the operand's group otherwise than as the operand itself.

    Then it must not run in place: in x + x[0], every element needs the first one, and a virtual
    tensor of x and y has the elements of x elsewhere.
    """
    place, size = memory.of_value[operand], bytes_of(operand.type)
    read = read_values(op) if memory.virtual else ()
    parts = {part for v in read for part in memory.virtual.get(v, ())}
    return any(
        at[0] == place[0] and (v in parts or at != place or bytes_of(v.type) != size)
        for v in memory.read_by(op)
        if (v is not operand or v in parts) and (at := memory.of_value.get(v)) is not None
    )
