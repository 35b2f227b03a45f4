"""ExecuTorch's memory planning by memopt, on a double of its specs and of its own algorithm."""

import inspect
import random
import subprocess
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from memopt.torch.executorch import AlgoResult, memopt_placement

GRAPHS = 25_000  # in full; a share of 1/125 is 200
NOTHING = SimpleNamespace()


@dataclass(eq=False)
class Spec:
    """What a TensorSpec has for memory planning: see `executorch/exir/tensor.py`."""

    nbytes: int
    lifetime: list[int]
    mem_id: int | None = None
    inplace_base: "Spec | None" = None
    allocated_memory: int = 0

    def __post_init__(self) -> None:
        self.allocated_memory = self.nbytes

    def realign(self, alignment: int) -> int:
        self.allocated_memory = -(-self.nbytes // alignment) * alignment
        return self.allocated_memory


@dataclass
class Shared:
    """An object of ExecuTorch's greedy: its size, and (offset, spec) of what lies in it."""

    size: int
    inside: list[tuple[int, Spec]] = field(default_factory=list[tuple[int, Spec]])


def together(a: Spec, b: Spec) -> bool:
    return a.lifetime[0] <= b.lifetime[1] and b.lifetime[0] <= a.lifetime[1]


def greedy(alignment: int, specs: list[Spec]) -> int:
    """Bytes of ExecuTorch's `greedy` (exir/memory_planning.py), of its description: largest first;
    into the first object in which nothing lives at the same time, else behind what does where there
    is room, else into an object of its own."""
    objects: list[Shared] = []
    for spec in sorted(specs, key=lambda s: s.allocated_memory)[::-1]:
        spec.realign(alignment)
        free = [o for o in objects if not any(together(spec, s) for _, s in o.inside)]
        if free:
            free[0].inside.append((0, spec))
            continue
        for o in objects:
            top = max(at + s.allocated_memory for at, s in o.inside if together(spec, s))
            if top + spec.allocated_memory <= o.size:
                o.inside.append((top, spec))
                break
        else:
            objects.append(Shared(spec.allocated_memory, [(0, spec)]))
    return sum(o.size for o in objects)


def random_specs(rng: random.Random) -> list[Spec]:
    """The specs of a random graph: nodes that read some results of nodes before them."""
    nodes = rng.randint(2, 24)
    specs: list[Spec] = []
    for node in range(nodes):
        for _ in range(rng.choice((1, 1, 1, 2))):
            size = rng.choice((1, 16, 60, 100, 256, 1000)) * rng.randint(1, 9)
            specs.append(Spec(size, [node, node]))
        for spec in rng.sample(specs, min(len(specs), rng.randint(1, 3))):
            spec.lifetime[1] = max(spec.lifetime[1], node)
    return specs


def overlap(result: AlgoResult, a: Spec, b: Spec) -> bool:
    p, q = result.spec_dict[a], result.spec_dict[b]
    return p.mem_id == q.mem_id and (
        p.mem_offset < q.mem_offset + b.allocated_memory
        and q.mem_offset < p.mem_offset + a.allocated_memory
    )


def test_random_graphs(fuzz: float) -> None:
    """No overlap, by ExecuTorch's own verifier's rules; never above its greedy; at the bound."""
    better = at_bound = 0
    graphs = max(200, int(GRAPHS * fuzz))
    for seed in range(graphs):
        rng = random.Random(seed)
        specs = random_specs(rng)
        alignment = rng.choice((1, 16, 64))
        theirs = greedy(alignment, specs)
        result = memopt_placement(alignment, set(specs), NOTHING, None, 0)
        assert set(result.spec_dict) == set(specs)
        assert len(result.bufsizes) == 2 and result.bufsizes[0] == 0
        for i, a in enumerate(specs):
            found = result.spec_dict[a]
            assert found.mem_offset % alignment == 0
            assert found.mem_offset + a.allocated_memory <= result.bufsizes[1]
            for b in specs[:i]:
                if overlap(result, a, b):
                    assert not together(a, b), seed
                    assert found.mem_obj_id == result.spec_dict[b].mem_obj_id
        load = max(
            sum(s.allocated_memory for s in specs if s.lifetime[0] <= t <= s.lifetime[1])
            for t in range(25)
        )
        assert load <= result.lower_bounds[1] <= result.bufsizes[1] <= theirs, seed
        at_bound += result.bufsizes[1] == result.lower_bounds[1]
        better += result.bufsizes[1] < theirs
    assert at_bound == graphs
    assert better > graphs // 10


def test_memories_padding_and_what_is_taken() -> None:
    """Specs keep their memory; submodules begin behind what is taken, as with greedy."""
    first, second = Spec(100, [0, 3]), Spec(50, [1, 2], mem_id=3)
    module = SimpleNamespace(input_mem_buffer_sizes=[0, 32, 0])
    result = memopt_placement(16, {first, second}, module, None, extra_padding=8)
    assert result.bufsizes == result.lower_bounds == [0, 32 + 112 + 8, 0, 64 + 8]
    assert (result.spec_dict[first].mem_offset, result.spec_dict[second].mem_offset) == (32, 0)
    assert (first.mem_id, result.spec_dict[second].mem_id) == (None, 3)
    assert memopt_placement(16, set[Spec](), NOTHING, None).bufsizes == [0, 0]


def test_in_place() -> None:
    """What overwrites another lies where that lies, for as long as either lives."""
    base = Spec(100, [0, 2])
    over, other = Spec(100, [2, 5], inplace_base=base), Spec(40, [4, 6])
    result = memopt_placement(4, {base, over, other}, NOTHING, None)
    places = [result.spec_dict[s] for s in (base, over, other)]
    assert places[0] == places[1]
    assert places[2].mem_offset == 100 or places[0].mem_offset == 40
    assert result.bufsizes[1] == 140
    with pytest.raises(ValueError, match="not planned"):
        memopt_placement(4, {over}, NOTHING, None)
    with pytest.raises(ValueError, match="no lifetime"):
        memopt_placement(4, {Spec(1, [None, None])}, NOTHING, None)  # type: ignore[list-item]


def test_the_signature_is_that_of_an_algorithm() -> None:
    """The suite gives five arguments by position, and asks for a name."""
    names = list(inspect.signature(memopt_placement).parameters)
    assert names[:5] == ["alignment", "specs", "graph_module", "graph_signature", "extra_padding"]
    assert memopt_placement.__name__ == "memopt_placement"


@pytest.mark.deep
def test_nothing_of_executorch_is_imported() -> None:
    code = (
        "import memopt.torch.executorch, sys; "
        "print([m for m in sys.modules if m.split('.')[0] in ('executorch', 'torch')])"
    )
    done: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
