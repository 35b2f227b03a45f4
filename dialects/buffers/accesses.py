"""Access of an operation to the memrefs among its operands.

    access_of(copy)      # Access(reads=(%a,), writes=(%b,))
    access_of(subview)   # Access(views=True): its memref results are of its memref operands

Operations say by their effects (xDSL's traits) that they read or write. The tables are for those
that say nothing there, and for those that do more than their effects say. Raises MemoptError, by
name and place, for an operation whose memrefs cannot be followed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    UnrankedMemRefType,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import CallOp
from xdsl.dialects.memref import AllocaOp, AllocOp, CopyOp, DeallocOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator, MemoryEffectKind, Pure, get_effects

from memopt.dialects.buffers.control_flow import PARALLEL, is_structured
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.tensors import MAX_BYTES, element_bits

AllocationOp = AllocOp | AllocaOp

# operations without effects in xDSL; all memrefs among their operands are read, or written
READERS = frozenset(
    {"affine.load", "affine.vector_load", "vector.load", "vector.maskedload"}
    | {"vector.transfer_read"}
)
WRITERS = frozenset(
    {"affine.store", "affine.vector_store", "vector.store", "vector.maskedstore"}
    | {"vector.transfer_write"}
)
VIEWS = frozenset({"memref.transpose", "memref.reshape"})  # operands behind the first are read
# whatever their effects say
NOT_FOLLOWED = {
    "memref.extract_aligned_pointer_as_index": "takes out a pointer",
    "memref.dma_start": "goes on after it has run",
    "memref.memory_space_cast": "leaves the memory space",
    "memref.realloc": "frees and allocates",
}


@dataclass(frozen=True)
class Access:
    """Memrefs that an operation reads and writes. `views`: its memref results are parts of memrefs
    among its operands. `frees`: it gives its operand back. `anything`: its effects are not known,
    so it keeps its order among its like."""

    reads: tuple[SSAValue, ...] = ()
    writes: tuple[SSAValue, ...] = ()
    views: bool = False
    frees: bool = False
    anything: bool = False

    @property
    def is_none(self) -> bool:
        """Return whether the operation may run at any time."""
        return not (self.reads or self.writes or self.frees or self.anything)


def is_memref(type_: Attribute) -> bool:
    """Return whether a type is one of memrefs, ranked or not."""
    return isinstance(type_, MemRefType | UnrankedMemRefType)


def memrefs(values: Iterable[SSAValue]) -> tuple[SSAValue, ...]:
    """Return those of the values that are memrefs."""
    return tuple(v for v in values if is_memref(v.type))


def access_of(op: Operation) -> Access:
    """Return the access of an operation, without that of the operations inside it and without what
    a function does that it calls. Raises MemoptError for one whose memrefs cannot be followed."""
    name, operands, results = full_name(op), memrefs(op.operands), memrefs(op.results)
    _check_elements(op, (*operands, *results))
    if name in NOT_FOLLOWED and operands:
        raise MemoptError(f"{name} {NOT_FOLLOWED[name]}, which no plan follows", place_of(op))
    if isinstance(op, AllocationOp) or is_structured(op) or _is_terminator(op):
        return Access()
    if isinstance(op, CallOp):
        return Access(operands, operands, anything=True)
    if isinstance(op, DeallocOp):
        return Access(frees=True)
    if isinstance(op, CopyOp):
        return Access((op.source,), (op.destination,))
    if name.startswith("linalg.") and not results:
        outputs = _outputs(op)
        return Access(operands, outputs) if operands else Access(anything=True)
    if name in READERS or name in WRITERS:
        return Access(operands if name in READERS else (), operands if name in WRITERS else ())
    if name in VIEWS:
        return Access(operands[1:], views=True)
    if name not in PARALLEL:
        _check_regions(op)
    return _by_effects(op)


def _check_regions(op: Operation) -> None:
    """Raise MemoptError for regions with memrefs of an operation that may run them later."""
    if any(inner is not op and memrefs(inner.operands) for r in op.regions for inner in r.walk()):
        what = "has a memref in its regions, and when these run is not known"
        raise MemoptError(f"{full_name(op)} {what}", place_of(op))


def _by_effects(op: Operation) -> Access:
    """Return the access that an operation's effects say. Raises MemoptError if it has a memref and
    they do not say what becomes of it."""
    name, operands, results = full_name(op), memrefs(op.operands), memrefs(op.results)
    effects = get_effects(op)
    pure = op.has_trait(Pure, value_if_unregistered=False) or effects == set()
    if pure:
        casts = isinstance(op, UnrealizedConversionCastOp)  # to a number that is an address
        for type_ in op.result_types if operands else ():
            if not (is_memref(type_) or (isinstance(type_, IndexType | IntegerType) and not casts)):
                text = f"{name} makes {type_} of a memref, which no plan follows"
                raise MemoptError(text, place_of(op))
        return Access(views=bool(results))
    kinds = {e.kind for e in effects} if effects is not None else set[MemoryEffectKind]()
    if effects is None or not kinds <= {MemoryEffectKind.READ, MemoryEffectKind.WRITE} or results:
        if operands or results:
            what = "takes a memref, and what it does with it is not known"
            raise MemoptError(f"{name} {what}", place_of(op))
        return Access(anything=True)
    return Access(
        operands if MemoryEffectKind.READ in kinds else (),
        operands if MemoryEffectKind.WRITE in kinds else (),
        anything=not operands,
    )


def _is_terminator(op: Operation) -> bool:
    return op.has_trait(IsTerminator, value_if_unregistered=False)


def _check_elements(op: Operation, values: Iterable[SSAValue]) -> None:
    """Raise MemoptError for memrefs of memrefs, whose elements are addresses."""
    for v in values:
        if is_memref(cast("MemRefType[Attribute]", v.type).element_type):
            raise MemoptError(f"{full_name(op)} has a memref of memrefs", place_of(op))


def _outputs(op: Operation) -> tuple[SSAValue, ...]:
    """Return the operands that a destination-passing operation writes, the last of its segments;
    all of them if there are no segments."""
    sizes = op.properties.get("operandSegmentSizes") or op.attributes.get("operandSegmentSizes")
    if not isinstance(sizes, DenseArrayBase):
        segments: list[int] = []
        outputs: object = getattr(op, "outputs", None)
        if isinstance(outputs, tuple):
            return memrefs(cast("tuple[SSAValue, ...]", outputs))
    else:
        segments = [int(n) for n in sizes.get_values()]
    count = segments[-1] if segments else len(op.operands)
    return memrefs(op.operands[len(op.operands) - count :])


def allocated_bytes(op: AllocationOp) -> int:
    """Return the bytes of what is allocated. Raises MemoptError, by name and place, for what has no
    static size, or lies in another memory or otherwise than row after row."""
    type_ = op.memref.type
    if not type_.has_static_shape() or op.dynamic_sizes or op.symbol_operands:
        raise MemoptError(f"{op.name} of {type_} has a dynamic size", place_of(op))
    if not isinstance(type_.memory_space, NoneAttr):
        text = f"{op.name} of {type_} is in a memory space of its own"
        raise MemoptError(text, place_of(op))
    layout = type_.layout
    plain = isinstance(layout, NoneAttr) or (
        isinstance(layout, AffineMapAttr)
        and layout.data == type(layout.data).identity(type_.get_num_dims())
    )
    if not plain:
        raise MemoptError(f"{op.name} of {type_} has a layout of its own", place_of(op))
    count = 1
    for dimension in type_.get_shape():
        count *= dimension
    try:
        size = count * element_bytes(type_.element_type)
    except MemoptError as error:
        raise MemoptError(error.text, place_of(op)) from None
    if size > MAX_BYTES:
        raise MemoptError(f"{type_} has too many bytes for 64-bit sizes", place_of(op))
    return size


def element_bytes(element: Attribute) -> int:
    """Return the bytes from one element to the next, as LLVM lays them: a power of two."""
    size = -(-element_bits(element) // 8)
    return 1 << (size - 1).bit_length()


def alignment_of(op: AllocationOp, least: int) -> int:
    """Return the alignment that an allocation asks for, `least` if it asks for less."""
    wanted = op.alignment.value.data if isinstance(op.alignment, IntegerAttr) else 1
    return max(wanted, least)
