"""Expansions of operators that make one number of several along axes, or put these in
proportion."""

from collections.abc import Sequence
from math import prod

from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import FLOAT, INT32, INT64, Scope


def axes_of(s: Scope) -> list[int] | None:
    """The axes of a reduction, an operand or an attribute; None if only the run time knows them,
    [] for none."""
    rank = len(s.shape())
    axes = s.ints(1, "axes") if s.has(1) or "axes" in s.attributes else []
    if axes is None:
        return None
    if not axes and not s.get("noop_with_empty_axes", 0):
        return list(range(rank))
    return sorted({axis % rank for axis in axes})


def over(s: Scope, kind: str, name: str, axes: Sequence[int]) -> str:
    """A reduction over axes, which stay as 1."""
    return s.add(kind, name, s.const(list(axes), INT64), keepdims=1)


@expands("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean")
def reduction(s: Scope) -> bool:
    """Over no axes nothing is to do."""
    return axes_of(s) == [] and 0 not in s.shape() and s.done("Identity", s.x)


@expands("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")
def of_functions(s: Scope) -> bool:
    """A sum of functions of the numbers, and a function of the sum."""
    axes, kind = axes_of(s), s.node.op_type
    if axes is None or not s.is_float:
        return False
    if 0 in s.shape():
        return s.lacks("no elements")
    x, largest = s.x, ""
    if kind == "ReduceL1":
        x = s.add("Abs", x)
    elif kind in ("ReduceL2", "ReduceSumSquare"):
        x = s.add("Mul", x, x)
    elif kind == "ReduceLogSumExp":
        largest = over(s, "ReduceMax", x, axes) if axes else x
        x = s.add("Exp", s.add("Sub", x, largest))
    x = over(s, "ReduceSum", x, axes) if axes else x
    if kind == "ReduceL2":
        x = s.add("Sqrt", x)
    elif kind == "ReduceLogSum":
        x = s.add("Log", x)
    elif kind == "ReduceLogSumExp":
        x = s.add("Add", s.add("Log", x), largest)
    return s.done("Reshape", x, s.const(list(s.out_shape()), INT64))


@expands("ArgMax", "ArgMin")
def arg(s: Scope) -> bool:
    """Expand ArgMax and ArgMin; the last of equal elements is the first, counted from the end."""
    keep, last, axis = s.get("keepdims", 1), s.get("select_last_index", 0), s.get("axis", 0)
    if not keep and not last and "axis" in s.attributes:
        return False
    if s.element() not in (FLOAT, INT32, 2, 3):
        return False
    x, axis = s.x, int(axis) % len(s.shape())
    size = s.shape()[axis]
    if last:
        ends: list[int] = [-1, -(size + 1), axis, -1]
        x = s.add("Slice", x, *(s.const([v], INT64) for v in ends))
    index = s.add(s.node.op_type, x, axis=axis, keepdims=0)
    if last:
        index = s.add("Sub", s.const(size - 1, INT32), s.add("Cast", index, to=INT32))
        index = s.add("Cast", index, to=INT64)
    return s.done("Reshape", index, s.const(list(s.out_shape()), INT64))


@expands("Softmax", "LogSoftmax")
def softmax(s: Scope) -> bool:
    """Before opset 13 over all from an axis on; the logarithm over any axis as over the last."""
    if not s.is_float or 0 in s.shape():
        return False
    kind, shape = s.node.op_type, s.shape()
    rank = len(shape)
    if s.opset < 13:
        axis = int(s.get("axis", 1)) % max(rank, 1)
        if axis == rank - 1:
            return s.done(kind, s.x, axis=-1)
        flat = s.reshaped(s.x, (prod(shape[:axis]), prod(shape[axis:])))
        return s.done("Reshape", s.add(kind, flat, axis=-1), s.const(list(shape), INT64))
    axis = s.get("axis", -1) % rank
    if kind == "Softmax" or axis == rank - 1:
        return False
    order = [*(d for d in range(rank) if d != axis), axis]
    normalized = s.add(kind, s.transposed(s.x, order), axis=-1)
    return s.done("Transpose", normalized, perm=[order.index(d) for d in range(rank)])


@expands("Hardmax", floats=True)
def hardmax(s: Scope) -> bool:
    """1 where the first of the largest stands."""
    shape = s.shape()
    if s.opset < 13:
        axis = s.get("axis", 1) % len(shape)
        flat = s.reshaped(s.x, (prod(shape[:axis]), prod(shape[axis:])))
        return s.done("Reshape", s.add("Hardmax", flat), s.const(list(shape), INT64))
    axis = int(s.get("axis", -1)) % len(shape)
    at = s.add("Cast", s.add("ArgMax", s.x, axis=axis, keepdims=1), to=INT32)
    along = [1] * len(shape)
    along[axis] = size = int(shape[axis])
    every = s.reshaped(s.const(list(range(size)), INT32), along)
    return s.done("Cast", s.add("Equal", every, at), to=FLOAT)


@expands("LpNormalization", floats=True)
def lp_normalization(s: Scope) -> bool:
    """Expand to a quotient by the length; vectors of no length stay zero."""
    axis, kind = s.get("axis", -1) % len(s.shape()), f"ReduceL{s.get('p', 2)}"
    length = over(s, kind, s.x, [axis])
    nothing = s.add("Cast", s.add("Equal", length, s.like(0)), to=FLOAT)
    return s.done("Div", s.x, s.add("Add", length, nothing))
