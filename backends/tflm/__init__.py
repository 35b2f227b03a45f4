"""The TensorFlow Lite Micro writer: the imported file again, in the planned order, with the plan.

    data = write_tflm(module, folder=Path("where/the/ir/is"))

Only the order of the operators, the metadata `OfflineMemoryAllocation` and what depends on the
order change; everything else is copied from the file that the module refers to. TFLM checks
nothing of a plan, so everything is checked here, and the result is read back before it is returned.
"""

import struct
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.analysis.weights import Weights, files_of
from memopt.backends.tflm.check import check_function, check_unrun, check_written
from memopt.backends.tflm.extent import has_bytes_behind, newer_field, trailing_bytes
from memopt.backends.tflm.hidden import make_safe, never_needs_more, unknown_scratch
from memopt.backends.tflm.order import functions_of, idle_tensors, written_order
from memopt.backends.tflm.repack import AlignedBuffer, pack, unpack
from memopt.backends.tflm.shapes import with_shapes_of, write_shapes
from memopt.dialects.attributes.placement import SlotAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import subgraph_of
from memopt.dialects.memgraph.plan import bytes_offset, places_of
from memopt.formats import tflite_control
from memopt.formats.tflite import Model, litert_schema, read_model
from memopt.targets.tflm.arena import bases_of, is_unread, tensor_indices, tflm_arena

__all__ = [
    "check_hidden",
    "heads",
    "is_safe",
    "make_safe",
    "source_of",
    "unknown_scratch",
    "write_tflm",
]

PLAN_NAME = "OfflineMemoryAllocation"


def write_tflm(
    module: ModuleOp,
    folder: Path = Path(),
    model_path: Path | None = None,
    source: bytes | None = None,
    at_run_time: bool = False,
    keeps_plan: bool = True,
) -> bytes:
    """The .tflite file for a planned module, whose target is `tflm`.

    `source` is the imported file; by default it is found as the module says (see Weights). With
    `at_run_time` the operators stay in the file's order and every offset is left to TFLM; a plan
    that the file has stays, unless not `keeps_plan`. Raises MemoptError: no or a stale plan,
    another target, other subgraphs than the file's, operators that are not the file's, a newer
    schema, and a plan with which TFLM would need more than without; whether it might, because of
    scratch that is not known, is asked of `check_hidden`.
    """
    data, model, name = source_of(module, folder, model_path, source)
    planned, shaped = functions_of(module, model), model
    func, weights = planned[0], Weights.holding(data)
    check_unrun(func, model)
    orders = [list(range(len(graph.operators))) for graph in model.subgraphs]
    for number, each in planned.items():
        check_function(each, model, number, weights)
        orders[number] = written_order(each, model)
        shaped = with_shapes_of(each, shaped, number)
    tensors = sum(len(graph.tensors) for graph in model.subgraphs)
    if at_run_time:
        named = [b for key, b in model.metadata if key == PLAN_NAME and keeps_plan]
        own = [data[slice(*model.buffers[b])] for b in named]
        if own and not has_bytes_behind(data) and shaped == model:
            return data
        orders, plan = list(map(sorted, orders)), own[0] if own else _plan([-1] * tensors)
    else:
        check_gain(func)
        plan = _plan(tensor_offsets(func, model))

    if newer := newer_field(data):
        raise MemoptError(
            f"{newer} is of a newer schema than LiteRT's here and would be lost", name
        )
    objects = unpack(data)
    options = (op.custom_options for graph in model.subgraphs for op in graph.operators)
    trailing = trailing_bytes(data, [*model.buffers, *options])
    write_shapes(objects, shaped)
    for graph, order in zip(objects.subgraphs, orders, strict=True):
        if graph.operators:
            graph.operators = [graph.operators[i] for i in order]
    _set_metadata(objects, PLAN_NAME, plan)
    _move_control_dependencies(objects, model, data, orders, name)
    result = pack(objects, trailing)
    check_written(data, shaped, result, orders, plan, name)
    return result


def _plan(offsets: Sequence[int]) -> bytes:
    """The bytes of the metadata: version, subgraphs, how many offsets, and these."""
    return struct.pack(f"<3i{len(offsets)}i", 1, 1, len(offsets), *offsets)


def source_of(
    module: ModuleOp,
    folder: Path = Path(),
    model_path: Path | None = None,
    source: bytes | None = None,
) -> tuple[bytes, Model, str]:
    """The imported .tflite file of a module, what is in it, and its name. Raises MemoptError if
    there is none, or if it has changed."""
    files = files_of(module)
    if len(files) != 1:
        text = f"the module refers to {len(files)} model files, a .tflite can be written from one"
        raise MemoptError(text)
    (sha256, name), *_ = files.items()
    data = Weights(files, folder, model_path).data(sha256) if source is None else source
    return data, read_model(data, name), name


