"""A JSON graph as plain data, each field checked: tensors and nodes, but no IR."""

import json
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from memopt.dialects.attributes.operators import RuntimeType
from memopt.dialects.attributes.quick import plain_tensor
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.tensors import MAX_BYTES, stored_bytes
from memopt.frontends.core.types import ELEMENTS

DTYPES: Final = {n: e for n, e in ELEMENTS.items() if not isinstance(e, RuntimeType)}
MAX_RANK = 32
OVER = "may_overwrite"


class Tensor(NamedTuple):
    """A tensor of the file: its place in the list, its type, whether it is a weight.

    It lies `offset` bytes behind the start of `storage`, which is its own name unless it shares
    one. What is `persistent` is there before and after the run, and not in the arena.
    """

    number: int
    type: TensorType[Attribute]
    is_weight: bool
    storage: str
    offset: int
    persistent: bool
    place: str


class Node(NamedTuple):
    """A node of the file. `workspace` in bytes, one entry per buffer of its own; `mutates` are the
    operands that it overwrites, `may_overwrite` those whose place its first output may take once
    nobody needs them, `after` the nodes that it follows."""

    number: int
    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: dict[str, Any]
    workspace: tuple[int, ...]
    mutates: tuple[str, ...]
    may_overwrite: tuple[str, ...]
    after: tuple[str, ...]
    place: str


def parse(data: bytes, place: str) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise MemoptError(error.msg, f"{place}:{error.lineno}:{error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise MemoptError(f"no JSON: {error}", place) from None


def object_of(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MemoptError("expected an object", place)
    return cast("dict[str, Any]", value)


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise MemoptError("expected a list", place)
    return cast("list[Any]", value)


def text_of(value: Any, place: str, what: str) -> str:
    if not isinstance(value, str):
        raise MemoptError(f"{what} must be a string", place)
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise MemoptError(f"{what} is no valid Unicode", place)
    return value


def names_of(value: Any, file: str, what: str) -> tuple[str, ...]:
    """Return a list of strings; `what` it is stands behind the file, or the place in it."""
    if value.__class__ is list:
        with suppress(TypeError):
            if "".join(value).isascii():
                return tuple(value)
    place = f"{file}: {what}"
    return tuple(text_of(v, place, "a name") for v in _list(value, place))


def _size(value: Any, place: str, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise MemoptError(f"{what} must be an integer", place)
    if value < 0:
        raise MemoptError(f"{what} is negative: {value}", place)
    if value > MAX_BYTES:
        raise MemoptError(f"{what} overflows 64-bit sizes", place)
    return value


def tensors_of(graph: dict[str, Any], file: str) -> dict[str, Tensor]:
    """Name -> tensor. Raises MemoptError."""
    tensors: dict[str, Tensor] = {}
    types: Types = {}
    for index, value in enumerate(_list(graph.get("tensors"), f"{file}: tensors")):
        place = f"{file}: tensor {index}"
        entry = object_of(value, place)
        name = text_of(entry.get("name"), place, "name")
        place += f" {name!r}"
        if name in tensors:
            raise MemoptError(f"tensor {tensors[name].number} has the same name", place)
        weight, stays = _flag(entry, "is_weight", place), _flag(entry, "persistent", place)
        if weight and (stays or "storage" in entry):
            text = "a weight is not in memory, so it is neither persistent nor in a storage"
            raise MemoptError(text, place)
        storage, offset = name, 0
        if "storage" in entry:
            storage = text_of(entry["storage"], place, "storage")
        if "offset" in entry:
            offset = _size(entry["offset"], place, "offset")
        if offset and "storage" not in entry:
            raise MemoptError("offset says where in its storage it is, but it has none", place)
        type_ = _type(entry, place, types)
        tensors[name] = Tensor(index, type_, weight, storage, offset, stays, place)
    return tensors


def _flag(entry: dict[str, Any], key: str, place: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise MemoptError(f"{key} must be true or false", place)
    return value


Types = dict[tuple[str, tuple[int, ...]], TensorType[Attribute]]


def _type(entry: dict[str, Any], place: str, known: Types) -> TensorType[Attribute]:
    size = _size(entry.get("bytes"), place, "bytes")
    dtype = entry.get("dtype")
    if dtype is not None and (not isinstance(dtype, str) or dtype not in DTYPES):
        raise MemoptError(f"dtype {dtype!r} is not one of: {', '.join(DTYPES)}", place)
    shape = entry.get("shape")
    if shape is None:
        return _tensor("int8", (size,), known)
    dims = [_size(d, place, "a dimension") for d in _list(shape, f"{place}: shape")]
    if len(dims) > MAX_RANK:
        raise MemoptError(f"more than {MAX_RANK} dimensions", place)
    element = "float32" if dtype is None else dtype
    expected = stored_bytes(DTYPES[element], dims)
    if expected == size:
        return _tensor(element, tuple(dims), known)
    if dtype is None:
        return _tensor("int8", (size,), known)
    raise MemoptError(f"{size} bytes, but {dims} of {dtype} is {expected}", place)


def _tensor(element: str, dims: tuple[int, ...], known: Types) -> TensorType[Attribute]:
    """Equal types are one: there are few, and each takes long to make."""
    type_ = known.get((element, dims))
    if type_ is None:
        type_ = known[element, dims] = plain_tensor(DTYPES[element], dims)
    return type_


def nodes_of(graph: dict[str, Any], file: str) -> list[Node]:
    """The nodes in the file's order. Raises MemoptError."""
    nodes: list[Node] = []
    indices: dict[str, int] = {}
    for index, value in enumerate(_list(graph.get("nodes"), f"{file}: nodes")):
        place = f"{file}: node {index}"
        entry = object_of(value, place)
        name = text_of(entry.get("name", ""), place, "name")
        place += f" {name!r}" if name else ""
        if name and name in indices:
            raise MemoptError(f"node {indices[name]} has the same name", place)
        indices[name] = index
        scratch = entry.get("workspace", [])
        sizes = cast("list[Any]", scratch) if isinstance(scratch, list) else [scratch]
        nodes.append(
            Node(
                index,
                name,
                text_of(entry.get("op"), place, "op"),
                names_of(entry.get("inputs"), place, "inputs"),
                names_of(entry.get("outputs"), place, "outputs"),
                object_of(entry["attrs"], f"{place}: attrs") if "attrs" in entry else {},
                tuple([_size(s, place, "workspace") for s in sizes if s != 0]),
                names_of(entry["mutates"], place, "mutates") if "mutates" in entry else (),
                names_of(entry[OVER], place, OVER) if OVER in entry else (),
                names_of(entry["after"], place, "after") if "after" in entry else (),
                place,
            )
        )
    return nodes
