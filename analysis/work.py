"""Work of an operation: its multiplications, and the constants that it reads.

work_of(op, model).macs        # 2359296, None where nobody knows
function_work(func).weights    # bytes, each constant once
"""

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from memopt.analysis.function_memory import executing
from memopt.analysis.storage_groups import BlockMemory
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.interface import is_constant_like
from memopt.dialects.memgraph.plan import inlined_by, model_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.memgraph.variables import AssignVariableOp
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.traits import Written
from memopt.dialects.rows.operations import ReceiveOp, RowKernelOp, RowOp
from memopt.dialects.rows.state import MOVING


@dataclass(frozen=True)
class Work:
    """Work of one operation or of several.

    `macs` are multiplications, None if no operation knows its own; `weights` are bytes of constant
    operands in the model's own types, biases included, None for a graph without constants of
    operations that nobody knows (the JSON importer leaves weights out); `unknown` are the kinds of
    the operations whose multiplications are not among `macs`.
    """

    macs: int | None
    weights: int | None
    unknown: tuple[str, ...] = ()


def work_of(op: Operation, model: ModelAttr) -> Work:
    """The work of one run of `op`, with what it makes itself of what it reads."""
    return _work_beside(op, _constants(op, model))


def _work_beside(op: Operation, constants: set[SSAValue]) -> Work:
    """Return the work of one run of `op`, which reads these constants."""
    weights = sum(bytes_of(c.type) or 0 for c in constants)
    if isinstance(op, ComputeOp):
        return Work(op.macs() + sum(maker.macs() for maker in _makers(op)), weights)
    if isinstance(op, (AssignVariableOp, ReceiveOp, *MOVING)):
        return Work(0, weights)
    kind = op.op_name.data if isinstance(op, OpaqueOp) else op.name
    return Work(None, weights, (kind,))


def function_work(func: FuncOp, memory: BlockMemory | None = None) -> Work:
    """Return the work of all operations that execute, rows as the operator that they are rows of;
    `memory` are the function's storage groups, if they are known. A constant that several read
    counts once."""
    model = model_of(func)
    if memory is None:
        ran = [op for op, _ in executing(body_of(func), model)]
    else:
        each = zip(memory.operations, memory.memory, strict=True)
        ran = [op for op, effect in each if effect.executes]
    operations = dict.fromkeys(op.operation if isinstance(op, RowOp) else op for op in ran)
    read = {op: _constants(op, model) for op in operations}
    works = [_work_beside(op, constants) for op, constants in read.items()]
    constants = {_identity(c): c for each in read.values() for c in each}.values()
    known = [w.macs for w in works if w.macs is not None]
    is_known = bool(known) or not works
    return Work(
        sum(known) if is_known else None,
        sum(bytes_of(c.type) or 0 for c in constants) if is_known or constants else None,
        tuple(sorted({kind for w in works for kind in w.unknown})),
    )


def _identity(constant: SSAValue) -> Hashable:
    """Return the key by which a constant is counted once: the value itself, or for the copies that
    each operator in rows has, their type, attributes (name included) and operands."""
    op = constant.owner
    if isinstance(op, Operation) and isinstance(op.parent_op(), RowKernelOp):
        what = frozenset({**op.attributes, **op.properties}.items())
        return constant.type, what, tuple(_identity(v) for v in op.operands)
    return constant


def _constants(op: Operation, model: ModelAttr) -> set[SSAValue]:
    """The constants of the model behind the operands of `op` that are known before run time, as
    they are where channels were left out of them."""
    read = [v for each in (op, *_makers(op)) for v in each.operands]
    waiting = [v for v in read if is_constant_expression(v, model)]
    constants: set[SSAValue] = set()
    while waiting:
        value = waiting.pop()
        maker = value.op if isinstance(value, OpResult) else None
        is_written = isinstance(maker, ComputeOp) and maker.has_trait(Written)
        if maker is not None and not is_constant_like(maker) and not is_written:
            waiting += maker.operands
        else:
            constants.add(value)
    return constants


def _makers(op: Operation) -> list[ComputeOp]:
    """Return the operations that `op` does as it reads virtual tensors."""
    return [v.op for v in inlined_by(op) if isinstance(v.op, ComputeOp)]