def heads(func: FuncOp) -> tuple[int, int]:
    """Return the bytes of TFLM's head with the plan, and with the file as it is."""
    with_plan = tflm_arena(func, hold_unread=False).head
    return with_plan, tflm_arena(func, planned=False, source_order=True).head


def check_gain(func: FuncOp) -> None:
    """Raise MemoptError if TFLM would need a larger head with the plan than the file needs now."""
    with_plan, without = heads(func)
    if with_plan > without:
        raise MemoptError(
            f"with this plan TFLM needs {with_plan} B, with the file as it is {without} B, because "
            "it lays its kernels' scratch around the tensors; plan with scratch=tflm or keep it",
            f"@{func.sym_name.data}",
        )


def is_safe(func: FuncOp) -> bool:
    """Return whether no scratch that is not known can make TFLM need more with the plan than
    without."""
    return not unknown_scratch(func) or never_needs_more(func)


def check_hidden(func: FuncOp) -> None:
    """Raise MemoptError if operators whose scratch is not known might make TFLM need more with the
    plan than with the file as it is."""
    if not is_safe(func):
        unknown = unknown_scratch(func)
        raise MemoptError(
            f"the scratch of {', '.join(unknown)} in TFLM is not known: with this plan TFLM might "
            "need more than with the file as it is; memopt compile leaves such a file to TFLM",
            f"@{func.sym_name.data}",
        )


def tensor_offsets(func: FuncOp, model: Model) -> list[int]:
    """Return bytes from the start of the head per tensor of all subgraphs; -1 where TFLM shall find
    a place.

    So for an input that nobody reads: TFLM gives its bytes away sooner than a plan may; and for
    tensors of subgraphs that only say what variables begin with, which need no bytes. Those of
    subgraphs that an operator runs lie in what it works in, all of them. Tensors that no operator
    touches all lie at 0, and so do those of subgraphs that nobody runs: nobody writes them, but
    TFLM would lay them side by side.
    """
    starts = list(accumulate((len(g.tensors) for g in model.subgraphs), initial=0))
    offsets = [-1] * starts[-1]
    for g, index in idle_tensors(func, model):
        offsets[starts[g] + index] = 0
    for each, base in bases_of(func).items():
        if base is not None:
            _fill_offsets(each, base, starts, offsets)
    return offsets


def _fill_offsets(func: FuncOp, base: int, starts: Sequence[int], offsets: list[int]) -> None:
    number = max(0, subgraph_of(func))
    places = places_of(func)
    for value, index in tensor_indices(func).items():
        place = places.get(value)
        if isinstance(place, SlotAttr):
            raise MemoptError(
                f"TFLM has one arena, tensor {index} is placed in {place.memory.data}"
            )
        offset = bytes_offset(place)
        if offset is not None and (number or not is_unread(value)):
            offsets[starts[number] + index] = base + offset


def _set_metadata(objects: Any, name: str, data: bytes) -> None:
    """Replace the metadata `name`, or add it; its old buffer is used again if it is its own."""
    entries: list[Any] = list(objects.metadata or [])
    same = [m for m in entries if text_of(m.name) == name]
    entry = same[0] if same else litert_schema().MetadataT(name=name)
    users = [m.buffer for m in entries if m is not entry and m not in same]
    users += [t.buffer for g in objects.subgraphs for t in g.tensors or ()]
    if not same or entry.buffer in users or entry.buffer == 0:
        objects.buffers.append(AlignedBuffer(data))
        entry.buffer = len(objects.buffers) - 1
    else:
        objects.buffers[entry.buffer] = AlignedBuffer(data)
    if same:
        entries = [m for m in entries if m is entry or m not in same]
    else:
        entries.append(entry)
    objects.metadata = entries


def text_of(name: Any) -> str:
    return name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name or "")


def _move_control_dependencies(
    objects: Any, model: Model, data: bytes, orders: Sequence[list[int]], name: str
) -> None:
    positions = [sorted(range(len(order)), key=order.__getitem__) for order in orders]
    for key, buffer in model.metadata:
        if key != tflite_control.KEY:
            continue
        try:
            moved = tflite_control.remap(data[slice(*model.buffers[buffer])], positions)
        except ValueError as error:
            raise MemoptError(str(error), f"{name}: metadata {key}") from None
        _set_metadata(objects, key, moved)
