"""`memgraph-to-memref`: a planned function of destination-passing operations on one arena.

Before:
    func.func @main(%x: tensor<4xf32> {memgraph.offset = 0}, ...) -> tensor<4xf32>
        attributes {memgraph.plan = #memgraph.plan<arena = 32, ...>} {
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.exp {memgraph.offset = [16], ...} ins(%x) outs(%e) -> tensor<4xf32>
      func.return %r
    }
After:
    func.func @main(%arena: memref<32xi8>, %x: memref<4xf32>, %r: memref<4xf32>) {
      %0 = memref.view %arena[%c0][] : memref<32xi8> to memref<4xf32>
      memref.copy %x, %0
      %1 = memref.view %arena[%c16][] : memref<32xi8> to memref<4xf32>
      linalg.exp ins(%0) outs(%1)
      memref.copy %1, %r
      func.return
    }

The order is the plan's, every buffer is a view at the planned offset, and nothing is allocated:
what standard MLIR makes of it needs one array, whose start is as aligned as the plan's offsets.
Inputs and outputs of the caller's (`io=caller`) are used where they are. Constants become globals.
The plan is verified first. Operations that are no destination-passing ones are refused by name.
"""

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i8,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from memopt.dialects.behaviour import destinations
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import body_of, functions
from memopt.dialects.names import place_of
from memopt.dialects.plan import argument_offsets, bytes_offset, offsets_of, plan_of
from memopt.verify.plan import verify_plan

VIEWS = ("tensor.expand_shape", "tensor.collapse_shape")
OURS = "memgraph."


@dataclass(frozen=True)
class MemgraphToMemrefPass(ModulePass):
    """Lower planned functions of destination-passing operations to one arena."""

    name = "memgraph-to-memref"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for number, func in enumerate(list(functions(op))):
            verify_plan(func, placed=True)
            lowered = Lowering(func, op, number).function()
            block = func.parent
            assert block is not None
            block.insert_op_before(lowered, func)
            func.detach()
            func.erase()


def memref_of(type_: Attribute, place: str) -> MemRefType[Attribute]:
    """The memref of a tensor. Raises MemoptError for one whose size or layout is open."""
    if not isinstance(type_, TensorType) or not type_.has_static_shape():
        raise MemoptError(f"{type_} is no tensor of known shape", place)
    tensor = cast("TensorType[Attribute]", type_)
    return MemRefType(tensor.element_type, tensor.get_shape())


