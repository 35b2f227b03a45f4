"""One rule for reals of other widths, as the ONNX frontend has it: they are kept as float32.

A tensor of float16, bfloat16 or float64 that is computed becomes one of float32, and so do inputs
and outputs. Constants stay as the file has them, and are converted before the run where something
other than DEQUANTIZE reads them. Only for what is no `.tflite` again.
"""

from collections.abc import Iterable
from typing import Any, Final, cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import IN_FLOAT32
from memopt.dialects.memgraph.structure import ConstantOp, OpaqueOp
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.quantization import CastOp, DequantizeOp
from memopt.frontends.tflite.known_shapes import typed_if_known

OTHERS: Final = {"f16": "float16", "bf16": "bfloat16", "f64": "float64"}


def in_float32(module: ModuleOp) -> ModuleOp:
    """Return a copy in which reals are float32; the module itself where all of them are."""
    if not any(_computed(func) for func in functions(module)):
        return module
    copy = module.clone()
    weights = Weights.of(copy)
    for func in functions(copy):
        _convert(func, weights)
    return copy


def _other(value: SSAValue) -> str | None:
    """Return the name of a value's type if it is another real type than float32."""
    type_ = value.type
    if not isinstance(type_, TensorType):
        return None
    return OTHERS.get(str(cast("TensorType[Attribute]", type_).element_type))


def _known(func: FuncOp) -> set[SSAValue]:
    """Return the values that follow from constants alone."""
    values: set[SSAValue] = set()
    for op in func.body.block.ops:
        computes = isinstance(op, ComputeOp) and bool(op.operands)
        if isinstance(op, ConstantOp) or (computes and all(v in values for v in op.operands)):
            values.update(op.results)
    return values


def _computed(func: FuncOp) -> list[SSAValue]:
    """Return the values of other real types that are not known before the run."""
    known, block = _known(func), func.body.block
    values: Iterable[SSAValue] = (*block.args, *(r for op in block.ops for r in op.results))
    return [v for v in values if v not in known and _other(v)]


def _convert(func: FuncOp, weights: Weights) -> None:
    known, values = _known(func), _computed(func)
    names = sorted({OTHERS[str(_element(v))] for v in values})
    for value in values:
        Rewriter.replace_value_with_new_type(value, _as_float32(value))
    casts: dict[SSAValue, SSAValue] = {}
    for op in list(func.body.block.ops):
        if isinstance(op, ConstantOp) or all(v in known for v in op.results or op.operands):
            continue
        _read(op, known, casts)
        if isinstance(op, OpaqueOp) and op.stateful is None:
            typed = typed_if_known(op, weights)
            if typed is not None:
                typed.attributes |= op.attributes
                typed.location = op.location
                Rewriter.replace_op(op, typed)
        elif isinstance(op, DequantizeOp) and op.input.type == op.result.type:
            op.result.replace_all_uses_with(op.input)
            op.detach()
            op.erase()
    func.update_function_type()
    if names:
        func.attributes[IN_FLOAT32] = ArrayAttr([StringAttr(name) for name in names])


def _element(value: SSAValue) -> Attribute:
    return cast("TensorType[Attribute]", value.type).element_type


def _as_float32(value: SSAValue) -> TensorType[Any]:
    type_ = cast("TensorType[Attribute]", value.type)
    return TensorType(f32, type_.get_shape(), type_.encoding)


def _read(op: Operation, known: set[SSAValue], casts: dict[SSAValue, SSAValue]) -> None:
    """Convert the constants that an operation reads to float32."""
    if isinstance(op, DequantizeOp | ReturnOp):
        return
    for number, value in enumerate(op.operands):
        if value not in known or not _other(value):
            continue
        if value not in casts:
            cast_op = CastOp.create(operands=[value], result_types=[_as_float32(value)])
            owner = value.owner
            assert isinstance(owner, Operation)
            Rewriter.insert_op(cast_op, InsertPoint.after(owner))
            casts[value] = cast_op.result
        op.operands[number] = casts[value]
