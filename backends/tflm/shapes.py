"""Shapes of a file whose dimensions are open, as the module has them."""

from dataclasses import replace
from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.formats.tflite import Model, Tensor
from memopt.targets.tflm.arena import tensor_indices


def with_shapes_of(func: FuncOp, model: Model, number: int) -> Model:
    """Return the file with the shapes that a function has, its subgraph `number`, where the file
    leaves dimensions open. Raises MemoptError for another shape than the file says."""
    graphs = list(model.subgraphs)
    tensors = list(graphs[number].tensors)
    for value, index in tensor_indices(func).items():
        if isinstance(value, OpResult) and isinstance(value.op, VariableOp):
            continue
        shape, tensor = shape_of(value), tensors[index]
        if shape == tensor.shape:
            continue
        if not _fits(shape, tensor):
            text = (
                f"tensor {index} has the shape {list(tensor.shape)} in the file, not {list(shape)}"
            )
            raise MemoptError(text, f"@{func.sym_name.data}")
        tensors[index] = replace(tensor, shape=shape, size=bytes_of(value.type))
    graphs[number] = replace(graphs[number], tensors=tuple(tensors))
    return replace(model, subgraphs=tuple(graphs))


def _fits(shape: tuple[int, ...], tensor: Tensor) -> bool:
    """Return whether only dimensions differ that are open, or by the signature what they are."""
    return len(shape) == len(tensor.signature) and all(
        n in (said, signed) or signed < 0
        for n, said, signed in zip(shape, tensor.shape, tensor.signature, strict=True)
    )


def write_shapes(objects: Any, model: Model) -> None:
    """Give the tensors of every subgraph the shapes of a model."""
    for graph, subgraph in zip(objects.subgraphs, model.subgraphs, strict=True):
        for entry, tensor in zip(graph.tensors or (), subgraph.tensors, strict=True):
            if tensor.signature:
                entry.shape = np.array(tensor.shape, np.int32)
