"""Arena of TensorFlow Lite Micro for a plan: its head, scratch included.

    arena = tflm_arena(func)         # of the plan in the IR
    arena.head                       # bytes that TFLM will need besides its persistent tail
    tflm_arena(func, planned=False)  # the same order, everything left to TFLM's own planner

Subgraphs that an operator runs (IF, WHILE) have their steps inside of its own; their tensors lie in
what the operator works in. To TFLM those of one that several operators run are in use from its
first run to its last; a plan may have others there in between.

TFLM lays tensors with an offset first and packs the rest around them: first fit by falling size,
later requests first among equals; scratch comes after all tensors. Source: tensorflow/tflite-micro,
micro/memory_planner/greedy_memory_planner.cc (CalculateOffsetsIfNeeded) and
micro/micro_allocation_info.cc (MarkAllocationLifetimes). Shares no code with the solvers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from memopt.analysis.liveness import live_range
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import (
    body_of,
    callee_scratch,
    is_run,
    run_by,
    shared_functions,
    subgraph_of,
)
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.plan import (
    SCRATCH,
    SCRATCH_END,
    bytes_offset,
    model_of,
    places_of,
    scratch_list,
)
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.targets.tflm.scratch import requested

ALIGNMENT = 16


@dataclass(frozen=True)
class Request:
    """A buffer as TFLM's planner sees it: bytes (not rounded), first and last use (inclusive; the
    inputs are made at 0, operator i runs at i + 1), offset or None where TFLM shall find one."""

    size: int
    first: int
    last: int
    offset: int | None = None


@dataclass(frozen=True)
class Arena:
    """Offsets in bytes, one per request, and the end of the last buffer."""

    offsets: tuple[int, ...]
    head: int


def round_up(size: int) -> int:
    """Return bytes as TFLM rounds them up."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def greedy(requests: Sequence[Request]) -> Arena:
    """TFLM's planner, exactly. Requests of 0 bytes are not planned there; they lie at 0 here."""
    sizes = [round_up(r.size) for r in requests]
    offsets: list[int] = [r.offset or 0 for r in requests]
    placed: list[tuple[int, int]] = []  # (offset, index), in the order that TFLM looks at them
    fixed = [i for i, r in enumerate(requests) if r.offset is not None and sizes[i]]
    free = [i for i, r in enumerate(requests) if r.offset is None and sizes[i]]
    free.sort(key=lambda i: (-sizes[i], -i))
    # TFLM goes through all placed buffers; those of the same steps give the same answer sooner.
    live: dict[int, list[tuple[int, int]]] = {}
    # Only those steps count at which a buffer begins or ends: there may be 2**depth of all.
    ends = sorted({t for r in requests for t in (r.first, r.last)})
    rank = {t: k for k, t in enumerate(ends)}
    for i in (*fixed, *free):
        r = requests[i]
        steps = range(rank[r.first], rank[r.last] + 1)
        if r.offset is None:
            candidate = 0
            for start, j in sorted({e for t in steps for e in live.get(t, ())}):
                if start - candidate >= sizes[i]:
                    break
                candidate = max(candidate, start + sizes[j])
            offsets[i] = candidate
        placed.append((offsets[i], i))
        for t in steps:
            live.setdefault(t, []).append(placed[-1])
    head = max((start + sizes[i] for start, i in placed), default=0)
    return Arena(tuple(offsets), head)


def file_operators(func: FuncOp) -> list[tuple[Operation, int]]:
    """The operations that stand for operators of the file, in block order, with their index in it.

    Views are among them: TFLM runs every operator. Raises MemoptError for an operation that is not
    from a .tflite file.
    """
    operators: list[tuple[Operation, int]] = []
    for op in body_of(func).ops:
        source = op.attributes.get("memgraph.source")
        if isinstance(source, SourceAttr):
            if source.operator.data >= 0:
                operators.append((op, source.operator.data))
        elif not isinstance(op, ConstantOp | VariableOp) and not op.has_trait(IsTerminator):
            text = "is not an operator of a .tflite file: TFLM cannot run it"
            raise MemoptError(text, place_of(op))
    return operators


def tensor_indices(func: FuncOp) -> dict[SSAValue, int]:
    """The file's tensor index of every value that is not a constant."""
    result: dict[SSAValue, int] = {}
    source = func.attributes.get("memgraph.source")
    block = body_of(func)
    if isinstance(source, SourceAttr):
        result.update(zip(block.args, source.tensor_ids, strict=False))
    for op in block.ops:
        source = op.attributes.get("memgraph.source")
        if isinstance(source, SourceAttr):
            result.update(zip(op.results, source.tensor_ids, strict=False))
    return result


