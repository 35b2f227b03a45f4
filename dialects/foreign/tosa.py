"""The `tosa` dialect's memory behaviour, by name, so that operations of any release are known:
those of xDSL's dialect, and those that it does not have and that are read as unregistered.

%1 = tosa.reshape %0 : ...            the same bytes
%2 = tosa.concat %0, %1 {axis = 0}    its operands lie in it, if they follow each other there
%3 = tosa.slice %2 {start = ...}      lies in its operand, if it is one piece of that
%4 = tosa.add %3, %c : ...            may write over an operand of its result's shape and width
%5 = tosa.conv2d %4, %w, %b : ...     a buffer of its own

All are pure but what has variables, regions or somebody else's meaning (`tosa.custom`), which get
the careful defaults.
"""

from math import prod
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.interface import Alias, OperatorMemory, is_constant_value
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.tensors import AnyTensor, bytes_of, element_bits, is_buffer, shape_of

EACH = (
    *("abs", "add", "arithmetic_right_shift", "bitwise_and", "bitwise_not", "bitwise_or"),
    *("bitwise_xor", "cast", "ceil", "clamp", "clz", "cos", "div", "equal", "erf", "exp", "floor"),
    *("greater", "greater_equal", "int_div", "intdiv", "log", "logical_and", "logical_left_shift"),
    *("logical_not", "logical_or", "logical_right_shift", "logical_xor", "maximum", "minimum"),
    *("mul", "negate", "pow", "reciprocal", "rescale", "rsqrt", "select", "sigmoid", "sin", "sub"),
    *("table", "tanh"),
)
WHOLE = (
    *("argmax", "avg_pool2d", "conv2d", "conv3d", "depthwise_conv2d", "fft2d", "fully_connected"),
    *("gather", "matmul", "max_pool2d", "pad", "reduce_all", "reduce_any", "reduce_max"),
    *("reduce_min", "reduce_prod", "reduce_product", "reduce_sum", "resize", "reverse", "rfft2d"),
    *("scatter", "tile", "transpose", "transpose_conv2d"),
)


def _results(op: Operation) -> tuple[int | None, ...]:
    return tuple(bytes_of(r.type) for r in op.results)


def _whole(op: Operation, model: ModelAttr) -> OperatorMemory:
    return OperatorMemory(_results(op))


def _each(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Element k of the result reads element k of operands of its shape, and is as wide."""
    if not model.has_inplace:
        return _whole(op, model)
    out = op.results[0]
    fits = tuple(
        (0, k)
        for k, v in enumerate(op.operands)
        if is_buffer(v.type)
        and not is_constant_value(v)
        and shape_of(v) == shape_of(out)
        and bytes_of(v.type) == bytes_of(out.type)
    )
    return OperatorMemory(_results(op), inplace=fits)


def _view(op: Operation, model: ModelAttr) -> OperatorMemory:
    if not model.has_views:
        return _whole(op, model)
    return OperatorMemory(_results(op), (Alias(0, 0, "view"),), executes=False)


def _concat(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Free where all dimensions before the axis are 1, so that operands follow each other."""
    axis = _property(op, "axis")
    where = cast("IntegerAttr", axis).value.data if isinstance(axis, IntegerAttr) else None
    values = list(op.operands)
    if (
        not model.has_views
        or where is None
        or prod(shape_of(op.results[0])[:where]) != 1
        or len(set(values)) < len(values)
        or any(map(is_constant_value, values))
    ):
        return _whole(op, model)
    starts = [sum(bytes_of(v.type) or 0 for v in values[:k]) for k in range(len(values))]
    inside = tuple(Alias(0, k, "slice", -start) for k, start in enumerate(starts))
    return OperatorMemory(_results(op), inside, executes=False)


def _slice(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Free where it is one piece; releases that hand the start over as a tensor copy."""
    start = _property(op, "start")
    at = None
    if isinstance(start, DenseArrayBase):
        at = _piece(op.operands[0], op.results[0], [int(v) for v in start.get_values()])
    if not model.has_views or at is None:
        return _whole(op, model)
    return OperatorMemory(_results(op), (Alias(0, 0, "slice", at),), executes=False)


def _piece(source: SSAValue, result: SSAValue, start: list[int]) -> int | None:
    """Bytes from the start of `source` to a part of it in one piece, None if it is in several."""
    shape, out = shape_of(source), shape_of(result)
    elements, step, complete = 0, 1, True
    for k in reversed(range(len(shape))):
        if out[k] > 1 and not complete:
            return None
        complete = complete and out[k] == shape[k]
        elements += start[k] * step
        step *= shape[k]
    bits = elements * element_bits(cast("AnyTensor", source.type).element_type)
    return None if bits % 8 else bits // 8


def _property(op: Operation, name: str) -> Attribute | None:
    """As a property or an attribute: unregistered operations have attributes alone."""
    return op.properties.get(name) or op.attributes.get(name)


MEMORY = {
    f"tosa.{name}": describe
    for names, describe in (
        (EACH, _each),
        (WHOLE, _whole),
        (("reshape", "identity"), _view),
        (("concat",), _concat),
        (("slice",), _slice),
    )
    for name in names
}
