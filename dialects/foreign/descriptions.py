"""Descriptions of memory that dialects share: what an operation of a kind does, whatever its name.

nothing        makes no value in memory and never runs
whole          buffers of their own, pure
element_wise   may write over an operand of its result's shape and width
view           operand 0, with another shape
moved          operand 0, its dimensions in another order
Concatenation  its operands lie in it, if they may
piece, pieces  lie in operand 0, each if it is one piece of it
overwrites     result k may lie where operand k lies: the others are read before it is written
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import cast

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from memopt.dialects.attributes.model import GENERIC, ModelAttr
from memopt.dialects.foreign import memory_described
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.interface import Alias, OperatorMemory, is_constant_value
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, element_bits, is_buffer, shape_of


def attribute_of(op: Operation, name: str) -> Attribute | None:
    """Return a property, or the attribute of that name: unregistered operations that were not
    written in generic form have attributes alone."""
    return op.properties.get(name, op.attributes.get(name))


def number_of(op: Operation, name: str) -> int | None:
    """Return the integer that an attribute is, None if there is none of that name."""
    number = attribute_of(op, name)
    return cast("IntegerAttr", number).value.data if isinstance(number, IntegerAttr) else None


def numbers_of(op: Operation, name: str) -> tuple[int, ...] | None:
    """Return the integers of an array that is an attribute, None if there is none of that name."""
    numbers = attribute_of(op, name)
    if not isinstance(numbers, DenseArrayBase):
        return None
    return tuple(int(v) for v in numbers.get_values())


def numbers_in(value: SSAValue) -> tuple[int, ...] | None:
    """Return the integers of a constant, None if the value is none, or one of other elements."""
    if not is_constant_value(value):
        return None
    names = ("values", "value")
    elements = next((a for n in names if (a := attribute_of(value.op, n)) is not None), None)
    if not isinstance(elements, DenseIntOrFPElementsAttr):
        return None
    if isinstance(elements.get_element_type(), AnyFloat):
        return None
    return tuple(int(v) for v in elements.get_values())


def result_bytes(op: Operation) -> tuple[int | None, ...]:
    """Return the bytes of each result, None of what is no buffer."""
    return tuple(bytes_of(r.type) for r in op.results)


def nothing(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe what makes no value in memory and never runs."""
    return OperatorMemory((None,) * len(op.results), executes=False)


