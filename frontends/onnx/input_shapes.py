"""Shapes of a file's inputs, from the file, from `--shape` and `--batch`, and one image where none
of these gives the number of images.

A dimension that the file calls by a name has one size wherever the name stands. A batch that stays
open is 1: the first dimension of an input whose others are known, unless its name says that it is
something else, such as the length of a sequence.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from onnx import TensorShapeProto, TypeProto, ValueInfoProto

from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.shapes import BATCH, check_names

Dimension = TensorShapeProto.Dimension
NO_BATCH: Final = re.compile("seq|time|len|fram|sampl|step|token|word|char|point|width|height|chan")
A_BATCH: Final = re.compile("^(n|b|bs|.*batch.*)$")  # of an input without other dimensions


def fix_shapes(
    inputs: Sequence[ValueInfoProto], shapes: Mapping[str, tuple[int, ...]], name: str
) -> tuple[str, ...]:
    """Give the graph's inputs the shapes of `--shape`, and return the names of those whose batch
    nobody gives, which is 1. Raises MemoptError unless all are static then."""
    check_names(shapes, [v.name for v in inputs], name)
    sizes: dict[str, int] = {}
    for value in inputs:
        place = f"{name}: input {value.name!r}"
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            raise MemoptError(f"is a {kind or 'nothing'}, only tensors are supported", place)
        dims = value.type.tensor_type.shape.dim
        names = [d.dim_param for d in dims]
        if value.name in shapes:
            _fix(value.type.tensor_type, shapes[value.name], place)
        if BATCH in shapes and len(dims) and not is_known(dims[0]):
            dims[0].dim_value = shapes[BATCH][0]
        named_dims = zip(names, dims, strict=False)
        sizes |= {n: d.dim_value for n, d in named_dims if n and is_known(d)}
    _set_named(inputs, sizes)
    alone = [v for v in inputs if _is_open_batch(v)]
    for value in alone:
        first = value.type.tensor_type.shape.dim[0]
        if first.dim_param:
            sizes[first.dim_param] = 1
        first.dim_value = 1
    _set_named(inputs, sizes)
    for value in inputs:
        tensor = value.type.tensor_type
        if not tensor.HasField("shape") or not all(map(is_known, tensor.shape.dim)):
            text = "x".join(_said(d) for d in tensor.shape.dim) or "?"
            place = f"{name}: input {value.name!r}"
            raise MemoptError(
                f"has the shape {text}; fix it with --shape={value.name}=1x...", place
            )
    return tuple(v.name for v in alone)


def is_known(dim: Dimension) -> bool:
    """Return whether the file says a dimension; some exporters write -1 for one that they leave
    open."""
    return dim.HasField("dim_value") and dim.dim_value >= 0


def _said(dim: Dimension) -> str:
    return str(dim.dim_value) if is_known(dim) else dim.dim_param or "?"


def _set_named(inputs: Sequence[ValueInfoProto], sizes: Mapping[str, int]) -> None:
    for value in inputs:
        for dim in value.type.tensor_type.shape.dim:
            if not is_known(dim) and dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]


def _is_open_batch(value: ValueInfoProto) -> bool:
    """Return whether only the first dimension is open, and may be a batch. Some write 0 for that of
    images."""
    dims = list(value.type.tensor_type.shape.dim)
    if not dims or (is_known(dims[0]) and dims[0].dim_value) or not all(map(is_known, dims[1:])):
        return False
    if is_known(dims[0]) and not (len(dims) > 2 and all(d.dim_value for d in dims[1:])):
        return False
    said = dims[0].dim_param.lower()
    return not NO_BATCH.search(said) and (len(dims) > 1 or bool(A_BATCH.match(said)))


def _fix(tensor: TypeProto.Tensor, shape: tuple[int, ...], place: str) -> None:
    text = "x".join(map(str, shape))
    if min(shape, default=0) < 0:
        raise MemoptError(f"--shape gives a negative dimension: {list(shape)}", place)
    if not tensor.HasField("shape"):
        for d in shape:
            tensor.shape.dim.add().dim_value = d
    if len(tensor.shape.dim) != len(shape):
        rank = len(tensor.shape.dim)
        raise MemoptError(f"has {rank} dimensions, --shape gives {text}", place)
    for dim, size in zip(tensor.shape.dim, shape, strict=True):
        if is_known(dim) and dim.dim_value != size:
            raise MemoptError(f"has a fixed {dim.dim_value} where --shape gives {text}", place)
        dim.dim_value = size
