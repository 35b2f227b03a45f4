"""Rotary positions: channels of each head turned by an angle of their place."""

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import INT64, Scope


@expands("com.microsoft.RotaryEmbedding", floats=True)
def rotary_embedding(s: Scope) -> bool:
    """Expand onnxruntime's, whose positions are of each place, or that of the first one."""
    if s.get("is_packed_batching", 0) or s.get("scale", 1.0) != 1.0:
        return s.lacks("is_packed_batching, or a scale")
    positions = s.input(1)
    if len(s.shape(1)) < 2:
        places = s.shape()[-2]
        positions = s.add("Add", positions, s.const(np.arange(places).reshape(1, -1), INT64))
    tables = [s.add("Gather", s.input(k), positions, axis=0) for k in (2, 3)]
    return _turned(s, tables, s.shape(2)[-1])


@expands("RotaryEmbedding", floats=True)
def standard_rotary_embedding(s: Scope) -> bool:
    """Expand ONNX's, whose tables are of positions, or of places where it has no positions."""
    tables = [s.input(k) for k in (1, 2)]
    if s.has(3):
        tables = [s.add("Gather", table, s.input(3), axis=0) for table in tables]
    return _turned(s, tables, s.shape(1)[-1])


def _turned(s: Scope, tables: list[str], half: int) -> bool:
    """Return whether the operand is turned by tables of cosines and sines, each [batch or 1,
    places, half of the channels that turn]; channels of a head behind those stay."""
    shape, heads = s.shape(), s.get("num_heads", 0)
    if len(shape) not in (3, 4) or 0 in shape or not half:
        return s.lacks("an operand of other than three or four dimensions, or without elements")
    by_head, turned = len(shape) == 4, 2 * half
    size = shape[-1] // heads if heads and not by_head else shape[-1] if by_head else turned
    if size < turned or shape[-1] % size or s.get("rotary_embedding_dim", 0) not in (0, turned):
        return s.lacks(f"heads of {size} channels, of which {turned} turn")
    x = s.x if by_head else s.reshaped(s.x, (*shape[:2], shape[2] // size, size))
    at, places = (1, shape[2]) if by_head else (2, shape[1])
    wide = (-1, 1, places, half) if at == 1 else (-1, places, 1, half)
    cos, sin = (s.reshaped(table, wide) for table in tables)
    rest = [s.cut(x, turned, size, 3)] if size > turned else []
    x = s.cut(x, 0, turned, 3) if rest else x
    result = _interleaved(s, x, cos, sin) if s.get("interleaved", 0) else _halves(s, x, cos, sin)
    result = s.add("Concat", result, *rest, axis=3) if rest else result
    return s.done("Reshape", result, s.const(list(shape), INT64))


def _halves(s: Scope, x: str, cos: str, sin: str) -> str:
    """Return channels of which each of the first half turns with one of the second."""
    cos, sin = (s.add("Concat", table, table, axis=3) for table in (cos, sin))
    first, second = s.several("Split", 2, x, axis=3, num_outputs=2)
    other = s.add("Concat", s.add("Neg", second), first, axis=3)
    return s.add("Add", s.add("Mul", x, cos), s.add("Mul", other, sin))


def _interleaved(s: Scope, x: str, cos: str, sin: str) -> str:
    """Return channels of which each turns with its neighbour."""
    zero, one, two, axis, end = (s.const([v], INT64) for v in (0, 1, 2, 3, 2**31 - 1))
    first, second = (s.add("Slice", x, start, end, axis, two) for start in (zero, one))
    parts = (
        s.add("Sub", s.add("Mul", first, cos), s.add("Mul", second, sin)),
        s.add("Add", s.add("Mul", first, sin), s.add("Mul", second, cos)),
    )
    apart = [s.add("Unsqueeze", part, s.const([4], INT64)) for part in parts]
    return s.add("Reshape", s.add("Concat", *apart, axis=4), s.const([0, 0, 0, -1], INT64))