def is_unread(value: SSAValue) -> bool:
    """Return whether `value` is an input that no operator reads and that is not returned."""
    return isinstance(value, BlockArgument) and value.first_use is None


def tflm_arena(
    func: FuncOp, planned: bool = True, source_order: bool = False, hold_unread: bool = True
) -> Arena:
    """Return the arena that TFLM makes for a function imported from a .tflite file.

    With `planned`, offsets in the IR are given to it; with `source_order` operators run as in the
    file. An input that nobody reads is held through step 0 in a plan, TFLM gives its bytes away at
    once: with `hold_unread` it counts as in the plan, without as in the written file, which leaves
    its place to TFLM.
    `offsets` are those of the tensors, by tensor index, then of every scratch buffer.
    """
    return greedy(tflm_requests(func, planned, source_order, planned and hold_unread))


def write_scratch(func: FuncOp) -> int:
    """Write every operator's scratch where TFLM will put it; returns the head in bytes, which has
    room for what the operators work in that run other functions. Where TFLM lays scratch of what
    several operators run above all that, the function says so."""
    arena, tensors = tflm_arena(func), tensor_requests(func, True, False, True)
    model = model_of(func)
    block = body_of(func)
    ends = [0]
    for (value, request), offset in zip(tensors, arena.offsets, strict=False):
        owner = value.owner
        if owner is block or (isinstance(owner, Operation) and owner.parent is block):
            ends.append(offset + round_up(request.size))
    at = len(tensors)
    for op, _ in file_operators(func):
        sizes = requested(op, model) or ()
        if sizes:
            pairs = list(zip(sizes, arena.offsets[at : at + len(sizes)], strict=True))
            op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(s, offset) for s, offset in pairs])
            ends += [offset + round_up(size) for size, offset in pairs]
            at += len(sizes)
        elif run_by(op):
            for scratch in scratch_list(op) or ():
                place = scratch.place if isinstance(scratch.place, int) else 0
                ends.append(max(place, 0) + scratch.bytes.data)
    func.attributes.pop(SCRATCH_END, None)
    if arena.head > max(ends):
        func.attributes[SCRATCH_END] = IntegerAttr(arena.head, i64)
    return max(*ends, arena.head)


def tflm_requests(
    func: FuncOp, planned: bool, source_order: bool, hold_unread: bool
) -> list[Request]:
    """Return the requests behind `tflm_arena`: tensors by subgraph and index, of the functions that
    operators run too, then scratch by subgraph and operator."""
    scopes = _Scopes.of(func, source_order)
    requests = [r for _, r in _tensors_of(scopes, planned, hold_unread)]
    return requests + _scratch_of(scopes)


@dataclass
class _Scopes:
    """Times of all operators: a counter that grows with each operator, and with each subgraph that
    an operator runs. `runs` is when an operator begins for the first time and ends for the last;
    `entered` when a function begins for the first and for the last time, and ends; `bases` what is
    added to the offsets of its tensors, None where it has no place. What the function that nobody
    runs has a place for is `outside` of others."""

    source_order: bool
    outside: Sequence[FuncOp]
    now: int = 0
    operators: dict[FuncOp, list[Operation]] = field(default_factory=dict[FuncOp, list[Operation]])
    runs: dict[Operation, tuple[int, int]] = field(default_factory=dict[Operation, tuple[int, int]])
    entered: dict[FuncOp, tuple[int, int, int]] = field(
        default_factory=dict[FuncOp, tuple[int, int, int]]
    )
    bases: dict[FuncOp, int | None] = field(default_factory=dict[FuncOp, int | None])

    @classmethod
    def of(cls, func: FuncOp, source_order: bool) -> "_Scopes":
        scopes = cls(source_order, shared_functions(func) if is_run(func) else ())
        scopes.bases = bases_of(func)
        scopes.enter(func)
        scopes.leave(func, scopes.now, set())
        return scopes

    def enter(self, func: FuncOp) -> None:
        """Count a function and those that it runs; of one that has run before, which takes as long
        again, only that."""
        if func in self.entered:
            self.now += self.length(func)
            return
        pairs = file_operators(func)
        if self.source_order:
            pairs.sort(key=lambda pair: pair[1])
        self.operators[func] = [op for op, _ in pairs]
        start = self.now
        for op in self.operators[func]:
            self.now += 1
            first = self.now
            for callee in run_by(op):
                self.now += 1
                if callee not in self.outside:
                    self.enter(callee)
            self.runs[op] = first, self.now
        self.entered[func] = start, start, self.now

    def leave(self, func: FuncOp, end: int, done: set[FuncOp]) -> None:
        """Go back from where a function ends for the last time, and note when it and those that it
        runs do; `done` are those of which that is known."""
        if func in done:
            return
        done.add(func)
        self.entered[func] = self.entered[func][0], end - self.length(func), end
        for op in reversed(self.operators[func]):
            self.runs[op] = self.runs[op][0], end
            for callee in reversed(run_by(op)):
                if callee not in self.outside:
                    self.leave(callee, end, done)
                    end -= self.length(callee)
                end -= 1
            end -= 1

    def length(self, func: FuncOp) -> int:
        """Return the steps of a function, with those that it runs."""
        _, start, end = self.entered[func]
        return end - start

    def functions(self) -> list[FuncOp]:
        """Return the functions: the first one, then those that operators run, by number."""
        main, *others = self.operators  # in the order in which they begin
        return [main, *sorted(others, key=subgraph_of)]