class Lowering:
    """One function on its way; `values` has a memref or a scalar for each value of the old one."""

    def __init__(self, func: FuncOp, module: ModuleOp, number: int) -> None:
        self.func, self.module, self.number = func, module, number
        self.place = f"@{func.sym_name.data}"
        plan = plan_of(func)
        assert plan is not None  # it was verified
        if len(plan.memories) > 1:
            raise MemoptError("memgraph-to-memref: the plan is of several memories", self.place)
        self.old = body_of(func)
        inputs = [memref_of(a.type, self.place) for a in self.old.args]
        last = self.old.last_op
        assert last is not None
        outputs = [memref_of(v.type, self.place) for v in last.operands]
        self.block = Block(arg_types=[MemRefType(i8, [plan.arena]), *inputs, *outputs])
        self.arena = self.block.args[0]
        self.given = self.block.args[1 : 1 + len(inputs)]
        self.wanted = self.block.args[1 + len(inputs) :]
        self.values: dict[SSAValue, SSAValue] = {}
        self.views: dict[tuple[int, Attribute], SSAValue] = {}
        self.globals = 0

    def function(self) -> FuncOp:
        """The new function. Raises MemoptError."""
        offsets = argument_offsets(self.func)
        for argument, given, place in zip(self.old.args, self.given, offsets, strict=True):
            at = None if place is None else bytes_offset(place)
            if at is None:
                self.values[argument] = given
            else:
                self.values[argument] = self._view(at, given.type)
                self.block.add_op(memref.CopyOp(given, self.values[argument]))
        last = self.old.last_op
        # results that are the caller's are written where he wants them
        direct: dict[SSAValue, SSAValue] = {}
        direct.update(zip(last.operands if last else (), self.wanted, strict=True))
        for op in self.old.ops:
            if op is not last:
                self._lower(op, direct)
        for value, wanted in zip(last.operands if last else (), self.wanted, strict=True):
            if self.values[value] is not wanted:
                self.block.add_op(memref.CopyOp(self.values[value], wanted))
        self.block.add_op(ReturnOp())
        types = [a.type for a in self.block.args]
        name = self.func.sym_name.data
        return FuncOp(name, (types, []), Region(self.block), self.func.sym_visibility)

    def _lower(self, op: Operation, direct: dict[SSAValue, SSAValue]) -> None:
        if op.name == "tensor.empty":
            return
        if isinstance(op, ConstantOp) and isinstance(op.result.type, TensorType):
            self._global(op)
            return
        tensors = [v for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
        if not tensors:
            self.block.add_op(self._bare(op.clone(self.values)))
            return
        inits = destinations(op)
        is_view = op.name in VIEWS
        if not is_view and (not inits or len(inits) != len(op.results)):
            what = f"memgraph-to-memref: {op.name} is no destination-passing operation"
            raise MemoptError(what, place_of(op))
        places = offsets_of(op)
        for k, result in enumerate(op.results):
            at = None if places is None else bytes_offset(places[k])
            type_ = memref_of(result.type, place_of(op))
            if at is not None:
                self.values[result] = self._view(at, type_)
            elif is_view and self._offset(op.operands[0]) is not None:
                self.values[result] = self._view(self._offset(op.operands[0]) or 0, type_)
            elif result in direct:
                self.values[result] = direct[result]
            else:
                raise MemoptError("memgraph-to-memref: a result has no place", place_of(op))
        if is_view:
            return
        mapped = dict(self.values)
        for init, result in zip(inits, op.results, strict=True):
            known = self.values.get(init)
            if known is not None and known is not self.values[result]:
                what = "memgraph-to-memref: a result does not lie where its init lies"
                raise MemoptError(what, place_of(op))
            mapped[init] = self.values[result]
        regions: list[Region] = []
        for region in op.regions:
            regions.append(Region())
            region.clone_into(regions[-1], None, mapped)
        made = type(op).create(
            operands=[mapped[v] for v in op.operands],
            attributes=dict(op.attributes),
            properties=dict(op.properties),
            regions=regions,
        )
        self.block.add_op(self._bare(made))

    def _bare(self, op: Operation) -> Operation:
        """Without what the plan says: standard tools know no attribute of ours."""
        for name in [k for k in op.attributes if k.startswith(OURS)]:
            del op.attributes[name]
        return op

    def _offset(self, value: SSAValue) -> int | None:
        """Bytes of a value from the start of the arena, None if it is not there."""
        memory = self.values.get(value)
        return next((at for (at, _), view in self.views.items() if view is memory), None)

    def _view(self, at: int, type_: Attribute) -> SSAValue:
        """The bytes from `at` as a memref; the same for the same bytes."""
        assert isinstance(type_, MemRefType)
        if (at, type_) not in self.views:
            offset = ConstantOp(IntegerAttr(at, IndexType()))
            view = memref.ViewOp(self.arena, offset, [], type_)  # pyright: ignore[reportUnknownArgumentType]
            self.block.add_ops([offset, view])
            self.views[at, type_] = view.result
        return self.views[at, type_]

    def _global(self, op: ConstantOp) -> None:
        """A constant tensor in the module, and its address here."""
        if not isinstance(op.value, DenseIntOrFPElementsAttr):
            raise MemoptError(f"memgraph-to-memref: {op.name} has no elements", place_of(op))
        name = f"{self.func.sym_name.data}_constant_{self.globals}"
        self.globals += 1
        type_ = memref_of(op.result.type, place_of(op))
        made = memref.GlobalOp.get(
            StringAttr(name), type_, op.value, StringAttr("private"), UnitAttr()
        )
        self.module.body.block.insert_op_before(made, self.func)
        got = memref.GetGlobalOp(SymbolRefAttr(name), type_)
        self.block.add_op(got)
        self.values[op.result] = got.memref
