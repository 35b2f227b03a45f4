"""Names and places for people."""

from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, StringAttr
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from memopt.dialects.attributes.operators import SourceAttr

NAMED = 1 << 15  # operations whose names are remembered


def name_of(value: SSAValue) -> str:
    """A name for people: the model's own, else what the IR shows."""
    if isinstance(value, OpResult):
        names = value.op.attributes.get("memgraph.names")
        if isinstance(names, ArrayAttr):
            entries = cast("ArrayAttr[Attribute]", names).data
            if value.index < len(entries) and isinstance(entry := entries[value.index], StringAttr):
                return entry.data
        return value.name_hint or f"{operator_kind(value.op)}#{value.index}"
    assert isinstance(value, BlockArgument)
    parent = value.block.parent_op()
    args = (
        parent.attributes.get("arg_attrs") or parent.properties.get("arg_attrs") if parent else None
    )
    if isinstance(args, ArrayAttr):
        entry = cast("ArrayAttr[Attribute]", args).data[value.index]
        name = getattr(entry, "data", {}).get("memgraph.name")
        if isinstance(name, StringAttr):
            return name.data
    return value.name_hint or f"arg{value.index}"


def is_named(value: SSAValue) -> bool:
    """Return whether the model names the value."""
    if isinstance(value, BlockArgument):
        return name_of(value) != (value.name_hint or f"arg{value.index}")
    return isinstance(value, OpResult) and "memgraph.names" in value.op.attributes


def rename(op: Operation, names: Mapping[int, str]) -> None:
    """Give results of an operation, by index, names of the model's own; the others keep theirs."""
    given = [names[r.index] if r.index in names else name_of(r) for r in op.results]
    op.attributes["memgraph.names"] = _names(*given)


@lru_cache(NAMED)
def _names(*names: str) -> ArrayAttr[StringAttr]:
    """Return names as an attribute, of which the rows of one tensor after the other ask again."""
    return ArrayAttr([StringAttr(name) for name in names])


UNREGISTERED = "builtin.unregistered"


def full_name(op: Operation) -> str:
    """`tosa.conv2d`, of an operation that no dialect here has too."""
    if op.name != UNREGISTERED:
        return op.name
    kind = op.attributes.get("op_name__")
    return kind.data if isinstance(kind, StringAttr) else op.name


def operator_kind(op: Operation) -> str:
    """`CONV_2D` for an opaque operation, `relu` for one of ours, `tosa.clamp` for one of another
    dialect, known here or not."""
    kind = op.properties.get("op_name") if op.name.startswith("memgraph.") else None
    if kind is not None and isinstance(kind, StringAttr):
        return kind.data
    return full_name(op).removeprefix("memgraph.")


def operator_name(op: Operation) -> str:
    """Return the name of this operation for people: its kind, and its first result."""
    text = operator_kind(op)
    return f"{text} ({name_of(op.results[0])})" if op.results else text


def place_of(op: Operation) -> str:
    """Return where an operation came from: `file:line:col`, else its operator in the model file."""
    if isinstance(op.location, FileLineColLoc):
        where = op.location
        return f"{where.filename.data}:{where.line.data}:{where.column.data}"
    source = op.attributes.get("memgraph.source")
    where = ""
    if isinstance(source, SourceAttr):
        where = f"subgraph {source.subgraph.data} operator {source.operator.data} "
    return f"{where}{operator_name(op)}"
