"""Storages of a JSON graph: what lies in one piece, who writes it, and who must wait for whom.

Tensors with the same `storage` are one buffer. The first node that makes one of them makes the
buffer; every other one that makes or mutates one overwrites it, in the file's order: after all that
read or wrote the storage before, and before all that do so after. Nothing else keeps the file's
order, but what `after` says. So a buffer is one value of the function, whoever writes it: it is
there from the first node that writes it to the last that touches it, and tokens keep the order.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import TensorType, i8
from xdsl.ir import Attribute

from memopt.dialects.attributes.quick import plain_tensor
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.tensors import MAX_BYTES, bytes_of
from memopt.frontends.json.file import Node, Tensor


class Storage(NamedTuple):
    """Bytes with one base: of one tensor its type, of several that of bytes. `number` is that of
    the first of them."""

    name: str
    number: int
    type: TensorType[Attribute]
    persistent: bool


@dataclass
class Waits:
    """Which nodes node i must follow: `before[i]`, all of them; `tokens[i]`, those of them of which
    it takes a token, since its operands may not show them."""

    before: list[set[int]]
    tokens: list[list[int]]

    def token(self, first: int, second: int) -> None:
        """Node `second` follows `first`."""
        if first != second and first not in self.tokens[second]:
            self.before[second].add(first)
            self.tokens[second].append(first)


@dataclass
class _SoFar:
    """Use of a storage by the nodes so far; a `writer` of -1: no node has written it."""

    writer: int = -1
    readers: list[int] = field(default_factory=list[int])


def storages_of(tensors: dict[str, Tensor]) -> dict[str, Storage]:
    """Name -> storage, without weights. Raises MemoptError."""
    members: dict[str, list[Tensor]] = {}
    for tensor in tensors.values():
        if not tensor.is_weight:
            members.setdefault(tensor.storage, []).append(tensor)
    storages: dict[str, Storage] = {}
    for name, residents in members.items():
        owner, first = tensors.get(name), residents[0]
        if owner is not None and owner.storage != name:
            raise MemoptError(f"its storage {name!r} is a tensor of another storage", first.place)
        for tensor in residents:
            if tensor.persistent != first.persistent:
                text = f"of the storage {name!r} a part is persistent and a part is not"
                raise MemoptError(text, tensor.place)
        size = max(t.offset + (bytes_of(t.type) or 0) for t in residents)
        if size > MAX_BYTES:
            raise MemoptError(f"the storage {name!r} overflows 64-bit sizes", first.place)
        alone = len(residents) == 1 and not first.offset
        type_ = first.type if alone else plain_tensor(i8, (size,))
        storages[name] = Storage(name, first.number, type_, first.persistent)
    return storages


class Use(NamedTuple):
    """Storages that a node reads, as often as it names them, those that it writes, each once, and
    those in whose place its result may lie."""

    reads: list[str]
    writes: list[str]
    overwritable: list[str]


def use_of(node: Node, tensors: dict[str, Tensor]) -> Use:
    """Return the storages that a node touches."""
    read = [tensors[name] for name in node.inputs]
    writes = [tensors[n].storage for n in (*node.outputs, *node.mutates)]
    if len(writes) > 1:
        writes = list(dict.fromkeys(writes))
    over = [tensors[name].storage for name in node.may_overwrite]
    return Use([tensor.storage for tensor in read if not tensor.is_weight], writes, over)


def waits_of(
    nodes: Sequence[Node], uses: Sequence[Use], storages: dict[str, Storage], given: Set[str]
) -> Waits:
    """Return the nodes that each node has to follow; `given` are the storages of the graph's
    inputs.

    Raises MemoptError for a read of bytes that are overwritten before they are made.
    """
    waits = Waits([set() for _ in nodes], [[] for _ in nodes])
    writers: dict[str, list[int]] = {name: [] for name in storages}
    for node, use in zip(nodes, uses, strict=True):
        for name in use.writes:
            writers[name].append(node.number)
    available = given | {name for name, storage in storages.items() if storage.persistent}
    so_far: dict[str, _SoFar] = {}
    for node, (reads, writes, _) in zip(nodes, uses, strict=True):
        for name in dict.fromkeys((*reads, *writes)):
            if name not in available and len(writers[name]) == 1:  # as most: made once, then read
                if writers[name][0] != node.number:
                    waits.before[node.number].add(writers[name][0])
                continue
            earlier = so_far.setdefault(name, _SoFar())
            if earlier.writer < 0 and name not in available and name not in writes:
                text = f"reads {name!r}, which is overwritten later, before it is made"
                raise MemoptError(text, node.place)
            _follow(waits, earlier, node.number, name in writes)
    _add_after(nodes, waits)
    return waits


def _follow(waits: Waits, use: _SoFar, index: int, writes: bool) -> None:
    """A node reads what was written last, and writes after all who read that."""
    earlier = ([use.writer] if use.writer >= 0 else []) + (use.readers if writes else [])
    for other in earlier:
        waits.token(other, index)
    if writes:
        use.writer, use.readers = index, []
    else:
        use.readers.append(index)


def _add_after(nodes: Sequence[Node], waits: Waits) -> None:
    numbers = {node.name: node.number for node in nodes if node.name}
    for node in nodes:
        for name in node.after:
            if name not in numbers:
                raise MemoptError(f"comes after {name!r}, which is no node", node.place)
            if numbers[name] == node.number:
                raise MemoptError("comes after itself", node.place)
            waits.token(numbers[name], node.number)
