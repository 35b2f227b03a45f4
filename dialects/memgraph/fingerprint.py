"""The fingerprint of a function, which makes a plan stale."""

import hashlib
from collections.abc import Mapping
from typing import TypeGuard, cast
from weakref import ref

from xdsl.dialects.builtin import IntegerAttr, NoneAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation

from memopt.dialects.memgraph.plan import (
    CHOSEN,
    OFFSET,
    PLAN,
    SCHEDULES_TRIED,
    SCRATCH,
    SCRATCH_END,
    is_number,
    model_of,
    scratch_list,
)

DECIDED = frozenset(
    {
        OFFSET,
        SCRATCH,
        PLAN,
        SCHEDULES_TRIED,
        SCRATCH_END,
        CHOSEN,
        "memgraph.names",
        "memgraph.name",
        "memgraph.source",
        "memgraph.changed",
    }
)


LONG = 10_000  # characters of a text that is not kept: values of weights
_texts: dict[int, tuple[ref[Attribute], str]] = {}


def printed(attr: Attribute) -> str:
    """Return the printer's text of `attr`, kept while the object lives: plans follow plans, and
    most attributes stay. Not by equality: -0.0 equals 0.0."""
    entry = _texts.get(id(attr))
    if entry is not None and entry[0]() is attr:
        return entry[1]
    text, number = str(attr), id(attr)
    if len(text) < LONG:
        _texts[number] = ref(attr, lambda _: _texts.pop(number, None)), text
    return text


def is_plain(attr: Attribute) -> TypeGuard[TensorType[Attribute]]:
    """Return whether it is a tensor type of a fixed shape and no encoding."""
    if not isinstance(attr, TensorType):
        return False
    tensor = cast("TensorType[Attribute]", attr)
    return isinstance(tensor.encoding, NoneAttr) and all(d.data >= 0 for d in tensor.shape.data)


def tensor_text(tensor: TensorType[Attribute], element: str) -> str:
    """Return the printer's text of a plain tensor type, `element` being that of its elements."""
    return f"tensor<{''.join([f'{d.data}x' for d in tensor.shape.data])}{element}>"


def fingerprint(func: FuncOp) -> str:
    """SHA-256 over operations, types, properties, aliases, model and order (first 32 hex digits).

    Names, sources and places do not count; the bytes of scratch do.
    """
    digest = hashlib.sha256()
    texts: dict[Attribute, str] = {}
    # by identity, for most types are one object and hashing one takes long; the object itself is
    # kept with it, or its number could become another's
    known: dict[int, tuple[Attribute, str]] = {}
    numbers: dict[int, int] = {}  # of values, by identity too: they are the function's

    def text(attr: Attribute) -> str:
        seen = known.get(id(attr))
        if seen is not None:
            return seen[1]
        # every operation has an order of its own, and nearly a type: they go without the printer
        if attr.__class__ is IntegerAttr and is_number(attr):
            written = f"{attr.value.data} : i64"
        elif is_plain(attr):
            written = tensor_text(attr, text(attr.element_type))
        else:
            written = texts.get(attr)
        if written is None:
            written = texts[attr] = printed(attr)
        known[id(attr)] = attr, written
        return written

    def dictionary(attributes: Mapping[str, Attribute]) -> str:
        counted = [k for k in attributes if k not in DECIDED]
        counted.sort()
        return ";".join([f"{k}={text(attributes[k])}" for k in counted])

    def scratch_sizes(op: Operation) -> list[int]:
        return [s.bytes.data for s in scratch_list(op) or ()] if SCRATCH in op.attributes else []

    def visit(block: Block) -> None:
        for argument in block.args:
            numbers[id(argument)] = len(numbers)
            digest.update(f"arg {text(argument.type)}\n".encode())
        for op in block.ops:
            for r in op.results:
                numbers[id(r)] = len(numbers)
            used = [numbers.get(id(v), -1) for v in op.operands]
            types = [text(r.type) for r in op.results]
            digest.update(
                f"{op.name} {used} {types} {scratch_sizes(op)} {dictionary(op.properties)} "
                f"{dictionary(op.attributes)}\n".encode()
            )
            for region in op.regions:
                for inner in region.blocks:
                    digest.update(b"{\n")
                    visit(inner)
                    digest.update(b"}\n")

    digest.update(text(model_of(func)).encode())
    for block in func.body.blocks:
        visit(block)
    return digest.hexdigest()[:32]
