"""Operators and tensors of a plan in rows: what its many calls and buffers are together.

    timeline = timeline_of(func)
    timeline.tensors[timeline.buffers[7].tensor].name      # what buffer 7 is a row of

Rows of one tensor stay buffers of their own, each with its place and its life.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation, SSAValue

from memopt.analysis.storage_groups import BlockMemory, Storage
from memopt.analysis.work import work_of
from memopt.backends.report.numbering import numbered, numbers_of, title
from memopt.backends.report.timeline import INPUT, Kind, Operator, Rect, Tensor, Timeline
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.names import is_named, name_of, operator_kind
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import ReceiveOp, RowKernelOp, RowOp
from memopt.dialects.rows.state import RecallOp, RetainOp, SlideOp, StateOp, row_of

HAS_ROW = (RowOp, ReceiveOp, RecallOp, RetainOp)


def in_rows(t: Timeline, memory: BlockMemory, model: ModelAttr) -> Timeline:
    """Return the timeline of a plan in rows with its operators and tensors; a tensor that has no
    bytes but those of its parts is virtual."""
    runs = [_runs(op) for op in memory.operations]
    numbers = {operator: i for i, operator in enumerate(dict.fromkeys(runs))}
    operators = _operators(list(numbers), model)
    steps = tuple(
        replace(
            s,
            name=operators[numbers[operator]].name,
            op=operators[numbers[operator]].op,
            macs=None,
            weights=None,
            operator=numbers[operator],
            row=op.index.data if isinstance(op, HAS_ROW) else None,
        )
        for s, op, operator in zip(t.steps, memory.operations, runs, strict=True)
    )
    t = replace(t, steps=steps, operators=tuple(operators))
    return _with_tensors(t, memory)


def _runs(op: Operation) -> Operation | SSAValue:
    """The operator that a step is a call of; rows of an input are received for that, and rows that
    stay from run to run are kept by their state."""
    if isinstance(op, RowOp):
        return op.operation
    if isinstance(op, RecallOp | RetainOp | SlideOp):
        return op.kept
    return op.input if isinstance(op, ReceiveOp) else op


def _operators(found: Sequence[Operation | SSAValue], model: ModelAttr) -> list[Operator]:
    ours = [w for w in found if isinstance(w, Operation) and not isinstance(w, StateOp)]
    numbers = iter(numbers_of(ours))
    operators: list[Operator] = []
    for operator in found:
        if isinstance(operator, SSAValue):
            operators.append(Operator(name_of(operator), "receive", INPUT, 0, 0))
            continue
        if isinstance(operator, StateOp):
            operators.append(Operator(_tensor_name(operator.tensor), "keep", INPUT, 0, 0))
            continue
        work = work_of(operator, model)
        told = name_of_operator(operator), operator_kind(operator), str(next(numbers))
        operators.append(Operator(*told, work.macs, work.weights))
    return operators


def name_of_operator(operator: Operation) -> str:
    """Return what an operator is called: by its result, whole or in rows."""
    return _tensor_name(operator.results[0]) if _is_cut(operator) else title(operator)


def _is_cut(whole: Operation) -> bool:
    return isinstance(whole.parent_op(), RowKernelOp)


def _tensor_name(value: SSAValue) -> str:
    """Return a tensor's name: the model's own, else that of its `memgraph.row_kernel`."""
    owner = value.owner
    if not isinstance(owner, Operation) or is_named(value) or not _is_cut(owner):
        return name_of(value)
    of_operator = owner.parent_op()
    assert isinstance(of_operator, RowKernelOp)
    several = f"#{owner.results.index(value)}" if len(owner.results) > 1 else ""
    return f"{name_of(of_operator.operator)}{several}"


def _tensor_of(storage: Storage) -> tuple[SSAValue, int | None]:
    """The tensor that a group belongs to, and the row of it if it is just one."""
    first, _ = storage.members[0]
    row_of_tensor = row_of(first)
    if row_of_tensor is None:
        return first, None
    tensor, row = row_of_tensor
    return tensor, row if storage.size == bytes_of(first.type) else None


@dataclass(frozen=True)
class _Part:
    """Tensor of which a buffer is a part, how that is numbered, and which row it is."""

    key: object
    tensor: Tensor
    number: str
    row: int | None


def _with_tensors(t: Timeline, memory: BlockMemory) -> Timeline:
    """With what each buffer is a part of. What has no bytes but those of its parts is none."""
    groups = [g for g in memory.groups if g.in_arena]
    parts = [_part_of_group(t, g) for g in groups]
    parts += [_part_of_scratch(t, b) for b in t.buffers[len(groups) :]]
    origins = {memory.groups[g.piece[0]].members[0] for g in groups if g.piece is not None}
    owned = [
        i for i, _ in enumerate(parts) if i >= len(groups) or groups[i].members[0] not in origins
    ]

    of_key: dict[object, list[_Part]] = {}
    for i in owned:
        of_key.setdefault(parts[i].key, []).append(parts[i])
    labels = numbered([of[0].number for of in of_key.values()])
    tensors = [
        replace(of[0].tensor, label=label, kind=_kind([part.tensor.kind for part in of]))
        for of, label in zip(of_key.values(), labels, strict=True)
    ]
    place = {key: k for k, key in enumerate(of_key)}
    index = {old: new for new, old in enumerate(owned)}
    buffers = tuple(
        _belonging(t.buffers[i], place[parts[i].key], tensors, parts[i].row, index) for i in owned
    )
    return replace(t, buffers=buffers, tensors=tuple(tensors))


def _part_of_group(t: Timeline, storage: Storage) -> _Part:
    value, row = _tensor_of(storage)
    number = t.steps[storage.writers[0]].operator if storage.writers else None
    label = INPUT if storage.is_input or number is None else t.operators[number].label
    kind = "input" if label == INPUT else "output" if storage.is_output else "activation"
    owner = value.owner
    is_sum = isinstance(owner, ComputeOp) and _is_cut(owner) and owner.accumulates
    operator = None if storage.is_input else number
    return _Part(value, Tensor(_tensor_name(value), label, kind, operator, is_sum), label, row)


def _part_of_scratch(t: Timeline, scratch: Rect) -> _Part:
    step = t.steps[scratch.lower]
    operator = t.operators[step.operator]
    tensor = Tensor(f"scratch of {operator.name}", "", "scratch", step.operator)
    return _Part(("scratch", step.operator), tensor, f"{operator.label}w", step.row)


def _kind(kinds: Sequence[Kind]) -> Kind:
    """Return the kind of a tensor, from those of its rows: a sum over rows is an output from its
    last row on."""
    return "output" if "output" in kinds else kinds[0]


def _belonging(
    b: Rect, k: int, tensors: Sequence[Tensor], row: int | None, index: Mapping[int, int]
) -> Rect:
    tensor = tensors[k]
    number = "" if row is None else f"[{row}]"
    return replace(
        b,
        name=tensor.name + number,
        label=tensor.label + number,
        kind=tensor.kind,
        over=None if b.over is None else index[b.over],
        tensor=k,
        row=row,
    )
