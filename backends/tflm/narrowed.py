"""A `.tflite` of the network whose dead and constant channels are left out (`constant-channels`).

    data = write_narrowed(module)      # no plan: the operators in the file's order

The imported file with narrower tensors, and the weights and biases that are left; what no operator
reads any more is not in it. Whoever plans for TensorFlow Lite Micro imports it as any other file.
"""

import copy
from collections.abc import Iterable
from functools import singledispatch
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.constants import Constants, constants_of
from memopt.analysis.weights import Weights, files_of
from memopt.backends.tflm import only_function, source_of, text_of
from memopt.backends.tflm.repack import AlignedBuffer, pack, unpack
from memopt.dialects.attributes import SourceAttr
from memopt.dialects.channel_attributes import NARROWED, is_narrowed
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import body_of
from memopt.dialects.model_attributes import GENERIC
from memopt.dialects.names import place_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.slices import SliceOp, SplitOp
from memopt.dialects.operators.weighing import WeighingOp
from memopt.dialects.tensors import channels_of, encoding_of, shape_of
from memopt.formats.tflite import litert_schema, read_model

PLAN_NAME = "OfflineMemoryAllocation"


class OtherSizesError(MemoptError):
    """An operator whose constants say how many channels it takes."""


def is_narrowed_function(func: FuncOp) -> bool:
    """Whether channels of a function were left out."""
    return any(is_narrowed(op) for op in body_of(func).ops)


def write_narrowed(
    module: ModuleOp, folder: Path = Path(), model_path: Path | None = None
) -> bytes:
    """The file of a module that `constant-channels` made narrower, without a plan. Raises
    MemoptError for operators that are not the file's, OtherSizesError for those whose constants say
    how many channels they take."""
    data, model, name = source_of(module, folder, model_path)
    func = only_function(module, model)
    objects = unpack(data)
    if any(b.offset > 1 for b in objects.buffers):
        raise MemoptError("weights behind the flatbuffer are not written narrower", name)
    graph = objects.subgraphs[0]
    weights = Weights(files_of(module), folder, model_path)
    file = _File(objects, graph, constants_of(weights, GENERIC))
    for op in body_of(func).ops:
        source = op.attributes.get("memgraph.source")
        link = op.attributes.get(NARROWED)
        if isinstance(link, SourceAttr):
            operator = graph.operators[link.operator.data]
            file.narrow(op, operator, link)
        elif is_narrowed(op) or (isinstance(op, ComputeOp) and source is None and not op.WRITTEN):
            raise MemoptError("is not an operator of the file", place_of(op))
    drop_unread(objects)
    result = pack(objects, data, b"")
    _check(func, result, name)
    return result


class _File:
    """The objects of a file while tensors of it get narrower."""

    def __init__(self, objects: Any, graph: Any, constants: Constants) -> None:
        self.objects, self.graph, self.constants = objects, graph, constants

    def narrow(self, op: Operation, operator: Any, link: SourceAttr) -> None:
        """The results of an operator, and the constants that it reads."""
        for value, index in zip(op.results, link.tensor_ids, strict=True):
            self.reshape(self.graph.tensors[index], shape_of(value))
        inputs: list[int] = [int(i) for i in operator.inputs]
        for k, value in enumerate(op.operands):
            owner = value.owner
            if not isinstance(owner, ComputeOp) or not owner.WRITTEN:
                continue
            array = self.constants(value)
            assert array is not None
            inputs += [-1] * (k + 1 - len(inputs))
            inputs[k] = self.constant(inputs[k], value, array)
        operator.inputs = inputs
        tell(op, operator, self)

    def reshape(self, tensor: Any, shape: Iterable[int]) -> None:
        import numpy as np

        tensor.shape = np.array(list(shape), np.int32)
        tensor.shapeSignature = None

    def constant(self, like: int, value: SSAValue | None, array: Any) -> int:
        """A new tensor with these elements: the like of another, or a bias where there was none."""
        import numpy as np

        tensor = copy.copy(self.graph.tensors[like]) if like >= 0 else _bias()
        tensor.sparsity = None  # all elements are written
        self.reshape(tensor, array.shape)
        self.objects.buffers.append(AlignedBuffer(array.tobytes()))
        tensor.buffer = len(self.objects.buffers) - 1
        if value is not None and encoding_of(value).quantized:
            encoding = encoding_of(value)
            numbers = copy.copy(tensor.quantization)
            numbers.scale = np.array(encoding.scales, np.float32)
            numbers.zeroPoint = np.array(encoding.zero_points, np.int64)
            if len(encoding.scales) > 1 or encoding.axis.data >= 0:
                numbers.min = numbers.max = None  # per channel, and read by nobody
                numbers.quantizedDimension = encoding.axis.data
            tensor.quantization = numbers
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1


