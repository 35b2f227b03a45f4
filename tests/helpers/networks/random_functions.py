"""Random functions of the memgraph dialect, over everything that the memory model knows.

Views, slices and concats with and without aliases, forced and offered in-place results, several
results and none, dead and returned ones, scratch, constants, variables, stateful operators, every
`io`, several alignments, buffers without bytes.
"""

import random

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from memopt.dialects.attributes.model import AliasAttr, ModelAttr
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.structure import ConstantOp, OpaqueOp
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.operators.binary import AddOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp
from memopt.dialects.operators.unary import ReluOp


def flat(size: int) -> TensorType[Attribute]:
    return TensorType(i8, [size])


def size_of(value: SSAValue) -> int:
    """Bytes of a tensor of i8."""
    return elements_of(value)


def rank(value: SSAValue) -> int:
    return len(shape_of(value))


class Draw:
    """One function while it is drawn."""

    def __init__(self, rng: random.Random, operators: int) -> None:
        self.rng = rng
        count = rng.randint(1, 3)
        self.block = Block(arg_types=[flat(self.size()) for _ in range(count)])
        self.values: list[SSAValue] = list(self.block.args)
        self.variables: list[SSAValue] = []
        self.aliased: set[SSAValue] = set()  # lie in a concat already
        for _ in range(rng.randint(1, operators)):
            self.operator()
        self.give_back()

    def size(self) -> int:
        return self.rng.choice((0, 1, 3, 4, 8, 8, 16, 20, 32, self.rng.randint(1, 48)))

    def pick(self, count: int = 1) -> list[SSAValue]:
        recent = self.values[-5:] if self.rng.random() < 0.8 else self.values
        return [self.rng.choice(recent) for _ in range(count)]

    def add(self, op: Operation) -> None:
        self.block.add_op(op)
        self.values += [r for r in op.results if isinstance(r.type, TensorType)]

    def operator(self) -> None:
        kinds = (self.opaque, self.opaque, self.opaque, self.unary, self.add_op, self.reshape)
        self.rng.choice((*kinds, self.slice, self.concat, self.constant))()

    def opaque(self) -> None:
        rng = self.rng
        operands = self.pick(rng.choice((0, 1, 1, 2, 3)))
        types = [flat(self.size()) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
        name = "op"
        if operands and types and rng.random() < 0.3:
            name, types = "Relu", [flat(size_of(operands[0]))]
        if rng.random() < 0.1:
            if not self.variables or rng.random() < 0.5:
                variable = VariableOp(f"s{len(self.variables)}", flat(4))
                self.block.add_op(variable)
                self.variables.append(variable.result)
            operands.append(rng.choice(self.variables))
        number: dict[str, Attribute] = {"id": IntegerAttr(len(self.values) * 100, i64)}
        op = OpaqueOp(name, operands, types, rng.random() < 0.1, DictionaryAttr(number))
        if rng.random() < 0.3:
            sizes = [rng.randint(0, 24) for _ in range(rng.randint(1, 2))]
            op.attributes["memgraph.scratch"] = ArrayAttr([ScratchAttr(s) for s in sizes])
        fits = [
            i
            for i, v in enumerate(operands)
            if types and v not in self.variables and size_of(v) >= size_of(op.results[0])
        ]
        if fits and rng.random() < 0.15:
            forced = [[AliasAttr(rng.choice(fits), "inplace")], *([] for _ in types[1:])]
            op.attributes["memgraph.alias"] = ArrayAttr([ArrayAttr(e) for e in forced])
        self.add(op)

    def unary(self) -> None:
        (v,) = self.pick()
        self.add(ReluOp.create(operands=[v], result_types=[v.type]))

    def add_op(self) -> None:
        (v,) = self.pick()
        same = [w for w in self.values if w.type == v.type]
        self.add(AddOp.create(operands=[v, self.rng.choice(same)], result_types=[v.type]))

    def reshape(self) -> None:
        (v,) = self.pick()
        type_ = TensorType(i8, [1, size_of(v)], EncodingAttr())
        self.add(ReshapeOp.create(operands=[v], result_types=[type_]))

    def slice(self) -> None:
        wide = [v for v in self.values if rank(v) == 1]
        v = self.rng.choice(wide)
        size = self.rng.randint(0, size_of(v))
        start = self.rng.randint(0, size_of(v) - size)
        if size == 0:
            start = 0
        op = SliceOp.create(
            operands=[v],
            result_types=[flat(size)],
            properties={
                "starts": DenseArrayBase.from_list(i64, [start]),
                "strides": DenseArrayBase.from_list(i64, [1]),
            },
        )
        if self.rng.random() < 0.6:
            alias = AliasAttr(0, "slice", start)
            op.attributes["memgraph.alias"] = ArrayAttr([ArrayAttr([alias])])
        self.add(op)

    def concat(self) -> None:
        wide = [v for v in self.values if rank(v) == 1 and v not in self.aliased]
        parts = self.rng.sample(wide, min(len(wide), self.rng.randint(1, 3)))
        if not parts:
            return
        op = ConcatOp.create(
            operands=parts,
            result_types=[flat(sum(map(size_of, parts)))],
            properties={"axis": IntegerAttr(0, i64)},
        )
        if self.rng.random() < 0.6:
            aliases: list[AliasAttr] = []
            offset = 0
            for i, v in enumerate(parts):
                aliases.append(AliasAttr(i, "slice", -offset))
                offset += size_of(v)
            op.attributes["memgraph.alias"] = ArrayAttr([ArrayAttr(aliases)])
            self.aliased.update(parts)
        self.add(op)

    def constant(self) -> None:
        size = self.rng.randint(1, 16)
        data = [self.rng.randint(-128, 127) for _ in range(size)]
        type_ = TensorType(i8, [size])
        self.add(ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, data), type_))

    def give_back(self) -> None:
        made = [v for v in self.values if v not in self.variables]
        results = self.rng.sample(made, min(len(made), self.rng.randint(0, 3)))
        if results and self.rng.random() < 0.1:
            results.append(results[0])
        self.block.add_op(func.ReturnOp(*results))


def random_function(rng: random.Random, operators: int = 10) -> ModuleOp:
    """A module of one verified function `@main`."""
    draw = Draw(rng, operators)
    last = draw.block.last_op
    assert last is not None
    inputs, outputs = [a.type for a in draw.block.args], [v.type for v in last.operands]
    function = func.FuncOp("main", (inputs, outputs), Region(draw.block))
    function.attributes["memgraph.model"] = ModelAttr(
        alignment=rng.choice((1, 1, 4, 16)),
        io=rng.choice(("arena", "arena", "kept", "caller")),
        views=rng.random() < 0.8,
        inplace=rng.random() < 0.5,
    )
    module = ModuleOp([function])
    module.verify()
    return module
