"""Operators in rows of their results: what `memgraph-expand-rows` does to one function.

Which rows a row reads is asked of the operations (`rows_needed`), so an operator that has rows is
cut without a word here.

    %c0 = memgraph.row %concat[0] (%a0, %b0) {memgraph.alias = [[... virtual, ... virtual]]}
    %y0 = memgraph.row %conv[0] (%c0, %c1)            // reads rows 0 and 1 of both parts

Rows of a virtual tensor are virtual too. They are no choice: whoever is cut and reads them has
them, and whoever is not reads the whole, which costs no more.
"""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.attributes.channels import CHANNELS, NARROWED, channels_of_result
from memopt.dialects.attributes.model import GENERIC, AliasAttr, ModelAttr
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.foreign.foreign_operator import is_view, operator_of, required_operator
from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.interface import is_constant_value
from memopt.dialects.memgraph.names import is_named, name_of, operator_kind, rename
from memopt.dialects.memgraph.plan import (
    ALIAS,
    SCRATCH,
    drop_plan,
    inlined_by,
    is_virtual,
    makes_virtual,
    model_of,
)
from memopt.dialects.memgraph.structure import YieldOp
from memopt.dialects.memgraph.tensors import MOST_ROWS, encoding_of, has_few_rows, rows_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.traits import Flattens, SumsUp, View
from memopt.dialects.rows.operations import JoinOp, RowKernelOp, RowOp, SplitRowsOp, received_rows
from memopt.dialects.rows.steps import activations, row_type, steps_of
from memopt.passes.plan.scratch import ask_scratch, forget_scratch
from memopt.rewrites import erase_unread
from memopt.solvers import clock
from memopt.targets.core.kernels import computes_rows
from memopt.targets.core.planned_for import target_of
from memopt.targets.core.target import Target


class NoRowsError(MemoptError):
    """Refusal of a function none of whose operators has rows; the text says why."""


@dataclass
class _Rows:
    """The operators to be cut, and the rows of tensors."""

    cut: frozenset[Operation]
    model: ModelAttr
    of_value: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])


def expand(func: FuncOp, names: frozenset[str] | None) -> None:
    """Cut the operators of a function that have rows, all or those that make the named tensors.

    Raises PassFailedException for a name that no operator with rows makes, and NoRowsError where
    there is none because tensors are several images or channels first.
    """
    names_of = [{name_of(r) for r in op.results} for op in computing(func)]
    wanted = [k for k, result_names in enumerate(names_of) if names is None or result_names & names]
    chosen = cut(func, wanted)
    for name in sorted((names or frozenset()).difference(*(names_of[k] for k in chosen))):
        close = nearest(name, ["all", "auto", "none", *sorted(set[str]().union(*names_of))])
        text = f"memgraph-expand-rows: no operator with rows makes {name!r}{close}"
        raise PassFailedException(text)
    why = None if chosen or names is not None else _why_none(func)
    if why is not None:
        place = f"@{func.sym_name.data}"
        raise NoRowsError(f"memgraph-expand-rows: no operator has rows: {why}", place)


def _why_none(func: FuncOp) -> str | None:
    """Why no operator has rows, if that is for the form of all tensors; names the first."""
    tensors = [v for op in computing(func) for v in op.operands if not is_constant_value(v)]
    if (value := next(itertools.filterfalse(has_few_rows, tensors), None)) is not None:
        return f"{name_of(value)} has {rows_of(value):,} rows, more than {MOST_ROWS:,}"
    if any(rows_of(v) is not None for v in tensors):
        return None
    for value in tensors:
        shape, layout = shape_of(value), encoding_of(value).layout.data
        if len(shape) < 3:
            continue
        form = "x".join(map(str, shape))
        if shape[0] != 1:
            return (
                f"{name_of(value)}, {form}, is no single image, its first dimension is {shape[0]}"
            )
        return f"{name_of(value)}, {form}, is stored as {layout}, rows of one channel each"
    return None


