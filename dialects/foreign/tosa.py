"""The `tosa` dialect's memory behaviour and its rows, by name, so that operations of any release
are known: those of xDSL's dialect, and those that it does not have and that are unregistered.

%1 = tosa.reshape %0 : ...            the same bytes
%2 = tosa.concat %0, %1 {axis = 0}    its operands lie in it, if they follow each other there
%3 = tosa.slice %2 {start = ...}      lies in its operand, if it is one piece of that
%4 = tosa.add %3, %c : ...            may write over an operand of its result's shape and width
%t = tosa.transpose %4 {perms = ...}  the same bytes, if only dimensions of 1 change places
%s = tosa.scatter %4, %i, %u : ...    may write over the first, which it is but for some elements
%5 = tosa.conv2d %4, %w, %b : ...     a buffer of its own

Rows are those of images of one batch. A row of what slides a window reads the rows under it; a pool
over the whole height adds up rows, in its `acc_type`; element-wise ones read the row there, and the
only one of what is broadcast; `reshape` has rows where the height stays. Weights, biases, tables,
zero points, shifts and multipliers are read whole. What has no rows here is computed as a whole, as
is what says no kernel, stride, padding, or says it by no constant.

All are pure but what has variables or somebody else's meaning (`tosa.custom`), which get the
careful defaults. What has regions (`cond_if`, `while_loop`) is one step (regions.py).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import FunctionType, TensorType, i1
from xdsl.ir import Operation, Region
from xdsl.parser import Parser

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.foreign import BRANCH, LOOP
from memopt.dialects.foreign.descriptions import (
    Concatenation,
    attribute_of,
    element_wise,
    moved,
    nothing,
    number_of,
    numbers_in,
    numbers_of,
    overwrites,
    piece,
    view,
    whole,
)
from memopt.dialects.foreign.forms import Form, Parts, arguments_of, region_with, returned
from memopt.dialects.foreign.regions import step_of_regions
from memopt.dialects.memgraph.behaviour import careful
from memopt.dialects.memgraph.interface import DescribeRows, OperatorMemory, OperatorRows
from memopt.dialects.memgraph.names import full_name
from memopt.dialects.memgraph.tensors import AnyTensor, rows_of, shape_of
from memopt.dialects.rows.questions import taps

GENERIC_BY = "mlir-opt --mlir-print-op-generic"
"""The command that prints any release's text in generic form."""

EACH = (
    *("abs", "add", "arithmetic_right_shift", "bitwise_and", "bitwise_not", "bitwise_or"),
    *("bitwise_xor", "cast", "ceil", "clamp", "clz", "cos", "div", "equal", "erf", "exp", "floor"),
    *("greater", "greater_equal", "int_div", "intdiv", "log", "logical_and", "logical_left_shift"),
    *("logical_not", "logical_or", "logical_right_shift", "logical_xor", "maximum", "minimum"),
    *("mul", "negate", "pow", "reciprocal", "rescale", "rsqrt", "select", "sigmoid", "sin", "sub"),
    "tanh",
)
WHOLE = (
    *("argmax", "avg_pool2d", "conv2d", "conv3d", "depthwise_conv2d", "fft2d", "fully_connected"),
    *("gather", "matmul", "max_pool2d", "pad", "reduce_all", "reduce_any", "reduce_max"),
    *("reduce_min", "reduce_prod", "reduce_product", "reduce_sum", "resize", "reverse", "rfft2d"),
    *("tile", "transpose_conv2d"),
)
CAREFUL = (
    *("apply_scale", "custom", "variable", "variable.read", "variable.write", "variable_read"),
    *("variable_write", "yield"),
)
OVER_AXIS = (
    *("argmax", "reduce_all", "reduce_any", "reduce_max", "reduce_min", "reduce_prod"),
    *("reduce_product", "reduce_sum"),
)


def _axis(op: Operation) -> int | None:
    return number_of(op, "axis")


