"""Operators whose shapes, sizes and axes other operators compute, where these are known after all.

Exporters write SHAPE, STRIDED_SLICE and PACK where a dimension was open when the network was built.
The file says of every tensor how large it is, so what reads only that is known, and what takes it
is the typed operation that it would be of a constant. Only for what is no `.tflite` again: there
the order of operators must keep what computes a shape before what takes it.
"""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import ConstantOp, OpaqueOp
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.by_name import SHAPES
from memopt.frontends.core.node import typed
from memopt.frontends.core.typed import NotTyped
from memopt.frontends.tflite.node import Node
from memopt.frontends.tflite.operators import OPERATORS
from memopt.frontends.tflite.shape_rules import RULES, UNKNOWN, Known


def with_known_shapes(module: ModuleOp) -> ModuleOp:
    """A copy in which they are; the module itself where nothing computes a shape."""
    if not any(is_shape(op) or is_range(op) or is_rank(op) for op in module.walk()):
        return module
    copy = module.clone()
    weights = Weights.of(copy)
    for op in list(copy.walk()):
        if isinstance(op, OpaqueOp):
            known = known_operation(op, weights)
            if known is not None:
                _replace(op, known)
    forget_unread(copy)
    return copy


def known_operation(op: OpaqueOp, weights: Weights) -> Operation | None:
    """Return what an operator is of what is known: a constant, or the typed operation that it would
    be of one; None where it is neither."""
    if is_shape(op):
        origin = op.operands[0].owner
        if isinstance(origin, OpaqueOp) and origin.stateful is not None:
            return None  # a loop, say, of whose results the file need not know the size
        return _constant(shape_of(op.operands[0]), op.results[0].type)
    if is_rank(op):
        return _constant([len(shape_of(op.operands[0]))], op.results[0].type)
    if is_range(op):
        numbers = _counted(op, weights)
        return None if numbers is None else _constant(numbers, op.results[0].type)
    return typed_if_known(op, weights) if op.stateful is None else None


def forget_unread(module: ModuleOp) -> None:
    """Erase the operations on constants alone whose results nobody reads any longer."""
    known, folded = set[SSAValue](), list[Operation]()
    for op in module.walk():
        computes = isinstance(op, ComputeOp) and all(v in known for v in op.operands)
        if computes or isinstance(op, ConstantOp):
            known.update(op.results)
            folded.append(op)
    for op in reversed(folded):
        if not any(r.uses for r in op.results):
            op.detach()
            op.erase()


def is_shape(op: Operation) -> bool:
    return isinstance(op, OpaqueOp) and op.op_name.data in SHAPES and len(op.operands) == 1


def is_rank(op: Operation) -> bool:
    """Return whether the operator counts the dimensions of a tensor."""
    return isinstance(op, OpaqueOp) and op.op_name.data == "RANK" and len(op.operands) == 1


def is_range(op: Operation) -> bool:
    """Return whether it makes integers of a few: RANGE, and the shape to which two broadcast."""
    return isinstance(op, OpaqueOp) and op.op_name.data in ("RANGE", "BROADCAST_ARGS")


def _counted(op: Operation, weights: Weights) -> list[int] | None:
    """The integers, None where they are not known, or not as many as the file says."""
    known = [known_value(v, weights) for v in op.operands]
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    if any(v is None or v.dtype.kind not in "iu" for v in known):
        return None
    values = [[int(x) for x in cast("Array", v).reshape(-1)] for v in known]
    try:
        if len(values) == 3:
            numbers: Sequence[int] = range(*(v[0] for v in values))
        else:
            numbers = np.broadcast_shapes(*map(tuple, values))
        return list(numbers) if type_.get_shape() == (len(numbers),) else None
    except (ValueError, IndexError, OverflowError):
        return None


def _constant(values: Sequence[int], type_: Attribute) -> ConstantOp:
    tensor = cast("TensorType[IntegerType]", type_)
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(tensor, list(values)), type_)


def _replace(op: Operation, made: Operation) -> None:
    made.attributes |= op.attributes
    made.location = op.location
    Rewriter.replace_op(op, made)


def inferred_shapes(op: OpaqueOp, weights: Weights) -> list[tuple[int, ...]] | None:
    """Return how large the results of an operator are of its operands, None where these do not say
    it."""
    options, operands = _said(op)
    shapes = [None if v is None else shape_of(v) for v in operands]
    known = [known_value(v, weights) for v in operands]
    values = [None if v is None or v.dtype.kind not in "iu" else v for v in known]
    try:
        return RULES[op.op_name.data](Known(options, shapes, values, len(op.results)))
    except UNKNOWN:
        return None


def _said(op: OpaqueOp) -> tuple[dict[str, Any], list[SSAValue | None]]:
    """The options of an operator, and its operands in the places of the file."""
    options = {} if op.options is None else {k: _plain(v) for k, v in op.options.data.items()}
    operands: list[SSAValue | None] = list(op.operands)
    for position in options.pop("absent", ()):
        operands.insert(position, None)
    return options, operands


def typed_if_known(op: OpaqueOp, weights: Weights) -> Operation | None:
    """The typed operation that the operator is of what is known."""
    options, operands = _said(op)

    def value(index: int) -> SSAValue:
        operand = operands[index]
        if operand is None:
            raise NotTyped(f"operand {index} is left out")
        return operand

    def constant(index: int) -> list[int]:
        elements = known_value(operands[index], weights) if index < len(operands) else None
        if elements is None or elements.dtype.kind not in "iu":
            raise NotTyped(f"operand {index} is computed at run time (a constant has one)")
        return [int(v) for v in elements.reshape(-1)]

    types: list[Any] = [None if v is None else v.type for v in operands]
    results: list[Any] = [r.type for r in op.results]
    if not all(isinstance(t, TensorType) for t in (*filter(None, types), *results)):
        return None
    operation = typed(OPERATORS, Node(op.op_name.data, options, types, results, value, constant))
    return None if isinstance(operation, str) else operation


def _plain(value: Attribute) -> Any:
    """An option as the file has it (frontends/core/options.py)."""
    if isinstance(value, IntegerAttr | FloatAttr):
        number: Any = cast("Any", value).value.data
        return bool(number) if isinstance(value, IntegerAttr) and _is_bool(value) else number
    if isinstance(value, ArrayAttr):
        return [_plain(v) for v in cast("ArrayAttr[Attribute]", value)]
    return value.data if isinstance(value, StringAttr) else None


def _is_bool(value: Any) -> bool:
    return value.type == BoolAttr.from_bool(True).type


def known_value(value: SSAValue | None, weights: Weights) -> Array | None:
    """Return the array of a value that is known before run time, None for other values."""
    if not isinstance(value, OpResult):
        return None
    op = value.op
    if isinstance(op, ConstantOp):
        return weights.array(op)
    if not isinstance(op, ComputeOp):
        return None
    operands = [known_value(v, weights) for v in op.operands]
    if any(v is None for v in operands):
        return None
    try:
        return op.evaluate(operands)[value.index]
    except MemoptError:
        return None