def bases_of(func: FuncOp) -> dict[FuncOp, int | None]:
    """Return the bytes from the start of the arena of `func` at which it and those that it leads to
    have theirs, None without a place."""
    bases: dict[FuncOp, int | None] = {}
    waiting: list[tuple[FuncOp, int | None]] = [(func, 0)]
    while waiting:
        each, base = waiting.pop()
        bases[each] = base
        for op in body_of(each).ops:
            blocks = callee_scratch(op)
            listed = scratch_list(op) or ()
            for k, block in enumerate(blocks):
                place = listed[k].place if len(listed) == len(blocks) else None
                inside = None
                if isinstance(place, int) and place >= 0 and base is not None:
                    inside = base + place
                waiting += [(callee, inside) for callee in block.functions]
    return bases


def tensor_requests(
    func: FuncOp, planned: bool, source_order: bool, hold_unread: bool
) -> list[tuple[SSAValue, Request]]:
    """Return the tensors that TFLM lays into its head, by subgraph and index."""
    return _tensors_of(_Scopes.of(func, source_order), planned, hold_unread)


def _scratch_of(scopes: _Scopes) -> list[Request]:
    """Return what kernels request, by subgraph and operator."""
    answer: list[Request] = []
    present = scopes.functions()
    model = model_of(present[0])
    for func in present:
        for op in scopes.operators[func]:
            start, end = scopes.runs[op]
            answer += [Request(size, start, end) for size in requested(op, model) or ()]
    return answer


def _tensors_of(
    scopes: _Scopes, planned: bool, hold_unread: bool
) -> list[tuple[SSAValue, Request]]:
    main, *others = scopes.functions()
    tensors = _requests_of(main, scopes, planned, hold_unread)
    for each in others:
        tensors += _requests_of(each, scopes, planned, None)
    return tensors


def _requests_of(
    func: FuncOp, scopes: _Scopes, planned: bool, hold_unread: bool | None
) -> list[tuple[SSAValue, Request]]:
    """Return the tensors of one function; `hold_unread` is None for one that an operator runs, of
    which TFLM gives the bytes of unread inputs away at once, at the places of the plan."""
    block, base = body_of(func), scopes.bases.get(func)
    begin, again, end = scopes.entered[func]
    places = places_of(func) if planned and base is not None else {}
    returned = set(block.last_op.operands) if block.last_op else set[SSAValue]()
    requests: list[tuple[int, SSAValue, Request]] = []
    for value, index in tensor_indices(func).items():
        size = bytes_of(value.type)
        maker = value.op if isinstance(value, OpResult) else None
        if not size or isinstance(maker, ConstantOp | VariableOp):
            continue  # constants are in flash, variables in the persistent tail
        first, used = (begin, again) if maker is None else scopes.runs.get(maker, (-1, -1))
        uses = [scopes.runs[u.operation][1] for u in value.uses if u.operation in scopes.runs]
        live = live_range((first,), [used, *uses], end + 1, to_end=value in returned)
        last, offset = live.stop - 1, bytes_offset(places.get(value))
        if is_unread(value) and hold_unread is not None:
            last, offset = (max(last, min(1, end)), offset) if hold_unread else (last, None)
        at = None if offset is None or base is None else base + offset
        requests.append((index, value, Request(size, first, last, at)))
    return [(value, request) for _, value, request in sorted(requests, key=lambda entry: entry[0])]
