"""Expansions of operators that read or write elements where indices say."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import FLOAT, INT32, INT64, RefusedError, Scope

if TYPE_CHECKING:
    from memopt.frontends.onnx.scope import Array


@expands("Gather", "GatherND", "ScatterND")
def indexed(s: Scope) -> bool:
    """Refuse known indices that there are not; expand a GatherND whose first dimensions have
    indices of their own."""
    if s.node.op_type == "GatherND" and s.get("batch_dims", 0):
        return _of_batches(s, s.get("batch_dims", 0))
    if (array := s.known.array(s.input(1))) is not None:
        shape = s.shape()
        axis: int = s.get("axis", 0) % len(shape)
        sizes = shape[axis:][:1] if s.node.op_type == "Gather" else shape[: s.shape(1)[-1]]
        need_indices(array, sizes)
    return False


def need_indices(array: "Array", sizes: Sequence[int]) -> None:
    """Raise RefusedError for an index that is not in [-n, n) of its dimension: one for all, or one
    for each element of the last dimension."""
    for k, size in enumerate(sizes):
        each = array if len(sizes) == 1 else array[..., k]
        if each.size and not -size <= each.min() <= each.max() < size:
            wrong = each.min() if each.min() < -size else each.max()
            raise RefusedError(f"index {wrong} is not in [{-size}, {size - 1}]")


def wrapped(s: Scope, sizes: Sequence[int], kind: int = INT32) -> str:
    """Return the indices, input 1, that the run time knows, as another type and from zero on."""
    at = s.input(1) if s.element(1) == kind else s.add("Cast", s.input(1), to=kind)
    return s.add("Mod", at, s.const(sizes if len(sizes) > 1 else sizes[0], kind))


@expands("GatherElements")
def gather_elements(s: Scope) -> bool:
    """Expand GatherElements along one axis into a Gather of all elements at computed places."""
    shape, out = s.shape(), s.shape(1)
    axis = int(s.get("axis", 0)) % len(shape)
    if 0 in shape or 0 in out:
        return False
    steps = [prod(shape[i + 1 :]) for i in range(len(shape))]
    grid = np.indices(out)
    base = np.zeros(out, np.int64)
    for d in range(len(shape)):
        base += grid[d] * steps[d] if d != axis else 0
    array = s.array(1)
    flat = s.reshaped(s.x, [-1])
    if array is not None:
        need_indices(array, [shape[axis]])
        at = np.where(array < 0, array + shape[axis], array) * steps[axis] + base
        return s.done("Gather", flat, s.const(at, INT64), axis=0)
    at = wrapped(s, [shape[axis]])
    at = s.add("Mul", at, s.const(steps[axis], INT32)) if steps[axis] != 1 else at
    return s.done("Gather", flat, s.add("Add", at, s.const(base, INT32)), axis=0)


def _of_batches(s: Scope, own: int) -> bool:
    """Expand GatherND whose first dimensions have indices of their own into a Gather of all
    elements at computed places."""
    shape, places = s.shape(), s.shape(1)
    depth, count = places[-1], prod(shape[:own])
    inner = shape[own : own + depth]
    rows = s.reshaped(s.x, (count * prod(inner), *shape[own + depth :]))
    steps = [prod(inner[k + 1 :]) for k in range(depth)]
    base = np.arange(count) * prod(inner)
    base = np.broadcast_to(base.reshape(-1, 1), (count, prod(places[own:-1]))).reshape(places[:-1])
    array = s.array(1)
    if array is not None:
        need_indices(array, inner)
        at = np.where(array < 0, array + np.array(inner), array)
        return s.done("Gather", rows, s.const((at * steps).sum(-1) + base, INT64), axis=0)
    at = wrapped(s, inner)
    at = s.add("Mul", at, s.const(steps, INT32))
    at = (
        s.add("ReduceSum", at, s.const([-1], INT64), keepdims=0)
        if depth > 1
        else s.reshaped(at, places[:-1])
    )
    return s.done("Gather", rows, s.add("Add", at, s.const(base, INT32)), axis=0)


@expands("ScatterElements", "Scatter")
def scatter_elements(s: Scope) -> bool:
    """Expand ScatterElements along one axis into a ScatterND of all elements at computed places."""
    shape, places = s.shape(), s.shape(1)
    axis = int(s.get("axis", 0)) % max(1, len(shape))
    beyond = any(places[k] > size for k, size in enumerate(shape) if k != axis)
    if len(places) != len(shape) or s.shape(2) != places or beyond:
        return s.lacks("places of another shape than the operand's")
    if 0 in shape or 0 in places:
        return s.lacks("no elements")
    steps = [prod(shape[i + 1 :]) for i in range(len(shape))]
    grid = np.indices(places)
    base = np.zeros(places, np.int64)
    for d in range(len(shape)):
        base += grid[d] * steps[d] if d != axis else 0
    array = s.array(1)
    if array is not None:
        need_indices(array, [shape[axis]])
        every = np.where(array < 0, array + shape[axis], array) * steps[axis] + base
        at = s.const(every.reshape(-1, 1), INT64)
    else:
        at = wrapped(s, [shape[axis]], INT64)
        at = s.add("Mul", at, s.const(steps[axis], INT64)) if steps[axis] != 1 else at
        at = s.reshaped(s.add("Add", at, s.const(base, INT64)), (-1, 1))
    flat, new = s.reshaped(s.x, [-1]), s.reshaped(s.input(2), [-1])
    updated = s.add("ScatterND", flat, at, new, reduction=s.get("reduction"))
    return s.done("Reshape", updated, s.const(list(shape), INT64))


@expands("TopK")
def top_k(s: Scope) -> bool:
    """Expand TopK into TopK of the largest along the last axis, of -x for the smallest."""
    shape, largest = s.shape(), s.get("largest", 1)
    axis = int(s.get("axis", -1)) % max(1, len(shape))
    count = [int(s.attributes["k"])] if "k" in s.attributes else s.ints(1)
    if count is None or not shape:
        return False
    if axis == len(shape) - 1 and largest and "k" not in s.attributes:
        return False
    if s.element() not in (FLOAT, INT32) and not largest:
        return s.lacks("largest = 0 (of float32 and int32 it has one)")
    order = [*(d for d in range(len(shape)) if d != axis), axis]
    back = [order.index(d) for d in range(len(shape))]
    x = s.x if largest else _falling(s, s.x)
    x = s.transposed(x, order)
    values, at = s.several("TopK", 2, x, s.const(count, INT64), axis=-1)
    s.done("Identity", s.transposed(values if largest else _falling(s, values), back))
    return s.done("Transpose", at, perm=back, result=1)


def _falling(s: Scope, name: str) -> str:
    """Return numbers in the other order; applied twice, the numbers themselves."""
    return s.add("Neg", name) if s.is_float else s.add("Sub", s.const(-1, INT32), name)


@expands("EyeLike")
def eye(s: Scope) -> bool:
    """Expand EyeLike into a constant with ones in a diagonal."""
    rows, columns = s.shape()
    return s.done("Identity", s.const(np.eye(rows, columns, s.get("k", 0)), s.out_element()))
