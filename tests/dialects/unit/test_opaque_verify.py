"""Opaque operations, which large graphs consist of, are verified as xDSL would, only sooner."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import DictionaryAttr, StringAttr, UnitAttr, i8
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.quick import plain_tensor
from memopt.dialects.memgraph.structure import OpaqueOp

TYPE = plain_tensor(i8, (8,))


def _none(_: OpaqueOp) -> None:
    """Change nothing."""


def _erase_operand(op: OpaqueOp) -> None:
    owner = op.operands[0].owner
    assert isinstance(owner, Operation)
    owner.results[0].erase(safe_erase=False)


CHANGES: dict[str, Callable[[OpaqueOp], object]] = {
    "nothing": _none,
    "is stateful": lambda op: op.properties.update(stateful=UnitAttr()),
    "options": lambda op: op.properties.update(options=DictionaryAttr({"k": UnitAttr()})),
    "no kind": lambda op: op.properties.pop("op_name"),
    "another kind of kind": lambda op: op.properties.update(op_name=UnitAttr()),
    "another kind of options": lambda op: op.properties.update(options=StringAttr("k")),
    "unknown property": lambda op: op.properties.update(extra=UnitAttr()),
    "a region": lambda op: op.add_region(Region(Block())),
    "erased operand": _erase_operand,
    "last of its block": lambda op: op.next_op and op.next_op.detach(),
}


def _failure(verify: Callable[[], object]) -> type[Exception] | None:
    try:
        verify()
    except (VerifyException, ValueError) as error:
        return type(error)
    return None


@pytest.mark.parametrize("change", CHANGES)
def test_an_opaque_operation_is_verified_as_xdsl_would(change: str) -> None:
    block = Block(arg_types=[TYPE])
    first = OpaqueOp("a", block.args, [TYPE])
    op = OpaqueOp("b", first.results, [TYPE])
    block.add_ops([first, op, ReturnOp(*op.results)])
    FuncOp("main", ([TYPE], [TYPE]), Region(block))
    CHANGES[change](op)
    failure = _failure(op.verify)
    assert failure is _failure(lambda: Operation.verify(op))
    assert (failure is None) == (change in ("nothing", "is stateful", "options"))
