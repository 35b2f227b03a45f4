"""Arena of TensorFlow Lite Micro for a plan: its head, scratch included.

    arena = tflm_arena(func)         # of the plan in the IR
    arena.head                       # bytes that TFLM will need besides its persistent tail
    tflm_arena(func, planned=False)  # the same order, everything left to TFLM's own planner

Subgraphs that an operator runs (IF, WHILE) have their steps inside of its own; their tensors lie in
what the operator works in.

TFLM lays tensors with an offset first and packs the rest around them: first fit by falling size,
later requests first among equals; scratch comes after all tensors. Source: tensorflow/tflite-micro,
micro/memory_planner/greedy_memory_planner.cc (CalculateOffsetsIfNeeded) and
micro/micro_allocation_info.cc (MarkAllocationLifetimes). Shares no code with the solvers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from memopt.analysis.liveness import live_range
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, run_by, subgraph_of
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.plan import SCRATCH, bytes_offset, model_of, places_of, scratch_list
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


def greedy(requests: Sequence[Request]) -> Arena:
    """TFLM's planner, exactly. Requests of 0 bytes are not planned there; they lie at 0 here."""
    sizes = [-(-r.size // ALIGNMENT) * ALIGNMENT for r in requests]
    offsets: list[int] = [r.offset or 0 for r in requests]
    placed: list[tuple[int, int]] = []  # (offset, index), in the order that TFLM looks at them
    fixed = [i for i, r in enumerate(requests) if r.offset is not None and sizes[i]]
    free = [i for i, r in enumerate(requests) if r.offset is None and sizes[i]]
    free.sort(key=lambda i: (-sizes[i], -i))
    # TFLM goes through all placed buffers; those of the same steps give the same answer sooner.
    live: dict[int, list[tuple[int, int]]] = {}
    for i in (*fixed, *free):
        r = requests[i]
        if r.offset is None:
            candidate = 0
            for start, j in sorted(
                {e for t in range(r.first, r.last + 1) for e in live.get(t, ())}
            ):
                if start - candidate >= sizes[i]:
                    break
                candidate = max(candidate, start + sizes[j])
            offsets[i] = candidate
        placed.append((offsets[i], i))
        for t in range(r.first, r.last + 1):
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
    room for what the operators work in that run other functions."""
    arena = tflm_arena(func)
    model = model_of(func)
    at, ends = len(tensor_requests(func, True, False, True)), [arena.head]
    for op, _ in file_operators(func):
        sizes = requested(op, model) or ()
        if sizes:
            pairs = zip(sizes, arena.offsets[at : at + len(sizes)], strict=True)
            op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(s, offset) for s, offset in pairs])
            at += len(sizes)
        elif run_by(op):
            ends += [(base_of(op) or 0) + s.bytes.data for s in scratch_list(op) or ()]
    return max(ends)


def tflm_requests(
    func: FuncOp, planned: bool, source_order: bool, hold_unread: bool
) -> list[Request]:
    """Return the requests behind `tflm_arena`: tensors by subgraph and index, of the functions that
    operators run too, then scratch by subgraph and operator."""
    scopes = _Scopes.of(func, source_order)
    requests = [r for _, r in _tensors_of(scopes, planned, hold_unread)]
    for each in scopes.functions():
        for op in scopes.operators[each]:
            start, end = scopes.runs[op]
            requests += [Request(size, start, end) for size in requested(op, model_of(func)) or ()]
    return requests


@dataclass
class _Scopes:
    """Times of all operators: a counter that grows with each operator, and with each subgraph that
    an operator runs. `entered` is when a function begins and ends, `bases` what is added to the
    offsets of its tensors, None where it has no place."""

    source_order: bool
    now: int = 0
    operators: dict[FuncOp, list[Operation]] = field(default_factory=dict[FuncOp, list[Operation]])
    runs: dict[Operation, tuple[int, int]] = field(default_factory=dict[Operation, tuple[int, int]])
    entered: dict[FuncOp, tuple[int, int]] = field(default_factory=dict[FuncOp, tuple[int, int]])
    bases: dict[FuncOp, int | None] = field(default_factory=dict[FuncOp, int | None])

    @classmethod
    def of(cls, func: FuncOp, source_order: bool) -> "_Scopes":
        scopes = cls(source_order)
        scopes.enter(func, 0)
        return scopes

    def enter(self, func: FuncOp, base: int | None) -> None:
        """Count a function and those that it runs, its tensors from `base` on. Raises MemoptError
        for a function that two operators run: TFLM has its tensors once."""
        if func in self.operators:
            text = "is run by two operators, but TFLM has its tensors once"
            raise MemoptError(text, f"@{func.sym_name.data}")
        pairs = file_operators(func)
        if self.source_order:
            pairs.sort(key=lambda pair: pair[1])
        self.operators[func] = [op for op, _ in pairs]
        self.bases[func] = base
        start = self.now
        for op in self.operators[func]:
            self.now += 1
            first = self.now
            inside = base_of(op)
            for callee in run_by(op):
                self.now += 1
                self.enter(callee, None if base is None or inside is None else base + inside)
            self.runs[op] = first, self.now
        self.entered[func] = start, self.now

    def functions(self) -> list[FuncOp]:
        """Return the functions: the first one, then those that operators run, by number."""
        main, *others = self.operators  # in the order in which they begin
        return [main, *sorted(others, key=subgraph_of)]


def base_of(op: Operation) -> int | None:
    """Return the offset in bytes of what an operator works in, None if it has no place."""
    scratch = scratch_list(op)
    place = scratch[0].place if scratch else None
    return place if isinstance(place, int) and place >= 0 else None


def tensor_requests(
    func: FuncOp, planned: bool, source_order: bool, hold_unread: bool
) -> list[tuple[SSAValue, Request]]:
    """Return the tensors that TFLM lays into its head, by subgraph and index."""
    return _tensors_of(_Scopes.of(func, source_order), planned, hold_unread)


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
    block, base = body_of(func), scopes.bases[func]
    begin, end = scopes.entered[func]
    places = places_of(func) if planned and base is not None else {}
    returned = set(block.last_op.operands) if block.last_op else set[SSAValue]()
    requests: list[tuple[int, SSAValue, Request]] = []
    for value, index in tensor_indices(func).items():
        size = bytes_of(value.type)
        maker = value.op if isinstance(value, OpResult) else None
        if not size or isinstance(maker, ConstantOp | VariableOp):
            continue  # constants are in flash, variables in the persistent tail
        first, used = (begin, begin) if maker is None else scopes.runs.get(maker, (-1, -1))
        uses = [scopes.runs[u.operation][1] for u in value.uses if u.operation in scopes.runs]
        live = live_range((first,), [used, *uses], end + 1, to_end=value in returned)
        last, offset = live.stop - 1, bytes_offset(places.get(value))
        if is_unread(value) and hold_unread is not None:
            last, offset = (max(last, min(1, end)), offset) if hold_unread else (last, None)
        at = None if offset is None or base is None else base + offset
        requests.append((index, value, Request(size, first, last, at)))
    return [(value, request) for _, value, request in sorted(requests, key=lambda entry: entry[0])]
