"""The plan that stands in a .tflite file, given to its functions, so that it can be verified.

The order is the file's; the offsets are those of its `OfflineMemoryAllocation`, and what that
leaves open lies where TFLM's planner will put it.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, OpResult, SSAValue

from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import peak_of
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.placement import ScratchAttr, UnplacedAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import (
    UNRUN,
    body_of,
    callee_scratch,
    depth_of,
    functions,
    levels_of,
    mark_unrun,
    only_function,
    shared_functions,
    subgraph_of,
)
from memopt.dialects.memgraph.plan import MODEL, SCRATCH, plan_of, set_order, set_places
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import bytes_of, is_buffer
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.memgraph.write_plan import Facts, write_plan
from memopt.dialects.operators.base import is_constant_expression
from memopt.formats.tflite import read_model
from memopt.targets.tflm.arena import (
    is_unread,
    tensor_indices,
    tensor_requests,
    tflm_arena,
    write_scratch,
)

RULES = ModelAttr("tflm", 16, "arena", views=False, inplace=False, scratch="tflm")
PLAN_NAME = "OfflineMemoryAllocation"


def give_plan(module: ModuleOp, data: bytes, name: str) -> None:
    """Give an imported .tflite its offline plan, and take out what nobody runs.

    Nothing is known of a bound, so the plan claims none. Raises MemoptError if the file has no
    plan or one that does not fit its tensors.
    """
    offsets = _plan_in(data, name)
    mark_unrun(module)
    main = only_function(module)
    depth_of(main)
    for func in [func for func in functions(module) if UNRUN in func.attributes]:
        func.detach()
        func.erase()
    for func in functions(module):
        func.attributes[MODEL] = RULES
    _plan(main, offsets, name)


def _plan(func: FuncOp, offsets: Sequence[Sequence[int]], name: str) -> None:
    """Give a function the offsets of its subgraph, and before that those that its operators run
    theirs, from where the operator works on; one that several operators run has them already."""
    levels = levels_of(shared_functions(func))
    for op in body_of(func).ops:
        scratch: list[ScratchAttr] = []
        for block in callee_scratch(op):
            together = block.functions if block.level is None else levels[block.level]
            base = min((at for f in together for at in _held(f, offsets, name)), default=0)
            for callee in block.functions:
                moved = list(offsets)
                for each in (callee, *_inside(callee)):
                    number = subgraph_of(each)
                    moved[number] = [max(-1, at - base) for at in offsets[number]]
                if plan_of(callee) is None:
                    _plan(callee, moved, name)
            size = max(plan.arena for f in block.functions if (plan := plan_of(f)) is not None)
            scratch.append(ScratchAttr(size, base))
        if scratch:
            op.attributes[SCRATCH] = ArrayAttr(scratch)
    _write(func, offsets[max(0, subgraph_of(func))], name)
    head = write_scratch(func)
    memory = function_memory(func, RULES)
    set_order(memory.operations)
    peak = peak_of(memory, RULES)
    write_plan(func, Facts(peak, 0, "none").in_one_arena(head, 0))


def _inside(func: FuncOp) -> Iterator[FuncOp]:
    """Yield the functions that have their tensors in what operators of a function work in."""
    for op in func.body.walk():
        for callee in (f for block in callee_scratch(op) for f in block.functions):
            yield callee
            yield from _inside(callee)


def _held(func: FuncOp, offsets: Sequence[Sequence[int]], name: str) -> list[int]:
    """Return the offsets of all that a function that an operator runs has in the arena, and of what
    it runs. Raises MemoptError if the plan leaves one open."""
    offsets_held: list[int] = []
    for each in (*_inside(func), func):
        own = offsets[subgraph_of(each)]
        for value, index in tensor_indices(each).items():
            maker = value.op if isinstance(value, OpResult) else None
            if bytes_of(value.type) and not isinstance(maker, ConstantOp | VariableOp):
                if own[index] < 0:
                    text = f"the plan leaves tensor {index} of @{each.sym_name.data} to TFLM"
                    raise MemoptError(f"{text}, which an operator runs", name)
                offsets_held.append(own[index])
    return offsets_held


def _plan_in(data: bytes, name: str) -> list[Sequence[int]]:
    """Return the offsets of each subgraph."""
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
    starts = list(accumulate((len(graph.tensors) for graph in model.subgraphs), initial=3))
    return [values[start:end] for start, end in pairwise(starts)]


def _write(func: FuncOp, offsets: Sequence[int], name: str) -> None:
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
        attribute = place(value)
        is_open = isinstance(attribute, UnplacedAttr) and attribute.data == "runtime"
        return IntegerAttr(laid[value], i64) if is_open and value in laid else attribute

    set_places(func, where)


def _laid_out(func: FuncOp) -> tuple[list[SSAValue], list[int]]:
    """Tensors, and where TFLM's planner lays them around those that have offsets. What nobody reads
    is left out: TFLM gives its bytes away at once."""
    tensors = tensor_requests(func, planned=True, source_order=False, hold_unread=True)
    offsets = tflm_arena(func).offsets
    read = [(v, at) for (v, _), at in zip(tensors, offsets, strict=False) if not is_unread(v)]
    return [v for v, _ in read], [at for _, at in read]
