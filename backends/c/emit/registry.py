"""Kernels, found by walking backends/c/kernels/: which one runs which operator.

    @kernel((AddOp, SubOp), "s8, u8", rounding="tflm_double")
    def sum_of_bytes(op: SumOp, constants: Constants) -> KernelCall: ...

    found = matching(op, ("dsp", "c"))    # the best one of the target's instruction sets

What has no kernel is refused by name, with its place and with what would match.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, product, starmap
from typing import Any

from xdsl.ir import Operation

from memopt.backends.c.emit.call import (
    Lower,
    element_kind,
    kind_of,
    need_layout,
    need_rounding,
    refuse,
)
from memopt.backends.c.inline.inlined_producers import Inlining, inlining_of
from memopt.backends.c.inline.inlined_rows import can_make, row_scratch
from memopt.backends.c.rows.row_calls import RowForm
from memopt.dialects.memgraph.custom import CUSTOM, PREFIX, name_of_custom
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import FAST, FORMS, fast_form, makes_virtual, reads_virtual
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import is_buffer
from memopt.dialects.operators import operations
from memopt.dialects.operators.accumulation import sum_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Pointwise
from memopt.dialects.rows.operations import RowOp
from memopt.formats.accelerators import npu_of
from memopt.modules import OURS, load, mentioning, modules_in

ANY = "any"  # a kernel that moves bytes of any type
ROUNDINGS = ("tflm_double", "onnx_even")  # of kernels that round as the operation says

Workspace = Callable[[Any], int]
"""Bytes of scratch that a kernel needs for an operation, from its types alone."""


@dataclass(frozen=True)
class Kernel:
    """Entry of a kernel: the operations that it computes, and how it is called.

    It computes `op`, or all operations derived from it, on `types` (`s8`, or `f32 to s8` where they
    change), with the first operand in `layout` and with one of the `roundings` (none: it does not
    matter), on a core that has `isa`. `lower` makes its calls; `workspace` says the bytes of
    scratch that they need; `rows`, how it computes a row, None if it cannot, and `stays`, what of
    an operation it cannot, nothing if it can; None: of all it can. Where it works `by_row`, a row
    needs that scratch as the whole does; others compute rows in none.

    `sums` are for results that are added up in one buffer, all others for those that are not. A
    `fast` one is for operations that are marked with `memgraph.fast`, in the form that the mark
    names: its scratch buys speed. It computes those that `where` says, or of which it wants
    scratch.
    """

    op: type[Operation]
    types: str
    lower: Lower
    layout: str
    roundings: tuple[str, ...]
    isa: str
    workspace: Workspace | None
    rows: RowForm | None
    sums: bool
    fast: str | None
    where: Callable[[Any], bool] | None
    stays: Callable[[Any], str] | None
    by_row: bool

    def computes_rows_of(self, op: Operation) -> bool:
        """Return whether it computes single rows of an operation."""
        works_apart = self.workspace and not self.by_row and self.workspace(op)
        return not works_apart and self.makes_rows_of(op)

    def makes_rows_of(self, op: Operation) -> bool:
        """Return whether it would compute single rows of an operation if it had its scratch."""
        return self.rows is not None and not (self.stays and self.stays(op))

    def has_use(self, op: Operation) -> bool:
        """Return whether an operation of its types, if it were marked, would be for this kernel."""
        if self.where is not None:
            return self.where(op)
        return self.fast is None or bool(self.workspace and self.workspace(op))

    def __str__(self) -> str:
        return self.types if self.isa == "c" else f"{self.types} ({self.isa})"


KERNELS = "memopt.backends.c.kernels"
_REGISTERED: list[Kernel] = []
_OF_CLASS: list[tuple[type[Operation], Callable[[type[Any]], str], Callable[..., Kernel]]] = []


def kernel(
    ops: type[Operation] | tuple[type[Operation], ...],
    types: str | Callable[[type[Any]], str],
    layout: str = "",
    rounding: str | tuple[str, ...] = (),
    isa: str | tuple[str, ...] = "c",
    workspace: Workspace | None = None,
    rows: RowForm | None = None,
    sums: bool = False,
    fast: str | None = None,
    where: Callable[[Any], bool] | None = None,
    stays: Callable[[Any], str] | None = None,
    by_row: bool = False,
) -> Callable[[Lower], Lower]:
    """Registers the function below as what lowers each of `ops` to a kernel for each of `types`,
    which are separated by commas, see Kernel; to several, if its C has a form for each instruction
    set `isa`. `types` may be what returns them for each operation derived from `ops`, "" for none.

    A family of memopt's is loaded for the operations whose classes, or bases of these, its files
    name, one of a plugin always.
    """
    roundings = (rounding,) if isinstance(rounding, str) else rounding
    given_ops = ops if isinstance(ops, tuple) else (ops,)
    isas = (isa,) if isinstance(isa, str) else isa
    if not {ComputeOp, *ComputeOp.__mro__}.isdisjoint(given_ops):
        raise TypeError("a kernel is for classes that say which operations, and not for all")
    options = workspace, rows, sums, fast, where, stays, by_row

    def register(lower: Lower) -> Lower:
        def kernel_for(op: type[Operation], each: str, one: str) -> Kernel:
            return Kernel(op, each, lower, layout, roundings, one, *options)

        if callable(types):
            _OF_CLASS.extend(
                (op, types, partial(kernel_for, one=one)) for op, one in product(given_ops, isas)
            )
        else:
            _REGISTERED.extend(starmap(kernel_for, product(given_ops, types.split(", "), isas)))
        kernels_of.cache_clear()
        any_fast.cache_clear()
        return lower

    return register


def _load(families: Iterable[str]) -> None:
    for family in families:
        load(family)


def all_kernels() -> tuple[Kernel, ...]:
    """Every kernel that there is."""
    _load(modules_in(KERNELS).values())
    return (*_REGISTERED, *chain.from_iterable(map(_of_class, operations())))


def _of_class(op: type[Operation]) -> list[Kernel]:
    """Return the kernels whose types the class of an operation says."""
    return [
        one(op, each)
        for base, types_of, one in _OF_CLASS
        if issubclass(op, base)
        for each in types_of(op).split(", ")
        if each
    ]


@cache
def kernels_of(op: type[Operation]) -> tuple[Kernel, ...]:
    """The kernels for an operation, those for all of its kind included, in an order that does not
    depend on what was loaded first: plugins' before memopt's, by their modules, in each as they
    stand there."""
    kinds = set(op.__mro__)
    _load(mentioning([kind.__name__ for kind in kinds.difference(ComputeOp.__mro__)], KERNELS))
    known = (*[k for k in _REGISTERED if k.op in kinds], *_of_class(op))

    def place(k: Kernel) -> tuple[bool, str]:
        module = k.lower.__module__
        return module.startswith(OURS), module

    return tuple(sorted(known, key=place))


def _types(op: Operation) -> str:
    """The element types that decide the kernel: `s8`, or `f32 to s8` where they change. Those of
    constants that a kernel reads in its own way (weights, bias) do not."""
    is_pointwise = op.has_trait(Pointwise, value_if_unregistered=False)
    read = op.operands if is_pointwise else op.operands[:1]
    before = _kinds(v for v in read if is_buffer(v.type))
    results = _kinds(v for v in op.results if is_buffer(v.type))
    return before if before == results else f"{before} to {results}"


def _kinds(values: Iterable[Any]) -> str:
    return " and ".join(sorted({kind_of(v.type.element_type) for v in values}))


def _best(
    op: Operation, known: Iterable[Kernel], isa: tuple[str, ...], form: str | None
) -> Kernel | None:
    """Return the best kernel that computes an operation, if it were marked with `form`; fast ones
    only where they have a use for scratch."""
    types, sums, order = _types(op), sum_of(op) is not None, type(op).mro()
    best, least = None, (len(isa),)
    for k in known:
        if not (k.types in (types, ANY) and k.isa in isa and k.sums is sums):
            continue
        rank = isa.index(k.isa), k.fast is None, order.index(k.op)
        if rank < least and k.fast in (None, form) and k.has_use(op):
            best, least = k, rank
    return best


def fast_forms(op: Operation, isa: tuple[str, ...]) -> dict[str, int]:
    """Bytes of scratch of the fast kernels for an operation by their forms, the fastest first; none
    that is no better than one that is not marked, and none if the operation reads what is no
    buffer, which is made in scratch."""
    if isinstance(op, RowOp):
        if makes_virtual(op) or row_scratch(op):
            return {}
        op = op.operation
        known = [k for k in kernels_of(type(op)) if k.makes_rows_of(op)]
    elif reads_virtual(op):
        return {}
    else:
        known = list(kernels_of(type(op)))
    scratch_of_form: dict[str, int] = {}
    for form in FORMS:
        best = _best(op, known, isa, form)
        if best is not None and best.fast is not None:
            scratch_of_form[form] = best.workspace(op) if best.workspace is not None else 0
    return scratch_of_form


@cache
def any_fast(isa: tuple[str, ...]) -> bool:
    """Return whether kernels take scratch to be faster."""
    for family in mentioning(("fast",), KERNELS):
        load(family)
        of_classes = (one(op, "") for op, _, one in _OF_CLASS)
        if any(k.fast is not None and k.isa in isa for k in chain(_REGISTERED, of_classes)):
            return True
    return False


def workspace_of(op: Operation, isa: tuple[str, ...]) -> int:
    """Bytes of scratch in which an operation would run, what it makes of what it reads included; 0
    if it needs none or there is no kernel: a plan is made all the same."""
    if isinstance(op, RowOp):
        return row_scratch(op) or _row_workspace(op, isa)
    if reads_virtual(op):
        inlining = _inlining(op, isa)
        return 0 if inlining is None else inlining.scratch
    return own_workspace(op, isa)


def _row_workspace(row: RowOp, isa: tuple[str, ...]) -> int:
    """Bytes in which the kernel of a row works: the fast one, if its operator is marked, or one
    that works by row."""
    if makes_virtual(row):
        return 0
    works = FAST in row.operation.attributes or any(
        k.by_row for k in kernels_of(type(row.operation))
    )
    return own_workspace(row.whole, isa) if works else 0


def can_inline(op: Operation, isa: tuple[str, ...]) -> bool:
    """Return whether kernels make the virtual tensors that an operation reads, if it reads any."""
    return not reads_virtual(op) or _inlining(op, isa) is not None


def _inlining(op: Operation, isa: tuple[str, ...]) -> Inlining | None:
    try:
        return inlining_of(op, partial(own_workspace, isa=isa))
    except MemoptError:
        return None


def own_workspace(op: Operation, isa: tuple[str, ...]) -> int:
    """Bytes of scratch of the kernel that would run an operation."""
    known = kernels_of(type(op))
    if not any(k.workspace for k in known):
        return 0
    best = _best(op, known, isa, fast_form(op))
    return best.workspace(op) if best is not None and best.workspace is not None else 0


def computes_rows(op: Operation, isa: tuple[str, ...]) -> bool:
    """Return whether the kernel that would run an operation computes single rows; also if there is
    no kernel: a plan is made all the same. It makes rows of operands that are no buffers itself,
    if it works in no scratch."""
    if isinstance(op, ComputeOp) and reads_virtual(op):
        return not own_workspace(op, isa) and can_make(op, partial(_computes_rows, isa=isa))
    return _computes_rows(op, isa)


def _computes_rows(op: Operation, isa: tuple[str, ...]) -> bool:
    best = _best(op, kernels_of(type(op)), isa, fast_form(op))
    return best is None or best.computes_rows_of(op)


def need_no_npu(op: OpaqueOp) -> None:
    """Raise MemoptError for a program of an NPU, or the memory that one works in."""
    readers = [use.operation for result in op.results for use in result.uses]
    for one in (op, *readers):
        npu = npu_of(one.op_name.data.removeprefix(PREFIX)) if isinstance(one, OpaqueOp) else ""
        if npu:
            text = f"the file was compiled for {npu}, which alone runs it; give what it was made of"
            raise refuse(one, text)


def _no_match(op: Operation, known: Iterable[Kernel], isa: tuple[str, ...]) -> str:
    """Return which type of an operation has no kernel, and which types would have one: of those
    that convert, the results of this operand, or else the operands."""
    sums = sum_of(op) is not None
    types, how = _types(op), ", added up in place," if sums else ""
    text = f"no kernel for {op.name}{how} on {types}"
    kernels = [k for k in known if k.sums is sums]
    here = {k.types for k in kernels if k.isa in isa}
    elsewhere = {str(k) for k in kernels if k.types not in here}
    before, _, after = types.partition(" to ")
    ends = {k.types.partition(" to ")[0]: set[str]() for k in kernels if " to " in k.types}
    if not ends or " to " not in types:
        offered = ", ".join(sorted(here | elsewhere))
        return f"{text}, only on {offered}" if offered else text
    for k in kernels:
        first, _, last = k.types.partition(" to ")
        ends.setdefault(first, set()).add(last or first)
    if before in ends:
        return f"{text}: from {before} only to {', '.join(sorted(ends[before]))}, not {after}"
    return f"{text}: only from {', '.join(sorted(ends))}, not {before}"


def matching(op: Operation, isa: tuple[str, ...]) -> Kernel:
    """The kernel for an operation that uses the best of the instruction sets `isa`, the best first.
    Raises MemoptError if there is none, and says what would match."""
    if isinstance(op, OpaqueOp) and CUSTOM not in op.attributes:
        need_no_npu(op)
        if op.op_name.data == "UNINITIALIZED":
            raise refuse(op, "a tensor that is read but never written")
        types = ", ".join(element_kind(v) for v in op.operands if is_buffer(v.type))
        how = "; --custom=FILE.json declares one that you write" if name_of_custom(op) else ""
        why = f": {op.reason}" if op.reason else ""
        raise refuse(op, f"no kernel for {op.op_name.data} on ({types}){why}{how}")
    known = kernels_of(type(op))
    if not known:
        raise refuse(op, f"no kernel for {op.name}")
    best = _best(op, known, isa, fast_form(op))
    if best is None:
        raise refuse(op, _no_match(op, known, isa))
    need_rounding(op, best.roundings)
    if best.layout:
        need_layout(op, op.operands[0], best.layout)
    return best
