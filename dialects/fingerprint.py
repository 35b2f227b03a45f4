"""The fingerprint of a function, which makes a plan stale."""

import hashlib
from collections.abc import Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation

from memopt.dialects.plan import (
    CHOSEN,
    OFFSET,
    PLAN,
    SCHEDULES_TRIED,
    SCRATCH,
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
        CHOSEN,
        "memgraph.names",
        "memgraph.name",
        "memgraph.source",
    }
)


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
        # every operation has an order of its own: numbers go without the printer
        found = f"{attr.value.data} : i64" if is_number(attr) else texts.get(attr)
        if found is None:
            found = texts[attr] = str(attr)
        known[id(attr)] = attr, found
        return found

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
