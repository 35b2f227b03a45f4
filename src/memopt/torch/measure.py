"""A step run once, on a copy of its state, to measure what each of its operators allocates.

PyTorch allocates results and workspace in an order of its own. What is recorded is the whole
sequence: of each allocation its bytes, where it lies, and how far behind the start of that: in the
node's j-th result, in workspace, or outside, since it is kept by nobody that the graph knows.
Workspace that is free again before a result is allocated lies in its bytes; the rest is placed by
its own live ranges and becomes the node's `workspace`. The sequence stands in the node's `attrs`,
so a plan of the graph has all that running it needs:

    "workspace": 200704,
    "attrs": {"allocates": [[200704, "workspace", 0, 0], [401408, "result", 0, 0]],
              "makes": ["float32 [1, 8, 112, 112] (100352, 12544, 112, 1)"]}

An operator that PyTorch tags as pointwise may write over an operand of the same type, sizes and
strides: `may_overwrite`, where doing so once on random numbers gave the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError
from memopt.solvers.placement import place
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.torch.allocator import ALIGNMENT, Allocator, Event, installed, script
from memopt.torch.graph import Drawn, key, tensors_in
from memopt.torch.interpreter import (
    address_of,
    copied,
    pairs_of,
    program_of,
    run_program,
)
from memopt.torch.lazy import pytorch
from memopt.torch.trace import Step


@dataclass
class _Allocation:
    """Bytes from event `first` to event `last` of its operator; `last` -1: kept after it."""

    size: int
    address: int
    first: int
    last: int = -1


def measure(step: Step, drawn: Drawn) -> None:
    """Add to the nodes of a drawn step what its operators allocate, and correct the sizes of
    tensors that fake tensors said otherwise.

    Raises MemoptError where an operator shares storages in another way than its fake tensors do.
    """
    torch, tree = pytorch(), pytorch("torch.utils._pytree")
    leaves = tree.tree_leaves(copied((step.state, *step.inputs)))
    for leaf in tree.tree_leaves((step.state, *step.inputs)):
        check_device(leaf)
    nodes = {entry["name"]: entry for entry in drawn.graph["nodes"]}
    tensors = {entry["name"]: entry for entry in drawn.graph["tensors"]}
    addresses: dict[str, int] = {}

    with torch.no_grad(), torch.random.fork_rng(devices=[]), installed(records=True) as allocator:

        def call(node: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            allocator.serve(script(()))
            allocator.events()
            value = node.target(*args, **kwargs)
            events = allocator.events()
            fresh: list[str] = nodes[node.name]["outputs"] if node.name in nodes else []
            results: list[int] = [0] * len(fresh)
            for fake, real in pairs_of(node, value):
                name = drawn.name(fake)
                if name in fresh:
                    results[fresh.index(name)] = addresses[name] = address_of(real)
                    tensors[name]["bytes"] = real.untyped_storage().nbytes()
                elif addresses.setdefault(name, address_of(real)) != address_of(real):
                    raise MemoptError(f"{node.name} does not share the storage of {name}")
            if node.name in nodes:
                over = _overwritable(node, drawn, tensors, allocator, (args, kwargs))
                if over:
                    nodes[node.name]["may_overwrite"] = over
                _describe(nodes[node.name], _allocations(events), results)
                nodes[node.name]["attrs"]["makes"] = made_by(node)
            return value

        run_program(program_of(drawn.traced), leaves, call)


def check_device(leaf: Any) -> None:
    """Raise MemoptError for a tensor that is not in the memory of the CPU."""
    if isinstance(leaf, pytorch().Tensor) and leaf.device.type != "cpu":
        raise MemoptError(f"plans are executed on the CPU, but a tensor is on {leaf.device}")


def made_by(node: Any) -> list[str]:
    """Return type, sizes and strides of each tensor that a node makes."""
    return [described(fake) for fake in tensors_in(node.meta.get("val"))]


def described(tensor: Any) -> str:
    """Return type, sizes and strides of a tensor: `float32 [2, 8] (8, 1)`."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return f"{dtype} {list(tensor.size())} {tuple(tensor.stride())}"


def _allocations(events: Sequence[Event]) -> list[_Allocation]:
    """Return what an operator allocated, in its order."""
    allocations: list[_Allocation] = []
    open_: dict[int, _Allocation] = {}
    for index, event in enumerate(events):
        if event.size:
            open_[event.address] = _Allocation(event.size, event.address, index)
            allocations.append(open_[event.address])
        elif event.address in open_:
            open_.pop(event.address).last = index
    return allocations


