"""The `stablehlo` dialect's memory behaviour, by name: xDSL does not have it, so its operations are
unregistered.

%1 = stablehlo.reshape %0             the same bytes, as a `broadcast_in_dim` or a `transpose` that
                                      moves no element, a `bitcast_convert`, an optimization barrier
%2 = stablehlo.slice %1 [0:2, 0:8]    lies in its operand, if it is one piece of that
%3 = stablehlo.concatenate %1, %2     its operands lie in it, if they follow each other there
%4 = stablehlo.add %3, %c             may write over an operand of its result's shape and width
%5 = stablehlo.dynamic_update_slice   may write over the operand that it updates, as `scatter`
%6 = stablehlo.custom_call            lies where `output_operand_aliases` says; without
                                      `has_side_effect` it may move, as all of the others may
%7 = stablehlo.reduce %6              a buffer of its own; what its region computes are scalars

What has regions that compute tensors (`while`, `if`, `case`) is one step (regions.py).
Communication, `infeed`, `outfeed`, random numbers and what is not here keep their mutual order.
"""

import re
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType, UnregisteredAttr
from xdsl.ir import Attribute, Operation

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.foreign import BRANCH, LOOP
from memopt.dialects.foreign.descriptions import (
    Concatenation,
    attribute_of,
    element_wise,
    moved,
    nothing,
    number_of,
    numbers_of,
    overwrites,
    piece,
    result_bytes,
    view,
    whole,
)
from memopt.dialects.foreign.regions import step_of_regions
from memopt.dialects.foreign.stablehlo_forms import FORMS as FORMS
from memopt.dialects.memgraph.behaviour import careful
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import Alias, OperatorMemory
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.tensors import elements_of, is_buffer, shape_of

GENERIC_BY = "stablehlo-opt --mlir-print-op-generic"
"""The command that prints any release's text in generic form."""

EACH = (
    *("abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "compare", "complex", "convert"),
    *("cosine", "count_leading_zeros", "divide", "exponential", "exponential_minus_one", "floor"),
    *("imag", "is_finite", "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply"),
    *("negate", "not", "or", "popcnt", "power", "real", "reduce_precision", "remainder"),
    *("round_nearest_afz", "round_nearest_even", "rsqrt", "select", "shift_left"),
    *("shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt", "subtract", "tan"),
    *("tanh", "uniform_dequantize", "uniform_quantize", "xor"),
)
WHOLE = (
    *("batch_norm_grad", "batch_norm_inference", "batch_norm_training", "broadcast", "cholesky"),
    *("convolution", "dot", "dot_general", "dynamic_broadcast_in_dim", "dynamic_conv"),
    *("dynamic_gather", "dynamic_iota", "dynamic_pad", "dynamic_slice", "einsum", "fft"),
    *("gather", "get_dimension_size", "iota", "pad", "partition_id", "real_dynamic_slice"),
    *("replica_id", "reverse", "rng_bit_generator", "torch_index_select", "triangular_solve"),
    "unary_einsum",
)
CAREFUL = (
    *("after_all", "all_gather", "all_reduce", "all_to_all", "async_done", "async_start"),
    *("collective_broadcast", "collective_permute", "composite", "create_token"),
    *("get_tuple_element", "infeed", "outfeed", "recv", "reduce_scatter", "return", "rng"),
    *("send", "set_dimension_size", "tuple"),
)
WITH_REGION = ("map", "reduce", "reduce_window", "select_and_scatter", "sort")

_ALIAS = re.compile(
    r"output_tuple_indices\s*=\s*\[(\d*)\],\s*operand_index\s*=\s*(\d+),"
    r"\s*operand_tuple_indices\s*=\s*\[\]"
)


def _with_region(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe what computes scalars in its region."""
    return whole(op, model) if _has_scalars(op) else careful(op, model)


def _scatter(op: Operation, model: ModelAttr) -> OperatorMemory:
    return overwrites(op, model) if _has_scalars(op) else careful(op, model)


def _has_scalars(op: Operation) -> bool:
    """Return whether all tensors that come up in the regions are scalars."""
    blocks = [block for region in op.regions for block in region.blocks]
    arguments = [value for block in blocks for value in block.args]
    results = [value for block in blocks for inner in block.walk() for value in inner.results]
    return not any(is_buffer(v.type) and shape_of(v) for v in (*arguments, *results))


def _slice(op: Operation, model: ModelAttr) -> OperatorMemory:
    start, strides = numbers_of(op, "start_indices"), numbers_of(op, "strides")
    return piece(op, model, start if strides and set(strides) == {1} else None)


def _broadcast(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a broadcast, which moves no element if it only adds dimensions of 1."""
    axes = numbers_of(op, "broadcast_dimensions")
    is_same = elements_of(op.operands[0]) == elements_of(op.results[0])
    return moved(op, model, _order(axes, op)) if is_same else whole(op, model)


def _order(axes: tuple[int, ...] | None, op: Operation) -> tuple[int, ...] | None:
    """Return the dimensions of operand 0 by where they are in the result."""
    if axes is None or len(axes) != len(shape_of(op.operands[0])):
        return None
    return tuple(sorted(range(len(axes)), key=lambda k: axes[k]))


def _transpose(op: Operation, model: ModelAttr) -> OperatorMemory:
    return moved(op, model, numbers_of(op, "permutation"))


def _barrier(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a barrier of rewrites, which is none of the order."""
    if not model.has_views:
        return whole(op, model)
    views = tuple(Alias(k, k, "view") for k in range(len(op.results)))
    return OperatorMemory(result_bytes(op), views, executes=False)


def _custom_call(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a call of somebody's function, whose results may have to lie where operands lie."""
    if any(isinstance(r.type, TupleType) for r in op.results):
        text = f"{full_name(op)} makes a tuple, of which no part is planned"
        raise MemoptError(text, place_of(op))
    if number_of(op, "has_side_effect"):
        return careful(op, model)
    listed = attribute_of(op, "output_operand_aliases")
    aliases: list[Alias] = []
    entries = cast("ArrayAttr[Attribute]", listed).data if isinstance(listed, ArrayAttr) else ()
    for entry in entries:
        text = entry.value.data if isinstance(entry, UnregisteredAttr) else str(entry)
        match = _ALIAS.search(text)
        if match is None:
            raise MemoptError(f"{full_name(op)}: {text} aliases a part of a tuple", place_of(op))
        result, operand = int(match[1] or 0), int(match[2])
        if result >= len(op.results) or operand >= len(op.operands):
            text = f"{full_name(op)}: result {result} aliases operand {operand}, of which one is"
            raise MemoptError(f"{text} not there", place_of(op))
        aliases.append(Alias(result, operand, "inplace"))
    return OperatorMemory(result_bytes(op), tuple(aliases))


MEMORY = {
    f"stablehlo.{name}": describe
    for names, describe in (
        (("constant",), nothing),
        (EACH, element_wise),
        (WHOLE, whole),
        (CAREFUL, careful),
        (WITH_REGION, _with_region),
        (("while", "if", "case"), step_of_regions),
        (("scatter",), _scatter),
        (("dynamic_update_slice",), overwrites),
        (("reshape", "dynamic_reshape", "bitcast_convert"), view),
        (("broadcast_in_dim",), _broadcast),
        (("transpose",), _transpose),
        (("optimization_barrier",), _barrier),
        (("slice",), _slice),
        (("concatenate",), Concatenation(lambda op: number_of(op, "dimension"))),
        (("custom_call",), _custom_call),
    )
    for name in names
}

REGIONS = {"stablehlo.while": LOOP, "stablehlo.if": BRANCH, "stablehlo.case": BRANCH}
