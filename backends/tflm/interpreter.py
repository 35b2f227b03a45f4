"""Arena of TensorFlow Lite Micro's interpreter in all: head, tail, and room to plan and prepare.

    need = interpreter_arena(func, model)      # of the plan in the IR, on a Cortex-M
    need.tensor_arena                          # the number to write as kTensorArenaSize
    interpreter_arena(func, model, WHEEL).total    # what the wheel's print_allocations says

The head holds tensors and scratch, the tail the interpreter's own structures; while the model is
prepared and planned, lists that are thrown away lie on top of the head, and for small models they
need more than the head does. Source: tensorflow/tflite-micro, lite/micro/micro_allocator.cc,
micro_interpreter.cc, micro_allocation_info.cc and memory_planner/greedy_memory_planner.h. Of the
reference kernels; CMSIS-NN's ask for scratch besides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.analysis.liveness import rounded
from memopt.backends.tflm.order import functions_of, idle_tensors, unrun_subgraphs, written_order
from memopt.backends.tflm.structs import (
    DEVICE,
    EVAL_TENSOR,
    KERNELS,
    Build,
    Kernel,
    Site,
    Sizes,
    Struct,
)
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.formats.tflite import Model, Tensor
from memopt.targets.tflm.arena import ALIGNMENT, tflm_arena
from memopt.targets.tflm.scratch import requested

MARGIN = 48  # bytes on top of the formula, for releases of TFLM whose structures differ a little

_OF_ONE_ARENA = (Struct("pp ppppp p i rrrr"),)  # SingleArenaBufferAllocator, or one that records
_OF_TWO_ARENAS = (
    Struct("pppp"),  # PersistentArenaBufferAllocator
    Struct("ppppp p i b"),  # NonPersistentArenaBufferAllocator
)
_ALLOCATORS = (
    Struct("p ii pppp ii p b"),  # GreedyMemoryPlanner
    Struct("pppppbppp r" + "rrr" * 8),  # MicroAllocator, or the one that records
    Struct("pp"),  # MicroBuiltinDataAllocator
)
_SUBGRAPH = Struct("pp w")  # SubgraphAllocations
_TENSOR = Struct("ep ii ppp eeb")
_QUANTIZATION = Struct("ppi")
_NODE = Struct("ppppppi p")  # NodeAndRegistration
_REQUEST = Struct("pii")  # ScratchBufferRequest
_ALLOCATION = Struct("pp iii b")  # AllocationInfo
_VARIABLES = Struct("pii")  # MicroResourceVariables
_VARIABLE = Struct("ppppb")
_PLANNED = 40  # bytes per buffer in GreedyMemoryPlanner
_REQUESTS_PER_OPERATOR = 12
_USERS = {"READ_VARIABLE": 1, "ASSIGN_VARIABLE": 2}  # operands of those that take a handle


@dataclass(frozen=True)
class InterpreterArena:
    """Bytes of TFLM's arena. `head` and `tail` stay; `planning` is the most that is in use before
    the plan is made, of it `lists` on top of the tail of that time. `structures` is what the tail
    is where it has an arena of its own."""

    head: int
    tail: int
    planning: int
    lists: int
    structures: int

    @property
    def total(self) -> int:
        """Return the bytes that TFLM reports as used."""
        return self.head + self.tail

    @property
    def needed(self) -> int:
        """The smallest arena with which the model runs, a multiple of 16."""
        return rounded(max(self.total, self.planning), ALIGNMENT)

    @property
    def tensor_arena(self) -> int:
        """The number to write as kTensorArenaSize: what is needed, and MARGIN."""
        return self.needed + MARGIN

    @property
    def persistent(self) -> int:
        """The number to write for the first of two arenas, which holds the structures: what is
        needed, and MARGIN."""
        return rounded(self.structures, ALIGNMENT) + MARGIN

    @property
    def non_persistent(self) -> int:
        """The number to write for the second of two arenas: tensors and scratch, and, before, the
        lists; and ALIGNMENT as a margin."""
        return rounded(max(self.head, self.lists), ALIGNMENT) + ALIGNMENT


def unbounded_operators(func: FuncOp, model: Model) -> list[str]:
    """Names of the operators of which it is not known what TFLM keeps or asks for."""
    operations, kernels = _operations(func), model_of(func)
    unrun, names = unrun_subgraphs(func, model), set[str]()
    for g, graph in enumerate(model.subgraphs):
        for index, operator in enumerate(graph.operators):
            op = operations.get((g, index))
            scratch = () if op is None else requested(op, kernels)
            asks = scratch is None or (g in unrun and bool(scratch))
            asks |= operator.name == "VAR_HANDLE" and op is not None and not _is_handle(op)
            asks |= isinstance(op, OpaqueOp) and not _has_handle(op)
            if asks or operator.name not in KERNELS:
                names.add(operator.name)
    return sorted(names)


def _is_handle(op: Operation) -> bool:
    """Return whether what a VAR_HANDLE makes only serves to read and assign a variable."""
    users = [use.operation for value in op.results for use in value.uses]
    return all(isinstance(u, OpaqueOp) and u.op_name.data in _USERS for u in users)


def _has_handle(op: OpaqueOp) -> bool:
    """Return whether the variable that `op` reads or assigns, if it does, is one that a VAR_HANDLE
    finds: not one that is given to the model, or that an IF chooses."""
    count = _USERS.get(op.op_name.data)
    if count is None:
        return True
    owner = op.operands[0].owner if len(op.operands) == count else None
    return isinstance(owner, OpaqueOp) and owner.op_name.data == "VAR_HANDLE"


def _operations(func: FuncOp) -> dict[tuple[int, int], Operation]:
    """The operations that stand for operators of the file, by subgraph and number."""
    module = func.parent_op()
    operations: dict[tuple[int, int], Operation] = {}
    for op in (func if module is None else module).walk():
        source = op.attributes.get("memgraph.source")
        if isinstance(source, SourceAttr) and source.operator.data >= 0:
            operations[source.subgraph.data, source.operator.data] = op
    return operations


def interpreter_arena(
    func: FuncOp, model: Model, build: Build = DEVICE, planned: bool = True
) -> InterpreterArena:
    """Return the arena for a function imported from `model`, with the plan in the IR, or the file
    as it is.

    Raises MemoptError that names the operators that `unbounded_operators` lists.
    """
    unknown = unbounded_operators(func, model)
    if unknown:
        text = f"what TFLM needs for {', '.join(unknown)} is not known"
        raise MemoptError(f"{text}: its arena is not bounded", f"@{func.sym_name.data}")
    module = func.parent_op()
    orders: dict[int, Sequence[int]] = {}
    if planned and isinstance(module, ModuleOp):
        orders = {g: written_order(f, model) for g, f in functions_of(module, model).items()}
    operations = _operations(func)
    steps: list[_Step] = []
    for g, graph in enumerate(model.subgraphs):
        for index in orders.get(g, range(len(graph.operators))):
            op = operations.get((g, index))
            scratches = () if op is None else requested(op, model_of(func)) or ()
            site = Site(graph.operators[index], graph.tensors, op)
            steps.append(_Step(site, KERNELS[site.operator.name], len(scratches)))
    arena = tflm_arena(func, planned=planned, source_order=not planned, hold_unread=False)
    one, two = (
        _tail(model, steps, _held(func, model), build, (*allocators, *_ALLOCATORS))
        for allocators in (_OF_ONE_ARENA, _OF_TWO_ARENAS)
    )
    head = max(arena.head, _unused(func, model, planned))
    return InterpreterArena(head, *one, structures=two[0])


def _unused(func: FuncOp, model: Model, planned: bool) -> int:
    """Return the bytes that TFLM lays out for tensors that no operator that runs touches: side by
    side, but all at the start of the head in a plan of ours."""
    tensors = [model.subgraphs[g].tensors[i] for g, i in idle_tensors(func, model)]
    sizes = [rounded(tensor.size or 0, ALIGNMENT) for tensor in tensors]
    return max(sizes, default=0) if planned else sum(sizes)


def _held(func: FuncOp, model: Model) -> list[int]:
    """Bytes of each variable that is found by name."""
    tensors, sizes = model.subgraphs[0].tensors, list[int]()
    for op in body_of(func).ops:
        source = op.attributes.get("memgraph.source")
        if not isinstance(op, VariableOp) or not isinstance(source, SourceAttr):
            continue
        if tensors[source.tensor_ids[0]].type == "RESOURCE":
            sizes.append(bytes_of(op.results[0].type) or 0)
    return sizes + list(_named(func).values())


def _named(func: FuncOp) -> dict[Attribute | None, int]:
    """Return the bytes of each variable of which the IR has the operators that find it: of what is
    assigned to it first, none if nothing is."""
    names: dict[SSAValue, Attribute | None] = {}
    sizes: dict[Attribute | None, int] = {}
    for _, op in sorted(_operations(func).items(), key=lambda entry: entry[0]):
        name = op.op_name.data if isinstance(op, OpaqueOp) else ""
        if name == "VAR_HANDLE":
            names[op.results[0]] = op.properties.get("options")
            sizes.setdefault(names[op.results[0]], 0)
        elif name == "ASSIGN_VARIABLE":
            variable = names[op.operands[0]]
            sizes[variable] = sizes[variable] or bytes_of(op.operands[1].type) or 0
    return sizes


@dataclass(frozen=True)
class _Step:
    """An operator in its turn, what TFLM keeps for it, and how many scratch buffers it asks for."""

    site: Site
    kernel: Kernel
    scratches: int


def _tail(
    model: Model,
    steps: Sequence[_Step],
    held: Sequence[int],
    build: Build,
    allocators: Sequence[Struct],
) -> tuple[int, int, int]:
    """(bytes of the tail, most bytes in use before the plan is made, most of them without a tail),
    operators in order, those of the first subgraph first; `held` are the bytes of variables that
    are found by name."""
    graph = model.subgraphs[0]
    tensors = [t for g in model.subgraphs for t in g.tensors]
    tail = _Tail(build)
    for struct in allocators:
        tail.add(struct)
    if held:
        tail.aligned(_VARIABLES.size(build))
        tail.aligned(len(held) * _VARIABLE.size(build))
    tail.add(_SUBGRAPH, len(model.subgraphs))
    for each in model.subgraphs:
        tail.add(EVAL_TENSOR, len(each.tensors))
    for each in model.subgraphs:
        tail.add(_NODE, len(each.operators))
    for step in steps:
        tail.add(step.kernel.params)
    for step in steps:
        tail.buffers((step.kernel.data, *step.kernel.states(step.site)))
    preparing, lists, requests = 0, 0, _REQUEST.size(build) * _REQUESTS_PER_OPERATOR
    for step in steps:
        operator, listed = step.site.operator, step.site.tensors
        tail.buffers(step.kernel.buffers(step.site))
        if operator.name == "ASSIGN_VARIABLE":  # the first one makes room for what it holds
            for size in held:
                tail.aligned(size)
            held = ()
        copies = sum(_copy(listed[i], build) for i in operator.inputs if i >= 0)
        copies += sum(_copy(listed[i], build) for i in operator.outputs)
        prepared = requests + step.kernel.copies * copies
        preparing, lists = max(preparing, tail.bytes + prepared), max(lists, prepared)
        requests += _REQUEST.size(build) * step.scratches
    scratches = sum(step.scratches for step in steps)
    tail.add(Struct("p"), scratches)
    for tensor in tensors:
        if tensor.is_variable:
            tail.aligned(tensor.size or 0)
    planned = _planning(tensors, len(model.subgraphs), requests, scratches, build)
    planning, lists = rounded(tail.bytes, ALIGNMENT) + planned, max(lists, planned)
    for side in (graph.inputs, graph.outputs):
        tail.aligned(build.pointer * len(side))
        for index in side:
            tail.add(_TENSOR)
            channels = _scales(graph.tensors[index])
            if channels:
                tail.add(_QUANTIZATION)
                tail.add(Struct("i"), 1 + channels)
    return tail.bytes, max(preparing, planning), lists


def _planning(
    tensors: Sequence[Tensor], subgraphs: int, requests: int, scratches: int, build: Build
) -> int:
    """Bytes of the lists with which the plan is made: requests, life times, the planner's own."""
    lives = len(tensors) + scratches
    planned = scratches + sum(
        not t.is_constant and not t.is_variable and bool(t.size) for t in tensors
    )
    at = (
        rounded(requests + build.pointer * subgraphs, build.pointer)
        + _ALLOCATION.size(build) * lives
    )
    return rounded(at, ALIGNMENT) + _PLANNED * planned


def _scales(tensor: Tensor) -> int:
    """How many scales TFLM copies of a tensor."""
    of = tensor.quantization
    return len(of.scale) if of is not None and of.scale and of.zero_point else 0


def _copy(tensor: Tensor, build: Build) -> int:
    """Bytes of a TfLiteTensor with its quantization, with room to align it."""
    channels = _scales(tensor)
    size = _TENSOR.size(build) + (_QUANTIZATION.size(build) + 4 * (1 + channels) if channels else 0)
    return rounded(size, build.pointer)


class _Tail:
    """The tail of the arena as it grows downwards from an aligned end."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.bytes = 0

    def add(self, struct: Struct, count: int = 1) -> None:
        """`count` structures side by side."""
        size, alignment = struct.layout(self.build)
        self.bytes = rounded(self.bytes + size * count, alignment) if size * count else self.bytes

    def aligned(self, size: int) -> None:
        """A buffer that a kernel asks for."""
        self.bytes = rounded(self.bytes + size, ALIGNMENT) if size else self.bytes

    def buffers(self, sizes: Sizes) -> None:
        """Buffers that a kernel asks for, one after the other."""
        for size in sizes:
            self.aligned(size if isinstance(size, int) else size.size(self.build))
