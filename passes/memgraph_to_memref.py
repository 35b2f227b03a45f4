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
The plan is verified first.

    %r = memgraph.softmax %x {memgraph.order = 3, ...}  ->  func.call @main_call_3(%arena, %x, %r)

An operation of ours is a call of a C function, with the function's own arguments: `-t c-calls`
writes these functions, which know the plan. Other dialects say what theirs become with
`lowered_by` (passes/memref/lowering.py). What is none of these is refused by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, cast

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
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.tensor import ExtractSliceOp, InsertSliceOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from memopt.analysis.function_memory import function_memory
from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.behaviour import VIEWS, destinations
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, functions
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.plan import (
    argument_offsets,
    bytes_offset,
    call_name,
    model_of,
    offsets_of,
    order_of,
    plan_of,
    scratch_list,
)
from memopt.dialects.memgraph.structure import ConstantOp as OurConstantOp
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import is_buffer
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memref.lowering import Placed, declared, lowering_of
from memopt.verify.channels import check_channels
from memopt.verify.plan import verify_plan

OURS = "memgraph."


@dataclass(frozen=True)
class MemgraphToMemrefPass(ModulePass):
    """Lower planned functions of destination-passing operations to one arena."""

    name = "memgraph-to-memref"
    lowers: ClassVar[bool] = True  # the plan becomes addresses, so nothing of it is lost

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for number, func in enumerate(list(functions(op))):
            verify_plan(func, placed=True)
            check_channels(func, Weights.of(op).array)
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
        self.memory = function_memory(func, model_of(func))
        self.executing = set(self.memory.operations)
        if self.memory.virtual:
            raise MemoptError("memgraph-to-memref: a result is virtual", self.place)
        # group -> what of the caller's it is, and where in the group that begins
        self.callers: dict[int, tuple[SSAValue, int]] = {}
        pairs = (*zip(last.operands, self.wanted, strict=True),)
        for value, buffer in (*pairs, *zip(self.old.args, self.given, strict=True)):
            group, inside = self.memory.of_value.get(value, (-1, 0))
            if group >= 0 and not self.memory.groups[group].in_arena:
                self.callers[group] = (buffer, inside)

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
        assert last is not None
        for op in self.old.ops:
            if op is not last:
                self._lower(op)
        for value, wanted in zip(last.operands, self.wanted, strict=True):
            if (known := self._known(value, last)) is not wanted:
                self.block.add_op(memref.CopyOp(known, wanted))
        self.block.add_op(ReturnOp())
        types = [a.type for a in self.block.args]
        name = self.func.sym_name.data
        return FuncOp(name, (types, []), Region(self.block), self.func.sym_visibility)

    def _lower(self, op: Operation) -> None:
        if op.name == "tensor.empty" or isinstance(op, OurConstantOp):
            return
        if isinstance(op, ConstantOp) and isinstance(op.result.type, TensorType):
            self._global(op)
            return
        tensors = [v for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
        if not tensors:
            self.block.add_op(self._bare(op.clone(self.values)))
            return
        self._place(op)
        if op not in self.executing:
            return  # the same bytes
        lower = lowering_of(op)
        if lower is not None:
            self._call_all(lower(op, self._placed(op)))
        elif op.name.startswith(OURS):
            if not isinstance(op, ComputeOp | OpaqueOp):  # rows, and what stays from run to run
                of = f" of {full_name(op.operation)}" if isinstance(op, RowOp) else ""
                what = f"memgraph-to-memref: {op.name}{of} is no call"
                raise MemoptError(what, place_of(op))
            self._call(call_name(self.func, order_of(op)), list(self.block.args))
        elif op.name in VIEWS:  # where both ends are the caller's
            source = self._shaped(self._known(op.operands[0], op), op.results[0])
            self.block.add_op(memref.CopyOp(source, self.values[op.results[0]]))
        elif isinstance(op, ExtractSliceOp):
            part = self._part(self._known(op.source, op), op)
            self.block.add_op(memref.CopyOp(part, self.values[op.result]))
        elif isinstance(op, InsertSliceOp):
            self._inits(op)
            part = self._part(self.values[op.result], op)
            self.block.add_op(memref.CopyOp(self._known(op.source, op), part))
        else:
            self._destination_passing(op)

    def _place(self, op: Operation) -> None:
        """Say where each result lies."""
        places = offsets_of(op)
        for k, result in enumerate(op.results):
            if not is_buffer(result.type):
                continue
            at = None if places is None else bytes_offset(places[k])
            if at is not None:
                self.values[result] = self._view(at, memref_of(result.type, place_of(op)))
                continue
            group, inside = self.memory.of_value.get(result, (-1, 0))
            if group not in self.callers:
                raise MemoptError("memgraph-to-memref: a result has no place", place_of(op))
            buffer, start = self.callers[group]
            if inside != start:
                what = "memgraph-to-memref: a result is a part of what is the caller's"
                raise MemoptError(what, place_of(op))
            self.values[result] = self._shaped(buffer, result)

    def _shaped(self, known: SSAValue, value: SSAValue) -> SSAValue:
        """Bytes that are there as a tensor of the shape of `value`."""
        type_, source = memref_of(value.type, self.place), cast("MemRefType[Attribute]", known.type)
        if source == type_:
            return known
        shape = type_.get_shape()
        if prod(shape) != prod(source.get_shape()) or type_.element_type != source.element_type:
            raise MemoptError(f"memgraph-to-memref: {type_} over {source}", self.place)
        strides = [prod(shape[k + 1 :]) for k in range(len(shape))]
        cast_op = memref.ReinterpretCastOp(known, [], [], [], [0], shape, strides, type_)
        self.block.add_op(cast_op)
        return cast_op.result

    def _placed(self, op: Operation) -> Placed:
        scratch = [s for s in scratch_list(op) or () if s.bytes.data]
        return Placed(
            tuple(self._known(v, op) for v in op.operands),
            tuple(self._known(v, op) for v in op.results),
            tuple(self._view(s.offset.data, MemRefType(i8, [s.bytes.data])) for s in scratch),
        )

    def _known(self, value: SSAValue, op: Operation) -> SSAValue:
        if value not in self.values:
            what = f"memgraph-to-memref: {op.name} reads a constant of ours, which is in no memory"
            raise MemoptError(what, place_of(op))
        return self.values[value]

    def _call(self, name: str, arguments: list[SSAValue]) -> None:
        self._call_all([CallOp(name, arguments, [])])

    def _call_all(self, operations: Sequence[Operation]) -> None:
        """Add operations, and declare the functions that they call."""
        self.block.add_ops(operations)
        for op in operations:
            if isinstance(op, CallOp) and (declaration := declared(op, self.module)) is not None:
                self.module.body.block.insert_op_before(declaration, self.func)

    def _part(self, whole: SSAValue, op: ExtractSliceOp | InsertSliceOp) -> SSAValue:
        """The part of a memref that a slice is. Refuses one that is not known before run time, and
        one of fewer dimensions."""
        offsets, sizes, strides = (
            [int(v) for v in listed.get_values()]
            for listed in (op.static_offsets, op.static_sizes, op.static_strides)
        )
        small = op.result if isinstance(op, ExtractSliceOp) else op.source
        if len(op.operands) > (1 if isinstance(op, ExtractSliceOp) else 2) or (
            list(memref_of(small.type, place_of(op)).get_shape()) != sizes
        ):
            what = f"memgraph-to-memref: {op.name} of open bounds or fewer dimensions"
            raise MemoptError(what, place_of(op))
        type_ = cast("MemRefType[Attribute]", whole.type)
        subview = memref.SubviewOp.from_static_parameters(whole, type_, offsets, sizes, strides)
        self.block.add_op(subview)
        return subview.result

    def _inits(self, op: Operation) -> dict[SSAValue, SSAValue]:
        """Return the value in memory of each init of a destination-passing operation: that of its
        result."""
        inits = destinations(op)
        if not inits or len(inits) != len(op.results):
            what = f"memgraph-to-memref: {op.name} is no destination-passing operation"
            raise MemoptError(what, place_of(op))
        mapped: dict[SSAValue, SSAValue] = {}
        for init, result in zip(inits, op.results, strict=True):
            known = self.values.get(init)
            if known is not None and known is not self.values[result]:
                what = "memgraph-to-memref: a result does not lie where its init lies"
                raise MemoptError(what, place_of(op))
            mapped[init] = self.values[result]
        return mapped

    def _destination_passing(self, op: Operation) -> None:
        mapped = self.values | self._inits(op)
        for value in op.operands:
            if value not in mapped:
                self._known(value, op)
        regions: list[Region] = []
        for region in op.regions:
            regions.append(Region())
            region.clone_into(regions[-1], None, mapped)
        filled = type(op).create(
            operands=[mapped[v] for v in op.operands],
            attributes=dict(op.attributes),
            properties=dict(op.properties),
            regions=regions,
        )
        self.block.add_op(self._bare(filled))

    def _bare(self, op: Operation) -> Operation:
        """Without what the plan says: standard tools know no attribute of ours."""
        for name in [k for k in op.attributes if k.startswith(OURS)]:
            del op.attributes[name]
        return op

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
        global_op = memref.GlobalOp.get(
            StringAttr(name), type_, op.value, StringAttr("private"), UnitAttr()
        )
        self.module.body.block.insert_op_before(global_op, self.func)
        got = memref.GetGlobalOp(SymbolRefAttr(name), type_)
        self.block.add_op(got)
        self.values[op.result] = got.memref
