"""Construction of typed operations for all frontends, or the reason why none fits.

need(alpha == 1, "alpha = 2 (1 has one)")     # NotTyped: the operator stays opaque, and why
build(ops.SoftmaxOp, [x], [type_], {"axis": number(3), "beta": real(1.0)})
"""

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import Attribute, Operation


class NotTyped(Exception):  # noqa: N818 - not an error: the operator stays opaque
    """Refusal of an operator that does more, or other, than the typed operation of its name; the
    text says what stops it and, in brackets, what would do."""


def need(condition: bool, why: str) -> None:
    if not condition:
        raise NotTyped(why)


def real(value: float) -> FloatAttr[Any]:
    return FloatAttr(value, f32)


def axis_of(value: int, rank: int) -> int:
    """A dimension counted from the front; negative ones count from the end."""
    need(-rank <= value < rank, f"axis = {value} of {rank} dimensions")
    return value % rank


def same_padding(size: int, out: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """(smaller, larger) half of what `out` windows reach beyond `size` elements: SAME padding."""
    span = dilation * (kernel - 1) + 1
    total = max((out - 1) * stride + span - size, 0)
    return total // 2, total - total // 2


def start_of(start: int, size: int, step: int = 1) -> int:
    """Return where a slice of a dimension begins: negative starts count from the end, what is
    outside begins at the edge."""
    return min(max(start + size if start < 0 else start, 0), size if step > 0 else size - 1)


def build(
    kind: type[Operation],
    operands: Sequence[Any],
    results: Sequence[Any],
    properties: Mapping[str, Attribute | None],
) -> Operation:
    """An operation; operands and properties that are None are left out."""
    return kind.create(
        operands=[v for v in operands if v is not None],
        result_types=list(results),
        properties={k: v for k, v in properties.items() if v is not None},
    )
