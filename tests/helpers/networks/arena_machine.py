"""Runs functions on fake operators: by value, and as planned on arenas of bytes, one per memory.

An operator's result is a hash of its name, its number and what it reads, so that any byte lost on
the way changes all that follows. On the arena an operator first spoils what it may write (results
and scratch, except a result in place of what it reads), then reads, writes, and spoils its scratch:
kernels may do these in any order. Knows nothing of the passes, the solvers or the verifier; places
come from the attributes alone.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, cast

from random_functions import size_of
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from memopt.dialects.attributes.model import AliasAttr
from memopt.dialects.attributes.placement import ScratchAttr, SlotAttr, UnplacedAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.structure import ConstantOp, OpaqueOp
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.operators.movement import CopyOp, ReshapeOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp


class ArenaError(Exception):
    """The plan reaches outside its arena, or leaves a value without a place."""


State = dict[str, bytes]


def compute(op: Operation, inputs: Sequence[bytes], state: State) -> list[bytes]:
    """What `op` gives for the bytes of its operands; updates the state that it touches."""
    if isinstance(op, ConstantOp):
        value = cast("DenseIntOrFPElementsAttr[Any]", op.value)
        return [bytes(value.data.data)]
    if isinstance(op, ReshapeOp | CopyOp):
        return [inputs[0]]
    if isinstance(op, SliceOp):
        start = int(op.starts.get_values()[0])
        return [inputs[0][start : start + size_of(op.result)]]
    if isinstance(op, ConcatOp):
        return [b"".join(inputs)]
    digest = hashlib.shake_128(f"{op.name} {op.properties}".encode())
    for data in inputs:
        digest.update(len(data).to_bytes(4, "little") + data)
    touched = [
        v.op.sym.data
        for v in op.operands
        if isinstance(v, OpResult) and isinstance(v.op, VariableOp)
    ]
    if isinstance(op, OpaqueOp) and op.stateful is not None:
        touched.append("world")
    for name in touched:
        digest.update(state.get(name, b""))
    for name in touched:
        state[name] = digest.copy().digest(8)
    outputs: list[bytes] = []
    for index, result in enumerate(op.results):
        mine = digest.copy()
        mine.update(bytes([index]))
        outputs.append(mine.digest(size_of(result)))
    return outputs


def is_variable(op: Operation) -> bool:
    return isinstance(op, VariableOp)


def run_by_value(func: FuncOp, inputs: Sequence[bytes]) -> tuple[list[bytes], State]:
    """Results and final state, in block order, no memory shared."""
    block = func.body.block
    values: dict[SSAValue, bytes] = dict(zip(block.args, inputs, strict=True))
    state: State = {}
    for op in block.ops:
        if op is block.last_op:
            return [values[v] for v in op.operands], state
        if is_variable(op):
            continue  # its bytes are in the state
        read = [values.get(v, b"") for v in op.operands]
        values.update(zip(op.results, compute(op, read, state), strict=False))
    raise AssertionError("the block has no end")


class Machine:
    """A planned function with its arena and the caller's buffers."""

    def __init__(self, func: FuncOp) -> None:
        self.func = func
        plan = func.attributes["memgraph.plan"]
        assert isinstance(plan, PlanAttr)
        self.arena = bytearray()
        self.memories: dict[str, bytearray] = {}
        for m in plan.memories:
            held = min(m.bytes.data, m.capacity.data) if m.kind.data == "bank" else m.bytes.data
            if m.kind.data == "arena":
                self.arena = bytearray(b"\xa5" * held)
            else:
                self.memories[m.memory.data] = bytearray(b"\xa5" * held)
        self.places = self._places()
        self.bases = self._caller_bases()
        self.caller: dict[SSAValue, bytearray] = {}
        self.constants: dict[SSAValue, bytes] = {}

    def _places(self) -> dict[SSAValue, Attribute]:
        places: dict[SSAValue, Attribute] = {}
        block = self.func.body.block
        listed = self.func.arg_attrs.data if self.func.arg_attrs is not None else ()
        for argument, attributes in zip(block.args, listed, strict=False):
            if "memgraph.offset" in attributes.data:
                places[argument] = attributes.data["memgraph.offset"]
        for op in block.ops:
            offsets = op.attributes.get("memgraph.offset")
            if isinstance(offsets, ArrayAttr):
                data = cast("ArrayAttr[Attribute]", offsets).data
                places.update(zip(op.results, data, strict=False))
        return places

    def _caller_bases(self) -> dict[SSAValue, tuple[SSAValue, int]]:
        """Values that views tie together: (root, byte offset from it)."""
        edges: dict[SSAValue, list[tuple[SSAValue, int]]] = {}
        for op in self.func.body.block.ops:
            if "memgraph.order" in op.attributes or isinstance(op, ConstantOp):
                continue
            shifts = view_shifts(op)
            for operand, shift in zip(op.operands, shifts, strict=False):
                edges.setdefault(op.results[0], []).append((operand, -shift))
                edges.setdefault(operand, []).append((op.results[0], shift))
        bases: dict[SSAValue, tuple[SSAValue, int]] = {}
        for root in edges:
            if root in bases:
                continue
            bases[root] = (root, 0)
            waiting = [root]
            while waiting:
                v = waiting.pop()
                for w, shift in edges[v]:
                    if w not in bases:
                        bases[w] = (root, bases[v][1] + shift)
                        waiting.append(w)
        return bases

    def span(self, value: SSAValue) -> tuple[bytearray, int] | None:
        """The memory that holds a value, and where it starts there; None for constants."""
        place = self.places.get(value)
        if isinstance(place, IntegerAttr):
            start = place.value.data
            if start < 0 or start + size_of(value) > len(self.arena):
                raise ArenaError(f"{value} leaves the arena")
            return self.arena, start
        if isinstance(place, SlotAttr):
            memory, start = self.memory(place), place.offset.data
            if start < 0 or start + size_of(value) > len(memory):
                raise ArenaError(f"{value} leaves its memory: {place}")
            return memory, start
        if isinstance(place, UnplacedAttr) and place.data == "caller":
            root, offset = self.bases.get(value, (value, 0))
            # offsets from the root may be negative: 1000 bytes of room on either side
            return self.caller.setdefault(root, bytearray(4000)), 2000 + offset
        if isinstance(place, UnplacedAttr) and place.data == "constant":
            return None
        raise ArenaError(f"{value} has no place: {place}")

    def memory(self, place: SlotAttr) -> bytearray:
        """One of several memories; one that the plan does not have is empty."""
        return self.memories.get(place.memory.data, bytearray())

    def constant(self, value: SSAValue) -> bytes:
        if value not in self.constants:
            raise ArenaError(f"{value} is no constant")
        return self.constants[value]

    def read(self, value: SSAValue) -> bytes:
        if not size_of(value) or (isinstance(value, OpResult) and is_variable(value.op)):
            return b""
        at = self.span(value)
        if at is None:
            return self.constant(value)
        memory, start = at
        return bytes(memory[start : start + size_of(value)])

    def write(self, value: SSAValue, data: bytes) -> None:
        if not data:
            return
        at = self.span(value)
        if at is None:
            raise ArenaError(f"{value} is written but a constant")
        memory, start = at
        memory[start : start + len(data)] = data

    def spoil(self, memory: bytearray, start: int, size: int) -> None:
        if start < 0 or start + size > len(memory):
            raise ArenaError("scratch leaves the arena")
        memory[start : start + size] = bytes(b ^ 0x5A for b in memory[start : start + size])

    def run(self, inputs: Sequence[bytes], kept: bool) -> tuple[list[bytes], State]:
        block = self.func.body.block
        for argument, data in reversed(list(zip(block.args, inputs, strict=True))):
            self.write(argument, data)
        for argument, data in zip(block.args, inputs, strict=True):
            if self.read(argument) != data:
                raise ArenaError("inputs overlap")
        state: State = {}
        last = block.last_op
        assert last is not None
        steps: list[tuple[int, Operation]] = []
        for op in block.ops:
            order = op.attributes.get("memgraph.order")
            if isinstance(order, IntegerAttr):
                steps.append((order.value.data, op))
            elif op is not last:
                self._constant(op)
        for _, op in sorted(steps, key=lambda pair: pair[0]):
            self._step(op, state)
        if kept:
            for argument, data in zip(block.args, inputs, strict=True):
                if self.read(argument) != data:
                    raise ArenaError("a kept input was overwritten")
        return [self.read(v) for v in last.operands], state

    def _constant(self, op: Operation) -> None:
        """A constant, or an operation on constants alone, is known before the run."""
        place = self.places.get(op.results[0]) if op.results else None
        known = isinstance(place, UnplacedAttr) and place.data == "constant"
        if known and any(size_of(r) for r in op.results):
            read = [self.constant(v) for v in op.operands]
            self.constants.update(zip(op.results, compute(op, read, {}), strict=True))

    def _step(self, op: Operation, state: State) -> None:
        scratch = op.attributes.get("memgraph.scratch")
        entries = cast("ArrayAttr[ScratchAttr]", scratch).data if scratch is not None else ()
        aliases = op.attributes.get("memgraph.alias")
        lists = cast("ArrayAttr[ArrayAttr[AliasAttr]]", aliases).data if aliases is not None else ()
        inplace = {r for r, e in enumerate(lists) if any(a.kind.data == "inplace" for a in e.data)}

        def spoil_scratch() -> None:
            for s in entries:
                if s.bytes.data:
                    memory = self.arena if isinstance(s.place, int) else self.memory(s.place)
                    self.spoil(memory, s.offset.data, s.bytes.data)

        spoil_scratch()
        for index, result in enumerate(op.results):
            at = self.span(result) if size_of(result) else None
            if at is not None and index not in inplace:
                self.spoil(at[0], at[1], size_of(result))
        outputs = compute(op, [self.read(v) for v in op.operands], state)
        for result, data in zip(op.results, outputs, strict=True):
            self.write(result, data)
        spoil_scratch()
        for result, data in zip(op.results, outputs, strict=True):
            if self.read(result) != data:
                raise ArenaError("results or scratch of one operator overlap")


def view_shifts(op: Operation) -> list[int]:
    """For each operand of a view: address(result) - address(operand). Empty: not a view."""
    if isinstance(op, ReshapeOp):
        return [0]
    if isinstance(op, SliceOp):
        return [int(op.starts.get_values()[0])]
    if isinstance(op, ConcatOp):
        shifts: list[int] = []
        offset = 0
        for v in op.inputs:
            shifts.append(-offset)
            offset += size_of(v)
        return shifts
    return []
