"""`memgraph-outline`: regions that compute tensors become functions, which are planned as any is.

Before:
    %r = "stablehlo.if"(%p) ({
      %a = "stablehlo.negate"(%x) : (!t) -> !t
      %b = "stablehlo.tanh"(%a) : (!t) -> !t
      "stablehlo.return"(%b) : (!t) -> ()
    }, {
      "stablehlo.return"(%x) : (!t) -> ()
    }) : (tensor<i1>) -> !t
After:
    %r = "stablehlo.if"(%p) ({
      %b = func.call @main_if(%x) : (!t) -> !t
      "stablehlo.return"(%b) : (!t) -> ()
    }, ...
    func.func private @main_if(%x: !t) -> !t attributes {memgraph.model = ...io = caller...}

Arguments and results of a private function that is called lie with the caller, so that its arena is
what it needs beside them. What a region reads from outside is an argument, a constant comes along,
and what a loop hands on as it was stays in the region. What a region calls of another file is
called by such a function, as a step of its own. `mlir-opt --inline` undoes it. An operation
of which nobody says that it is a loop or a branch keeps its regions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.foreign import region_kind
from memopt.dialects.foreign.regions import exchanges
from memopt.dialects.memgraph.functions import (
    body_of,
    callees_in,
    functions,
    read_values,
)
from memopt.dialects.memgraph.interface import is_constant_like, is_constant_value
from memopt.dialects.memgraph.names import full_name
from memopt.dialects.memgraph.plan import MODEL, drop_plan, model_of
from memopt.dialects.memgraph.tensors import is_buffer


@dataclass(frozen=True)
class MemgraphOutlinePass(ModulePass):
    """Make functions of the regions that compute tensors, so that each is planned."""

    name = "memgraph-outline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names, here = Names(op), {func.sym_name.data for func in functions(op)}
        for func in list(functions(op)):
            for step in [each for each in _inner_first(body_of(func)) if region_kind(each)]:
                if not any(_computes(block, here) for block in _blocks(step)):
                    continue
                for block in _blocks(step):
                    here |= _outline(op, func, step, block, names)
                drop_plan(func)
        called = {name for f in functions(op) for name in callees_in(body_of(f))}
        for func in [f for f in functions(op) if f.sym_name.data in called]:
            is_private = func.sym_visibility is not None and func.sym_visibility.data == "private"
            if is_private and model_of(func).io.data != "caller":
                drop_plan(func)
                func.attributes[MODEL] = _at_the_caller(model_of(func))


def _at_the_caller(model: ModelAttr) -> ModelAttr:
    """Return the memory rules of a function whose arguments and results lie with the caller."""
    return model.replaced(io="caller", align_io=0)


def _inner_first(block: Block) -> Iterator[Operation]:
    for op in list(block.ops):
        for inner in _blocks(op):
            yield from _inner_first(inner)
        yield op


def _blocks(op: Operation) -> Iterator[Block]:
    """Yield the block of each region that has one; of several nothing is known."""
    for region in op.regions:
        if len(region.blocks) == 1:
            yield region.block


def _computes(block: Block, here: set[str]) -> bool:
    """Return whether a region makes tensors that nobody would plan, hands its arguments to other
    places, or calls a function of which no body is `here`."""
    calls = [op for op in block.ops if isinstance(op, CallOp)]
    if len(calls) > 1 or exchanges(block) or not callees_in(block) <= here:
        return True
    return any(
        is_buffer(r.type)
        for op in block.ops
        if op not in calls and not is_constant_like(op)
        for inner in op.walk()
        for r in inner.results
    )


def _outline(
    module: ModuleOp, func: FuncOp, step: Operation, block: Block, names: "Names"
) -> set[str]:
    """Move what a block computes into a function, and call it there. Return its name, if there is
    one."""
    last, moves = block.last_op, exchanges(block)
    moved = [op for op in block.ops if op is not last]
    if last is None or not (moved or moves):
        return set()
    inside = {r for op in moved for r in op.results}
    ended = list(last.operands)
    results = [v for v in dict.fromkeys(ended) if v in inside or v in moves]
    taken, body = _body(moved, results)
    name = names.free(f"{func.sym_name.data}_{full_name(step).partition('.')[2]}")
    types = [v.type for v in taken], [v.type for v in results]
    outlined = FuncOp(name, types, Region(body), StringAttr("private"))
    outlined.attributes[MODEL] = _at_the_caller(model_of(func))
    outlined.location = step.location
    module.body.block.add_op(outlined)
    call = CallOp(name, taken, types[1])
    call.location = step.location
    block.insert_op_before(call, last)
    outside = dict(zip(results, call.results, strict=True))
    for value, result in outside.items():
        result.name_hint = value.name_hint
    last.operands = [outside.get(v, v) for v in ended]
    return {name}


def _body(moved: list[Operation], results: list[SSAValue]) -> tuple[list[SSAValue], Block]:
    """Move operations into a block of their own, which returns `results`. Return the values from
    outside that are its arguments, and the block."""
    inside = {r for op in moved for r in op.results}
    read = [v for op in moved for v in read_values(op)]
    outer = [v for v in dict.fromkeys((*read, *results)) if v not in inside]
    constants = dict.fromkeys(v.op for v in outer if is_constant_value(v))
    taken = [v for v in outer if not is_constant_value(v)]
    body = Block(arg_types=[v.type for v in taken])
    inner: dict[SSAValue, SSAValue] = dict(zip(taken, body.args, strict=True))
    for value, argument in zip(taken, body.args, strict=True):
        argument.name_hint = value.name_hint
    for owner in constants:
        copy = owner.clone()
        body.add_op(copy)
        inner.update(zip(owner.results, copy.results, strict=True))
    for op in moved:
        op.detach()
        body.add_op(op)
        for each in op.walk():
            each.operands = [inner.get(v, v) for v in each.operands]
    body.add_op(ReturnOp(*(inner.get(v, v) for v in results)))
    return taken, body


class Names:
    """Symbols of a module, and the numbers that were given to those like others."""

    def __init__(self, module: ModuleOp) -> None:
        symbols = [op.properties.get("sym_name") for op in module.body.block.ops]
        self.known = {s.data for s in symbols if isinstance(s, StringAttr)}
        self.numbers: dict[str, int] = {}

    def free(self, wanted: str) -> str:
        """Return, and take, a name that no symbol has: the one that is wanted, or with a number."""
        name = wanted
        while name in self.known:
            number = self.numbers[wanted] = self.numbers.get(wanted, 0) + 1
            name = f"{wanted}_{number}"
        self.known.add(name)
        return name
