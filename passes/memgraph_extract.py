"""`memgraph-extract{from=x to=y}`: the operators between tensors as a function of their own.

Before:
    func.func @main(%in: !t) -> !t {
      %x = memgraph.relu %in : (!t) -> !t
      %a = memgraph.logistic %x : (!t) -> !t
      %b = memgraph.tanh %x : (!t) -> !t
      %y = memgraph.add %a, %b : (!t, !t) -> !t
      %z = memgraph.mul %y, %a : (!t, !t) -> !t
      func.return %z : !t
    }
After `memgraph-extract{from=x to=y}`:
    func.func @main(%x: !t) -> (!t, !t) {
      %a = memgraph.logistic %x : (!t) -> !t
      %b = memgraph.tanh %x : (!t) -> !t
      %y = memgraph.add %a, %b : (!t, !t) -> !t
      func.return %a, %y : !t, !t
    }

Those that lie on a way from a tensor of `from` to one of `to` are a convex set: none outside it
stands between two of it. Constants, variables and what is computed of constants alone come along.
Any other tensor that they read is an argument, what is read outside is a result. What was decided
or recorded of the whole function goes. docs/reference/passes.md lists what is refused by name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Self

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.arg_spec import ArgSpec

from memopt.analysis.function_memory import function_memory
from memopt.analysis.storage_groups import BlockMemory
from memopt.dialects.attributes.channels import TAKEN, is_slimmed
from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.dialects.memgraph.functions import (
    argument_attributes,
    body_of,
    functions,
    only_function,
    reached_by,
    read_values,
    set_argument_attributes,
)
from memopt.dialects.memgraph.interface import BARRIER, WORLD
from memopt.dialects.memgraph.names import is_named, name_of, operator_name, place_of
from memopt.dialects.memgraph.plan import IN_FLOAT32, MODEL, PARTITION, drop_plan, model_of
from memopt.dialects.memgraph.structure import NamesRows, Yielding
from memopt.dialects.memgraph.variables import VariableOp
from memopt.passes.memgraph_int8_io import border_changed
from memopt.passes.plan.moves import drop_moves
from memopt.passes.plan.option import required

Effects = Mapping[Operation, Sequence[object]]

ABOUT_OPERATORS = (MODEL, IN_FLOAT32)  # attributes of a function that hold of any part of it


@dataclass(frozen=True)
class MemgraphExtractPass(ModulePass):
    """Keep the operators between tensors alone, as a function.

    `from` and `to` name tensors, each one or several with commas.
    """

    name = "memgraph-extract"

    from_: tuple[str | int, ...] | str | int = required("tensors that the operators begin at")
    to: tuple[str | int, ...] | str | int = required("tensors that they lead to")

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Self:
        """Return the pass of a specification, in which an option may be a keyword of Python."""
        options = {f"{k}_" if iskeyword(k) else k: v for k, v in spec.parameters.items()}
        return super().from_spec(ArgSpec(spec.name, options))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        func = only_function(op)
        extract_subgraph(func, _words(self.from_), _words(self.to))
        stay = {func, *reached_by(func)}
        for other in [f for f in functions(op) if f not in stay]:
            Rewriter.erase_op(other)


def _words(given: Sequence[str | int] | str | int) -> list[str]:
    return [str(given)] if isinstance(given, str | int) else list(map(str, given))


def extract_subgraph(func: FuncOp, sources: Sequence[str], sinks: Sequence[str]) -> None:
    """Leave of a function the operators between the tensors that are named. Raises MemoptError."""
    drop_moves(func)
    drop_plan(func)
    block = body_of(func)
    _check_operations(block)
    memory = function_memory(func, model_of(func))
    effects = dict(zip(memory.operations, (m.effects for m in memory.memory), strict=True))
    starts, ends = _named(func, sources), _named(func, sinks)
    constant = _constant(block, effects)
    for value in starts:
        if isinstance(value, OpResult) and value.op in constant:
            raise _refusal(func, f"{name_of(value)} does not depend on what a run is given")
    inside = _between(func, starts, ends)
    remaining = inside | _needed(inside, constant)
    _check_border(block, inside, remaining, memory, effects)
    _cut(func, remaining, inside, ends)
    memory = function_memory(func, model_of(func))  # which refuses what cannot be a result
    for step, _, group in memory.overwrites:
        if memory.groups[group].is_output:
            op, name = memory.operations[step], memory.groups[group].name
            text = f"{operator_name(op)} overwrites {name}, which stays, as results do"
            raise MemoptError(f"memgraph-extract: {text}", place_of(op))


def _refusal(func: FuncOp, text: str) -> MemoptError:
    return MemoptError(f"memgraph-extract: {text}", f"@{func.sym_name.data}")


def _check_operations(block: Block) -> None:
    """Raise MemoptError for operations that cannot be taken apart, or out of their function."""
    for op in block.ops:
        if isinstance(op, Yielding | NamesRows):
            text = "rows and hyper-nodes are not taken apart; extract before --rows and --fuse"
            raise MemoptError(f"memgraph-extract: {text}", place_of(op))


def _named(func: FuncOp, words: Sequence[str]) -> list[SSAValue]:
    """Return the tensors that are named; a word that is no name may be several with commas. Raises
    MemoptError."""
    block = body_of(func)
    known: dict[str, list[SSAValue]] = {}
    for value in (*block.args, *(r for op in block.ops for r in op.results)):
        known.setdefault(name_of(value), []).append(value)
    names = [n for word in words for n in ([word] if word in known else word.split(","))]
    for name in names:
        if name not in known:
            raise _refusal(func, f"{name!r} is no tensor{nearest(name, known)}")
        if len(known[name]) > 1:
            raise _refusal(func, f"{name!r} is what {len(known[name])} tensors are called")
    return [known[name][0] for name in names]


def _constant(block: Block, effects: Effects) -> set[Operation]:
    """Return the operations that depend on nothing but constants, and variables themselves."""
    constant: set[Operation] = set()
    for op in block.ops:
        known = all(isinstance(v, OpResult) and v.op in constant for v in read_values(op))
        if known and op is not block.last_op and not effects.get(op):
            constant.add(op)
    return constant


def _between(func: FuncOp, starts: Sequence[SSAValue], ends: Sequence[SSAValue]) -> set[Operation]:
    """Return the operations on ways from `starts` to `ends`. Raises MemoptError where there is
    none."""
    operations = list(body_of(func).ops)[:-1]
    reached = set(starts)
    after: set[Operation] = set()
    for op in operations:
        if not reached.isdisjoint(read_values(op)):
            after.add(op)
            reached.update(op.results)
    for value in ends:
        if value.owner not in after:
            raise _refusal(func, f"no way leads from {_said(starts)} to {name_of(value)}")
    inside: set[Operation] = set()
    read: set[SSAValue] = set()
    for op in reversed(operations):
        if op in after and any(r in read or r in ends for r in op.results):
            inside.add(op)
            read.update(read_values(op))
    for value in starts:
        if value not in read:
            raise _refusal(func, f"no way leads from {name_of(value)} to {_said(ends)}")
    return inside


def _said(values: Iterable[SSAValue]) -> str:
    return " or ".join(map(name_of, values))


def _needed(inside: Iterable[Operation], constant: set[Operation]) -> set[Operation]:
    """Return the constants that operations read, and those that these are computed of."""
    needed: set[Operation] = set()
    waiting = list(inside)
    while waiting:
        for value in read_values(waiting.pop()):
            op = value.owner
            if isinstance(op, Operation) and op in constant and op not in needed:
                needed.add(op)
                waiting.append(op)
    return needed


def _check_border(
    block: Block,
    inside: set[Operation],
    remaining: set[Operation],
    memory: BlockMemory,
    effects: Effects,
) -> None:
    """Raise MemoptError for what ties an operation to one that does not come along."""
    outside = [op for op in memory.operations if op not in remaining]
    for op in (op for op in block.ops if op in remaining):
        if is_slimmed(op) or op.name == TAKEN:
            text = "channels were left out by what others hold; extract before --rewrite"
            raise MemoptError(f"memgraph-extract: {text}", place_of(op))
        if BARRIER in effects.get(op, ()):
            text = f"{operator_name(op)} has regions that nothing moves across"
            raise MemoptError(f"memgraph-extract: {text}", place_of(op))
        if WORLD in effects.get(op, ()):
            others = [o for o in outside if {WORLD, BARRIER}.intersection(effects[o])]
            _refuse_shared(op, "its effects", others)
        if isinstance(op, VariableOp):
            users = dict.fromkeys(use.operation for use in op.result.uses)
            _refuse_shared(op, "its state", [o for o in users if o not in remaining])
    for step, _, group in memory.overwrites:
        op = memory.operations[step]
        owners = [v.owner for v, _ in memory.groups[group].members if isinstance(v, OpResult)]
        if op in inside and any(o not in remaining for o in owners):
            text = f"{operator_name(op)} overwrites {memory.groups[group].name}, made outside"
            raise MemoptError(f"memgraph-extract: {text}", place_of(op))


def _refuse_shared(op: Operation, what: str, others: Sequence[Operation]) -> None:
    if others:
        text = f"{operator_name(op)} shares {what} with {operator_name(others[0])}, which is"
        raise MemoptError(f"memgraph-extract: {text} outside", place_of(op))


def _cut(
    func: FuncOp, remaining: set[Operation], inside: set[Operation], ends: Sequence[SSAValue]
) -> None:
    """Leave of a function the `remaining` operations, with arguments for what these read of others,
    and results for what others read of the `inside` ones."""
    block = body_of(func)
    last = block.last_op
    assert last is not None

    def is_by_remaining(use: Use) -> bool:
        return block.find_ancestor_op_in_block(use.operation) in remaining

    own = [r for op in block.ops if op in inside for r in op.results]
    outer = [r for op in block.ops if op not in remaining for r in op.results]
    results = [r for r in own if r in ends or not all(map(is_by_remaining, r.uses))]
    attributes = argument_attributes(func)
    for value in [v for v in outer if any(map(is_by_remaining, v.uses))]:
        argument = block.insert_arg(value.type, len(block.args))
        attributes.append({"memgraph.name": StringAttr(name_of(value))} if is_named(value) else {})
        value.replace_uses_with_if(argument, is_by_remaining)
    set_argument_attributes(func, attributes)
    last.operands = results
    for op in reversed(list(block.ops)):
        if op is not last and op not in remaining:
            Rewriter.erase_op(op)
    _forget_function(func)


def _forget_function(func: FuncOp) -> None:
    """Remove the arguments of a function that nobody reads, and what was said of it as a whole."""
    attributes = argument_attributes(func)
    block = body_of(func)
    for argument in reversed([a for a in block.args if a.first_use is None]):
        del attributes[argument.index]
        block.erase_arg(argument)
    set_argument_attributes(func, attributes)
    border_changed(func)
    for op in block.ops:
        op.attributes.pop(PARTITION, None)
    for name in [n for n in func.attributes if n.startswith("memgraph.")]:
        if name not in ABOUT_OPERATORS:
            del func.attributes[name]
