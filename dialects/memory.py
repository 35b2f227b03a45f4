"""The memory interface: what the passes need to know of an operation, and nothing else.

An operation answers it by deriving `MemoryInterface` (all memgraph operations do), or another
package registers its operations by class or by name:

    from memopt.dialects.memory import OperatorMemory, register
    register(MyConv, lambda op, model: OperatorMemory(results=(4096,), workspace=(512,)))

What is not registered gets careful defaults: ranked static tensors are buffers, `Pure` operations
may move, all others keep their mutual order, operations with regions are barriers, and
destination-passing results (an operand named `outputs` or `dest`) lie where their init lies.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    ComplexType,
    FileLineColLoc,
    IndexType,
    IntegerType,
    MemRefType,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator, Pure

from memopt.dialects.attributes import ChainType, RuntimeType, SourceAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.plan_attributes import AliasAttr, AliasKind, ModelAttr, ScratchAttr

WORLD = "world"  # the effect of an operation of which nothing is known
BARRIER = "barrier"  # nothing may move across
MAX_BYTES = 1 << 62


@dataclass(frozen=True)
class Alias:
    """Result `result` lies at address(operand) + byte_offset. See `#memgraph.alias`."""

    result: int
    operand: int
    kind: AliasKind
    byte_offset: int = 0


@dataclass(frozen=True)
class OperatorMemory:
    """What an operation does to memory. Sizes are bytes, not rounded.

    `results`: bytes per result, None where a result is no buffer (a scalar, a token, a constant).
    `inplace`: (result, operand) pairs that may share an address if the operand dies here, in the
    order of preference. `workspace`: bytes of each buffer of its own. `effects`: operations that
    share an effect keep their mutual order; none means pure. `hill`, the greatest level inside a
    hyper-node minus `level_in`, is -1 for ordinary operations.
    """

    results: tuple[int | None, ...]
    aliases: tuple[Alias, ...] = ()
    inplace: tuple[tuple[int, int], ...] = ()
    workspace: tuple[int, ...] = ()
    executes: bool = True
    effects: tuple[object, ...] = ()
    hill: int = -1
    level_in: int = 0
    level_out: int = 0


class MemoryInterface(ABC):
    """Derived by operations that know their own memory behaviour."""

    @abstractmethod
    def memory(self, model: ModelAttr) -> OperatorMemory:
        """What this operation does to memory under `model`."""


Describe = Callable[[Operation, ModelAttr], OperatorMemory]
_registry: dict[type[Operation] | str, Describe] = {}


def register(operation: type[Operation] | str, describe: Describe) -> None:
    """Register the memory behaviour of a foreign operation, by class or by full name."""
    _registry[operation] = describe


# -- types --------------------------------------------------------------------------------------


def is_buffer(type_: Attribute) -> bool:
    """Whether values of this type occupy an address in the arena."""
    return isinstance(type_, TensorType) and not isinstance(
        cast("TensorType[Attribute]", type_).element_type, RuntimeType
    )


def element_bits(element: Attribute) -> int:
    """Bits of one element as stored: booleans take a byte, `index` eight."""
    if isinstance(element, IntegerType):
        width = cast("IntegerType", element).width.data
        return 8 if width == 1 else width
    if isinstance(element, AnyFloat):
        return element.bitwidth
    if isinstance(element, IndexType):
        return 64
    if isinstance(element, ComplexType):
        return 2 * element_bits(cast("ComplexType[AnyFloat]", element).element_type)
    raise MemoptError(f"element type {element} has no size in bytes")


def bytes_of(type_: Attribute) -> int | None:
    """Bytes of a tensor type, None if it is no buffer. Raises MemoptError without a fixed size."""
    if not is_buffer(type_):
        return None
    tensor = cast("TensorType[Attribute]", type_)
    count = 1
    for d in tensor.get_shape():
        if d < 0:
            raise MemoptError(f"{tensor} has a dynamic dimension; fix it with --shape")
        count *= d
    size = (count * element_bits(tensor.element_type) + 7) // 8
    if size > MAX_BYTES:
        raise MemoptError(f"{tensor} has {size} bytes, which overflows 64-bit sizes")
    return size


# -- names and places ---------------------------------------------------------------------------


def name_of(value: SSAValue) -> str:
    """A name for people: the model's own, else what the IR shows."""
    if isinstance(value, BlockArgument):
        parent = value.block.parent_op()
        args = (
            parent.attributes.get("arg_attrs") or parent.properties.get("arg_attrs")
            if parent
            else None
        )
        if isinstance(args, ArrayAttr):
            entry = cast("ArrayAttr[Attribute]", args).data[value.index]
            name = getattr(entry, "data", {}).get("memgraph.name")
            if isinstance(name, StringAttr):
                return name.data
        return value.name_hint or f"arg{value.index}"
    assert isinstance(value, OpResult)
    names = value.op.attributes.get("memgraph.names")
    if isinstance(names, ArrayAttr):
        entries = cast("ArrayAttr[Attribute]", names).data
        if value.index < len(entries) and isinstance(entry := entries[value.index], StringAttr):
            return entry.data
    return value.name_hint or f"{operator_kind(value.op)}#{value.index}"