def computing(func: FuncOp) -> list[Operation]:
    """The operators that run, in the order of the block; of other dialects those whose rows are
    known."""
    model = model_of(func)
    return [
        op
        for op in body_of(func).ops
        if operator_of(op) is not None and not is_constant_expression(op.results[0], model)
    ]


def cut(func: FuncOp, positions: Collection[int], deadline: float | None = None) -> tuple[int, ...]:
    """Cut those of `computing` at these positions that have rows, and a kernel of the target that
    computes them; their positions. Raises TimeIsOverError at `deadline`, with the function half
    cut."""
    running, target = computing(func), target_of(func)
    wanted = {k: running[k] for k in sorted(positions) if not makes_virtual(running[k])}
    together = _cut_together(running, frozenset(wanted.values()), target)
    wanted = {k: op for k, op in wanted.items() if op not in together}
    works = any(SCRATCH in op.attributes for op in wanted.values())
    if in_scratch := works or any(map(makes_virtual, running)):
        forget_scratch(func)  # rows work in it; who reads virtual rows makes them there
    for op in wanted.values():
        if computes_rows(op, target):
            _read_image(op)
    chosen = {k: _with_rows(op, target) for k, op in wanted.items() if op.parent}
    _expand(func, [op for cut_operations in chosen.values() for op in cut_operations], deadline)
    _drop_image(func)
    if in_scratch:
        ask_scratch(func)
    return tuple(k for k, cut_operations in chosen.items() if cut_operations)


def _with_rows(op: Operation, target: Target) -> Sequence[Operation]:
    """The operation, or those that take its place, if they have rows that kernels compute."""
    if steps_of(op) is not None:
        return [op] if _can_be_cut(op, target) else []
    if not isinstance(op, ComputeOp):
        return []
    singles = op.one_by_one()
    if not singles or not all(_can_be_cut(one, target) for one in singles):
        for one in singles:
            one.drop_all_references()
        return []
    if isinstance(source := op.attributes.get("memgraph.source"), SourceAttr):
        place = source.subgraph.data, source.operator.data
        tensors = [[tensor] for tensor in source.tensor_ids] or [[]] * len(singles)  # ONNX has none
        for one, tensor_ids in zip(singles, tensors, strict=True):
            one.attributes["memgraph.source"] = SourceAttr(*place, tensor_ids)
    for old, one in zip(op.results, singles, strict=True):
        one.location = op.location
        if NARROWED in op.attributes:
            one.attributes[NARROWED] = op.attributes[NARROWED]
        if (claims := channels_of_result(old)) is not None:
            one.attributes[CHANNELS] = ArrayAttr([claims])
        one.results[0].name_hint = old.name_hint
        if is_named(old):
            rename(one, {0: name_of(old)})
    Rewriter.replace_op(op, list(singles), [one.results[0] for one in singles])
    return list(singles)


def _cut_together(
    found: Sequence[Operation], chosen: Collection[Operation], target: Target
) -> frozenset[Operation]:
    """Return the operators that stay whole because others do: those that add up one buffer have
    rows if all of them have."""
    uncut: set[Operation] = set()
    for op in found:
        if not isinstance(op, ComputeOp) or not op.has_trait(SumsUp):
            continue
        group = [op, *(v.owner for v in op.operands if not is_constant_value(v))]
        if not all(isinstance(m, ComputeOp) and m in chosen and _is_cut(m, target) for m in group):
            uncut.update(m for m in group if isinstance(m, ComputeOp))
    return frozenset(uncut)


def _is_cut(op: ComputeOp, target: Target) -> bool:
    return not op.accumulates and steps_of(op) is not None and _can_be_cut(op, target)


def _can_be_cut(op: Operation, target: Target) -> bool:
    """Return whether kernels compute its rows, of operands that are not known before (as the state
    of an unrolled loop is at first), and virtual operands have rows too."""
    known = (is_constant_value(v) or is_constant_expression(v, GENERIC) for v in op.operands)
    if all(known):
        return False
    return computes_rows(op, target) and all(_makes_rows(value.op) for value in inlined_by(op))