def _table(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a look-up, which reads any element of its table for each of operand 0."""
    memory = element_wise(op, model)
    return replace(memory, inplace=tuple(pair for pair in memory.inplace if pair[1] == 0))


def _slice(op: Operation, model: ModelAttr) -> OperatorMemory:
    return piece(op, model, _said(op, "start"))


def _transpose(op: Operation, model: ModelAttr) -> OperatorMemory:
    return moved(op, model, _said(op, "perms"))


def _said(op: Operation, name: str) -> tuple[int, ...] | None:
    """Return the numbers of that name: an attribute, or in other releases operand 1, of which those
    of a constant are known."""
    return numbers_of(op, name) or (numbers_in(op.operands[1]) if len(op.operands) > 1 else None)


def _numbers(op: Operation, name: str, count: int) -> tuple[int, ...] | None:
    """So many numbers of an array that is said by that name."""
    values = numbers_of(op, name) or ()
    return values if len(values) == count else None


def _slides(op: Operation, kernel: int | None, dilation: int) -> Callable[[int], range] | None:
    """The rows of operand 0 under the window of a row of the result."""
    stride, pad, rows = _numbers(op, "stride", 2), _numbers(op, "pad", 4), rows_of(op.operands[0])
    if stride is None or pad is None or rows is None or not kernel:
        return None
    if min(kernel, stride[0], dilation) < 1:
        return None
    return lambda r: taps(kernel, stride[0], dilation, pad[0], rows, r)


def _of_operand_0(rows: Callable[[int], range] | None) -> OperatorRows | None:
    """These rows of operand 0, and all of the others."""
    if rows is None:
        return None
    return OperatorRows(lambda operand, r: rows(r) if operand == 0 else None)


def _convolution_rows(op: Operation) -> OperatorRows | None:
    dilation, weights = _numbers(op, "dilation", 2), shape_of(op.operands[1])
    if dilation is None or len(weights) != 4:
        return None
    height = weights[0 if full_name(op) == "tosa.depthwise_conv2d" else 1]
    return _of_operand_0(_slides(op, height, dilation[0]))


def _pool_rows(op: Operation) -> OperatorRows | None:
    """Return the rows of a pool; one with a single row is a sum, or the largest, of all that its
    only window has."""
    kernel = _numbers(op, "kernel", 2)
    slides = _slides(op, kernel[0] if kernel else None, 1)
    if slides is None or rows_of(op.results[0]) != 1 or rows_of(op.operands[0]) == 1:
        return _of_operand_0(slides)
    under, type_ = slides(0), cast("AnyTensor", op.results[0].type)
    is_largest = full_name(op) == "tosa.max_pool2d"
    element = type_.element_type if is_largest else attribute_of(op, "acc_type")
    if element is None:
        return None
    return OperatorRows(
        lambda operand, r: (range(r, r + 1) if r in under else range(0)) if operand == 0 else None,
        TensorType(element, type_.get_shape()),
    )


def _each_rows(op: Operation) -> OperatorRows | None:
    """Return the rows of an element-wise operation: broadcast operands have dimensions of 1, those
    of lower rank are no images."""
    shapes, rank = [shape_of(v) for v in op.operands], len(shape_of(op.results[0]))

    def read(operand: int, r: int) -> range | None:
        shape = shapes[operand]
        if len(shape) != rank:
            return None
        return range(1) if shape[1] == 1 else range(r, r + 1)

    return OperatorRows(read)


def _same_rows(op: Operation) -> OperatorRows | None:
    """Where no row gets into another."""
    if rows_of(op.operands[0]) != rows_of(op.results[0]):
        return None
    return _of_operand_0(lambda r: range(r, r + 1))


def _over_axis_rows(op: Operation) -> OperatorRows | None:
    """Over width or channels."""
    axis = _axis(op)
    return None if axis is None or axis < 2 else _same_rows(op)


def _concat_rows(op: Operation) -> OperatorRows | None:
    axis, counts = _axis(op), [rows_of(v) or 0 for v in op.operands]
    if axis is None or axis < 1:
        return None
    if axis > 1:
        return OperatorRows(lambda operand, r: range(r, r + 1))

    def read(operand: int, r: int) -> range:
        r -= sum(counts[:operand])
        return range(r, r + 1) if 0 <= r < counts[operand] else range(0)

    return OperatorRows(read)


def _slice_rows(op: Operation) -> OperatorRows | None:
    start = _numbers(op, "start", len(shape_of(op.results[0])))
    if start is None or len(start) < 3:
        return None
    return _of_operand_0(lambda r: range(start[1] + r, start[1] + r + 1))


def _pad_rows(op: Operation) -> OperatorRows | None:
    """Rows of padding read nothing; how much there is is a constant, pairs of before and after."""
    before, rows = _padding(op), rows_of(op.operands[0]) or 0
    if before is None:
        return None
    return _of_operand_0(
        lambda r: range(r - before, r - before + 1) if 0 <= r - before < rows else range(0)
    )


def _padding(op: Operation) -> int | None:
    """The rows before the first, if they are known."""
    padding = numbers_in(op.operands[1]) if len(op.operands) > 1 else None
    is_known = padding is not None and len(padding) == 2 * len(shape_of(op.results[0]))
    return padding[2] if padding is not None and is_known else None


MEMORY = {
    f"tosa.{name}": describe
    for names, describe in (
        (("const", "const_shape"), nothing),
        (EACH, element_wise),
        (("table",), _table),
        (WHOLE, whole),
        (CAREFUL, careful),
        (("cond_if", "while_loop"), step_of_regions),
        (("scatter",), overwrites),
        (("reshape", "identity"), view),
        (("transpose",), _transpose),
        (("concat",), Concatenation(_axis)),
        (("slice",), _slice),
    )
    for name in names
}

ROWS: dict[str, DescribeRows] = {
    f"tosa.{name}": describe
    for names, describe in (
        ((*EACH, "table"), _each_rows),
        (("conv2d", "depthwise_conv2d"), _convolution_rows),
        (("avg_pool2d", "max_pool2d"), _pool_rows),
        (("reshape", "identity"), _same_rows),
        (OVER_AXIS, _over_axis_rows),
        (("concat",), _concat_rows),
        (("slice",), _slice_rows),
        (("pad",), _pad_rows),
    )
    for name in names
}

REGIONS = {"tosa.while_loop": LOOP, "tosa.cond_if": BRANCH}


def _cond_if(parser: Parser) -> Parts:
    """Return the parts of `%c -> (types) {...} else {...}`, or, of later releases,
    `%c : tensor<i1> -> type {...} else {...}`."""
    operand = parser.parse_unresolved_operand()
    later = parser.parse_optional_punctuation(":") is not None
    flag = parser.parse_type() if later else TensorType(i1, [])
    parser.parse_punctuation("->")
    results = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    types = FunctionType.from_lists([flag], results or [parser.parse_type()])

    def regions(parser: Parser) -> list[Region]:
        first = parser.parse_region()
        parser.parse_keyword("else")
        return [first, parser.parse_region()]

    return Parts([operand], types, read_regions=regions)


def _while_loop(parser: Parser) -> Parts:
    """Return the parts of `(%a = %x) : (types) -> (types) {...} do {^bb0(%a: type): ...}`."""
    arguments = arguments_of(parser)
    parser.parse_punctuation(":")
    type_ = parser.parse_function_type()

    def regions(parser: Parser) -> list[Region]:
        first = region_with(parser, arguments, type_.inputs.data)
        parser.parse_keyword("do")
        return [first, parser.parse_region()]

    return Parts([operand for _, operand in arguments], type_, read_regions=regions)


FORMS: dict[str, Form] = {
    "tosa.cond_if": _cond_if,
    "tosa.while_loop": _while_loop,
    "tosa.yield": returned,
}
"""Name -> how the operation is read where it stands otherwise than most do."""

AS_THEY_STAND = ("tosa.cond_if", "tosa.yield")
"""Operations that xDSL has in one release's form alone: its `tosa.yield` ends no
`tosa.while_loop`."""