def _describe(
    entry: dict[str, Any], allocations: Sequence[_Allocation], results: Sequence[int]
) -> None:
    """Write the allocations of an operator into its node; `results`: the addresses of the buffers
    that it makes, 0 for empty ones. Raises MemoptError for one that it did not allocate."""
    lasting = {a.address: a for a in allocations if a.last < 0}
    for name, address in zip(entry["outputs"], results, strict=True):
        if address and address not in lasting:
            raise MemoptError(f"{entry['name']} gives {name} a storage that it did not allocate")
    places: dict[int, tuple[str, int, int]] = {}  # first event -> kind, number, offset
    open_ = [a for a in allocations if a.last >= 0]
    if "may_overwrite" not in entry:
        for number, address in enumerate(results):
            if address:
                inside, open_ = _before(open_, lasting[address])
                places |= {first: ("result", number, at) for first, at in inside.items()}
    offsets, arena = _placed(open_)
    places |= {first: ("workspace", 0, at) for first, at in offsets.items()}
    if arena:
        entry["workspace"] = arena
    for a in allocations:
        if a.last < 0:
            known = a.address in results
            number = results.index(a.address) if known else 0
            places[a.first] = ("result" if known else "outside", number, 0)
    entry["attrs"] = {"allocates": [[a.size, *places[a.first]] for a in allocations]}


def _before(
    workspace: Sequence[_Allocation], result: _Allocation
) -> tuple[dict[int, int], list[_Allocation]]:
    """Return the offsets, by first event, of workspace that lies in the bytes of a result that is
    allocated when it is free again, and all other workspace."""
    early = sorted((a for a in workspace if a.last < result.first), key=lambda a: -a.size)
    while _placed(early)[1] > result.size:
        early.pop(0)
    inside = _placed(early)[0]
    return inside, [a for a in workspace if a.first not in inside]


def _placed(workspace: Sequence[_Allocation]) -> tuple[dict[int, int], int]:
    """Return the offset of each allocation, by its first event, and the bytes of all."""
    if not workspace:
        return {}, 0
    buffers = [
        Buffer(str(a.first), a.size, a.first, a.last, base, alignment=ALIGNMENT)
        for base, a in enumerate(workspace)
    ]
    placement = place(PlacementProblem(tuple(buffers)), "auto", None)
    firsts = (a.first for a in workspace)
    return dict(zip(firsts, placement.offsets, strict=True)), placement.arena


def _overwritable(
    node: Any,
    drawn: Drawn,
    tensors: dict[str, dict[str, Any]],
    allocator: Allocator,
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
) -> list[str]:
    """Return the storages, in the arena, that the result of a pointwise operator may lie over."""
    torch, tree = pytorch(), pytorch("torch.utils._pytree")
    results = list(tensors_in(node.meta.get("val")))
    if torch.Tag.pointwise not in getattr(node.target, "tags", ()) or len(results) != 1:
        return []
    (result,) = results
    if result.untyped_storage().nbytes() == 0 or drawn.name(result) not in tensors:
        return []
    shown: dict[int, list[Any]] = {}  # storage -> operands that lie there
    for operand in node.all_input_nodes:
        for fake in tensors_in(operand.meta.get("val")):
            shown.setdefault(key(fake), []).append(fake)
    if key(result) in shown:  # in place as it is written
        return []
    leaves, spec = tree.tree_flatten(arguments)
    names: list[str] = []
    for fakes in shown.values():
        name = drawn.name(fakes[0])
        alike = all(_geometry(f) == _geometry(result) for f in fakes)
        if not alike or tensors[name].get("persistent"):
            continue
        inside = node.args, node.kwargs
        flags = [
            isinstance(leaf, torch.fx.Node)
            and any(key(f) == key(fakes[0]) for f in tensors_in(leaf.meta.get("val")))
            for leaf in tree.tree_flatten(inside, is_leaf=_is_node)[0]
        ]
        if len(flags) == len(leaves) and _same_bits(node, leaves, spec, flags, allocator):
            names.append(name)
    return names


def _is_node(value: Any) -> bool:
    return isinstance(value, pytorch("torch.fx").Node)


def _geometry(tensor: Any) -> tuple[Any, ...]:
    storage = tensor.untyped_storage().nbytes()
    place_ = tensor.storage_offset(), tuple(tensor.size()), tuple(tensor.stride())
    return storage, tensor.dtype, *place_


def _same_bits(
    node: Any, leaves: list[Any], spec: Any, flags: list[bool], allocator: Allocator
) -> bool:
    """Return whether an operator that writes over the flagged operands, which are one tensor, gives
    the same bits as one that does not."""
    torch, tree = pytorch(), pytorch("torch.utils._pytree")
    sample = copied(leaves[flags.index(True)])
    if sample.is_floating_point():
        sample.normal_(generator=torch.Generator().manual_seed(0))
    args, kwargs = tree.tree_unflatten(
        [sample if flag else leaf for leaf, flag in zip(leaves, flags, strict=True)], spec
    )
    allocator.serve(script(()))
    apart = node.target(*args, **kwargs)
    if _geometry(apart) != _geometry(sample):
        return False
    size, address = apart.untyped_storage().nbytes(), address_of(sample)
    allocator.serve(script([(size, address)]))
    over = node.target(*args, **kwargs)
    if address_of(over) != address:  # its workspace comes first
        return False
    bits = torch.uint8
    return bool(torch.equal(_bytes(apart, bits), _bytes(over, bits)))


def _bytes(tensor: Any, dtype: Any) -> Any:
    return pytorch().empty(0, dtype=dtype).set_(tensor.untyped_storage())