def _makes_rows(op: Operation) -> bool:
    """Return whether each row of a virtual tensor is made of rows, of which there are
    some."""
    steps = steps_of(op) if isinstance(op, ComputeOp) and not op.accumulates else None
    if not isinstance(op, ComputeOp) or steps is None:
        return False
    return all(any(op.rows_needed(k, r) for k in range(len(op.operands))) for r in steps)


def _drop_image(func: FuncOp) -> None:
    """Erase the join of an input that is received in rows, if nobody reads all of it."""
    for op in body_of(func).ops:
        if (
            isinstance(op, JoinOp)
            and received_rows(op.result) is not None
            and not list(op.results[0].uses)
        ):
            Rewriter.erase_op(op)
            return


def _expand(func: FuncOp, cut: Sequence[Operation], deadline: float | None) -> None:
    if not cut:
        return
    drop_plan(func)
    rows = _Rows(frozenset(cut), model_of(func))
    for op in cut:
        clock.raise_if_late(deadline)
        _cut(op, rows)
    for op in reversed(computing(func)):
        clock.raise_if_late(deadline)
        unread = makes_virtual(op) and not any(r.first_use for r in op.results)
        if op not in rows.cut and not unread:
            continue
        known = [v for v in op.operands if is_constant_expression(v, rows.model)]
        Rewriter.erase_op(op)
        erase_unread(known, Rewriter.erase_op)


def _read_image(op: Operation) -> None:
    """Let an operation that sums over all of a flattened image read the image, which has rows."""
    if not isinstance(op, ComputeOp) or not op.has_trait(Flattens) or steps_of(op) is not None:
        return
    flat = op.operands[0]
    view = flat.op if isinstance(flat, OpResult) else None
    if not isinstance(view, ComputeOp) or not view.has_trait(View):
        return
    op.operands[0] = view.operands[0]
    if op.rows_mode != "part":
        op.operands[0] = view.results[0]
    elif not list(view.results[0].uses):
        Rewriter.erase_op(view)


def _cut(op: Operation, rows: _Rows) -> None:
    """Replace one operation by its rows."""
    parts = _made_rows(op, op, rows)
    if required_operator(op).accumulates:
        for old, part in zip(op.results, parts, strict=True):
            part[-1].name_hint = old.name_hint
            old.replace_all_uses_with(part[-1])
        return
    for old, row_values in zip(op.results, parts, strict=True):
        name_rows(old, row_values)
        rows.of_value[old] = row_values
        if any(_reads_whole(use, rows) for use in old.uses):
            join = JoinOp(row_values, old.type)
            join.result.name_hint = old.name_hint
            rows.of_value[join.result] = row_values
            _insert(op, join)
            old.replace_uses_with_if(join.result, lambda use: _reads_whole(use, rows))


def _made_rows(op: Operation, before: Operation, rows: _Rows) -> list[list[SSAValue]]:
    """The rows of each result of an operation, of a sum over rows its parts, made before another
    one; they are virtual where the operation's results are."""
    kernel = _row_kernel(op, rows.model)
    _insert(before, kernel)
    operator, steps = required_operator(kernel.operation), steps_of(kernel.operation)
    assert steps is not None
    sums, carried = operator.accumulates, operator.rows_mode == "carried"
    types = [v.type if sums else row_type(v.type) for v in operator.results]
    unfinished = [operator.accumulator] if sums else types
    kernel_value, rows_are_virtual = kernel.operator, makes_virtual(op)
    row_ops: list[RowOp] = []
    outside = [(k, op.operands[k]) for k, _ in activations(kernel.operation)]
    for r in steps:
        inputs: list[SSAValue] = []
        for k, value in outside:
            needed = operator.rows_needed(k, r)
            values = [value] if needed is None else _rows_of(value, before, rows)
            inputs += values if needed is None else [values[n] for n in needed]
        if row_ops and (sums or carried):
            inputs.append(row_ops[-1].results[0])
        row = RowOp(kernel_value, r, inputs, types if r == steps[-1] else unfinished)
        if rows_are_virtual:
            aliases = ArrayAttr([AliasAttr(k, "virtual") for k in range(1, len(row.operands))])
            row.attributes[ALIAS] = ArrayAttr([aliases] * len(types))
        row_ops.append(row)
    Rewriter.insert_op(row_ops, InsertPoint.before(before))
    return [[row.results[k] for row in row_ops] for k in range(len(op.results))]


