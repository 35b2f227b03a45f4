"""Forms of stablehlo, as its tools and JAX print it: the commonest, into what generic form says.

%0 = stablehlo.add %a, %b : tensor<4xf32>                 one type, of the operands and the result
%1 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<4xf32>
%2 = stablehlo.compare EQ, %a, %b, FLOAT : (...) -> tensor<4xi1>
%3 = stablehlo.transpose %2, dims = [1, 0] : (...) -> ...
%4 = stablehlo.slice %3 [0:1, 0:4:2] : (...) -> ...
%5 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT] : ...
%6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : ...
%7 = stablehlo.iota dim = 0 : tensor<4xi32>
%8 = stablehlo.while(%a = %7) : tensor<4xi32> cond { ... } do { ... }
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Region
from xdsl.parser import Parser, UnresolvedOperand

from memopt.dialects.attributes.quick import numbers
from memopt.dialects.foreign.forms import (
    Form,
    Parts,
    arguments_of,
    class_of,
    constant,
    kept,
    operands_of,
    region_with,
    returned,
)

KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    "stablehlo.broadcast_in_dim": {"dims": "broadcast_dimensions"},
    "stablehlo.transpose": {"dims": "permutation"},
    "stablehlo.concatenate": {"dim": "dimension"},
    "stablehlo.reverse": {"dims": "dimensions"},
    "stablehlo.dynamic_slice": {"sizes": "slice_sizes"},
    "stablehlo.pad": {
        "low": "edge_padding_low",
        "high": "edge_padding_high",
        "interior": "interior_padding",
    },
}
"""Operation -> how it calls a property where it stands behind the operands -> the property."""

Properties = dict[str, Attribute]


def _operands(parser: Parser, keys: Mapping[str, str]) -> tuple[list[UnresolvedOperand], list[str]]:
    """Return the operands that stand next, and the property's key behind the last comma, if one
    stands there."""
    operands = [parser.parse_unresolved_operand()]
    while parser.parse_optional_punctuation(",") is not None:
        operand = parser.parse_optional_unresolved_operand()
        if operand is None:
            return operands, [_key(parser, keys)]
        operands.append(operand)
    return operands, []


def _key(parser: Parser, keys: Mapping[str, str]) -> str:
    key = parser.parse_identifier()
    parser.parse_punctuation("=")
    if key not in keys:
        parser.raise_error(f"no key {key}")
    return key


def _end(parser: Parser, operands: list[UnresolvedOperand], properties: Properties) -> Parts:
    """Return the parts of what ends with the types of all, or with one that all have."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    types = parser.parse_type()
    if not isinstance(types, FunctionType):
        types = FunctionType.from_lists([types] * len(operands), [types])
    return Parts(operands, types, properties, attributes)


def _integers(parser: Parser) -> list[int]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)


def _keyed(keys: Mapping[str, str]) -> Form:
    """Return the form of operands with properties behind them: lists, or one number."""

    def read(parser: Parser) -> Parts:
        operands, waiting = _operands(parser, keys)
        properties: Properties = {}
        while waiting:
            number = parser.parse_optional_integer()
            value = numbers(_integers(parser)) if number is None else IntegerAttr(number, i64)
            properties[keys[waiting.pop()]] = value
            if parser.parse_optional_punctuation(",") is not None:
                waiting = [_key(parser, keys)]
        return _end(parser, operands, properties)

    return read


def _same(parser: Parser) -> Parts:
    operands, _ = _operands(parser, {})
    return _end(parser, operands, {})


def _select(parser: Parser) -> Parts:
    """Return the parts of a choice: the type of what is chosen by, and that of both others."""
    operands, _ = _operands(parser, {})
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    first = parser.parse_type()
    if isinstance(first, FunctionType):
        return Parts(operands, first, attributes=attributes)
    parser.parse_punctuation(",")
    chosen = parser.parse_type()
    types = FunctionType.from_lists([first, chosen, chosen], [chosen])
    return Parts(operands, types, attributes=attributes)