def whole(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a pure operation whose results are buffers of their own."""
    return OperatorMemory(result_bytes(op))


def element_wise(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe an operation whose element k reads element k of operands of its shape, and is as
    wide."""
    if not model.has_inplace:
        return whole(op, model)
    out = op.results[0]
    fits = tuple(
        (0, k)
        for k, v in enumerate(op.operands)
        if is_buffer(v.type)
        and not is_constant_value(v)
        and shape_of(v) == shape_of(out)
        and bytes_of(v.type) == bytes_of(out.type)
    )
    return OperatorMemory(result_bytes(op), inplace=fits)


def overwrites(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe an operation whose result k is operand k with some elements replaced: it may lie
    there, if nothing else that it reads does."""
    if not model.has_inplace:
        return whole(op, model)
    origins = [origin_of(v)[0] for v in op.operands]
    fits = tuple(
        (k, k)
        for k, result in enumerate(op.results)
        if result.type == op.operands[k].type
        and not is_constant_value(op.operands[k])
        and origins.count(origins[k]) == 1
    )
    return OperatorMemory(result_bytes(op), inplace=largest(op, fits))


def largest(op: Operation, fits: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the pair (result, operand) of the largest result alone: an operator has one in place
    at most."""
    return tuple(sorted(fits, key=lambda fit: -(bytes_of(op.results[fit[0]].type) or 0))[:1])


def view(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe an operation whose only result is the bytes of operand 0."""
    if not model.has_views:
        return whole(op, model)
    return OperatorMemory(result_bytes(op), (Alias(0, 0, "view"),), executes=False)


def moved(op: Operation, model: ModelAttr, order: Sequence[int] | None) -> OperatorMemory:
    """Describe a transposition: dimension k of the result is dimension `order[k]` of operand 0. A
    view where those of more than one element keep their order."""
    if order is None:
        return whole(op, model)
    rank = len(shape_of(op.operands[0]))
    if sorted(order) != list(range(rank)):
        text = f"{full_name(op)} orders dimensions {list(order)}, but its operand has {rank}"
        raise MemoptError(text, place_of(op))
    several = [d for d in order if shape_of(op.operands[0])[d] != 1]
    return view(op, model) if several == sorted(several) else whole(op, model)


@dataclass(frozen=True)
class Concatenation:
    """The description of concatenations along `axis`: free where all dimensions before it are 1, so
    that operands follow each other, and where each operand may lie there."""

    axis: Callable[[Operation], int | None]

    def __call__(self, op: Operation, model: ModelAttr) -> OperatorMemory:
        starts = self.starts(op) if model.has_views else None
        if starts is None or not _may_lie(op, starts):
            return whole(op, model)
        inside = tuple(Alias(0, k, "slice", -start) for k, start in enumerate(starts))
        return OperatorMemory(result_bytes(op), inside, executes=False)

    def starts(self, op: Operation) -> list[int] | None:
        """Return where each operand begins in the result, in bytes; None if one is not in one
        piece, or is no buffer of its own."""
        axis, values = self.axis(op), list(op.operands)
        is_apart = len(set(values)) == len(values) and not any(map(is_constant_value, values))
        if axis is None or not is_apart or prod(shape_of(op.results[0])[:axis]) != 1:
            return None
        return [sum(bytes_of(v.type) or 0 for v in values[:k]) for k in range(len(values))]


def piece(op: Operation, model: ModelAttr, start: Sequence[int] | None) -> OperatorMemory:
    """Describe elements of operand 0 from `start` on, next to each other: free if they are one
    piece of it."""
    at = None if start is None else _bytes_before(op, op.results[0], start)
    if not model.has_views or at is None:
        return whole(op, model)
    return OperatorMemory(result_bytes(op), (Alias(0, 0, "slice", at),), executes=False)


def pieces(op: Operation, model: ModelAttr, axis: int) -> OperatorMemory:
    """Describe a split of operand 0 along `axis`: free if each result is one piece of it."""
    source, aliases, begin = op.operands[0], list[Alias](), 0
    for k, result in enumerate(op.results):
        start = [begin if d == axis else 0 for d in range(len(shape_of(source)))]
        at = _bytes_before(op, result, start)
        if not model.has_views or at is None:
            return whole(op, model)
        aliases.append(Alias(k, 0, "slice", at))
        begin += shape_of(result)[axis]
    return OperatorMemory(result_bytes(op), tuple(aliases), executes=False)


def _bytes_before(op: Operation, result: SSAValue, start: Sequence[int]) -> int | None:
    """Return the bytes from the start of operand 0 to a part of it in one piece, None if it is in
    several. Raises MemoptError for a part that is not inside."""
    source = op.operands[0]
    shape, out = shape_of(source), shape_of(result)
    is_inside = len(start) == len(shape) == len(out) and all(
        first >= 0 and first + count <= size
        for first, count, size in zip(start, out, shape, strict=True)
    )
    if not is_inside:
        text = f"{full_name(op)}: a part of {list(out)} from {list(start)} is not in {list(shape)}"
        raise MemoptError(text, place_of(op))
    elements, step, complete = 0, 1, True
    for k in reversed(range(len(shape))):
        if out[k] > 1 and not complete:
            return None
        complete = complete and out[k] == shape[k]
        elements += start[k] * step
        step *= shape[k]
    bits = elements * element_bits(cast("AnyTensor", source.type).element_type)
    return None if bits % 8 else bits // 8


def _pieces(op: Operation) -> tuple[Alias, ...]:
    """Return how the results of a view or a piece lie in operand 0; none of what is neither."""
    describe = memory_described(op)
    if describe is None or isinstance(describe, Concatenation):
        return ()
    return tuple(a for a in describe(op, GENERIC).aliases if a.ties)


def origin_of(value: SSAValue) -> tuple[SSAValue, int]:
    """Return the tensor that a value is a view or a piece of, and how many bytes from its start."""
    start = 0
    while isinstance(value, OpResult):
        aliases = [a for a in _pieces(value.op) if a.result == value.index]
        if len(aliases) != 1:
            break
        start += aliases[0].byte_offset
        value = value.op.operands[aliases[0].operand]
    return value, start


def _joins(value: SSAValue) -> Iterator[Operation]:
    """Return the concatenations that a tensor, or a view or a piece of it, may lie in."""
    for use in value.uses:
        describe = memory_described(use.operation)
        if isinstance(describe, Concatenation):
            if describe.starts(use.operation) is not None:
                yield use.operation
            continue
        for alias in _pieces(use.operation):
            if alias.operand == use.index:
                yield from _joins(use.operation.results[alias.result])


def _may_lie(op: Operation, starts: Sequence[int]) -> bool:
    """Return whether all operands may lie that many bytes behind the result's start: what they are
    pieces of lies inside, apart, and in no other concatenation.

    So concatenations in concatenations are a tree. Where two want one tensor each copies, whichever
    comes first in a plan.
    """
    size, places = bytes_of(op.results[0].type) or 0, dict[SSAValue, int]()
    for value, start in zip(op.operands, starts, strict=True):
        origin, inside = origin_of(value)
        if places.setdefault(origin, start - inside) != start - inside:
            return False
        if any(other is not op for other in _joins(origin)):
            return False
    ends = [(begin, begin + (bytes_of(v.type) or 0)) for v, begin in places.items()]
    return all(a[1] <= b[0] for a, b in pairwise([(0, 0), *sorted(ends), (size, size)]))
