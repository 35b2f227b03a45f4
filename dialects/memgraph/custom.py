"""Declaration of a custom operator, which the user writes: an attribute of `memgraph.opaque`.

    %1 = memgraph.opaque "CUSTOM:f"(%0, %s) stateful {memgraph.custom = {scratch = 64 : i64, state}}
           : (T0, tensor<2xi64>) -> T1

With a state its last operand is a variable of that many bytes, of this operator alone.
"""

from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Operation

CUSTOM = "memgraph.custom"
PREFIX = "CUSTOM:"
OPTIONS = "custom_options"
"""The key of the options of an opaque operation that has a custom operator's bytes, as hex."""

IN_FILE = "memgraph.custom_in_file"
"""An attribute of a typed operation: what the file calls it, which is a custom operator there. A
runtime that the file is for has a kernel of which nothing is known."""


def declared(scratch: int, has_state: bool) -> DictionaryAttr:
    """The attribute: bytes of scratch, and whether the last operand is its state."""
    entries = {"scratch": IntegerAttr(scratch, 64)}
    return DictionaryAttr({**entries, **({"state": UnitAttr()} if has_state else {})})


def _entries(op: Operation) -> DictionaryAttr:
    return cast("DictionaryAttr", op.attributes[CUSTOM])


def scratch_of(op: Operation) -> int:
    """Bytes in which a declared operator works."""
    return int(cast("IntegerAttr", _entries(op).data["scratch"]).value.data)


def has_state(op: Operation) -> bool:
    return "state" in _entries(op).data


def name_of_custom(op: Operation) -> str:
    """Return the file's name of a custom operator, "" for other operations."""
    name = op.properties.get("op_name")
    text = name.data if isinstance(name, StringAttr) else ""
    return text.removeprefix(PREFIX) if text.startswith(PREFIX) else ""


def options_of(op: Operation) -> bytes:
    """The bytes of its options."""
    options = op.properties.get("options")
    written = options.data.get(OPTIONS) if isinstance(options, DictionaryAttr) else None
    return bytes.fromhex(written.data) if isinstance(written, StringAttr) else b""
