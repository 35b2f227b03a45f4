"""Hyper-nodes and their yields are verified without xDSL where all holds: what it refuses they
refuse, in its words."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i8,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.memgraph.structure import FusedOp, OpaqueOp, YieldOp

SMALL, LARGE = TensorType(i8, (8,)), TensorType(i8, (16,))


def module() -> tuple[ModuleOp, FusedOp, OpaqueOp]:
    """Return a module of an operator `outside` and one in a node, and both."""
    block = Block(arg_types=[SMALL])
    outside = OpaqueOp("a", list(block.args), [SMALL])
    body = Block(arg_types=[SMALL])
    inside = OpaqueOp("b", list(body.args), [LARGE])
    body.add_ops([inside, YieldOp(inside.results)])
    node = FusedOp.create_node(outside.results, [LARGE], [0], Region(body))
    block.add_ops([outside, node, ReturnOp(*node.results)])
    func = FuncOp("main", ([SMALL], [LARGE]), Region(block))
    return ModuleOp([func]), node, outside


def other_argument(node: FusedOp, outside: OpaqueOp) -> None:
    node.operands = [node.results[0]]


def from_outside(node: FusedOp, outside: OpaqueOp) -> None:
    first = node.body.block.first_op
    assert first is not None
    first.operands = outside.results


def without_kept(node: FusedOp, outside: OpaqueOp) -> None:
    del node.properties["kept"]


def small_kept(node: FusedOp, outside: OpaqueOp) -> None:
    node.properties["kept"] = DenseArrayBase.from_list(i32, [0])


def text_as_kept(node: FusedOp, outside: OpaqueOp) -> None:
    node.properties["kept"] = StringAttr("0")


def one_more_property(node: FusedOp, outside: OpaqueOp) -> None:
    node.properties["hill"] = IntegerAttr(8, 64)


def kept_beyond(node: FusedOp, outside: OpaqueOp) -> None:
    node.properties["kept"] = DenseArrayBase.from_list(node.kept.elt_type, [1])


def two_blocks(node: FusedOp, outside: OpaqueOp) -> None:
    node.body.add_block(Block([YieldOp([])]))


def another_region(node: FusedOp, outside: OpaqueOp) -> None:
    node.add_region(Region(Block([YieldOp([])])))


def yields_other(node: FusedOp, outside: OpaqueOp) -> None:
    last = node.body.block.last_op
    assert last is not None
    last.operands = node.body.block.args


def yield_with_property(node: FusedOp, outside: OpaqueOp) -> None:
    last = node.body.block.last_op
    assert last is not None
    last.properties["kept"] = node.kept


def yields_early(node: FusedOp, outside: OpaqueOp) -> None:
    first = node.body.block.first_op
    assert first is not None
    node.body.block.insert_op_before(YieldOp([]), first)


def yields_in_function(node: FusedOp, outside: OpaqueOp) -> None:
    block = outside.parent
    assert block is not None and block.last_op is not None
    block.insert_op_after(YieldOp([]), block.last_op)


def nested_node(node: FusedOp, outside: OpaqueOp) -> None:
    first = node.body.block.first_op
    assert first is not None
    inner = FusedOp.create_node([], [], [], Region(Block([YieldOp([])])))
    node.body.block.insert_op_before(inner, first)


def wrong_inside(node: FusedOp, outside: OpaqueOp) -> None:
    first = node.body.block.first_op
    assert first is not None
    first.properties["op_name"] = IntegerAttr(1, 64)


BREAKS = (
    other_argument,
    from_outside,
    without_kept,
    small_kept,
    text_as_kept,
    one_more_property,
    kept_beyond,
    two_blocks,
    another_region,
    yields_other,
    yield_with_property,
    yields_early,
    yields_in_function,
    nested_node,
    wrong_inside,
)


def reason(ir: ModuleOp) -> str:
    with pytest.raises(VerifyException) as caught:
        ir.verify()
    return str(caught.value)


@pytest.mark.parametrize("broken", BREAKS)
def test_what_xdsl_refuses_is_refused(
    broken: Callable[[FusedOp, OpaqueOp], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ir, node, outside = module()
    ir.verify()
    broken(node, outside)
    told = reason(ir)
    for kind in (FusedOp, YieldOp, OpaqueOp):
        monkeypatch.setattr(kind, "verify", IRDLOperation.verify)
    assert told == reason(ir)


def test_what_is_erased_is_refused() -> None:
    ir, node, outside = module()
    ir.verify()
    outside.results[0].erase(safe_erase=False)
    with pytest.raises(ValueError, match="Erased SSA value"):
        ir.verify()
    ir, node, outside = module()
    first = node.body.block.first_op
    assert first is not None
    first.results[0].erase(safe_erase=False)
    with pytest.raises(ValueError, match="Erased SSA value"):
        ir.verify()
