"""A step run once, on a copy of its state, to measure what each of its operators allocates.

PyTorch allocates results and workspace in an order of its own. What is recorded is the whole
sequence: of each allocation its bytes, where it lies, and how far behind the start of that: in the
node's j-th result, in workspace, or outside, since it is kept by nobody that the graph knows.
Workspace that is free again before a result is allocated lies in its bytes; the rest is placed by
its own live ranges and becomes the node's `workspace`. The sequence stands in the node's `attrs`,
so a plan of the graph has all that running it needs:

    "workspace": 200704,
    "attrs": {"allocates": [[200704, "workspace", 0, 0], [401408, "result", 0, 0]],
              "makes": ["float32 [1, 8, 112, 112] (100352, 12544, 112, 1)"],
              "takes": ["x float32 [1, 3, 224, 224] (150528, 50176, 224, 1) from 0", "None"]}

The first result of an operator may lie over an operand of the same type, sizes and strides that
nobody reads later (`may_overwrite`), if a trial with random numbers gave the same bits: one of an
operator that PyTorch tags as pointwise, two of any other one, all of whose operands are reals.
"""

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError
from memopt.solvers.placement import place
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.torch.allocator import ALIGNMENT, Allocator, Event, installed, script
from memopt.torch.graph import Drawn, tensors_in
from memopt.torch.interpreter import address_of, copied, pairs_of, program_of, run_program
from memopt.torch.lazy import pytorch
from memopt.torch.trace import Step

DRAWS = 2  # trials of an operator of which PyTorch does not say that it is pointwise


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
    persistent = {name for name, entry in tensors.items() if entry.get("persistent")}
    addresses: dict[str, int] = {}
    known: dict[Hashable, bool] = {}

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
                entry, allocations = nodes[node.name], _allocations(events)
                leaves_, spec = tree.tree_flatten((args, kwargs))
                fakes = _fakes(node)
                first = results[0] if results else 0
                trial = _Trial(fakes, leaves_, spec, allocations, first, allocator, known)
                over = _overwritable(node, drawn, entry, trial, persistent)
                if over:
                    entry["may_overwrite"] = over
                _describe(entry, allocations, results)
                entry["attrs"]["makes"] = made_by(node)
                entry["attrs"]["takes"] = taken_by(drawn, node)
            return value

        run_program(program_of(drawn.traced), leaves, call)


def _fakes(node: Any) -> list[Any]:
    """Return the leaves of a node's arguments, its operands as fake tensors."""
    torch, tree = pytorch("torch.fx"), pytorch("torch.utils._pytree")

    def fake(value: Any) -> Any:
        return value.meta.get("val") if isinstance(value, torch.Node) else value

    return [fake(value) for value in tree.tree_leaves((node.args, node.kwargs))]


def check_device(leaf: Any) -> None:
    """Raise MemoptError for a tensor that is not in the memory of the CPU."""
    if isinstance(leaf, pytorch().Tensor) and leaf.device.type != "cpu":
        raise MemoptError(f"plans are executed on the CPU, but a tensor is on {leaf.device}")


def made_by(node: Any) -> list[str]:
    """Return type, sizes and strides of each tensor that a node makes."""
    return [described(fake) for fake in tensors_in(node.meta.get("val"))]


