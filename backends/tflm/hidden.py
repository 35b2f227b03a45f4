"""Plans around operators whose scratch in TensorFlow Lite Micro is not known.

    unknown_scratch(func)      # ["CUSTOM:mine"]
    never_needs_more(func)     # whether the plan is safe whatever they ask for

TFLM lays such scratch at run time around the tensors that have offsets. Let an operator ask for s
bytes, and let the tensors of its step end at e in the plan: then they need at most e + s together.
The file as it is needs at least the bytes alive at that step and s. So the plan is safe if e is no
more than those bytes at each such operator, and the rest no more than the most that is ever alive.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.attributes.placement import UnplacedAttr
from memopt.dialects.memgraph.custom import IN_FILE
from memopt.dialects.memgraph.functions import body_of, reached_by, run_by
from memopt.dialects.memgraph.plan import model_of, places_of, plan_of, set_places
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.write_plan import order_facts, write_plan
from memopt.targets.tflm.arena import (
    Request,
    file_operators,
    greedy,
    is_unread,
    round_up,
    tensor_requests,
    tflm_requests,
    write_scratch,
)
from memopt.targets.tflm.scratch import requested


def unknown_scratch(func: FuncOp) -> list[str]:
    """Names of the operators whose scratch in TFLM is not known: for these nothing is promised."""
    return sorted({_name(op) for op in (*_hidden(func), *_inside(func))})


def _inside(func: FuncOp) -> list[Operation]:
    """Return the operators of unknown scratch in functions that operators run."""
    return [op for callee in reached_by(func) for op in _hidden(callee)]


def _hidden(func: FuncOp) -> dict[Operation, int]:
    """Operators of unknown scratch, and when they run, from 1."""
    model = model_of(func)
    steps = enumerate(file_operators(func), 1)
    return {op: t for t, (op, _) in steps if requested(op, model) is None}


def _name(op: Operation) -> str:
    if isinstance(op, OpaqueOp):
        return op.op_name.data
    in_file = op.attributes.get(IN_FILE)
    return in_file.data if isinstance(in_file, StringAttr) else op.name


def never_needs_more(func: FuncOp) -> bool:
    """Return whether TFLM's head is, with the plan in the IR, proven to be no larger than with the
    file as it is, whatever the operators of unknown scratch ask for."""
    ours = tflm_requests(func, planned=True, source_order=False, hold_unread=False)
    return not _inside(func) and _is_safe(func, ours, _alive_before(func))


def make_safe(func: FuncOp) -> bool:
    """Give the tensors of a placed function other offsets, so that `never_needs_more` holds, and
    say whether that was possible. The order stays; the plan's arena becomes that of the offsets.

    What lives beside an operator of unknown scratch is stacked from 0 upwards, and the rest laid
    around it, first fit, in several orders.
    """
    plan, model = plan_of(func), model_of(func)
    runs_others = any(run_by(op) for op in body_of(func).ops)
    if plan is None or model.has_views or model.has_inplace or runs_others:
        return False
    before = _alive_before(func)
    tensors = tensor_requests(func, planned=False, source_order=False, hold_unread=False)
    fixed = {i for i, (value, r) in enumerate(tensors) if r.size and not is_unread(value)}
    scratch = tflm_requests(func, False, False, False)[len(tensors) :]
    best: tuple[int, list[Request]] | None = None
    for stacked, others in product(_KEYS, _KEYS):
        pinned = _beside(func, [r for _, r in tensors])
        order = sorted(
            fixed,
            key=lambda i: (i not in pinned, (stacked if i in pinned else others)(tensors[i][1]), i),
        )
        offsets = _first_fit([r for _, r in tensors], order)
        requests = [replace(r, offset=offsets.get(i)) for i, (_, r) in enumerate(tensors)]
        head = greedy([*requests, *scratch]).head
        if (best is None or head < best[0]) and _is_safe(func, [*requests, *scratch], before):
            best = head, requests
    if best is None:
        return False
    places = {value: r.offset for (value, _), r in zip(tensors, best[1], strict=True)}

    def place(value: SSAValue, old: Attribute) -> Attribute:
        offset = places.get(value)
        return old if offset is None else IntegerAttr(offset, i64)

    old, runtime = places_of(func), UnplacedAttr("runtime")
    set_places(func, lambda value: place(value, old.get(value) or runtime))
    head = write_scratch(func)
    write_plan(func, order_facts(plan).in_one_arena(head, plan.arena_lower_bound.data))
    return True


_KEYS: tuple[Callable[[Request], tuple[int, int]], ...] = (
    lambda r: (-r.size, r.first - r.last),
    lambda r: (r.first - r.last, -r.size),
    lambda r: (-r.size * (r.last - r.first + 1), 0),
)


def _beside(func: FuncOp, requests: Sequence[Request]) -> set[int]:
    """Indices of what is alive while an operator of unknown scratch runs."""
    steps = _hidden(func).values()
    return {i for i, r in enumerate(requests) if any(r.first <= t <= r.last for t in steps)}


def _first_fit(requests: Sequence[Request], order: Sequence[int]) -> dict[int, int]:
    """Offsets, each the lowest at which a request overlaps none before it."""
    offsets: dict[int, int] = {}
    for i in order:
        r, at = requests[i], 0
        busy = sorted(
            (offset, offset + round_up(requests[j].size))
            for j, offset in offsets.items()
            if requests[j].first <= r.last and r.first <= requests[j].last
        )
        for start, end in busy:
            if start - at >= round_up(r.size):
                break
            at = max(at, end)
        offsets[i] = at
    return offsets


@dataclass(frozen=True)
class _Before:
    """Bytes alive in the file's own order: at each operator, and the most of all."""

    at: dict[Operation, int]
    most: int


def _alive_before(func: FuncOp) -> _Before:
    theirs = tflm_requests(func, planned=False, source_order=True, hold_unread=False)
    order = sorted(file_operators(func), key=lambda pair: pair[1])
    alive = [_alive(theirs, t) for t in range(len(order) + 1)]
    return _Before({op: alive[t] for t, (op, _) in enumerate(order, 1)}, max(alive))


def _is_safe(func: FuncOp, ours: Sequence[Request], before: _Before) -> bool:
    if greedy(ours).head > before.most:
        return False
    for op, step in _hidden(func).items():
        beside = [r for r in ours if r.size and r.first <= step <= r.last]
        if any(r.offset is None for r in beside):
            return False  # it lies where TFLM finds room, and that depends on the scratch
        end = max(((r.offset or 0) + round_up(r.size) for r in beside), default=0)
        if end > before.at[op]:
            return False
    return True


def _alive(requests: Sequence[Request], step: int) -> int:
    """Bytes that are in use at a step."""
    return sum(round_up(r.size) for r in requests if r.first <= step <= r.last)
