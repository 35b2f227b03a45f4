"""Types and attributes of tensors and operators: how a tensor lies in memory, how it is computed.

    tensor<1x8x8x3xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-128]>>
    window<[3, 3], stride = [2, 2], pad = [0, 0, 1, 1]>

Everything prints in one way only, so equal attributes are equal bytes.
"""

import inspect
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal, NoReturn, Self, get_args

from xdsl.dialects.builtin import DenseArrayBase, Float32Type, IntAttr, IntegerType, StringAttr, f32
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.quick import fill, index, numbers
from memopt.dialects.memgraph.errors import nearest
from memopt.dialects.memgraph.old_forms import current_word

Activation = Literal["relu", "relu6", "relu_n1_to_1", "tanh", "sign_bit"]
Rounding = Literal["tflm_double", "tflite_single", "onnx_even"]


def float32_text(value: float) -> str:
    """The shortest scientific text that reads back as the same float32."""
    return _shortest(struct.pack("<f", value))  # not the value: 0.0 == -0.0


@lru_cache(maxsize=65536)
def _shortest(packed: bytes) -> str:
    value: float = struct.unpack("<f", packed)[0]
    for digits in range(1, 9):
        text = f"{value:.{digits}e}"
        try:
            if struct.pack("<f", float(text)) == packed:
                return text
        except OverflowError:  # the largest floats, rounded up, are none any more
            continue
    raise VerifyException(f"{value} is not a finite float32")


def parse_number(parser: AttrParser) -> int:
    """An integer; xDSL takes `true` for one, too."""
    return parser.parse_integer(allow_boolean=False)


def number_of(parser: AttrParser) -> Callable[[], int]:
    """`parse_number` as a reader of `parse_keys`."""
    return lambda: parse_number(parser)


def parse_int_list(parser: AttrParser) -> tuple[int, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number_of(parser)))


def parse_word(parser: AttrParser) -> str:
    """An identifier in which dashes may stand: `some-target`."""
    text = parser.parse_identifier()
    while parser.parse_optional_punctuation("-"):
        text += "-" + parser.parse_identifier()
    return text


def parse_keys(
    parser: AttrParser,
    readers: dict[str, Callable[[], Any]],
    delimiter: AttrParser.Delimiter = AttrParser.Delimiter.ANGLE,
    old: Mapping[str, Callable[[], NoReturn]] | None = None,
) -> dict[str, Any]:
    """`key = value` pairs inside `<...>`, each key of `readers` at most once; a key of `old`, which
    was written once, is refused as that says."""
    values: dict[str, Any] = {}

    def pair() -> None:
        key = parser.parse_identifier()
        if old is not None and key in old:
            old[key]()
        if key not in readers:
            parser.raise_error(f"unknown key {key!r}, expected one of: {', '.join(readers)}")
        if key in values:
            parser.raise_error(f"key {key!r} given twice")
        parser.parse_punctuation("=")
        values[key] = readers[key]()

    parser.parse_comma_separated_list(delimiter, pair)
    return values


def need_keys(parser: AttrParser, found: dict[str, Any], *keys: str) -> None:
    for key in keys:
        if key not in found:
            parser.raise_error(f"key {key!r} is missing")


def one_of(value: str, allowed: Sequence[str], what: str) -> None:
    if value not in allowed:
        known = ", ".join(allowed)
        raise VerifyException(f"{what} {value!r}{nearest(value, allowed)} is not one of: {known}")


def need_counts(what: str, *numbers: int, least: int = 0) -> None:
    """Raise VerifyException unless every number is in [least, 2^63)."""
    for number in numbers:
        if not least <= number < 1 << 63:
            sign = "negative" if number < least else "no number of 64 bits"
            raise VerifyException(f"{what}: {number} is {sign}")


@dataclass(frozen=True, init=False)  # else two words would be equal, for they had no fields
class WordAttr(ParametrizedAttribute):
    """An attribute of one word: `<relu>`."""

    value: StringAttr

    @property
    def data(self) -> str:
        return self.value.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (StringAttr(current_word(parser, cls.name, parse_word(parser))),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)


@cache
def _pairs_of(record: type[ParametrizedAttribute]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(record.__init__).parameters.values())[1:]


@dataclass(frozen=True, init=False)
class RecordAttr(ParametrizedAttribute):
    """An attribute of `key = value` pairs, those that its `__init__` takes: words, numbers, lists
    of numbers. One without a default is needed; one with a default is not printed where it is 0 or
    empty."""

    @classmethod
    def of(cls, found: dict[str, Any]) -> Self:
        """Return the attribute of parsed keys. Raises VerifyException."""
        return cls(**found)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        readers: dict[type, Callable[[], Any]] = {
            int: number_of(parser),
            Sequence[int]: lambda: parse_int_list(parser),
        }
        pairs = _pairs_of(cls)

        def word() -> str:
            return current_word(parser, cls.name, parse_word(parser))

        keys = parse_keys(parser, {p.name: readers.get(p.annotation, word) for p in pairs})
        need_keys(parser, keys, *(p.name for p in pairs if p.default is p.empty))
        return cls.of(keys).parameters

    def print_parameters(self, printer: Printer) -> None:
        parts: list[str] = []
        for pair in _pairs_of(type(self)):
            held = getattr(self, pair.name)
            listed = isinstance(held, DenseArrayBase)
            value = [int(v) for v in held.get_values()] if listed else held.data
            if value or pair.default is pair.empty:
                parts.append(f"{pair.name} = {value}")
        with printer.in_angle_brackets():
            printer.print_string(", ".join(parts))