def _bias() -> Any:
    schema: Any = litert_schema()
    tensor: Any = schema.TensorT()
    tensor.type, tensor.name = schema.TensorType.INT32, b"bias"
    tensor.quantization = schema.QuantizationParametersT()
    return tensor


@singledispatch
def tell(op: Operation, operator: Any, file: _File) -> None:
    """Say in an operator's own words that it is narrower, where its tensors do not say it."""


@tell.register
def _weighing(op: WeighingOp, operator: Any, file: _File) -> None:
    options = operator.builtinOptions
    if hasattr(options, "depthMultiplier"):
        options.depthMultiplier = channels_of(op.results[0]) // channels_of(op.operands[0])


@tell.register
def _reshape(op: ReshapeOp, operator: Any, file: _File) -> None:
    import numpy as np

    shape = np.array(shape_of(op.result), np.int32)
    inputs: list[int] = [int(i) for i in operator.inputs]
    if operator.builtinOptions is not None and hasattr(operator.builtinOptions, "newShape"):
        operator.builtinOptions.newShape = shape
    if len(inputs) > 1:
        inputs[1] = file.constant(inputs[1], None, shape)
    operator.inputs = inputs


@tell.register
def _split(op: SplitOp, operator: Any, file: _File) -> None:
    raise OtherSizesError("its parts would have other sizes than the file says", place_of(op))


@tell.register
def _slice(op: SliceOp, operator: Any, file: _File) -> None:
    raise OtherSizesError("it would take other sizes than the file says", place_of(op))


def drop_unread(objects: Any) -> None:
    """Leave out the tensors that no operator of the only subgraph reads or makes, the buffers that
    nobody has, and a plan, which was one of other tensors."""
    graph = objects.subgraphs[0]
    used: set[int] = {int(i) for i in (*graph.inputs, *graph.outputs)}
    for op in graph.operators:
        for found in (op.inputs, op.outputs, op.intermediates):
            used |= {int(i) for i in (found if found is not None else ()) if i >= 0}
    order = sorted(used)
    new = {-1: -1, **{old: i for i, old in enumerate(order)}}

    def renumbered(found: Any) -> Any:
        import numpy as np

        return None if found is None else np.array([new[int(i)] for i in found], np.int32)

    for op in graph.operators:
        op.inputs, op.outputs = renumbered(op.inputs), renumbered(op.outputs)
        op.intermediates = renumbered(op.intermediates)
    graph.inputs, graph.outputs = renumbered(graph.inputs), renumbered(graph.outputs)
    graph.tensors = [graph.tensors[i] for i in order]
    for signature in objects.signatureDefs or ():
        for entry in (*(signature.inputs or ()), *(signature.outputs or ())):
            entry.tensorIndex = new[entry.tensorIndex]
    entries = cast("list[Any]", objects.metadata or [])
    objects.metadata = [m for m in entries if text_of(m.name) != PLAN_NAME]
    buffers = {0, *(t.buffer for t in graph.tensors), *(m.buffer for m in objects.metadata)}
    kept = {old: i for i, old in enumerate(sorted(buffers))}
    for owner in (*graph.tensors, *objects.metadata):
        owner.buffer = kept[owner.buffer]
    objects.buffers = [objects.buffers[old] for old in kept]


def _check(func: FuncOp, result: bytes, name: str) -> None:
    """Read the written file again: as many operators, results of these shapes, no buffer without a
    reader. Raises MemoptError otherwise: that would be a bug of ours."""
    again = read_model(result, f"{name} (written)")
    graph = again.subgraphs[0]
    for op in body_of(func).ops:
        link = op.attributes.get(NARROWED) or op.attributes.get("memgraph.source")
        if not isinstance(link, SourceAttr) or link.operator.data < 0:
            continue
        written = graph.operators[link.operator.data]
        shapes = [tuple(graph.tensors[i].shape) for i in written.outputs]
        if shapes != [shape_of(v) for v in op.results]:
            raise MemoptError(f"internal error: written with results of {shapes}", place_of(op))
    read = {i for op in graph.operators for i in (*op.inputs, *op.outputs)}
    read |= {*graph.inputs, *graph.outputs}
    if read - {-1} != set(range(len(graph.tensors))):
        raise MemoptError("internal error: tensors are written that nobody reads", name)