def operator_kind(op: Operation) -> str:
    """`CONV_2D` for an opaque operation, `relu` for one of ours, `tosa.clamp` for one of another
    dialect, known here or not."""
    if op.name == "builtin.unregistered":
        kind = op.attributes.get("op_name__")
    else:
        kind = op.properties.get("op_name") if op.name.startswith("memgraph.") else None
    return kind.data if isinstance(kind, StringAttr) else op.name.removeprefix("memgraph.")


def operator_name(op: Operation) -> str:
    """What people call this operation: its kind, and its first result."""
    text = operator_kind(op)
    return f"{text} ({name_of(op.results[0])})" if op.results else text


def place_of(op: Operation) -> str:
    """Where an operation came from: `file:line:col`, else its operator in the model file."""
    if isinstance(op.location, FileLineColLoc):
        where = op.location
        return f"{where.filename.data}:{where.line.data}:{where.column.data}"
    source = op.attributes.get("memgraph.source")
    where = ""
    if isinstance(source, SourceAttr):
        where = f"subgraph {source.subgraph.data} operator {source.operator.data} "
    return f"{where}{operator_name(op)}"


# -- asking -------------------------------------------------------------------------------------


def alias_lists(op: Operation) -> tuple[tuple[AliasAttr, ...], ...]:
    """The `memgraph.alias` attribute: for each result the aliases it has. Raises MemoptError."""
    attr = op.attributes.get("memgraph.alias")
    if attr is None:
        return ()
    lists: list[tuple[AliasAttr, ...]] = []
    entries = cast("ArrayAttr[Attribute]", attr).data if isinstance(attr, ArrayAttr) else (None,)
    for entry in entries:
        inner = (
            cast("ArrayAttr[Attribute]", entry).data if isinstance(entry, ArrayAttr) else (entry,)
        )
        aliases = tuple(a for a in inner if isinstance(a, AliasAttr))
        if len(aliases) != len(inner):
            raise MemoptError("memgraph.alias must list #memgraph.alias per result", place_of(op))
        if any(a.operand.data >= len(op.operands) for a in aliases):
            raise MemoptError("memgraph.alias names an operand that is not there", place_of(op))
        lists.append(aliases)
    if len(lists) != len(op.results):
        raise MemoptError("memgraph.alias must have one entry per result", place_of(op))
    return tuple(lists)


def scratch_list(op: Operation) -> tuple[ScratchAttr, ...] | None:
    """The `memgraph.scratch` attribute, None if there is none. Raises MemoptError."""
    attr = op.attributes.get("memgraph.scratch")
    if attr is None:
        return None
    entries = cast("ArrayAttr[Attribute]", attr).data if isinstance(attr, ArrayAttr) else (attr,)
    found = tuple(e for e in entries if isinstance(e, ScratchAttr))
    if len(found) != len(entries):
        raise MemoptError("memgraph.scratch must list #memgraph.scratch", place_of(op))
    return found


def memory_of(op: Operation, model: ModelAttr) -> OperatorMemory:
    """What `op` does to memory: its interface or registration, then what its attributes add."""
    try:
        answer = _describe(op, model)
    except MemoptError as error:
        raise MemoptError(error.text, error.place or place_of(op)) from None
    lists = alias_lists(op)
    if lists:
        aliases = tuple(
            Alias(r, a.operand.data, cast("AliasKind", a.kind.data), a.byte_offset.data)
            for r, entries in enumerate(lists)
            for a in entries
        )
        from memopt.analysis.alias_rules import check_alias

        strided = {(r, a.operand.data) for r, e in enumerate(lists) for a in e if len(a.strides)}
        for alias in aliases:
            check_alias(op, alias, (alias.result, alias.operand) in strided)
        runs = answer.executes or bool(answer.aliases)  # by itself, or if it were no view
        answer = replace(answer, aliases=aliases, executes=runs and not covers(op, aliases))
    scratch = scratch_list(op)
    if scratch is not None:
        return replace(answer, workspace=tuple(s.bytes.data for s in scratch))
    if model.scratch.data != "none" and answer.executes:
        from memopt.analysis.cmsis_nn_scratch import requested

        return replace(answer, workspace=requested(op, model) or ())
    return answer