def _word(kind: str, word: str) -> Attribute:
    """Return `#stablehlo<kind word>`."""
    return kept(f"stablehlo.{kind}", f" {word}", is_opaque=True)


def _compare(parser: Parser) -> Parts:
    properties: Properties = {
        "comparison_direction": _word("comparison_direction", parser.parse_identifier())
    }
    parser.parse_punctuation(",")
    operands = [parser.parse_unresolved_operand()]
    parser.parse_punctuation(",")
    operands.append(parser.parse_unresolved_operand())
    if parser.parse_optional_punctuation(",") is not None:
        properties["compare_type"] = _word("comparison_type", parser.parse_identifier())
    return _end(parser, operands, properties)


def _slice(parser: Parser) -> Parts:
    operand = parser.parse_unresolved_operand()

    def stretch() -> tuple[int, int, int]:
        start = parser.parse_integer()
        parser.parse_punctuation(":")
        limit = parser.parse_integer()
        step = parser.parse_integer() if parser.parse_optional_punctuation(":") is not None else 1
        return start, limit, step

    listed = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, stretch)
    names = ("start_indices", "limit_indices", "strides")
    properties = {name: numbers([s[k] for s in listed]) for k, name in enumerate(names)}
    return _end(parser, [operand], cast("Properties", properties))


def _dot(parser: Parser) -> Parts:
    keys = {"batching_dims": "batching", "contracting_dims": "contracting", "precision": ""}
    operands, waiting = _operands(parser, keys)
    pairs: dict[str, tuple[list[int], list[int]]] = {}
    properties: Properties = {}
    while waiting:
        key = waiting.pop()
        if key == "precision":
            words = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_identifier
            )
            properties["precision_config"] = ArrayAttr([_word("precision", w) for w in words])
        else:
            first = _integers(parser)
            parser.parse_keyword("x")
            pairs[keys[key]] = first, _integers(parser)
        if parser.parse_optional_punctuation(",") is not None:
            waiting = [_key(parser, keys)]
    listed = [
        f"{side}_{kind}_dimensions = {pairs[kind][k]}"
        for kind in ("batching", "contracting")
        for k, side in enumerate(("lhs", "rhs"))
        if kind in pairs and pairs[kind][k]
    ]
    properties = {"dot_dimension_numbers": kept("stablehlo.dot", ", ".join(listed)), **properties}
    return _end(parser, operands, properties)


def _iota(parser: Parser) -> Parts:
    _key(parser, {"dim": ""})
    number = IntegerAttr(parser.parse_integer(), i64)
    parser.parse_punctuation(":")
    types = FunctionType.from_lists((), [parser.parse_type()])
    return Parts((), types, {"iota_dimension": number})


def _reduce(parser: Parser) -> Parts:
    """Return the parts of a reduction of one tensor by one operation."""
    parser.parse_punctuation("(")
    operands = [parser.parse_unresolved_operand()]
    parser.parse_keyword("init")
    parser.parse_punctuation(":")
    operands.append(parser.parse_unresolved_operand())
    parser.parse_punctuation(")")
    parser.parse_keyword("applies")
    kind = class_of(parser.parse_identifier())
    parser.parse_keyword("across")
    _key(parser, {"dimensions": ""})
    properties: Properties = {"dimensions": numbers(_integers(parser))}
    parts = _end(parser, operands, properties)
    scalar = TensorType(cast("TensorType[Any]", parts.types.outputs.data[0]).element_type, [])
    block, end = Block(arg_types=[scalar, scalar]), class_of("stablehlo.return")
    if kind is None or end is None:
        parser.raise_error("no operation of stablehlo")
    block.add_op(kind.create(operands=block.args, result_types=[scalar]))
    block.add_op(end.create(operands=cast("Any", block.first_op).results))
    return Parts(parts.operands, parts.types, properties, parts.attributes, (Region(block),))