def taken_by(drawn: Drawn, node: Any) -> list[str]:
    """Return each argument of a node: of a tensor its storage and where its elements lie there, of
    all else the value, or, if that has no text of its own, the type."""
    torch = pytorch()
    words = (bool, int, float, str, torch.dtype, torch.layout, torch.device, torch.memory_format)

    def text(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f"{drawn.name(value)} {described(value)} from {value.storage_offset()}"
        return repr(value) if value is None or isinstance(value, words) else type(value).__name__

    return [text(value) for value in _fakes(node)]


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
    for number, address in enumerate(results):
        if address and not (number == 0 and "may_overwrite" in entry):
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
    node: Any, drawn: Drawn, entry: dict[str, Any], trial: "_Trial", persistent: Set[str]
) -> list[str]:
    """Return the storages, in the arena, in whose place the first result of an operator may lie."""
    torch = pytorch()
    tags = getattr(node.target, "tags", ())
    is_excluded = "mutates" in entry or torch.Tag.nondeterministic_seeded in tags
    results = list(tensors_in(node.meta.get("val")))
    if is_excluded or not entry["outputs"] or drawn.name(results[0]) != entry["outputs"][0]:
        return []
    is_pointwise = torch.Tag.pointwise in tags
    operands = [f for n in node.all_input_nodes for f in tensors_in(n.meta.get("val"))]
    if not is_pointwise and not all(f.is_floating_point() for f in operands):
        return []
    names: list[str] = []
    for name in dict.fromkeys(drawn.name(f) for f in operands):
        shown = [f for f in operands if drawn.name(f) == name]
        alike = all(_geometry(f) == _geometry(results[0]) for f in shown)
        if alike and name not in persistent and results[0].untyped_storage().nbytes():
            flags = tuple(
                any(drawn.name(f) == name for f in tensors_in(value)) for value in trial.fakes
            )
            if trial.is_same(node, flags, 1 if is_pointwise else DRAWS):
                names.append(name)
    return names


def _geometry(tensor: Any) -> tuple[Any, ...]:
    """Return where the elements of a tensor lie in its storage, and of which type they are."""
    storage = tensor.untyped_storage().nbytes()
    sizes = tuple(tensor.size()), tuple(tensor.stride())
    return storage, tensor.dtype, tensor.storage_offset(), *sizes


@dataclass(frozen=True)
class _Trial:
    """An operator that is run again: the leaves of its arguments as fake and as real values, how
    they are nested, and what it allocates; `first` is the address of its first result."""

    fakes: Sequence[Any]
    leaves: Sequence[Any]
    spec: Any
    allocations: Sequence[_Allocation]
    first: int
    allocator: Allocator
    known: dict[Hashable, bool]  # of operators that are alike

    def is_same(self, node: Any, flags: Sequence[bool], draws: int) -> bool:
        """Return whether an operator whose first result lies over the flagged operands, which are
        one tensor, has the same bits as one that lies apart, for random numbers."""
        torch = pytorch()
        kinds = tuple(described(v) if isinstance(v, torch.Tensor) else repr(v) for v in self.leaves)
        case = str(node.target), kinds, tuple(flags)
        if case not in self.known:
            self.known[case] = all(self._agrees(node, flags, seed) for seed in range(draws))
        return self.known[case]

    def _agrees(self, node: Any, flags: Sequence[bool], seed: int) -> bool:
        torch, tree = pytorch(), pytorch("torch.utils._pytree")
        generator = torch.Generator().manual_seed(seed)
        self.allocator.serve(script(()))
        values = copied(list(self.leaves))
        for value in values:
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                flat = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage())
                flat.normal_(generator=generator)
        over = next(value for value, flag in zip(values, flags, strict=True) if flag)
        args, kwargs = tree.tree_unflatten(values, self.spec)
        apart = list(tensors_in(node.target(*args, **kwargs)))
        if _geometry(apart[0]) != _geometry(over):
            return False
        address = address_of(over)
        sequence = [(a.size, address if self._is_first(a) else 0) for a in self.allocations]
        self.allocator.serve(script(sequence))
        inside = list(tensors_in(node.target(*args, **kwargs)))
        self.allocator.serve(script(()))
        pairs = zip(apart, inside, strict=True)
        return address_of(inside[0]) == address and all(_same_bits(a, b) for a, b in pairs)

    def _is_first(self, allocation: _Allocation) -> bool:
        return allocation.last < 0 and allocation.address == self.first


def _same_bits(one: Any, other: Any) -> bool:
    """Return whether two storages have the same bytes."""
    torch = pytorch()
    a, b = (torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()) for t in (one, other))
    return bool(torch.equal(a, b))