def covers(op: Operation, aliases: tuple[Alias, ...]) -> bool:
    """Whether the aliases leave nothing to do: every result and every buffer operand is in one."""
    free = [a for a in aliases if a.kind != "inplace"]
    operands = {
        i
        for i, v in enumerate(op.operands)
        if is_buffer(v.type) and not (isinstance(v, OpResult) and is_constant_like(v.op))
    }
    return (
        bool(free)
        and {a.result for a in free} == set(range(len(op.results)))
        and operands <= {a.operand for a in free}
    )


def is_constant_like(op: Operation) -> bool:
    """Whether an operation is a constant, of ours or of a foreign dialect."""
    return op.name in ("memgraph.constant", "arith.constant", "tosa.const", "onnx.Constant")


def _describe(op: Operation, model: ModelAttr) -> OperatorMemory:
    if isinstance(op, MemoryInterface):
        return op.memory(model)
    describe = _registry.get(type(op)) or _registry.get(op.name)
    if describe is None and op.name == "builtin.unregistered":
        name = op.attributes.get("op_name__")
        describe = _registry.get(name.data) if isinstance(name, StringAttr) else None
    return describe(op, model) if describe else _foreign(op, model)


def _foreign(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Careful defaults for an operation that nobody registered. Raises MemoptError for memrefs and
    for buffers inside regions, whose bytes no plan would count."""
    if any(isinstance(v.type, MemRefType) for v in (*op.operands, *op.results)):
        raise MemoptError(f"{op.name} uses a memref; only tensors are planned", place_of(op))
    inside = _inner_buffer(op)
    if inside is not None:
        raise MemoptError(
            f"{op.name} has the buffer {name_of(inside)} in a region, which is not planned",
            place_of(op),
        )
    results = tuple(bytes_of(r.type) for r in op.results)
    if op.name == "tensor.empty" or is_constant_like(op):
        return OperatorMemory((None,) * len(results), executes=False)
    if _ends_block(op):
        return OperatorMemory(results, executes=False)
    if op.name in ("tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"):
        view = Alias(0, 0, "view")
        return OperatorMemory(
            results, (view,) if model.has_views else (), executes=not model.has_views
        )
    if op.regions and not op.name.startswith("linalg."):
        return OperatorMemory(results, effects=(BARRIER,))
    aliases: list[Alias] = []
    inits = [i for i, v in enumerate(op.operands) if v in set(destinations(op))]
    if inits and len(inits) == len(op.results):  # more: an init is read too, so it is not written
        aliases = [
            Alias(r, i, "inplace") for r, i in enumerate(inits) if not _is_empty(op.operands[i])
        ]
    pure = op.has_trait(Pure, value_if_unregistered=False) or op.name.startswith("linalg.")
    return OperatorMemory(results, tuple(aliases), effects=() if pure else (WORLD,))


def _inner_buffer(op: Operation) -> SSAValue | None:
    """A buffer that is made inside the operation's regions."""
    for region in op.regions:
        for block in region.blocks:
            inner = (a for a in block.args if is_buffer(a.type))
            made = (
                r
                for o in block.walk()
                if o.name != "tensor.empty" and not is_constant_like(o)
                for r in o.results
                if is_buffer(r.type)
            )
            found = next(inner, None) or next(made, None)
            if found is not None:
                return found
    return None


def _ends_block(op: Operation) -> bool:
    """Whether it is a terminator. One of a dialect that nobody knows ends its block, without
    results."""
    if op.name != "builtin.unregistered":
        return op.has_trait(IsTerminator)
    return not op.results and op.parent is not None and op.parent.last_op is op


def destinations(op: Operation) -> tuple[SSAValue, ...]:
    """The init operands of a destination-passing operation."""
    for field in ("outputs", "dest", "inits"):
        value: object = getattr(op, field, None)
        if isinstance(value, SSAValue) and is_buffer(cast("SSAValue", value).type):
            return (cast("SSAValue", value),)
        if isinstance(value, tuple):
            values = cast("tuple[SSAValue, ...]", value)
            if values and all(is_buffer(v.type) for v in values):
                return values
    return ()


def _is_empty(value: SSAValue) -> bool:
    return isinstance(value, OpResult) and value.op.name == "tensor.empty"


def is_token(value: SSAValue) -> bool:
    return isinstance(value.type, ChainType)


def executing(block: Block, model: ModelAttr) -> list[tuple[Operation, OperatorMemory]]:
    """The operations of a block that execute, in block order, with their memory behaviour.

    Constants, constant expressions, views and terminators do not execute.
    """
    return [(op, m) for op in block.ops if (m := memory_of(op, model)).executes]
