"""What TensorFlow Lite Micro keeps in the tail of its arena for one operator: the sizes of its C
structures, for any pointer width.

    KERNELS["CONV_2D"].data.size(DEVICE)        # 56: OpDataConv on a Cortex-M
    KERNELS["CONV_2D"].buffers(operator, tensors)  # per-channel multipliers and shifts, bytes each

A structure is written as its fields, one letter each, and laid out as C lays it out. Source:
tensorflow/tflite-micro, lite/micro/builtin_op_data.h (`params`) and the OpData structures of
lite/micro/kernels (`data`); the sizes with 8-byte pointers are those that the functions Parse* and
*Init of the PyPI wheel ask for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memopt.formats.tflite import Operator, Tensor


@dataclass(frozen=True)
class Build:
    """How TFLM was compiled: bytes of a pointer and of an enumeration; with its tensor compression,
    the allocator that records and the larger parameters of FULLY_CONNECTED, all as in the wheel,
    or without."""

    pointer: int
    enum: int
    is_wheel: bool


DEVICE = Build(4, 1, is_wheel=False)  # arm-none-eabi-gcc packs enumerations
WHEEL = Build(8, 4, is_wheel=True)  # PyPI's tflite-micro


@dataclass(frozen=True)
class Struct:
    """Fields in their order: `b` 1 byte, `h` 2, `i` 4, `d` 8, `p` a pointer or size_t, `e` an
    enumeration; `c` 4 bytes, `w` 8 and `r` a pointer in the wheel alone; blanks mean nothing."""

    fields: str

    def layout(self, build: Build) -> tuple[int, int]:
        """(bytes, alignment)."""
        widths = {"b": 1, "h": 2, "i": 4, "d": 8, "p": build.pointer, "e": build.enum}
        widths |= {"c": 4, "w": 8, "r": build.pointer} if build.is_wheel else {}
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


Buffers = Callable[[Operator, Sequence[Tensor]], tuple[int, ...]]


def _none(operator: Operator, tensors: Sequence[Tensor]) -> tuple[int, ...]:
    return ()


@dataclass(frozen=True)
class Kernel:
    """`params`: what is parsed from the file; `data`: what its Init asks for; `buffers`: what its
    Prepare asks for, bytes each; `copies`: how often Prepare copies each tensor at most."""

    params: Struct = Struct("")
    data: Struct = Struct("")
    buffers: Buffers = _none
    copies: int = 2


def _operand(operator: Operator, tensors: Sequence[Tensor], position: int) -> Tensor | None:
    """The operand at a position, None where it is left out."""
    index = operator.inputs[position] if position < len(operator.inputs) else -1
    return tensors[index] if index >= 0 else None


def _channels(axis: int, operand: int = 1, type_: str | None = None) -> Buffers:
    """A multiplier and a shift per channel, 4 bytes each; for `type_` only, if it is given."""

    def buffers(operator: Operator, tensors: Sequence[Tensor]) -> tuple[int, ...]:
        weights = _operand(operator, tensors, operand)
        if weights is None or len(weights.shape) <= axis:
            return ()
        first = tensors[operator.outputs[0]]
        return () if type_ and first.type != type_ else (4 * weights.shape[axis],) * 2

    return buffers


def _scales(operator: Operator, tensors: Sequence[Tensor]) -> tuple[int, ...]:
    """fully_connected_common.cc: only where the weights have several scales."""
    weights = _operand(operator, tensors, 1)
    found = weights.quantization if weights is not None else None
    count = len(found.scale) if found is not None else 0
    is_float = tensors[operator.outputs[0]].type == "FLOAT32"
    return () if count <= 1 or is_float else (4 * count,) * 2


def _joined(operator: Operator, tensors: Sequence[Tensor]) -> tuple[int, ...]:
    """concatenation.cc: scale and zero point of every int8 operand."""
    is_int8 = tensors[operator.outputs[0]].type == "INT8"
    return (4 * len(operator.inputs),) * 2 if is_int8 else ()


def _tables(operator: Operator, tensors: Sequence[Tensor]) -> tuple[int, ...]:
    """softmax_common.cc: two tables of 513 int16 for int16 operands."""
    source = _operand(operator, tensors, 0)
    return (2 * 513,) * 2 if source is not None and source.type == "INT16" else ()


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
    "ARG_MAX": Kernel(Struct("e")),
    "ARG_MIN": Kernel(Struct("e")),
    "AVERAGE_POOL_2D": _POOL,
    "CAST": Kernel(Struct("ee")),
    "CEIL": _PLAIN,
    "CONCATENATION": Kernel(Struct("ie"), Struct("bpphii" + "c" * 10), _joined),
    "CONV_2D": Kernel(Struct("eiieiie"), _CONV, _channels(0)),
    "COS": _PLAIN,
    "DEPTHWISE_CONV_2D": Kernel(Struct("eiiieii"), _CONV, _channels(3)),
    "DEQUANTIZE": Kernel(data=_SCALED),
    "DIV": Kernel(Struct("e"), Struct("i" * 7)),
    "ELU": Kernel(data=Struct("b" * 256)),
    "EQUAL": _COMPARE,
    "EXP": _PLAIN,
    "EXPAND_DIMS": _PLAIN,
    "FLOOR": _PLAIN,
    "FULLY_CONNECTED": Kernel(Struct("eebbe ww"), Struct("iiiiiiii i pp b cc"), _scales, 1),
    "GATHER": _INTS,
    "GREATER": _COMPARE,
    "GREATER_EQUAL": _COMPARE,
    "HARD_SWISH": Kernel(data=Struct("hhhihi")),
    "LEAKY_RELU": Kernel(Struct("i"), Struct("i" * 6)),
    "LESS": _COMPARE,
    "LESS_EQUAL": _COMPARE,
    "LOG": _PLAIN,
    "LOGICAL_AND": _PLAIN,
    "LOGICAL_NOT": _PLAIN,
    "LOGICAL_OR": _PLAIN,
    "LOGISTIC": Kernel(data=Struct("iiii")),
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
    "REDUCE_MAX": _REDUCE,
    "REDUCE_MIN": _REDUCE,
    "RELU": Kernel(data=Struct("biiiiii")),
    "RELU6": Kernel(data=Struct("ii")),
    "RESHAPE": Kernel(Struct("i" * 9)),
    "RESIZE_BILINEAR": Kernel(Struct("bb")),
    "RESIZE_NEAREST_NEIGHBOR": Kernel(Struct("bb")),
    "ROUND": _PLAIN,
    "RSQRT": Kernel(data=Struct("iiii b ee")),
    "SHAPE": Kernel(Struct("e")),
    "SIN": _PLAIN,
    "SLICE": _PLAIN,
    "SOFTMAX": Kernel(Struct("i"), Struct("d iiiii ii ppppp"), _tables),
    "SPACE_TO_DEPTH": _INT,
    "DEPTH_TO_SPACE": _INT,
    "SPLIT": _INT,
    "SPLIT_V": _INT,
    "SQRT": _PLAIN,
    "SQUARE": _PLAIN,
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
}