def _reads_whole(use: Use, rows: _Rows) -> bool:
    """Return whether a tensor is read as a whole here: by an operator that is not cut, or by each
    row of one that is."""
    reader = use.operation
    if makes_virtual(reader):
        return any(_reads_whole(other, rows) for r in reader.results for other in r.uses)
    operator = operator_of(reader) if reader in rows.cut else None
    steps = None if operator is None else steps_of(reader)
    return operator is None or not steps or operator.rows_needed(use.index, steps[0]) is None


def name_rows(old: SSAValue, row_values: Sequence[SSAValue]) -> None:
    """Call rows by their tensor and number, where the model names the tensor."""
    hint, name = old.name_hint, name_of(old) if is_named(old) else None
    names: dict[Operation, dict[int, str]] = {}  # of what makes the rows: one, or one each
    for r, part in enumerate(row_values):
        part.name_hint = f"{hint}_{r}" if hint else None
        assert isinstance(part, OpResult)
        if name is not None:
            names.setdefault(part.op, {})[part.index] = f"{name}[{r}]"
    for op, result_names in names.items():
        rename(op, result_names)


def reads_received(op: Operation) -> bool:
    """Return whether an operation reads an input that is received in rows, in another shape too."""
    for value in op.operands:
        view = value.op if isinstance(value, OpResult) else None
        if received_rows(value) is not None:
            return True
        if view is not None and is_view(view, GENERIC) and reads_received(view):
            return True
    return False


def _rows_of(value: SSAValue, reader: Operation, rows: _Rows) -> list[SSAValue]:
    """The rows of a tensor, taken out of it where it was not cut itself."""
    if value not in rows.of_value:
        if (received := received_rows(value)) is not None:
            rows.of_value[value] = received
        elif isinstance(op := value.owner, ComputeOp) and is_virtual(value):
            for result, parts in zip(op.results, _made_rows(op, reader, rows), strict=True):
                name_rows(result, parts)
                rows.of_value[result] = parts
        elif rows_of(value) == 1:
            rows.of_value[value] = [value]
        else:
            taken = SplitRowsOp(value)
            name_rows(value, taken.parts)
            _insert(reader, taken)
            rows.of_value[value] = list(taken.parts)
    return rows.of_value[value]


def _row_kernel(op: Operation, model: ModelAttr) -> RowKernelOp:
    """The operator as a whole, what is known before run time inside."""
    outside = [v for v in op.operands if not is_constant_expression(v, model)]
    block = Block(arg_types=[v.type for v in outside])
    inside: dict[SSAValue, SSAValue] = {}
    arguments = iter(block.args)
    operands: list[SSAValue] = []
    for value in op.operands:
        if not is_constant_expression(value, model):
            argument = next(arguments)
            argument.name_hint = value.name_hint
            operands.append(argument)
        else:
            operands.append(_copied(value, block, inside))
    operator = op.clone()
    if makes_virtual(operator):
        del operator.attributes[ALIAS]  # its rows have it
    operator.operands = operands
    block.add_ops([operator, YieldOp(list(operator.results))])
    kernel = RowKernelOp(Region(block))
    kernel.operator.name_hint = op.results[0].name_hint or operator_kind(op)
    return kernel


def _copied(value: SSAValue, block: Block, inside: dict[SSAValue, SSAValue]) -> SSAValue:
    """A value that is known before run time, in the block with all that it follows from."""
    if value not in inside:
        assert isinstance(value, OpResult)
        operands = [_copied(v, block, inside) for v in value.op.operands]
        copy = value.op.clone(dict(zip(value.op.operands, operands, strict=True)))
        block.add_op(copy)
        inside.update(zip(value.op.results, copy.results, strict=True))
        inside[value].name_hint = value.name_hint
    return inside[value]


def _insert(before: Operation, op: Operation) -> None:
    Rewriter.insert_op(op, InsertPoint.before(before))