@irdl_attr_definition
class ActivationAttr(WordAttr):
    """The activation that an operator applies to its result."""

    name = "memgraph.activation"

    def __init__(self, value: str):
        super().__init__(StringAttr(value))

    def verify(self) -> None:
        one_of(self.data, get_args(Activation), "activation")


@irdl_attr_definition
class RoundingAttr(WordAttr):
    """The arithmetic of a requantising operation."""

    name = "memgraph.rounding"

    def __init__(self, value: str):
        super().__init__(StringAttr(value))

    def verify(self) -> None:
        one_of(self.data, get_args(Rounding), "rounding")


@irdl_attr_definition
class ChainType(ParametrizedAttribute, TypeAttribute):
    """The 0-byte token that fixes the sequence of the segments of one module."""

    name = "memgraph.chain"


@irdl_attr_definition
class AfterType(ParametrizedAttribute, TypeAttribute):
    """That an operation has run: a result of no bytes, for operations that must follow it."""

    name = "memgraph.after"


@irdl_attr_definition
class OperatorType(ParametrizedAttribute, TypeAttribute):
    """An operator whose rows are computed one by one: what `memgraph.row` names."""

    name = "memgraph.operator"


@irdl_attr_definition
class StateType(ParametrizedAttribute, TypeAttribute):
    """Rows that stay from one run to the next: what `memgraph.recall` names."""

    name = "memgraph.state"


@irdl_attr_definition
class RuntimeType(ParametrizedAttribute, TypeAttribute):
    """An element type whose bytes only the run time knows: strings, resources, variants."""

    name = "memgraph.runtime"
    kind: StringAttr

    def __init__(self, kind: str | StringAttr):
        super().__init__(StringAttr(kind) if isinstance(kind, str) else kind)


@lru_cache(maxsize=4_096)
def _values(array: DenseArrayBase[Any]) -> tuple[Any, ...]:
    """Return the numbers of an array, which are asked for once for each channel."""
    return tuple(array.get_values())


@irdl_attr_definition
class EncodingAttr(ParametrizedAttribute):
    """Physical layout and quantization of a tensor: real = scale * (stored - zero_point).

    `scale` and `zero_point` have one entry, or one per index of dimension `axis` (then axis >= 0).
    Empty: not quantized. `layout` names the dimensions (`nhwc`, `nchw`, `ohwi`), empty: none.
    """

    name = "memgraph.encoding"
    layout: StringAttr
    scale: DenseArrayBase[Float32Type]
    zero_point: DenseArrayBase[IntegerType]
    axis: IntAttr

    def __init__(
        self,
        layout: str = "",
        scale: Sequence[float] = (),
        zero_point: Sequence[int] = (),
        axis: int = -1,
    ):
        try:
            scales = DenseArrayBase.from_list(f32, list(scale))
        except OverflowError:
            raise VerifyException(f"a scale of {list(scale)} is not a finite float32") from None
        super().__init__(StringAttr(layout), scales, numbers(zero_point), IntAttr(axis))

    @property
    def scales(self) -> tuple[float, ...]:
        return _values(self.scale)

    @property
    def zero_points(self) -> tuple[int, ...]:
        return _values(self.zero_point)

    @property
    def quantized(self) -> bool:
        return len(self.scale) > 0

    def verify(self) -> None:
        if len(self.scale) != len(self.zero_point):
            raise VerifyException("scale and zero_point differ in length")
        if len(self.scale) != 1 and self.quantized and self.axis.data < 0:
            raise VerifyException("several scales need an axis")
        if not self.quantized and self.axis.data >= 0:
            raise VerifyException("an axis without scales")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        layout, scale, zero, axis = "", list[float](), tuple[int, ...](), -1
        seen = set[str]()
        with parser.in_angle_brackets():
            while (key := parser.parse_optional_identifier()) is not None:
                if key in seen:
                    parser.raise_error(f"key {key!r} given twice")
                seen.add(key)
                if key == "scale":
                    parser.parse_punctuation("=")
                    scale = parser.parse_comma_separated_list(
                        parser.Delimiter.SQUARE, lambda: float(parser.parse_number())
                    )
                elif key == "zero_point":
                    parser.parse_punctuation("=")
                    zero = parse_int_list(parser)
                elif key == "axis":
                    parser.parse_punctuation("=")
                    axis = parse_number(parser)
                elif layout:
                    parser.raise_error(f"unknown key {key!r}")
                else:
                    layout = key
                if not parser.parse_optional_punctuation(","):
                    break
        if len(scale) > 1 and len(zero) == 1:
            zero = zero * len(scale)
        return cls(layout, scale, zero, axis).parameters

    def print_parameters(self, printer: Printer) -> None:
        parts = [self.layout.data] if self.layout.data else []
        if self.quantized:
            zero = self.zero_points
            if len(zero) > 1 and len(set(zero)) == 1:
                zero = zero[:1]
            parts.append(f"scale = [{', '.join(map(float32_text, self.scales))}]")
            parts.append(f"zero_point = [{', '.join(map(str, zero))}]")
        if self.axis.data >= 0:
            parts.append(f"axis = {self.axis.data}")
        with printer.in_angle_brackets():
            printer.print_string(", ".join(parts))