def _convolution(parser: Parser) -> Parts:
    """Return the parts of `(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {...}
    {feature_group_count = 1 : i64, ...} : types`."""
    operands = operands_of(parser)
    _key(parser, {"dim_numbers": ""})
    layouts = [_layout(parser)]
    parser.parse_keyword("x")
    layouts.append(_layout(parser))
    parser.parse_punctuation("->")
    layouts.append(_layout(parser))
    text = f"{layouts[0]}x{layouts[1]}->{layouts[2]}"
    properties: Properties = {"dimension_numbers": kept("stablehlo.conv", text)}
    parser.parse_punctuation(",")
    _key(parser, {"window": ""})
    parser.parse_punctuation("{")
    while parser.parse_optional_punctuation("}") is None:
        name = WINDOW[_key(parser, WINDOW)]
        properties[name] = _window(parser, name)
        parser.parse_optional_punctuation(",")
    parts = _end(parser, operands, {})
    return Parts(parts.operands, parts.types, {**properties, **parts.attributes})


def _while(parser: Parser) -> Parts:
    """Return the parts of `(%a = %x, %b = %y) : types attributes {...} cond {...} do {...}`, whose
    regions have the same arguments."""
    arguments = arguments_of(parser)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    attributes = {}
    if parser.parse_optional_keyword("attributes") is not None:
        attributes = parser.parse_optional_attr_dict()
    if len(types) != len(arguments):
        parser.raise_error(f"{len(arguments)} values, but {len(types)} types")

    def regions(parser: Parser) -> list[Region]:
        parser.parse_keyword("cond")
        condition = region_with(parser, arguments, types)
        parser.parse_keyword("do")
        return [condition, region_with(parser, arguments, types)]

    operands = [operand for _, operand in arguments]
    type_ = FunctionType.from_lists(types, types)
    return Parts(operands, type_, attributes=attributes, read_regions=regions)


WINDOW: Final[Mapping[str, str]] = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}


def _layout(parser: Parser) -> str:
    """Return a list of dimensions as it stands, each a letter or a number."""

    def dimension() -> str:
        letter = parser.parse_optional_identifier()
        return str(parser.parse_integer()) if letter is None else letter

    return f"[{', '.join(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, dimension))}]"


def _window(parser: Parser, name: str) -> Attribute:
    square = parser.Delimiter.SQUARE
    if name == "padding":
        pairs = parser.parse_comma_separated_list(square, lambda: _integers(parser))
        type_ = TensorType(i64, [len(pairs), 2])
        return DenseIntOrFPElementsAttr.from_list(type_, [n for pair in pairs for n in pair])
    if name == "window_reversal":
        reversed_ = parser.parse_comma_separated_list(square, parser.parse_boolean)
        return DenseArrayBase.from_list(i1, [int(r) for r in reversed_])
    return numbers(_integers(parser))


SAME: Final = (
    *("abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "cosine", "count_leading_zeros"),
    *("divide", "exponential", "exponential_minus_one", "floor", "log", "log_plus_one"),
    *("logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power"),
    *("remainder", "round_nearest_afz", "round_nearest_even", "rsqrt", "shift_left"),
    *("shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt", "subtract"),
    *("tan", "tanh", "xor"),
)

FORMS: Final[Mapping[str, Form]] = {
    **{f"stablehlo.{name}": _same for name in SAME},
    **{name: _keyed(keys) for name, keys in KEYS.items()},
    "stablehlo.compare": _compare,
    "stablehlo.constant": constant,
    "stablehlo.convolution": _convolution,
    "stablehlo.dot_general": _dot,
    "stablehlo.iota": _iota,
    "stablehlo.reduce": _reduce,
    "stablehlo.return": returned,
    "stablehlo.select": _select,
    "stablehlo.slice": _slice,
    "stablehlo.while": _while,
}
"""Name -> how the operation is read."""
