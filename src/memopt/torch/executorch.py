"""ExecuTorch's memory, placed by memopt: an algorithm for its memory planning pass.

    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite
    from executorch.exir.passes import MemoryPlanningPass
    from memopt.torch.executorch import memopt_placement

    suite = MemoryPlanningAlgorithmSuite(algo_list=[memopt_placement])
    program.to_executorch(ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(memory_planning_algo=suite)))

The signature and what is returned are those of `greedy` in ExecuTorch's `exir/memory_planning.py`,
which the suite calls in the same way. Of several algorithms the suite takes the one whose memories
are smallest together, so `greedy` may stand beside this one; it can only win where a search ends
before its proof (`lower_bounds` says where). Nothing of ExecuTorch is imported here. A TensorSpec
is asked for `lifetime`, `allocated_memory`, `mem_id`, `inplace_base` (in releases that have it) and
`realign`.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from memopt.solvers.placement import prove
from memopt.solvers.problems.placement import Buffer, PlacementProblem

__all__ = ["AlgoResult", "SpecResult", "memopt_placement"]

DEFAULT_MEMORY = 1  # where specs lie that no pass has given a memory


class Spec(Hashable, Protocol):
    """Interface of a TensorSpec. `lifetime` has the first and the last node, both inclusive."""

    lifetime: Any
    allocated_memory: int
    mem_id: int | None

    def realign(self, alignment: int) -> int: ...


@dataclass
class SpecResult:
    """ExecuTorch's SpecAllocResult: a memory, an object in it, bytes from the memory's start.

    Specs whose bytes overlap are of one object, as ExecuTorch's verifier asks for.
    """

    mem_id: int
    mem_obj_id: int
    mem_offset: int


@dataclass
class AlgoResult:
    """ExecuTorch's MemoryAlgoResult, and per memory a proven bound: no placement of its specs is
    smaller than `lower_bounds[mem_id]` bytes, padding and what submodules reserved included."""

    spec_dict: dict[Any, SpecResult]
    bufsizes: list[int]
    lower_bounds: list[int] = field(default_factory=list[int])


def memopt_placement(
    alignment: int,
    specs: Iterable[Any],
    graph_module: Any,
    graph_signature: Any,
    extra_padding: int = 0,
    *,
    time_limit: float | None = None,
) -> AlgoResult:
    """Offsets for all specs, verified, in as few bytes as the exact placement finds.

    Sizes are rounded up by each spec's own `realign(alignment)`. `graph_module` may have
    `input_mem_buffer_sizes`, bytes at the start of each memory that are taken; `extra_padding`
    bytes are added to each memory in use. `time_limit` seconds per memory; without one the search
    stops after a fixed amount of work. Specs with a `mem_id` stay in that memory.

    Raises ValueError for a spec without a lifetime or with a base outside `specs`.
    """
    del graph_signature
    memories: dict[int, list[Any]] = {}
    for spec in specs:
        spec.realign(alignment)
        memories.setdefault(_memory_of(spec), []).append(spec)
    count = max(memories, default=DEFAULT_MEMORY) + 1
    result = AlgoResult({}, [0] * count, [0] * count)
    taken: list[int] = getattr(graph_module, "input_mem_buffer_sizes", None) or []
    for memory, members in sorted(memories.items()):
        start = taken[memory] if memory < len(taken) else 0
        members.sort(key=_by_time)  # a set has no order, and equal graphs shall have equal plans
        problem = PlacementProblem(_buffers(members, alignment))
        proven = prove(problem, "auto", time_limit)
        objects = _objects(problem, proven.placement.offsets)
        for spec, offset, number in zip(members, proven.placement.offsets, objects, strict=True):
            result.spec_dict[spec] = SpecResult(memory, number, start + offset)
        result.bufsizes[memory] = start + proven.placement.arena + extra_padding
        result.lower_bounds[memory] = start + proven.lower_bound + extra_padding
    return result


def _memory_of(spec: Any) -> int:
    """The memory of a spec; one in place is where its base is."""
    base = getattr(spec, "inplace_base", None)
    if base is not None:
        return _memory_of(base)
    return DEFAULT_MEMORY if spec.mem_id is None else spec.mem_id


def _by_time(spec: Any) -> tuple[int, int, int]:
    lower, upper = spec.lifetime
    if lower is None or upper is None:
        raise ValueError(f"{spec} has no lifetime: update_all_tensors_lifetime comes first")
    return lower, upper, -spec.allocated_memory


def _buffers(members: list[Any], alignment: int) -> tuple[Buffer, ...]:
    """A buffer per spec; those in place share the offset of what they overwrite."""
    at = {spec: i for i, spec in enumerate(members)}
    buffers: list[Buffer] = []
    for i, spec in enumerate(members):
        root = spec
        while (base := getattr(root, "inplace_base", None)) is not None:
            root = base
        if root not in at:
            raise ValueError(f"{spec} is in place of what is not planned")
        lower, upper = spec.lifetime
        size: int = spec.allocated_memory
        buffers.append(Buffer(f"spec {i}", size, lower, upper + 1, at[root], alignment=alignment))
    return tuple(buffers)


def _objects(problem: PlacementProblem, offsets: tuple[int, ...]) -> list[int]:
    """A number per buffer, equal for those that share bytes, directly or through others."""
    ends = zip(offsets, problem.buffers, strict=True)
    spans = sorted((at, at + b.size, i) for i, (at, b) in enumerate(ends))
    numbers, end, number = [0] * len(spans), 0, -1
    for at, top, i in spans:
        if at >= end:
            number += 1
        numbers[i] = number
        end = max(end, top)
    return numbers
