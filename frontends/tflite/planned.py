"""A planned .tflite file read back as a planned function, so that its plan can be verified.

The order is the file's; the offsets are those of its `OfflineMemoryAllocation`, and what that
leaves open lies where TFLM's planner will put it.
"""

import struct

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import peak_of
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import functions
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.place_attributes import UnplacedAttr
from memopt.dialects.plan import MODEL, set_order, set_places
from memopt.dialects.tensors import is_buffer
from memopt.dialects.write_plan import Facts, write_plan
from memopt.formats.tflite import read_model
from memopt.frontends.tflite.read import read
from memopt.targets.tflm.arena import (
    is_unread,
    tensor_indices,
    tensor_requests,
    tflm_arena,
    write_scratch,
)

PLAN_NAME = "OfflineMemoryAllocation"


def read_planned(data: bytes, name: str) -> ModuleOp:
    """Import a .tflite together with its offline plan.

    Nothing is known of a bound, so the plan claims none. Raises MemoptError if the file has no
    plan or one that does not fit its tensors.
    """
    module = read(data, name)
    found = list(functions(module))
    if len(found) != 1:
        raise MemoptError(f"{len(found)} subgraphs; a plan is read for one", name)
    offsets = _plan_in(data, name)
    func = found[0]
    model = ModelAttr("tflm", 16, "arena", views=False, inplace=False, scratch="tflm")
    func.attributes[MODEL] = model
    _write(func, offsets, name)
    head = write_scratch(func)
    memory = function_memory(func, model)
    set_order(memory.operations)
    peak = peak_of(memory, model)
    write_plan(func, Facts(peak, 0, "none").in_one_arena(head, 0))
    return module


def _plan_in(data: bytes, name: str) -> tuple[int, ...]:
    model = read_model(data, name)
    buffers = [buffer for key, buffer in model.metadata if key == PLAN_NAME]
    if len(buffers) != 1:
        raise MemoptError(f"the file has no plan (no metadata {PLAN_NAME})", name)
    start, end = model.buffers[buffers[0]]
    if end - start < 12 or (end - start) % 4:
        raise MemoptError(f"metadata {PLAN_NAME} has {end - start} bytes", name)
    values = struct.unpack(f"<{(end - start) // 4}i", data[start:end])
    if values[2] != len(values) - 3 or values[2] != sum(
        len(graph.tensors) for graph in model.subgraphs
    ):
        raise MemoptError(f"metadata {PLAN_NAME} has {values[2]} offsets for other tensors", name)
    return values[3:]


def _write(func: FuncOp, offsets: tuple[int, ...], name: str) -> None:
    model = func.attributes[MODEL]
    assert isinstance(model, ModelAttr)
    memory = function_memory(func, model)
    index = tensor_indices(func)

    def place(value: SSAValue) -> Attribute:
        at = memory.of_value.get(value)
        if at is None:
            constant = is_buffer(value.type) and is_constant_expression(value, model)
            return UnplacedAttr("constant" if constant else "runtime")
        offset = offsets[index[value]] if value in index else -1
        if offset < -1:
            raise MemoptError(f"tensor {index[value]} has offset {offset}", name)
        return IntegerAttr(offset, i64) if offset >= 0 else UnplacedAttr("runtime")

    set_places(func, place)
    laid = dict(zip(*_laid_out(func), strict=True))

    def where(value: SSAValue) -> Attribute:
        found = place(value)
        is_open = isinstance(found, UnplacedAttr) and found.data == "runtime"
        return IntegerAttr(laid[value], i64) if is_open and value in laid else found

    set_places(func, where)


def _laid_out(func: FuncOp) -> tuple[list[SSAValue], list[int]]:
    """Tensors, and where TFLM's planner lays them around those that have offsets. What nobody reads
    is left out: TFLM gives its bytes away at once."""
    tensors = tensor_requests(func, planned=True, source_order=False, hold_unread=True)
    offsets = tflm_arena(func).offsets
    kept = [(v, at) for (v, _), at in zip(tensors, offsets, strict=False) if not is_unread(v)]
    return [v for v, _ in kept], [at for _, at in kept]
