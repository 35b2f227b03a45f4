"""Lowering of operations that are not destination-passing, for `memgraph-to-memref`.

An operation of ours is the call of a C function that knows the plan. Another package says what its
own become, by class or by name:

    from memopt.passes.memref.lowering import Placed, lowered_by

    def lower(op: Operation, at: Placed) -> list[Operation]:
        return [func.CallOp("toy_conv", [*at.operands, *at.results, *at.scratch], [])]

    lowered_by(ConvOp, lower)

A function that is called and not there is declared, with MLIR's interface for C: it is written as
`_mlir_ciface_toy_conv` and gets pointers to descriptors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, Region, SSAValue

from memopt.dialects.memgraph.names import operator_kind


@dataclass(frozen=True)
class Placed:
    """The memrefs of an operation's operands, results, and buffers of workspace, bytes; a scalar
    operand is itself."""

    operands: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]
    scratch: tuple[SSAValue, ...]


Lower = Callable[[Operation, Placed], Sequence[Operation]]

_lowerings: dict[type[Operation] | str, Lower] = {}


def lowered_by(operation: type[Operation] | str, lower: Lower) -> None:
    """Say what a foreign operation becomes, by class or by full name."""
    _lowerings[operation] = lower


def lowering_of(op: Operation) -> Lower | None:
    """Return the lowering that was registered for an operation, if any."""
    return _lowerings.get(type(op)) or _lowerings.get(operator_kind(op))


def declared(call: CallOp, module: ModuleOp) -> FuncOp | None:
    """The declaration of what is called, None if it is there."""
    name = call.callee.string_value()
    if any(isinstance(op, FuncOp) and op.sym_name.data == name for op in module.body.block.ops):
        return None
    types = ([v.type for v in call.operands], [v.type for v in call.results])
    declaration = FuncOp(name, types, Region(), StringAttr("private"))
    declaration.attributes["llvm.emit_c_interface"] = UnitAttr()
    return declaration
