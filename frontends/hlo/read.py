"""The HLO frontend: the entry computation of a module, an instruction an operation.

    %fusion = f32[8,4]{1,0} fusion(%x.1), kind=kLoop, calls=%f

becomes

    %0 = memgraph.opaque "fusion"(%x) options {calls = "f"} {memgraph.names = ["fusion"], ...} :
        (tensor<8x4xf32>) -> tensor<8x4xf32>

Parameters are arguments, in the caller's memory as results are (`io = caller`), so that a plan's
arena is what XLA calls temporary memory; constants are no operands. Tuples are their parts: none of
`tuple`, `get-tuple-element` and barriers is an operation. A `bitcast` is a view, and a `reshape`
between row-major layouts. `while`, `conditional` and `call` are one step, with as much workspace as
their computations need in the order of the text (of a `while` also for the next values, beside
those that it carries). Where a parameter is donated, all that reads it comes before the instruction
that writes the result over it. What has side effects keeps its order. What a `-start` begins
uses its operands, and an `async-start` its workspace, until the `-done`, which reads them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import peak_of
from memopt.dialects.attributes.model import AliasAttr, ModelAttr
from memopt.dialects.attributes.operators import AfterType, SourceAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.attributes.quick import numbers, plain_tensor
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import operator_name
from memopt.dialects.memgraph.plan import ALIAS, SCRATCH
from memopt.dialects.memgraph.structure import MAY_OVERWRITE, OpaqueOp
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.frontends.core.function import Draft
from memopt.frontends.core.types import ELEMENTS
from memopt.frontends.hlo.in_place import overwritable
from memopt.frontends.hlo.instructions import (
    Instruction,
    Leaf,
    Module,
    Shape,
    first_leaf,
    leaves,
    parse,
)
from memopt.frontends.hlo.operators import NESTED, PARTS, RUNS, STATEFUL

MODEL: Final = ModelAttr(io="caller")
Value = SSAValue | Instruction
"""A leaf: a value, or the constant that it is."""


def read(data: bytes, name: str, path: Path | None) -> ModuleOp:
    """The module of an HLO text. Raises MemoptError."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"HloModule"):
        raise MemoptError("does not begin with HloModule, so it is no text of HLO", name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MemoptError("not UTF-8 text", f"{name}: byte {error.start}") from None
    module = parse(text, name)
    return ModuleOp([_Computation(module, module.entry).function("main")])


@dataclass
class _Computation:
    """A computation while it is made a function; `values` are the leaves of each instruction."""

    module: Module
    name: str
    draft: Draft[tuple[str, int]] = field(default_factory=Draft[tuple[str, int]])
    values: dict[str, list[Value]] = field(default_factory=dict[str, list[Value]])
    shapes: dict[str, Shape] = field(default_factory=dict[str, Shape])
    running: dict[str, list[SSAValue]] = field(default_factory=dict[str, list[SSAValue]])
    """For what has begun, what it uses until the instruction that waits for its end."""

    def function(self, name: str) -> FuncOp:
        """Return it as a function. Raises MemoptError."""
        if self.name not in self.module.computations:
            raise MemoptError(f"there is no computation %{self.name}", f"%{self.module.entry}")
        body = self.module.computations[self.name]
        parameters = sorted((i for i in body if i.opcode == "parameter"), key=lambda i: int(i.text))
        for instruction in parameters:
            self._take(instruction)
        for instruction in body:
            self.shapes[instruction.name] = instruction.shape
            if instruction.opcode != "parameter":
                self._add(instruction)
        root = next((i for i in body if i.is_root), None)
        if root is None:
            raise MemoptError("a computation without ROOT", f"%{self.name}")
        returned = self._in_memory(root, self.values[root.name])
        if self.name == self.module.entry:
            returned = self._with_donations(parameters, root, returned)
        func = self.draft.function(name, returned)
        func.attributes["memgraph.model"] = MODEL
        return func

    def _take(self, instruction: Instruction) -> None:
        arrays = leaves(instruction.shape)
        names = [
            instruction.name if isinstance(instruction.shape, Leaf) else f"{instruction.name}.{k}"
            for k in range(len(arrays))
        ]
        keys = [(instruction.name, k) for k in range(len(arrays))]
        self.draft.take(keys, names, [a.type for a in arrays])
        self.values[instruction.name] = [self.draft.values[key] for key in keys]

    def _add(self, i: Instruction) -> None:
        """Add an instruction: an operation, or values that are there."""
        try:
            read_leaves = [list(self.values[name]) for name in i.operands]
        except KeyError as error:
            raise MemoptError(
                f"reads %{error.args[0]}, which nothing before makes", i.place
            ) from None
        flat = [leaf for listed in read_leaves for leaf in listed]
        if not flat and i.opcode in ("bitcast", "reshape", "get-tuple-element", "add-dependency"):
            raise MemoptError(f"{i.opcode} without an operand", i.place)
        if i.opcode == "constant":
            self.values[i.name] = [i]
        elif i.opcode == "get-tuple-element":
            index = re.search(r"\bindex=(\d+)", i.attributes)
            if index is None:
                raise MemoptError("get-tuple-element without an index", i.place)
            start = first_leaf(self.shapes[i.operands[0]], [int(index[1])])
            if start is None:
                raise MemoptError(f"there is no part {index[1]} of %{i.operands[0]}", i.place)
            self.values[i.name] = flat[start : start + len(leaves(i.shape))]
        elif i.opcode in PARTS:
            self.values[i.name] = flat
        elif i.opcode == "add-dependency":
            self.values[i.name] = read_leaves[0]
        elif _is_view(i, self.shapes) and not isinstance(flat[0], Instruction):
            self._operation(i, [flat[0]], {ALIAS: _aliases([AliasAttr(0, "view")])})
        elif i.opcode in RUNS:
            self._step(i, self._in_memory(i, flat))
        else:
            fused = self.module.computations.get(next(iter(i.called.get("calls", ())), ""), [])
            operands = [leaf for leaf in flat if not isinstance(leaf, Instruction)]
            used = [v for name in i.operands for v in self.running.get(name, ())]
            self._operation(i, [*operands, *used], self._offers(i, fused, flat, operands))
            if i.opcode.endswith("-start") or i.opcode == "send":
                self.running[i.name] = operands
            elif i.opcode.endswith("-update"):
                self.running[i.name] = used

    def _offers(
        self, i: Instruction, fused: list[Instruction], flat: list[Value], operands: list[SSAValue]
    ) -> dict[str, Attribute]:
        """Return the operands that the result may overwrite."""
        if not isinstance(i.shape, Leaf) or len(flat) != len(i.operands):
            return {}
        size, origins = bytes_of(i.shape.type), [_origin(v) for v in operands]
        allowed = [
            v
            for k in overwritable(i, fused)
            if k < len(flat) and isinstance(v := flat[k], SSAValue)
            if _lies_as(self.shapes[i.operands[k]], i.shape)
        ]
        fitting = [
            k
            for k, v in enumerate(operands)
            if v in allowed and origins.count(origins[k]) == 1 and bytes_of(v.type) == size
        ]
        return {MAY_OVERWRITE: numbers(fitting)} if fitting else {}

    def _in_memory(self, i: Instruction, flat: list[Value]) -> list[SSAValue]:
        """Return leaves as values in memory: a constant that is handed over is written there."""
        values: list[SSAValue] = []
        for leaf in flat:
            if isinstance(leaf, Instruction):
                (leaf,) = self._operation(leaf, [], {})
            values.append(leaf)
        return values

    def _step(self, i: Instruction, operands: list[SSAValue]) -> None:
        """Add what runs computations, as one operation with their workspace."""
        workspace = 0
        for key, names in i.called.items():
            for name in names if key in NESTED else ():
                func = _Computation(self.module, name).function(name)
                need = peak_of(function_memory(func, MODEL), MODEL)
                if key == "body":
                    need += sum(bytes_of(t) or 0 for t in func.function_type.outputs.data)
                workspace = max(workspace, need)
        if i.opcode == "async-start":  # what it works in is in use until it is done
            results = self._operation(i, operands, {}, workspace)
            count = len(leaves(i.shape))
            self.values[i.name] = list[Value](results[:count])
            self.running[i.name] = [*operands, *results[count:]]
            return
        extra: dict[str, Attribute] = {}
        if workspace:
            extra[SCRATCH] = ArrayAttr([ScratchAttr(workspace)])
        self._operation(i, operands, extra)

    def _operation(
        self, i: Instruction, operands: list[SSAValue], extra: dict[str, Attribute], work: int = 0
    ) -> list[SSAValue]:
        """Add an operation, and return its results, the last with the `work` bytes that it uses
        until it is done."""
        arrays = leaves(i.shape)
        if work:
            arrays.append(Leaf(plain_tensor(ELEMENTS["int8"], (work,)), (0,)))
        options = {k: StringAttr(", ".join(v)) for k, v in i.called.items()}
        kind = i.opcode.removesuffix("-start").removesuffix("-done")
        stateful = kind in STATEFUL or "custom_call_has_side_effect=true" in i.attributes
        op = OpaqueOp(
            i.opcode, operands, [a.type for a in arrays], stateful, DictionaryAttr(options)
        )
        op.attributes.update(extra)
        names = [i.name] if len(arrays) == 1 else [f"{i.name}.{k}" for k in range(len(arrays))]
        keys = [(i.name, k) for k in range(len(arrays))]
        self.draft.add(op, keys, names, SourceAttr(0, i.number, range(len(arrays))))
        self.values[i.name] = list(op.results)
        return list(op.results)

    def _with_donations(
        self, parameters: list[Instruction], root: Instruction, returned: list[SSAValue]
    ) -> list[SSAValue]:
        """Let all that reads a donated parameter come before what writes the result over it, and
        return the results. Raises MemoptError for a reader behind that in the text."""
        step = {op: k for k, op in enumerate(self.draft.block.ops)}
        waits: dict[Operation, list[Operation]] = {}
        for path, number, inside in self.module.aliases:
            parameter = parameters[number] if number < len(parameters) else None
            source = None if parameter is None else first_leaf(parameter.shape, inside)
            target = first_leaf(root.shape, path)
            if parameter is None or source is None or target is None:
                text = (
                    f"input_output_alias names result {path} or parameter {number}, which is none"
                )
                raise MemoptError(text, root.place)
            value, maker = self.values[parameter.name][source], _maker(returned[target])
            if maker is None or not isinstance(value, SSAValue):
                continue
            for reader in _readers(value):
                if step[reader] > step[maker]:
                    text = f"%{parameter.name} is read by %{operator_name(reader)} after a result"
                    raise MemoptError(f"{text} was written over it", parameter.place)
                if reader is not maker and reader not in waits.setdefault(maker, []):
                    waits[maker].append(reader)
        return self._in_turn(waits, returned)

    def _in_turn(
        self, waits: dict[Operation, list[Operation]], returned: list[SSAValue]
    ) -> list[SSAValue]:
        """Give tokens to operations that others wait for, and return the results again."""
        awaited = {first for firsts in waits.values() for first in firsts}
        tokens: dict[Operation, SSAValue] = {}
        for op in list(self.draft.block.ops):
            if op not in awaited and op not in waits:
                continue
            types = [r.type for r in op.results] + ([AfterType()] if op in awaited else [])
            kind = cast("StringAttr", op.properties["op_name"]).data
            taken = [tokens[first] for first in waits.get(op, ())]
            new = OpaqueOp(kind, [*op.operands, *taken], types)
            new.properties.update(op.properties)
            new.attributes.update(op.attributes)
            for old, result in zip(op.results, new.results, strict=False):
                old.replace_all_uses_with(result)
            results = dict(zip(op.results, new.results, strict=False))
            returned = [results.get(v, v) if isinstance(v, OpResult) else v for v in returned]
            if op in awaited:
                tokens[op] = new.results[-1]
            self.draft.block.insert_op_before(new, op)
            op.detach()
            op.erase()
        return returned


def _aliases(entries: list[AliasAttr]) -> ArrayAttr[Attribute]:
    """Return the aliases of an operation with one result."""
    return ArrayAttr([ArrayAttr(entries)])


def _is_view(i: Instruction, shapes: dict[str, Shape]) -> bool:
    """Return whether an array is its operand's bytes."""
    if i.opcode == "bitcast":
        return True
    source = shapes[i.operands[0]] if i.opcode == "reshape" else None
    both = isinstance(source, Leaf) and isinstance(i.shape, Leaf)
    return both and all(
        leaf.row_major for leaf in (*leaves(i.shape), *leaves(cast("Leaf", source)))
    )


def _lies_as(one: Shape, other: Shape) -> bool:
    """Return whether the dimensions of two arrays follow each other alike in memory."""
    return isinstance(one, Leaf) and isinstance(other, Leaf) and one.layout == other.layout


def _origin(value: SSAValue) -> SSAValue:
    """Return the value that one is a view of."""
    while isinstance(value, OpResult) and ALIAS in value.op.attributes:
        value = value.op.operands[0]
    return value


def _maker(value: SSAValue) -> Operation | None:
    """Return the operation that writes a value, None for a parameter."""
    origin = _origin(value)
    return origin.op if isinstance(origin, OpResult) else None


def _readers(value: SSAValue) -> Iterator[Operation]:
    """Return the operations that read a value, or a view of it."""
    for use in value.uses:
        if ALIAS in use.operation.attributes:
            yield from _readers(use.operation.results[0])
        else:
            yield use.operation
