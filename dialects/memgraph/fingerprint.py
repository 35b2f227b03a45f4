"""The fingerprint of a function, which makes a plan stale."""

import hashlib
from collections.abc import Mapping
from typing import TypeGuard, cast
from weakref import ref

from xdsl.dialects.builtin import IntegerAttr, IntegerType, NoneAttr, StringAttr, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block

from memopt.dialects.memgraph.plan import (
    CHOSEN,
    OFFSET,
    PLAN,
    SCHEDULES_TRIED,
    SCRATCH,
    SCRATCH_END,
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
    most attributes stay. By identity, for it takes long to hash one."""
    entry = _texts.get(id(attr))
    if entry is not None and entry[0]() is attr:
        return entry[1]
    text, number, texts = str(attr), id(attr), _texts  # which is no name any more at Python's end
    if len(text) < LONG and not isinstance(attr, StringAttr):  # every operator has a name
        texts[number] = ref(attr, lambda _: texts.pop(number, None)), text
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
    digest = _Digest()
    digest.add(digest.text(model_of(func)))
    for block in func.body.blocks:
        digest.visit(block)
    return digest.sha.hexdigest()[:32]


class _Digest:
    """The text of a function as far as it was visited, hashed, and the texts of its attributes.

    No closures, which hold each other and so all of this until Python looks for cycles."""

    def __init__(self) -> None:
        self.sha = hashlib.sha256()
        self._texts: dict[Attribute, str] = {}
        # by identity, for most types are one object and hashing one takes long; the object itself
        # is kept with it, or its number could become another's
        self._known: dict[int, tuple[Attribute, str]] = {}
        self._numbers: dict[int, int] = {}  # of values, by identity too: they are the function's

    def add(self, text: str) -> None:
        self.sha.update(text.encode())

    def text(self, attr: Attribute) -> str:
        """Return the printer's text of an attribute."""
        # every operation has an order of its own, and nearly a type: they go without the printer,
        # and the former, which is nowhere else, without being kept
        if attr.__class__ is IntegerAttr:
            number = cast("IntegerAttr[IntegerType]", attr)
            if number.type is i64:
                return f"{number.value.data} : i64"
        seen = self._known.get(id(attr))
        if seen is not None:
            return seen[1]
        if is_plain(attr):
            written = tensor_text(attr, self.text(attr.element_type))
        else:
            known = self._texts.get(attr)
            written = printed(attr) if known is None else known
            self._texts[attr] = written
        self._known[id(attr)] = attr, written
        return written

    def dictionary(self, attributes: Mapping[str, Attribute]) -> str:
        """Return the text of the attributes that count."""
        counted = [k for k in attributes if k not in DECIDED]
        counted.sort()
        return ";".join([f"{k}={self.text(attributes[k])}" for k in counted])

    def visit(self, block: Block) -> None:
        """Add the arguments and operations of a block."""
        numbers = self._numbers
        for argument in block.args:
            numbers[id(argument)] = len(numbers)
            self.add(f"arg {self.text(argument.type)}\n")
        for op in block.ops:
            for r in op.results:
                numbers[id(r)] = len(numbers)
            used = [numbers.get(id(v), -1) for v in op.operands]
            types = [self.text(r.type) for r in op.results]
            scratch = SCRATCH in op.attributes
            sizes = [s.bytes.data for s in scratch_list(op) or ()] if scratch else []
            self.add(
                f"{op.name} {used} {types} {sizes} {self.dictionary(op.properties)} "
                f"{self.dictionary(op.attributes)}\n"
            )
            for region in op.regions:
                for inner in region.blocks:
                    self.add("{\n")
                    self.visit(inner)
                    self.add("}\n")
