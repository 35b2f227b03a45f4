"""Inputs that the caller makes constants (`--fix`): what they are, or why they cannot be that."""

import sys
from collections.abc import Sequence
from math import prod
from typing import Any, Final

from onnx import TensorProto, ValueInfoProto, helper

from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.frontends.core.shapes import Fixed

MOST: Final = 1024  # elements: more are no constant to write on a command line
FLOATS: Final[dict[int, float]] = {  # element types of reals: the largest
    TensorProto.FLOAT: 3.4028234663852886e38,
    TensorProto.DOUBLE: sys.float_info.max,
}
NUMBERS: Final[dict[int, tuple[int, bool]]] = {  # element types of integers: bits, signed
    TensorProto.INT8: (8, True),
    TensorProto.UINT8: (8, False),
    TensorProto.INT16: (16, True),
    TensorProto.UINT16: (16, False),
    TensorProto.INT32: (32, True),
    TensorProto.UINT32: (32, False),
    TensorProto.INT64: (64, True),
    TensorProto.UINT64: (64, False),
    TensorProto.BOOL: (1, False),
}


def given_constants(
    inputs: Sequence[ValueInfoProto], fixed: Fixed, name: str
) -> dict[str, TensorProto]:
    """The tensors of inputs that are `fixed`, whose shapes are known. Raises MemoptError."""
    known = {v.name: v for v in inputs}
    constants: dict[str, TensorProto] = {}
    for given, values in fixed.items():
        if given not in known:
            names = ", ".join(known) or "none"
            text = f"--fix names {given!r}{nearest(given, known)}, but the inputs are: {names}"
            raise MemoptError(text, name)
        tensor = known[given].type.tensor_type
        dims = [d.dim_value for d in tensor.shape.dim]
        place = f"{name}: input {given!r}"
        constants[given] = _constant(given, tensor.elem_type, dims, values, place)
    return constants


def _constant(
    name: str, element: int, dims: Sequence[int], values: Sequence[int | float], place: str
) -> TensorProto:
    count = prod(dims)
    if count > MOST:
        raise MemoptError(f"has {count} elements, --fix takes at most {MOST}", place)
    if len(values) not in (1, count) or not values:
        text = f"--fix gives {len(values)} values for {count} elements: all of them, or one"
        raise MemoptError(text, place)
    for value in values:
        _check(value, element, place)
    return helper.make_tensor(name, element, dims, list(values) * (count // len(values)))


def _check(value: float, element: int, place: str) -> None:
    """Raise MemoptError for what an element of that type cannot be."""
    types: Any = TensorProto.DataType
    kind = types.Name(element).lower()
    if element in FLOATS:
        if not abs(value) <= FLOATS[element]:  # nor is it a NaN
            raise MemoptError(f"--fix gives {_said(value)}, which is no finite {kind}", place)
        return
    if element not in NUMBERS:
        raise MemoptError(f"--fix makes no constants of {kind}", place)
    bits, signed = NUMBERS[element]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not isinstance(value, int) or not low <= value <= high:
        raise MemoptError(f"--fix gives {_said(value)}, which is no {kind}", place)


def _said(value: float) -> str:
    return str(value) if isinstance(value, float) or abs(value) < 1 << 65 else "a larger number"