@irdl_attr_definition
class WindowAttr(ParametrizedAttribute):
    """A sliding window over height and width; `pad` is top, left, bottom, right, in elements.

    `<[3, 3], stride = [2, 2], dilation = [1, 1], pad = [0, 0, 1, 1]>`; what is 1 or 0 is left out.
    """

    name = "memgraph.window"
    kernel: DenseArrayBase[IntegerType]
    stride: DenseArrayBase[IntegerType]
    dilation: DenseArrayBase[IntegerType]
    pad: DenseArrayBase[IntegerType]

    def __init__(
        self,
        kernel: Sequence[int],
        stride: Sequence[int] = (1, 1),
        dilation: Sequence[int] = (1, 1),
        pad: Sequence[int] = (0, 0, 0, 0),
    ):
        fill(self, *map(numbers, (kernel, stride, dilation, pad)))
        self.verify()

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """(kernel, stride, dilation, pad) as integers."""
        return _sizes_of(self)

    def verify(self) -> None:
        kernel, stride, dilation, pad = self.sizes
        if not (len(kernel) == len(stride) == len(dilation)) or len(pad) != 2 * len(kernel):
            raise VerifyException("window: kernel, stride, dilation and pad do not fit together")
        if any(v < 1 for v in (*kernel, *stride, *dilation)) or any(v < 0 for v in pad):
            raise VerifyException("window: sizes must be positive, pads not negative")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kernel = parse_int_list(parser)
            n = len(kernel)
            values = {"stride": (1,) * n, "dilation": (1,) * n, "pad": (0,) * (2 * n)}
            seen = set[str]()
            while parser.parse_optional_punctuation(","):
                key = parser.parse_identifier()
                if key not in values:
                    parser.raise_error(f"unknown key {key!r}")
                if key in seen:
                    parser.raise_error(f"key {key!r} given twice")
                seen.add(key)
                parser.parse_punctuation("=")
                values[key] = parse_int_list(parser)
        return cls(kernel, **values).parameters

    def print_parameters(self, printer: Printer) -> None:
        kernel, stride, dilation, pad = self.sizes
        text = str(list(kernel))
        for key, value, plain in (
            ("stride", stride, 1),
            ("dilation", dilation, 1),
            ("pad", pad, 0),
        ):
            if any(v != plain for v in value):
                text += f", {key} = {list(value)}"
        with printer.in_angle_brackets():
            printer.print_string(text)


@irdl_attr_definition
class WeightsAttr(ParametrizedAttribute):
    """Weights by reference: the SHA-256 of a model file, and the tensor's name or index in it."""

    name = "memgraph.weights"
    sha256: StringAttr
    key: StringAttr

    def __init__(self, sha256: str, key: str):
        super().__init__(StringAttr(sha256), StringAttr(key))


@lru_cache(1 << 10)
def _sizes_of(window: WindowAttr) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(int(x) for x in v.get_values())
        for v in (window.kernel, window.stride, window.dilation, window.pad)
    )


@irdl_attr_definition
class SourceAttr(ParametrizedAttribute):
    """Where an operator stood in its file: subgraph, operator index, indices of its results."""

    name = "memgraph.source"
    subgraph: IntAttr
    operator: IntAttr
    tensors: DenseArrayBase[IntegerType]

    def __init__(self, subgraph: int, operator: int, tensors: Sequence[int]):
        fill(self, index(subgraph), index(operator), numbers(tensors))

    @property
    def tensor_ids(self) -> tuple[int, ...]:
        return tuple(int(v) for v in self.tensors.get_values())

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            subgraph = parse_number(parser)
            parser.parse_punctuation(",")
            operator = parse_number(parser)
            parser.parse_punctuation(",")
            tensors = parse_int_list(parser)
        return cls(subgraph, operator, tensors).parameters

    @property
    def text(self) -> str:
        """Return its parameters as they are printed."""
        stored = self.tensors.data.data  # in one go, since every operation has some
        tensors = [*struct.unpack(f"<{len(stored) // 8}q", stored)]
        return f"<{self.subgraph.data}, {self.operator.data}, {tensors}>"

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(self.text)


TENSOR_ATTRIBUTES: tuple[type[Attribute], ...] = (
    ActivationAttr,
    AfterType,
    ChainType,
    EncodingAttr,
    OperatorType,
    RoundingAttr,
    RuntimeType,
    SourceAttr,
    StateType,
    WeightsAttr,
    WindowAttr,
)
