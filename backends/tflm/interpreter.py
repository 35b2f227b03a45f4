"""What TensorFlow Lite Micro's interpreter needs in all: head, tail, and room to plan and prepare.

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

from xdsl.dialects.func import FuncOp

from memopt.backends.tflm.structs import DEVICE, KERNELS, Build, Struct
from memopt.dialects.cmsis_nn_scratch import requested
from memopt.dialects.errors import MemoptError
from memopt.dialects.plan import model_of
from memopt.formats.tflite import Model, Subgraph, Tensor
from memopt.targets.tflm.arena import ALIGNMENT, file_operators, tflm_arena

MARGIN = 48  # bytes on top of the formula, for releases of TFLM whose structures differ a little

_ALLOCATORS = (
    Struct("pp ppppp p i rrrr"),  # SingleArenaBufferAllocator, or the one that records
    Struct("p ii pppp ii p b"),  # GreedyMemoryPlanner
    Struct("pppppbppp r" + "rrr" * 8),  # MicroAllocator, or the one that records
    Struct("pp"),  # MicroBuiltinDataAllocator
)
_SUBGRAPH = Struct("pp r")  # SubgraphAllocations
_EVAL_TENSOR = Struct("ppe")
_TENSOR = Struct("ep ii ppp eeb")
_QUANTIZATION = Struct("ppi")
_NODE = Struct("ppppppi p")  # NodeAndRegistration
_REQUEST = Struct("pii")  # ScratchBufferRequest
_ALLOCATION = Struct("pp iii b")  # AllocationInfo
_PLANNED = 40  # bytes per buffer in GreedyMemoryPlanner
_REQUESTS_PER_OPERATOR = 12


@dataclass(frozen=True)
class InterpreterArena:
    """Bytes of TFLM's arena. `head` and `tail` stay; `planning` is the most that is in use before
    the plan is made."""

    head: int
    tail: int
    planning: int

    @property
    def total(self) -> int:
        """What TFLM reports as used."""
        return self.head + self.tail

    @property
    def needed(self) -> int:
        """The smallest arena with which the model runs, a multiple of 16."""
        return _up(max(self.total, self.planning), ALIGNMENT)

    @property
    def tensor_arena(self) -> int:
        """The number to write as kTensorArenaSize: what is needed, and MARGIN."""
        return self.needed + MARGIN


def unbounded_operators(func: FuncOp, model: Model) -> list[str]:
    """Names of the operators of which it is not known what TFLM keeps or asks for."""
    listed, kernels = model.subgraphs[0].operators, model_of(func)
    return sorted(
        {
            listed[index].name
            for op, index in file_operators(func)
            if listed[index].name not in KERNELS or requested(op, kernels) is None
        }
    )


def interpreter_arena(
    func: FuncOp, model: Model, build: Build = DEVICE, planned: bool = True
) -> InterpreterArena:
    """What a function imported from `model` needs, with the plan in the IR, or the file as it is.

    Raises MemoptError that names the operators that `unbounded_operators` lists.
    """
    unknown = unbounded_operators(func, model)
    if unknown:
        text = f"what TFLM needs for {', '.join(unknown)} is not known"
        raise MemoptError(f"{text}: its arena is not bounded", f"@{func.sym_name.data}")
    operators = file_operators(func)
    if not planned:
        operators.sort(key=lambda pair: pair[1])
    order = [index for _, index in operators]
    scratches = [len(requested(op, model_of(func)) or ()) for op, _ in operators]
    arena = tflm_arena(func, planned=planned, source_order=not planned, hold_unread=False)
    tail, planning = _tail(model, order, scratches, build)
    return InterpreterArena(arena.head, tail, planning)


def _tail(
    model: Model, order: Sequence[int], scratches: Sequence[int], build: Build
) -> tuple[int, int]:
    """(bytes of the tail, most bytes in use before the plan is made), operators in `order`."""
    graph = model.subgraphs[0]
    operators = [graph.operators[i] for i in order]
    kernels = [KERNELS[o.name] for o in operators]
    tail = _Tail(build)
    for struct in _ALLOCATORS:
        tail.add(struct)
    tail.add(_SUBGRAPH, len(model.subgraphs))
    tail.add(_EVAL_TENSOR, len(graph.tensors))
    tail.add(_NODE, len(operators))
    for kernel in kernels:
        tail.add(kernel.params)
    for kernel in kernels:
        tail.aligned(kernel.data.size(build))
    preparing, requests = 0, _REQUEST.size(build) * _REQUESTS_PER_OPERATOR
    for operator, kernel, count in zip(operators, kernels, scratches, strict=True):
        for size in kernel.buffers(operator, graph.tensors):
            tail.aligned(size)
        copies = sum(_copy(graph.tensors[i], build) for i in operator.inputs if i >= 0)
        copies += sum(_copy(graph.tensors[i], build) for i in operator.outputs)
        preparing = max(preparing, tail.bytes + requests + kernel.copies * copies)
        requests += _REQUEST.size(build) * count
    tail.add(Struct("p"), sum(scratches))
    for tensor in graph.tensors:
        if tensor.is_variable:
            tail.aligned(tensor.size or 0)
    planning = _up(tail.bytes, ALIGNMENT) + _planning(graph, requests, sum(scratches), build)
    for side in (graph.inputs, graph.outputs):
        tail.aligned(build.pointer * len(side))
        for index in side:
            tail.add(_TENSOR)
            channels = _scales(graph.tensors[index])
            if channels:
                tail.add(_QUANTIZATION)
                tail.add(Struct("i"), 1 + channels)
    return tail.bytes, max(preparing, planning)


def _planning(graph: Subgraph, requests: int, scratches: int, build: Build) -> int:
    """Bytes of the lists with which the plan is made: requests, life times, the planner's own."""
    lives = len(graph.tensors) + scratches
    planned = scratches + sum(
        not t.is_constant and not t.is_variable and bool(t.size) for t in graph.tensors
    )
    at = _up(requests + build.pointer, build.pointer) + _ALLOCATION.size(build) * lives
    return _up(at, ALIGNMENT) + _PLANNED * planned


def _scales(tensor: Tensor) -> int:
    """How many scales TFLM copies of a tensor."""
    found = tensor.quantization
    return len(found.scale) if found is not None and found.scale and found.zero_point else 0


def _copy(tensor: Tensor, build: Build) -> int:
    """Bytes of a TfLiteTensor with its quantization, with room to align it."""
    channels = _scales(tensor)
    size = _TENSOR.size(build) + (_QUANTIZATION.size(build) + 4 * (1 + channels) if channels else 0)
    return _up(size, build.pointer)


class _Tail:
    """The tail of the arena as it grows downwards from an aligned end."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.bytes = 0

    def add(self, struct: Struct, count: int = 1) -> None:
        """`count` structures side by side."""
        size, alignment = struct.layout(self.build)
        self.bytes = _up(self.bytes + size * count, alignment) if size * count else self.bytes

    def aligned(self, size: int) -> None:
        """A buffer that a kernel asks for."""
        self.bytes = _up(self.bytes + size, ALIGNMENT) if size else self.bytes


def _up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
