"""Sizes of TensorFlow Lite Micro's C structures in the tail of its arena, for one operator and any
pointer width.

    KERNELS["CONV_2D"].data.size(DEVICE)        # 56: OpDataConv on a Cortex-M
    KERNELS["CONV_2D"].buffers(Site(operator, tensors))  # multipliers and shifts, bytes each

A structure is written as its fields, one letter each, and laid out as C lays it out. Source:
tensorflow/tflite-micro, lite/micro/builtin_op_data.h (`params`) and the OpData structures of
lite/micro/kernels (`data`); the sizes with 8-byte pointers are those that the functions Parse* and
*Init of the PyPI wheel ask for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.formats.tflite import TENSOR_TYPES_BY_NAME, Operator, Tensor
from memopt.targets.tflm.scratch import flag


@dataclass(frozen=True)
class Build:
    """How TFLM was compiled: bytes of a pointer and of an enumeration; with its tensor compression
    and the larger parameters of FULLY_CONNECTED, both as in the wheel, or without; and whether the
    allocator is the one that records."""

    pointer: int
    enum: int
    is_wheel: bool
    records: bool


DEVICE = Build(4, 1, is_wheel=False, records=False)  # arm-none-eabi-gcc packs enumerations
WHEEL = Build(8, 4, is_wheel=True, records=True)  # PyPI's tflite-micro


@dataclass(frozen=True)
class Struct:
    """Fields in their order: `b` 1 byte, `h` 2, `i` 4, `d` 8, `p` a pointer or size_t, `e` an
    enumeration; `c` 4 bytes and `w` 8 in the wheel alone, `r` a pointer in an allocator that
    records; blanks mean nothing."""

    fields: str

    def layout(self, build: Build) -> tuple[int, int]:
        """(bytes, alignment)."""
        widths = {"b": 1, "h": 2, "i": 4, "d": 8, "p": build.pointer, "e": build.enum}
        widths |= {"c": 4, "w": 8} if build.is_wheel else {}
        widths |= {"r": build.pointer} if build.records else {}
        at, alignment = 0, 1
        for field in self.fields:
            if field not in widths:
                continue
            width = widths[field]
            at = -(-at // width) * width + width
            alignment = max(alignment, width)
        return -(-at // alignment) * alignment, alignment

    def size(self, build: Build) -> int:
        return self.layout(build)[0]


@dataclass(frozen=True)
class Site:
    """An operator of a file with the tensors of its subgraph, and the operation that it is in the
    IR, if there is one."""

    operator: Operator
    tensors: Sequence[Tensor]
    op: Operation | None = None

    def operand(self, position: int) -> Tensor | None:
        """The operand at a position, None where it is left out."""
        inputs = self.operator.inputs
        index = inputs[position] if position < len(inputs) else -1
        return self.tensors[index] if index >= 0 else None

    @property
    def result(self) -> Tensor:
        """The first result."""
        return self.tensors[self.operator.outputs[0]]


Sizes = tuple["int | Struct", ...]
Buffers = Callable[[Site], Sizes]


def _none(site: Site) -> Sizes:
    return ()


@dataclass(frozen=True)
class Kernel:
    """`params`: what is parsed from the file; `data`: what its Init asks for, and `states` besides;
    `buffers`: what its Prepare asks for, bytes each; `copies`: how often Prepare copies each tensor
    at most."""

    params: Struct = Struct("")
    data: Struct = Struct("")
    buffers: Buffers = _none
    copies: int = 2
    states: Buffers = _none


def _channels(axis: int, operand: int = 1, type_: str | None = None) -> Buffers:
    """A multiplier and a shift per channel, 4 bytes each; for `type_` only, if it is given."""

    def buffers(site: Site) -> Sizes:
        weights = site.operand(operand)
        if weights is None or len(weights.shape) <= axis:
            return ()
        return () if type_ and site.result.type != type_ else (4 * weights.shape[axis],) * 2

    return buffers


def _scales(site: Site) -> Sizes:
    """fully_connected_common.cc: only where the weights have several scales."""
    weights = site.operand(1)
    quantization = weights.quantization if weights is not None else None
    count = len(quantization.scale) if quantization is not None else 0
    is_float = site.result.type == "FLOAT32"
    return () if count <= 1 or is_float else (4 * count,) * 2


def _joined(site: Site) -> Sizes:
    """concatenation.cc: scale and zero point of every int8 operand."""
    is_int8 = site.result.type == "INT8"
    return (4 * len(site.operator.inputs),) * 2 if is_int8 else ()


def _tables(site: Site) -> Sizes:
    """softmax_common.cc: two tables of 513 int16 for int16 operands."""
    source = site.operand(0)
    return (2 * 513,) * 2 if source is not None and source.type == "INT16" else ()


def _is_int8(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.type == "INT8"


def _bytes_in_all(tensor: Tensor) -> int:
    """Bytes of a tensor whose elements each take whole bytes."""
    bits = TENSOR_TYPES_BY_NAME[tensor.type] or 0
    return prod(tensor.shape) * -(-bits // 8)


def _product(site: Site) -> Sizes:
    """batch_matmul.cc: numbers of a quantized product, and for each operand that it transposes a
    tensor, its dimensions and its elements. It multiplies with the second one transposed."""
    is_adjoint = [_is_adjoint(site.op, side) for side in "xy"]
    turned = [i for i, turns in enumerate((is_adjoint[0], not is_adjoint[1])) if turns]
    sizes: list[int | Struct] = [] if site.result.type == "FLOAT32" else [4 * 7]
    for tensor in map(site.operand, turned):
        if tensor is not None:
            sizes += [EVAL_TENSOR, 4 * (1 + len(tensor.shape)), _bytes_in_all(tensor)]
    return (*sizes, *_dimensions(site))


def _is_adjoint(op: Operation | None, side: str) -> bool:
    """Return whether a product takes its operand `x` or `y` transposed."""
    if isinstance(op, OpaqueOp):
        return flag(op, f"adj{side.upper()}")
    return op is not None and f"adj_{side}" in op.properties


def _of_stored(size: int) -> Buffers:
    """One buffer, where the operand is of int8."""

    def buffers(site: Site) -> Sizes:
        return (size,) if _is_int8(site.operand(0)) else ()

    return buffers


def _dimensions(site: Site) -> Sizes:
    """A copy of how large the result is, which Prepare sets (CreateWritableTensorDimsWithCopy)."""
    return (4 * (1 + len(site.result.shape)),)


def _lookup(site: Site) -> Sizes:
    """embedding_lookup.cc: scale and size of a row of the table, and the result's dimensions."""
    return Struct("dp"), *_dimensions(site)


