"""A `.tflite` of the network that rules left less of: dead and constant channels are gone
(`constant-channels`), or whole operators (`relu-into-producer` and others).

    data = write_rewritten(module)      # no plan: the operators in the order of the function

The imported file with the operators that are left, their results, what they read and how they are
told it; narrower tensors, and the weights and biases that are left. What is computed of constants
alone is a constant. What no operator reads any more is not in it. Whoever plans for TensorFlow Lite
Micro imports it as any other file; whether it says the same as the module does, its reader tells.
"""

import copy
from collections.abc import Iterable
from functools import singledispatch
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from memopt.analysis.constants import Constants, constants_of
from memopt.analysis.weights import Weights, files_of
from memopt.backends.tflm import source_of, text_of
from memopt.backends.tflm.order import functions_of
from memopt.backends.tflm.repack import AlignedBuffer, pack, unpack
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.attributes.channels import NARROWED, is_slimmed
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import ActivationAttr, SourceAttr, WindowAttr
from memopt.dialects.attributes.rewrites import CHANGED
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import channels_of, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.slices import SliceOp, SplitOp
from memopt.dialects.operators.traits import Written
from memopt.dialects.operators.weighing import WeighingOp
from memopt.formats import tflite_control
from memopt.formats.tflite import Subgraph, litert_schema, read_model
from memopt.verify.channels import check_channels

PLAN_NAME = "OfflineMemoryAllocation"
ACTIVATIONS = {"relu": 1, "relu_n1_to_1": 2, "relu6": 3}
"""As the schema numbers them."""


class OtherSizesError(MemoptError):
    """An operator that a file cannot say as it is now: its constants say how many channels it
    takes, or it has an activation or a padding that the file has no word for."""


def link_of(op: Operation) -> SourceAttr | None:
    """The operator of the file that an operation is, or was before rules changed it."""
    links = (op.attributes.get(key) for key in ("memgraph.source", NARROWED, CHANGED))
    return next((a for a in links if isinstance(a, SourceAttr) and a.operator.data >= 0), None)


def is_rewritten_function(func: FuncOp) -> bool:
    """Return whether rules changed operators of a file."""
    return any(is_slimmed(op) or CHANGED in op.attributes for op in body_of(func).ops)


def is_written(op: Operation) -> bool:
    """Return whether no file has the operation, so that a writer computes it."""
    return isinstance(op, ComputeOp) and op.has_trait(Written)


def constant_operators(func: FuncOp) -> list[Operation]:
    """Operators of the file that compute what is known before run time, and is not returned."""
    operators: list[Operation] = []
    for op in body_of(func).ops:
        known = bool(op.results) and is_constant_expression(op.results[0], GENERIC)
        readers = {use.operation for v in op.results for use in v.uses}
        if known and link_of(op) and not any(isinstance(r, ReturnOp) for r in readers):
            operators.append(op)
    return operators


def write_rewritten(
    module: ModuleOp, folder: Path = Path(), model_path: Path | None = None
) -> bytes:
    """The file of a module that rules left less of, without a plan. Raises MemoptError for
    operators that are not the file's, OtherSizesError for those that a file cannot say."""
    data, model, name = source_of(module, folder, model_path)
    func = functions_of(module, model)[0]
    if any(model.subgraphs[1:]):
        raise OtherSizesError("a file of several subgraphs is not written narrower", name)
    objects = unpack(data)
    weights = Weights(files_of(module), folder, model_path)
    check_channels(func, weights.array)
    file = _File(objects, model.subgraphs[0], constants_of(weights, GENERIC))
    source = func.attributes.get("memgraph.source")
    if isinstance(source, SourceAttr):
        file.tensors |= zip(body_of(func).args, source.tensor_ids, strict=True)
    folded = set(constant_operators(func))
    for op in body_of(func).ops:
        link, source = link_of(op), op.attributes.get("memgraph.source")
        if link is not None:
            file.take(op, link, folds=op in folded)
        elif isinstance(source, SourceAttr):
            file.tensors |= zip(op.results, source.tensor_ids, strict=True)
        elif not (isinstance(op, ConstantOp) or op.has_trait(IsTerminator) or is_written(op)):
            raise MemoptError("is not an operator of the file", place_of(op))
    if len(file.operators) < len(model.subgraphs[0].operators) and any(
        key == tflite_control.KEY for key, _ in model.metadata
    ):
        raise OtherSizesError("the file says in which order operators run that are gone", name)
    file.finish(func)
    drop_unread(objects)
    result = pack(objects, b"")
    _check(result, name)
    return result


