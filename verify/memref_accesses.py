"""The verifier's own reading of what an operation does with memrefs, from MLIR's documentation.

    accessed(copy)       # reads (%a,), writes (%b,)
    accessed(subview)    # shows (%a,): its memref results lie there

It shares no table and no rule with what the planner asks (`dialects/buffers/accesses.py`), so that
an error there is seen; both have names and places of operations from the same functions. Operations
that no table here has may do all that they can: they read and write every memref that they are
given, and their memref results lie in any of them. Other results of a memref may be its address.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import DenseArrayBase, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import full_name, place_of

MEMORY = MemRefType, UnrankedMemRefType

# operands, by their number, that are read; that are written; that memref results lie in
TABLE: Mapping[str, tuple[Sequence[int], Sequence[int], Sequence[int]]] = {
    "affine.load": ((0,), (), ()),
    "affine.prefetch": ((), (), ()),
    "affine.store": ((), (1,), ()),
    "affine.vector_load": ((0,), (), ()),
    "affine.vector_store": ((), (1,), ()),
    "memref.alloc": ((), (), ()),
    "memref.alloca": ((), (), ()),
    "memref.assume_alignment": ((), (), (0,)),
    "memref.atomic_rmw": ((1,), (1,), ()),
    "memref.cast": ((), (), (0,)),
    "memref.collapse_shape": ((), (), (0,)),
    "memref.copy": ((0,), (1,), ()),
    "memref.dealloc": ((), (), ()),
    "memref.dim": ((), (), ()),
    "memref.expand_shape": ((), (), (0,)),
    "memref.extract_strided_metadata": ((), (), (0,)),
    "memref.generic_atomic_rmw": ((0,), (0,), ()),
    "memref.get_global": ((), (), ()),
    "memref.load": ((0,), (), ()),
    "memref.prefetch": ((), (), ()),
    "memref.rank": ((), (), ()),
    "memref.reinterpret_cast": ((), (), (0,)),
    "memref.reshape": ((1,), (), (0,)),
    "memref.store": ((), (1,), ()),
    "memref.subview": ((), (), (0,)),
    "memref.transpose": ((), (), (0,)),
    "memref.view": ((), (), (0,)),
    "vector.load": ((0,), (), ()),
    "vector.maskedload": ((0,), (), ()),
    "vector.maskedstore": ((), (0,), ()),
    "vector.store": ((), (1,), ()),
    "vector.transfer_read": ((0,), (), ()),
    "vector.transfer_write": ((), (1,), ()),
}
# behind these nobody can say who touches the bytes
ESCAPING = frozenset(
    {"memref.dma_start", "memref.extract_aligned_pointer_as_index"}
    | {"memref.memory_space_cast", "memref.realloc"}
)
# what hands values on, or runs its regions: no access of its own
PASSING = frozenset(
    {"affine.for", "affine.if", "affine.parallel", "affine.yield", "func.return"}
    | {"linalg.yield", "memref.alloca_scope", "memref.alloca_scope.return", "scf.condition"}
    | {"scf.execute_region", "scf.for", "scf.forall", "scf.if", "scf.index_switch"}
    | {"scf.parallel", "scf.reduce", "scf.while", "scf.yield"}
)


class Accessed(NamedTuple):
    """Memrefs that an operation reads and writes, and those that its memref results lie in."""

    reads: tuple[SSAValue, ...] = ()
    writes: tuple[SSAValue, ...] = ()
    shows: tuple[SSAValue, ...] = ()


def accessed(op: Operation) -> Accessed:
    """Return what an operation does with memrefs, without the operations inside it. Raises
    MemoptError for one behind which nobody knows who touches their bytes, or when."""
    name = full_name(op)
    given = tuple(v for v in op.operands if isinstance(v.type, MEMORY))
    _check_elements(op)
    if name in PASSING:
        return Accessed()
    if name in TABLE:
        return Accessed(*(_chosen(op, numbers) for numbers in TABLE[name]))
    inside = (v for region in op.regions for inner in region.walk() for v in inner.operands)
    if name in ESCAPING or any(isinstance(v.type, MEMORY) for v in inside):
        raise MemoptError(f"{name} may touch memrefs when nobody knows", place_of(op))
    if not given and any(isinstance(r.type, MEMORY) for r in op.results) and name != "func.call":
        raise MemoptError(f"{name} makes a memref of what is none", place_of(op))
    if name.startswith("linalg."):
        outputs = op.operands[len(op.operands) - _outputs(op) :]
        return Accessed(given, tuple(v for v in outputs if isinstance(v.type, MEMORY)))
    shown = any(not isinstance(r.type, MEMORY) for r in op.results)
    if given and shown and name != "func.call":
        raise MemoptError(f"{name} makes what may show the bytes of a memref", place_of(op))
    return Accessed(given, given, given)


def _check_elements(op: Operation) -> None:
    """Raise MemoptError for memrefs of memrefs, from which others come back."""
    for type_ in (*op.operand_types, *op.result_types):
        if isinstance(type_, MEMORY):
            element = cast("MemRefType[Attribute]", type_).element_type
            if isinstance(element, MEMORY):
                raise MemoptError(f"{full_name(op)} has a memref of memrefs", place_of(op))


def _chosen(op: Operation, numbers: Sequence[int]) -> tuple[SSAValue, ...]:
    """Return the operands of these numbers. Raises MemoptError if one is no memref."""
    values = tuple(op.operands[k] for k in numbers if k < len(op.operands))
    if len(values) < len(numbers) or not all(isinstance(v.type, MEMORY) for v in values):
        raise MemoptError(f"{full_name(op)} has no memref where one is read", place_of(op))
    return values


def _outputs(op: Operation) -> int:
    """Return how many operands, the last ones, an operation of linalg writes: as many values as its
    region yields for an element; of one without a region as many as its text says."""
    for region in op.regions:
        last = region.blocks[0].last_op if region.blocks else None
        if last is not None and last.operands:
            return len(last.operands)
    sizes = op.properties.get("operandSegmentSizes") or op.attributes.get("operandSegmentSizes")
    if isinstance(sizes, DenseArrayBase):
        return int(sizes.get_values()[-1])
    return 1