def _option(site: Site, name: str) -> int:
    """Return an option of a typed operation."""
    assert site.op is not None
    return int(cast("IntegerAttr[Any]", site.op.properties[name]).value.data)


def _samples(capacity: int) -> Struct:
    """circular_buffer.cc: a CircularBuffer and twice as many int16."""
    return Struct("ppp ii p" + "hh" * capacity)


def _in_turn(site: Site, each: Struct) -> Sizes:
    """Two lists of pointers, and a state for each of the outer dimensions."""
    source = site.operand(0)
    outer = prod(source.shape[:-1]) if source is not None else 0
    return (*(Struct("p" * outer),) * 2, *(each,) * outer)


def _framer(site: Site) -> Sizes:
    size, step = _option(site, "size"), _option(site, "step")
    return _in_turn(site, _samples(-(-size // step) * step))


def _delay(site: Site) -> Sizes:
    source = site.operand(0)
    assert source is not None
    return _in_turn(site, _samples(source.shape[-1] + _option(site, "length")))


def _overlap(site: Site) -> Sizes:
    source = site.operand(0)
    assert source is not None
    *outer, _, size = source.shape
    count = prod(outer)
    return (Struct("p" * count), *(size * _bytes_of_element(source),) * count)


def _stacker(site: Site) -> Sizes:
    return (_samples(prod(site.result.shape)),)


def _transform(site: Site) -> Sizes:
    """kiss_fftr.c: its state, that of half the length with 64 factors, and complex numbers; of a
    real inverse transform up to 16 bytes more."""
    half, letter = _option(site, "length") // 2, "h" if site.result.type == "INT16" else "i"
    numbers = letter * 2 * (half + half * 3 // 2)
    return (Struct("ppp" + "i" * 66 + numbers + "dd" * (site.result.type == "FLOAT32")),)


def _bytes_of_element(tensor: Tensor) -> int:
    return _bytes_in_all(tensor) // prod(tensor.shape)


def _channel_states(extra: int, size: int) -> Buffers:
    """So many bytes for each channel and for some more."""
    return lambda site: (size * (prod(site.result.shape) + extra),)


EVAL_TENSOR = Struct("ppe")
_CONV = Struct("iiii iii ii pp ii i cc")
_POOL = Kernel(Struct("eiiiie iiii"), Struct("iiii ii ii"))
_REDUCE = Kernel(Struct("b"), Struct("i" * 11))
_SCALED = Struct("di iii i")  # QuantizationParams is padded to 16 bytes
_COMPARE = Kernel(data=Struct("iiiiiii b"))
_PLAIN = Kernel()
_INT, _INTS = Kernel(Struct("i")), Kernel(Struct("ii"))

# Where a structure's fields matter to nobody here, it is written as words of the wheel's size:
# with 4-byte pointers it is no larger.
KERNELS: dict[str, Kernel] = {
    "ABS": Kernel(data=Struct("iiii b ee")),
    "ADD": Kernel(Struct("eb"), Struct("b" + "i" * 14)),
    "ADD_N": Kernel(buffers=_of_stored(4 * 10)),
    "ARG_MAX": Kernel(Struct("e")),
    "ARG_MIN": Kernel(Struct("e")),
    "ASSIGN_VARIABLE": Kernel(data=Struct("i")),
    "AVERAGE_POOL_2D": _POOL,
    "BATCH_MATMUL": Kernel(Struct("bbb"), Struct("ppp b"), _product),
    "BATCH_TO_SPACE_ND": _PLAIN,
    "BROADCAST_ARGS": _PLAIN,
    "BROADCAST_TO": _PLAIN,
    "CALL_ONCE": Kernel(Struct("i"), Struct("ib")),
    "CAST": Kernel(Struct("ee")),
    "CEIL": _PLAIN,
    "CONCATENATION": Kernel(Struct("ie"), Struct("bpphii" + "c" * 10), _joined),
    "CONV_2D": Kernel(Struct("eiieiie"), _CONV, _channels(0)),
    "COS": _PLAIN,
    "CUSTOM:SignalDelay": Kernel(data=Struct("iii pp"), buffers=_delay),
    "CUSTOM:SignalEnergy": Kernel(data=Struct("ii")),
    "CUSTOM:SignalFftAutoScale": _PLAIN,
    "CUSTOM:SignalFilterBank": Kernel(
        data=Struct("i ppppp ii p"), states=_channel_states(extra=1, size=8)
    ),
    "CUSTOM:SignalFilterBankLog": Kernel(data=Struct("ii")),
    "CUSTOM:SignalFilterBankSpectralSubtraction": Kernel(
        data=Struct("iiiiiiiii pp"), states=_channel_states(extra=0, size=4)
    ),
    "CUSTOM:SignalFilterBankSquareRoot": _PLAIN,
    "CUSTOM:SignalFramer": Kernel(data=Struct("iiii b pp"), buffers=_framer),
    "CUSTOM:SignalIrfft": Kernel(data=Struct("iiii e p"), states=_transform),
    "CUSTOM:SignalOverlapAdd": Kernel(data=Struct("iiii e p"), buffers=_overlap),
    "CUSTOM:SignalPCAN": Kernel(data=Struct("i")),
    "CUSTOM:SignalRfft": Kernel(data=Struct("iiii e p i p"), states=_transform),
    "CUSTOM:SignalStacker": Kernel(data=Struct("iiii pp b pp"), states=_stacker),
    "CUSTOM:SignalWindow": Kernel(data=Struct("ii")),
    "CUSTOM:TFLite_Detection_PostProcess": Kernel(data=Struct("i" * 6 + "b" + "i" * 21), copies=1),
    "CUMSUM": Kernel(Struct("bb"), buffers=_of_stored(4 * 9)),
    "DEPTHWISE_CONV_2D": Kernel(Struct("eiiieii"), _CONV, _channels(3)),
    "DEPTH_TO_SPACE": _INT,
    "DEQUANTIZE": Kernel(data=_SCALED),
    "DIV": Kernel(Struct("e"), Struct("i" * 7)),
    "DYNAMIC_UPDATE_SLICE": _PLAIN,
    "ELU": Kernel(data=Struct("b" * 256)),
    "EMBEDDING_LOOKUP": Kernel(buffers=_lookup),
    "EQUAL": _COMPARE,
    "EXP": _PLAIN,
    "EXPAND_DIMS": _PLAIN,
    "FILL": _PLAIN,
    "FLOOR": _PLAIN,
    "FLOOR_DIV": _PLAIN,
    "FLOOR_MOD": _PLAIN,
    "FULLY_CONNECTED": Kernel(Struct("eebbe ww"), Struct("iiiiiiii i pp b cc"), _scales, 1),
    "GATHER": _INTS,
    "GATHER_ND": Kernel(buffers=_dimensions),
    "GREATER": _COMPARE,
    "GREATER_EQUAL": _COMPARE,
    "HARD_SWISH": Kernel(data=Struct("hhhihi")),
    "IF": Kernel(Struct("ii"), Struct("ii")),
    "L2_NORMALIZATION": Kernel(Struct("e"), Struct("i")),
    "L2_POOL_2D": Kernel(Struct("eiiiie iiii"), buffers=_dimensions),
    "LEAKY_RELU": Kernel(Struct("i"), Struct("i" * 6)),
    "LESS": _COMPARE,
    "LESS_EQUAL": _COMPARE,
    "LOG": _PLAIN,
    "LOGICAL_AND": _PLAIN,
    "LOGICAL_NOT": _PLAIN,
    "LOGICAL_OR": _PLAIN,
    "LOGISTIC": Kernel(data=Struct("iiii")),
    "LOG_SOFTMAX": Kernel(buffers=_of_stored(4 * 10)),
    "MAXIMUM": _PLAIN,
    "MAX_POOL_2D": _POOL,
    "MEAN": _REDUCE,
    "MINIMUM": _PLAIN,
    "MIRROR_PAD": Kernel(Struct("e"), Struct("i" * 5)),
    "MUL": Kernel(Struct("e"), Struct("i" * 9)),
    "NEG": _PLAIN,
    "NOT_EQUAL": _COMPARE,
    "PACK": _INTS,
    "PAD": Kernel(data=Struct("biiiiibiiiiibi")),
    "PADV2": Kernel(data=Struct("biiiiibiiiiibi")),
    "PRELU": Kernel(data=Struct("i" * 7)),
    "QUANTIZE": Kernel(data=_SCALED),
    "READ_VARIABLE": _PLAIN,
    "REDUCE_ALL": _REDUCE,
    "REDUCE_MAX": _REDUCE,
    "REDUCE_MIN": _REDUCE,
    "RELU": Kernel(data=Struct("biiiiii")),
    "RELU6": Kernel(data=Struct("ii")),
    "RESHAPE": Kernel(Struct("i" * 9)),
    "RESIZE_BILINEAR": Kernel(Struct("bb")),
    "RESIZE_NEAREST_NEIGHBOR": Kernel(Struct("bb")),
    "REVERSE_V2": _PLAIN,
    "ROUND": _PLAIN,
    "RSQRT": Kernel(data=Struct("iiii b ee")),
    "SELECT_V2": Kernel(data=Struct("b")),
    "SHAPE": Kernel(Struct("e")),
    "SIN": _PLAIN,
    "SLICE": _PLAIN,
    "SOFTMAX": Kernel(Struct("i"), Struct("d iiiii ii ppppp"), _tables),
    "SPACE_TO_BATCH_ND": Kernel(data=Struct("i")),
    "SPACE_TO_DEPTH": _INT,
    "SPLIT": _INT,
    "SPLIT_V": _INT,
    "SQRT": _PLAIN,
    "SQUARE": _PLAIN,
    "SQUARED_DIFFERENCE": Kernel(data=Struct("d" * 14)),
    "SQUEEZE": Kernel(Struct("i" * 9)),
    "STRIDED_SLICE": Kernel(Struct("iiiii b"), Struct("i" * 21)),
    "SUB": Kernel(Struct("eb"), Struct("b" + "i" * 12)),
    "SUM": _REDUCE,
    "SVDF": Kernel(Struct("ieb"), Struct("i" * 9)),
    "TANH": Kernel(data=Struct("iiii")),
    "TRANSPOSE": _PLAIN,
    "TRANSPOSE_CONV": Kernel(Struct("eiiee"), Struct("d" * 11), _channels(0)),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Kernel(Struct("eiibbb"), Struct("d" * 86)),
    "UNPACK": _INTS,
    "VAR_HANDLE": Kernel(Struct("pp"), Struct("i")),
    "WHILE": Kernel(Struct("ii"), Struct("ii")),
    "ZEROS_LIKE": _PLAIN,
}
