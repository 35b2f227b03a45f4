"""A planned function as the emitter needs it: what runs in which order, and where each tensor lies.

Nothing is decided here. The plan verifier has re-derived all of it from the IR before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from memopt.analysis.liveness import LiveGroups
from memopt.analysis.persistent import Sliding, sliding_of, variables_of
from memopt.analysis.storage_groups import BlockMemory, Storage
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.call import SCRATCH_ALIGNMENT, refuse
from memopt.backends.c.weights.storage import DEFAULT, ArrayStorage
from memopt.backends.checked import Checked, checked
from memopt.dialects.attributes.memories import MemoryAttr, MemoryKind
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.attributes.runtimes import scratch_requests
from memopt.dialects.memgraph.custom import CUSTOM
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import (
    Place,
    alias_lists,
    bytes_offset,
    is_move,
    memory_at,
    model_of,
    places_of,
    scratch_list,
)
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, element_bits, shape_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import RowOp, is_received
from memopt.dialects.rows.state import KEPT as IN_STATE
from memopt.dialects.rows.state import RecallOp, StateOp, lies_in_state
from memopt.targets.core.target import target_names

KEPT = "kept"  # the base of what stays from run to run
_C_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Memory:
    """A memory of the plan by its name in C, and what the plan says of it."""

    name: str
    planned: MemoryAttr

    @property
    def kind(self) -> MemoryKind:
        kind: MemoryKind = self.planned.kind.data  # type: ignore[assignment]
        return kind

    @property
    def bytes(self) -> int:
        return self.planned.bytes.data

    @property
    def given(self) -> bool:
        """Return whether the caller gives it; a shared object is a static array of the model."""
        return self.kind != "object"


@dataclass(frozen=True)
class Address:
    """`base` is the name of a memory, `input_K`, `output_K`, `variable_K` or `kept`; `offset` in
    bytes from there."""

    base: str
    offset: int


@dataclass(frozen=True)
class Layout:
    """`operations` in the order of execution; `addresses` of every buffer; sizes in bytes;
    `scratch`: bytes and address of what operations work in.

    `memories` is one arena, or the shared objects, or the banks in use; `arena` the bytes of them
    all. `sliding` is what a function does that keeps rows from run to run; `variables`, each a
    static array `variable_K`, stay too. `storage` says how arrays are written.
    """

    func: FuncOp
    model: ModelAttr
    arena: int
    memories: tuple[Memory, ...]
    memory: BlockMemory
    inputs: tuple[SSAValue, ...]
    outputs: tuple[SSAValue, ...]
    addresses: dict[SSAValue, Address]
    scratch: dict[Operation, tuple[int, Address]]
    sliding: Sliding | None = None
    variables: tuple[VariableOp, ...] = ()
    storage: ArrayStorage = DEFAULT

    @property
    def operations(self) -> list[Operation]:
        return self.memory.operations

    @cached_property
    def live(self) -> LiveGroups:
        """The groups of the arena that are live in each step, for comments."""
        return LiveGroups.of(self.memory)

    @property
    def alignment(self) -> int:
        """Bytes of which the start of every memory is a multiple."""
        return max(1, lcm(self.model.alignment.data, self.model.align_io.data or 1))

    @property
    def is_custom(self) -> bool:
        """Return whether there are operators whose functions the user writes."""
        return any(CUSTOM in op.attributes for op in self.operations)

    @property
    def banks(self) -> tuple[Memory, ...]:
        """The memories in use, where the plan is over several; none if there is one arena."""
        return tuple(m for m in self.memories if m.kind == "bank")

    @property
    def objects(self) -> tuple[Memory, ...]:
        """The shared objects, in the order of the plan; none if there is one arena."""
        return tuple(m for m in self.memories if m.kind == "object")

    @cached_property
    def received(self) -> SSAValue | None:
        """The input that the caller hands over row by row, if there is one."""
        return next((v for v in self.inputs if is_received(v)), None)

    @property
    def given_inputs(self) -> list[int]:
        """The numbers of the inputs that the caller gives whole."""
        return [i for i, v in enumerate(self.inputs) if v is not self.received]

    def kept_at(self, state: StateOp, r: int) -> Address:
        """Return where a state has a row."""
        assert self.sliding is not None
        inside = state.kept.index(r) * state.row_bytes
        return Address(KEPT, self.sliding.places[state.result] + inside)

    def planned(self, value: SSAValue) -> Address | None:
        """Return where a value lies in the plan's memories; None if the caller's or constant."""
        address = self.addresses.get(value)
        names = {m.name for m in self.memories}
        return address if address is not None and address.base in names else None


def check_model(func: FuncOp, target: str | None) -> ModelAttr:
    """The memory model of a function. Refuses one that generated code does not keep to."""
    place = f"@{func.sym_name.data}"
    model = model_of(func)
    allowed = ("generic", target) if target else ("generic", *target_names("c"))
    if model.target.data not in allowed:
        wanted = target or "a C target"
        raise MemoptError(
            f"C backend: planned for target {model.target.data}, not for {wanted}", place
        )
    if scratch_requests(model) is not None:
        raise MemoptError(
            f"C backend: planned for scratch = {model.scratch.data}, generated code has none", place
        )
    return model


def _memory_name(place: Place | int | None, memories: Sequence[Memory]) -> str:
    return next(m.name for m in memories if m.planned.memory.data == memory_at(place))


def _planned_base(
    place: Place | None, group: Storage, alignment: int, memories: Sequence[Memory]
) -> tuple[int, str]:
    """Bytes from the start of its memory to the start of a group, and the memory's name in C. A
    group without bytes is said to be in the first: its own may be one that nothing uses."""
    value, inside = group.members[0]
    owner = place_of(value.op) if isinstance(value, OpResult) else name_of(value)
    if not bytes_of(value.type):
        return 0, memories[0].name
    offset = bytes_offset(place)
    if offset is None:
        raise MemoptError(f"C backend: {name_of(value)} has no offset", owner)
    name = _memory_name(place, memories)
    for member, position in group.members:
        width = max(1, element_bits(cast("AnyTensor", member.type).element_type) // 8)
        if (offset - inside + position) % width or alignment % width:
            raise MemoptError(
                f"C backend: {name_of(member)} is not aligned to its {width} byte elements", owner
            )
    return offset - inside, name


def _name_in_c(memory: MemoryAttr, index: int) -> str:
    name = memory.memory.data
    if memory.kind.data != "bank":
        return f"object_{index}" if memory.kind.data == "object" else name
    if not _C_WORD.fullmatch(name):
        raise MemoptError(f"C backend: the memory {name!r} has no name for C")
    return f"arena_{name}"


def _memories(plan: PlanAttr) -> tuple[Memory, ...]:
    """The memories of a placed plan, of banks those in use; if none is, the first, so that there is
    one. Refuses one that kernels cannot count in."""
    named = [Memory(_name_in_c(m, k), m) for k, m in enumerate(plan.memories)]
    in_use = [m for m in named if m.bytes or m.kind != "bank"] or named[:1]
    for memory in in_use:
        if memory.bytes >= 1 << 31:
            what = "an arena" if memory.given else "a shared object"
            raise MemoptError(f"C backend: {what} of {memory.bytes} B, kernels count in int32")
    return tuple(in_use)


def layout_of(
    module: ModuleOp,
    target: str | None = None,
    known: Checked | None = None,
    weights: Weights | None = None,
) -> Layout:
    """The layout of a module's planned function.

    `target` is the name of one whose output is C, None for plain C; `weights` are the
    module's if not given. Raises MemoptError for a function without a plan, with a stale or a wrong
    one, or with one for another memory model, and for false claims about channels.
    """
    func = only_function(module)
    model = check_model(func, target)
    known = known or checked(func, placed=True, weights=weights)
    block = body_of(func)
    returned = block.last_op
    if not isinstance(returned, ReturnOp):
        raise MemoptError("C backend: the function does not end in func.return")
    memory = known.memory
    inputs, outputs = tuple(block.args), tuple(returned.operands)
    if len(inputs) > 1 and any(map(is_received, inputs)):
        names = ", ".join(map(name_of, inputs))
        raise MemoptError(f"C backend: an input received in rows is the only one, here are {names}")
    memories = _memories(known.plan)
    sliding, addresses = sliding_of(func), dict[SSAValue, Address]()
    layout = Layout(
        func, model, known.plan.arena, memories, memory, inputs, outputs, addresses, {}, sliding
    )
    variables = tuple(variables_of(block.ops))
    if variables and sliding is not None:
        text = "variables, and a window that slides: runs before its output is right change them"
        raise MemoptError(f"C backend: {text}", place_of(variables[0]))
    for number, variable in enumerate(variables):
        addresses[variable.result] = Address(f"variable_{number}", 0)
    for op in block.ops:
        if isinstance(op, IN_STATE) and lies_in_state(op.results[0]):
            is_row = isinstance(op, RecallOp)
            place = layout.kept_at(op.kept, op.index.data) if is_row else addresses[op.operands[0]]
            addresses[op.results[0]] = place
    addresses |= _addresses(layout)
    for op in memory.operations:
        for value in op.results:
            if value not in addresses:
                raise refuse(op, "a result without a size")
    _check_kernels_can(block, memory)
    scratch = {
        op: scratch_of_op for op in memory.operations if (scratch_of_op := _scratch(op, memories))
    }
    return replace(layout, scratch=scratch, variables=variables)


def _addresses(layout: Layout) -> dict[SSAValue, Address]:
    """Return where each value lies; those in states and variables are known."""
    memory, known = layout.memory, layout.addresses
    places, addresses = places_of(layout.func), dict[SSAValue, Address]()
    alignment = layout.model.alignment.data
    for group in memory.groups:
        tensor, inside = group.piece or (None, 0)
        members = group.members if tensor is None else memory.groups[tensor].members
        in_state = next(((v, at) for v, at in members if lies_in_state(v)), None)
        if in_state is not None:
            place = known[in_state[0]]
            base, name = place.offset - in_state[1] + inside, place.base
        elif group.in_arena:
            first = places.get(group.members[0][0])
            base, name = _planned_base(first, group, alignment, layout.memories)
        else:
            base, name = _caller_base(members, layout.inputs, layout.outputs)
            base += inside
        for value, at in group.members:
            addresses[value] = Address(name, base + at)
    return addresses


def _check_kernels_can(block: Block, memory: BlockMemory) -> None:
    """Refuse operations in place whose kernels are not, and slices that no kernel reads."""
    for index, _, _ in memory.overwrites:
        op = memory.operations[index]
        computed = op.whole if isinstance(op, RowOp) else op
        declared = isinstance(op, OpaqueOp) and CUSTOM in op.attributes
        is_ours = declared or isinstance(computed, ComputeOp)  # others are refused by name
        if is_ours and not _runs_in_place(computed) and not is_move(op):
            raise refuse(op, "in place, which its kernel is not")
    for op in block.ops:
        if any(len(alias.strides) for aliases in alias_lists(op) for alias in aliases):
            raise refuse(op, "a slice with strides, which no kernel writes or reads")


def _runs_in_place(op: Operation) -> bool:
    """Return whether the kernel of an operation may write over what it reads."""
    if not isinstance(op, ComputeOp):
        return False
    return op.accumulates or any(map(op.may_overwrite, range(len(op.operands))))


def _scratch(op: Operation, memories: Sequence[Memory]) -> tuple[int, Address] | None:
    """Bytes and address of an operation's scratch. Refuses several: kernels take one."""
    listed = [s for s in scratch_list(op) or () if s.bytes.data]
    if not listed:
        return None
    (scratch, *more) = listed
    if more:
        raise refuse(op, f"{len(listed)} scratch buffers, kernels take one")
    if scratch.offset.data % SCRATCH_ALIGNMENT:
        raise refuse(op, f"its scratch is not aligned to {SCRATCH_ALIGNMENT} B")
    return scratch.bytes.data, Address(_memory_name(scratch.place, memories), scratch.offset.data)


def _caller_base(
    members: list[tuple[SSAValue, int]], inputs: tuple[SSAValue, ...], outputs: tuple[SSAValue, ...]
) -> tuple[int, str]:
    for prefix, values in (("input", inputs), ("output", outputs)):
        for value, inside in members:
            if value in values:
                return -inside, f"{prefix}_{values.index(value)}"
    raise MemoptError(
        f"C backend: {name_of(members[0][0])} is the caller's, but no input or output"
    )


def bytes_in(value: SSAValue) -> int:
    """Bytes of a tensor value."""
    return bytes_of(value.type) or 0


def row_bytes(value: SSAValue) -> int:
    """Bytes of a row of a tensor that has rows."""
    return bytes_in(value) // shape_of(value)[1]