class _File:
    """The objects of a file while operators of it are taken over. `tensors` are those of values,
    constants but for those that the file computes left aside."""

    def __init__(self, objects: Any, before: Subgraph, constants: Constants) -> None:
        self.objects, self.before, self.constants = objects, before, constants
        self.graph: Any = objects.subgraphs[0]
        self.tensors: dict[SSAValue, int] = {}
        self.operators: list[Any] = []

    def take(self, op: Operation, link: SourceAttr, folds: bool) -> None:
        """An operator, with its results, the constants that it reads, and what it is told; or, if
        it `folds`, its results as constants."""
        operator = self.graph.operators[link.operator.data]
        if ALIAS in op.attributes:
            raise OtherSizesError("no file says where its results lie", place_of(op))
        for value, index in zip(op.results, link.tensor_ids, strict=True):
            self.tensors[value] = index
            tensor = self.graph.tensors[index]
            if folds:
                array = self.constants(value)
                assert array is not None
                self.tensors[value] = self.constant(index, value, array)
            elif tuple(self.before.tensors[index].shape) != shape_of(value):
                self.reshape(tensor, shape_of(value))
            if name_of(value) != (self.before.tensors[index].name or f"tensor_{index}"):
                tensor.name = name_of(value)
        if folds:
            return
        self.operators.append(operator)
        self.connect(op, operator)
        if "memgraph.source" not in op.attributes:
            self.slim_constants(op, operator)
            tell_activation(op, operator)
            tell(op, operator, self)

    def connect(self, op: Operation, operator: Any) -> None:
        """Let an operator read the tensors of its operands, in the places that are no constants of
        the file. Of what it reads less than before is told by `tell`."""
        inputs = [int(i) for i in operator.inputs]
        places = [
            k for k, i in enumerate(inputs) if i >= 0 and not self.before.tensors[i].is_constant
        ]
        read = [self.tensors[v] for v in op.operands if v in self.tensors]
        if len(read) > len(places):
            raise OtherSizesError("it reads more than the file's operator", place_of(op))
        for k, index in zip(places, read, strict=False):
            inputs[k] = index
        operator.inputs = inputs

    def slim_constants(self, op: Operation, operator: Any) -> None:
        """The constants of the channels that are left."""
        inputs: list[int] = [int(i) for i in operator.inputs]
        for k, value in enumerate(op.operands):
            if not isinstance(value.owner, Operation) or not is_written(value.owner):
                continue
            array = self.constants(value)
            assert array is not None
            inputs += [-1] * (k + 1 - len(inputs))
            inputs[k] = self.constant(inputs[k], value, array)
        operator.inputs = inputs

    def finish(self, func: FuncOp) -> None:
        """The operators that are left, the kinds of which there are any, and the results."""
        objects, graph = self.objects, self.graph
        graph.operators = self.operators
        kinds = sorted({op.opcodeIndex for op in self.operators})
        for op in self.operators:
            op.opcodeIndex = kinds.index(op.opcodeIndex)
        objects.operatorCodes = [objects.operatorCodes[k] for k in kinds]
        last = body_of(func).last_op
        returned = [self.tensors[v] for v in (last.operands if last else ()) if v in self.tensors]
        outputs = [int(i) for i in graph.outputs]
        own = [k for k, i in enumerate(outputs) if not self.before.tensors[i].is_constant]
        moved: dict[int, int] = {}
        for k, index in zip(own, returned, strict=True):
            moved[outputs[k]] = outputs[k] = index
        graph.outputs = outputs
        for signature in objects.signatureDefs or ():
            for entry in signature.outputs or ():
                entry.tensorIndex = moved.get(entry.tensorIndex, entry.tensorIndex)

    def reshape(self, tensor: Any, shape: Iterable[int]) -> None:
        tensor.shape = np.array(list(shape), np.int32)
        tensor.shapeSignature = None

    def constant(self, like: int, value: SSAValue | None, array: Any) -> int:
        """A new tensor with these elements: the like of another, or a bias where there was none."""
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


def tell_activation(op: Operation, operator: Any) -> None:
    """Say which activation an operation applies, and whether its window is padded."""
    options, said = operator.builtinOptions, op.properties.get("activation")
    if isinstance(said, ActivationAttr):
        if said.data not in ACTIVATIONS or not hasattr(options, "fusedActivationFunction"):
            raise OtherSizesError(f"the file has no word for its {said.data}", place_of(op))
        options.fusedActivationFunction = ACTIVATIONS[said.data]
    window = op.properties.get("window")
    if isinstance(window, WindowAttr) and hasattr(options, "padding"):
        schema: Any = litert_schema()
        padded = any(window.sizes[3])
        options.padding = schema.Padding.SAME if padded else schema.Padding.VALID


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
        for tensors in (op.inputs, op.outputs, op.intermediates):
            used |= {int(i) for i in (tensors if tensors is not None else ()) if i >= 0}
    order = sorted(used)
    new = {-1: -1, **{old: i for i, old in enumerate(order)}}

    def renumbered(tensors: Any) -> Any:
        return None if tensors is None else np.array([new[int(i)] for i in tensors], np.int32)

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
    renumbered_buffers = {old: i for i, old in enumerate(sorted(buffers))}
    for owner in (*graph.tensors, *objects.metadata):
        owner.buffer = renumbered_buffers[owner.buffer]
    objects.buffers = [objects.buffers[old] for old in renumbered_buffers]


def _check(result: bytes, name: str) -> None:
    """Read the written file again: no tensor without a reader. Raises MemoptError otherwise: that
    would be a bug of ours."""
    graph = read_model(result, f"{name} (written)").subgraphs[0]
    read = {i for op in graph.operators for i in (*op.inputs, *op.outputs)}
    read |= {*graph.inputs, *graph.outputs}
    if read - {-1} != set(range(len(graph.tensors))):
        raise MemoptError("internal error: tensors are written that nobody reads", name)
