"""Properties that name dimensions, where the dimensions stand in another order."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, is_buffer, shape_of

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
"""Images of four dimensions channels last, and channels first again."""

NEW = -1
"""In an order of dimensions: one of size 1 that was not there."""


def is_channels_first(value: SSAValue) -> bool:
    """Return whether it is an image that lies channels first."""
    first = is_buffer(value.type) and encoding_of(value).layout.data == "nchw"
    return first and len(shape_of(value)) == 4


def is_width_lost(image: SSAValue, sequence: SSAValue) -> bool:
    """Return whether a sequence has the dimensions of an image channels first but for a width of
    1."""
    if not is_channels_first(image):
        return False
    *sequence_shape, width = shape_of(image)
    return width == 1 and shape_of(sequence) == tuple(sequence_shape)


def keeps_bytes(value: SSAValue, order: Sequence[int]) -> bool:
    """Return whether only dimensions of size 1 change places, so that the bytes stay in theirs."""
    shape = shape_of(value)
    large = [i for i in order if shape[i] != 1]
    return large == sorted(large)


def with_axis(op: Operation, order: Sequence[int]) -> Mapping[str, Attribute]:
    """The properties with `axis` as a dimension of tensors that have been put in that order."""
    axis = cast("IntegerAttr[Any]", op.properties["axis"]).value.data
    return {**op.properties, "axis": IntegerAttr(order.index(axis), i64)}


def with_last_axis(op: Operation, rank: int, before: int) -> Mapping[str, Attribute] | None:
    """The properties with the last of `rank` dimensions as `axis`, which was the last of `before`;
    None where it was another one."""
    axis = cast("IntegerAttr[Any]", op.properties["axis"]).value.data
    last = IntegerAttr(rank - 1, i64)
    return {**op.properties, "axis": last} if axis == before - 1 else None


def with_entries(
    op: Operation, entries: Mapping[str, int], order: Sequence[int]
) -> Mapping[str, Attribute]:
    """The properties with the lists of these names, an entry per dimension, in that order; a new
    dimension has the one that is beside the name."""
    properties = dict(op.properties)
    for name, new in entries.items():
        old = cast("DenseArrayBase[Any]", op.properties[name]).get_values()
        properties[name] = numbers([new if i == NEW else int(old[i]) for i in order])
    return properties


def reordered_type(value: SSAValue, order: Sequence[int], layout: str) -> AnyTensor:
    """The type of a tensor whose dimension i is dimension `order[i]` of `value`, in a layout."""
    old, shape = encoding_of(value), shape_of(value)
    axis = list(order).index(old.axis.data) if old.axis.data >= 0 else -1
    encoding = EncodingAttr(layout, old.scales, old.zero_points, axis)
    return TensorType(element_of(value), [shape[i] for i in order], encoding)
