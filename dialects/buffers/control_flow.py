"""Structured control flow: which values of an operation with regions become which others.

flows(op)   # of %r = scf.for ... iter_args(%a = %x) { ... scf.yield %b }:
            # (%x, %a), (%x, %r), (%b, %a) back to the next iteration, (%b, %r)
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import full_name, place_of

LOOPS = frozenset({"scf.for", "scf.while", "affine.for"})
BRANCHES = frozenset({"scf.if", "scf.index_switch", "affine.if"})
SCOPES = frozenset({"scf.execute_region", "memref.alloca_scope"})
PARALLEL = frozenset({"scf.parallel", "scf.forall", "affine.parallel"})
STRUCTURED = LOOPS | BRANCHES | SCOPES


@dataclass(frozen=True)
class Flow:
    """A value that becomes another; `is_back` if it does so in the next iteration."""

    source: SSAValue
    target: SSAValue
    is_back: bool = False


def is_structured(op: Operation) -> bool:
    """Return whether an operation's regions run as its kind says, their values known."""
    return full_name(op) in STRUCTURED


def is_loop(op: Operation) -> bool:
    """Return whether an operation runs its regions again and again."""
    return full_name(op) in LOOPS


def blocks_of(op: Operation) -> list[Block]:
    """Return the only block of each region. Raises MemoptError for a region of several blocks."""
    blocks: list[Block] = []
    for region in op.regions:
        if len(region.blocks) > 1:
            text = f"{full_name(op)} has a region of {len(region.blocks)} blocks"
            raise MemoptError(text, place_of(op))
        blocks += region.blocks
    return blocks


def flows(op: Operation) -> Iterator[Flow]:
    """Yield the flows of values between a structured operation, its regions and its results."""
    if isinstance(op, ForOp):
        arguments, yields = op.body.block.args[1:], _yields(op.body.block)
        for k, argument in enumerate(arguments):
            yield Flow(op.iter_args[k], argument)
            yield Flow(op.iter_args[k], op.results[k])
            yield Flow(yields[k], argument, is_back=True)
            yield Flow(yields[k], op.results[k])
    elif isinstance(op, WhileOp):
        before, after = op.before_region.block, op.after_region.block
        condition = before.last_op
        assert isinstance(condition, ConditionOp)
        for k, argument in enumerate(before.args):
            yield Flow(op.arguments[k], argument)
            yield Flow(_yields(after)[k], argument, is_back=True)
        for k, value in enumerate(condition.operands[1:]):
            yield Flow(value, after.args[k])
            yield Flow(value, op.results[k])
    elif is_structured(op) and not is_loop(op):
        for block in blocks_of(op):
            for value, result in zip(_yields(block), op.results, strict=True):
                yield Flow(value, result)


def _yields(block: Block) -> tuple[SSAValue, ...]:
    last = block.last_op
    return tuple(last.operands) if last is not None else ()
