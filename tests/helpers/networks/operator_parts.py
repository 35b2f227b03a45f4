"""Parts of random operations: types, values, and the operation by name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType, f32, i8
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.test_value import create_ssa_value

from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.operators import operations
from memopt.dialects.operators.base import ComputeOp
from memopt.frontends.core.typed import build

Rng = np.random.Generator
KINDS = {op.name.removeprefix("memgraph."): op for op in operations() if issubclass(op, ComputeOp)}


def tensor(shape: Sequence[int], layout: str = "nhwc", element: Attribute = f32) -> Any:
    return TensorType(element, shape, EncodingAttr(layout))


def value(shape: Sequence[int], layout: str = "nhwc", element: Attribute = f32) -> SSAValue:
    return create_ssa_value(tensor(shape, layout, element))


def image(rng: Rng) -> tuple[int, ...]:
    return (1, *(int(v) for v in rng.integers(1, 7, 3)))


def made(name: str, operands: Sequence[SSAValue], results: Sequence[Any], **properties: Any) -> Any:
    op = build(KINDS[name], operands, results, properties)
    op.verify_()
    return op


def filters(shape: Sequence[int], layout: str) -> SSAValue:
    """Return int8 weights of one scale."""
    return create_ssa_value(TensorType(i8, shape, EncodingAttr(layout, (0.05,), (0,))))
