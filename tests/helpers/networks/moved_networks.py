"""Random networks of float tensors whose buffers move within the arena wherever they can."""

from random import Random

from xdsl.dialects.builtin import ModuleOp

from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.write_plan import write_plan
from memopt.passes.memgraph_compact import Layout, write_layout
from memopt.passes.plan.memory_tenants import movable_values
from memopt.passes.plan.planned import Planned, read_plan
from memopt.solvers.problems.compaction import Block, Compaction, CompactionProblem, Move
from memopt.solvers.problems.memory_graph import live_ranges


def network(rng: Random) -> str:
    """Up to eight operators over three inputs of 20, 40 and 60 bytes; up to three results."""
    sizes = {"a": 5, "b": 10, "c": 15}
    lines: list[str] = []
    for k in range(rng.randint(3, 8)):
        operand = rng.choice(list(sizes))
        n = sizes[operand]
        other = rng.choice([v for v in sizes if sizes[v] == n])
        kind, read = ("add", [operand, other]) if rng.random() < 0.6 else ("relu", [operand])
        types, names = ", ".join([f"tensor<{n}xf32>"] * len(read)), ", ".join(f"%{v}" for v in read)
        lines.append(f"%v{k} = memgraph.{kind} {names} : ({types}) -> tensor<{n}xf32>")
        sizes[f"v{k}"] = n
    returned = rng.sample([v for v in sizes if v.startswith("v")], min(len(sizes) - 3, 3))
    types = ", ".join(f"tensor<{sizes[v]}xf32>" for v in returned)
    lines.append(f"func.return {', '.join(f'%{v}' for v in returned)} : {types}")
    arguments = ", ".join(f"%{v}: tensor<{sizes[v]}xf32>" for v in "abc")
    body = "\n".join(lines)
    return f"func.func @main({arguments}) -> ({types}) {{\n{body}\n}}"


def moved(rng: Random, target: str = "generic") -> tuple[ModuleOp, Planned, Layout]:
    """A planned network, and a layout with random moves that may be made, which is not written."""
    module = load_text(new_context(), network(rng), "net.mlir")
    model = f"memgraph-model{{target={target} alignment=16}}"
    for step in build_pipeline(f"{model},memgraph-schedule{{method=source}},memgraph-place"):
        step.apply(new_context(), module)
    planned = read_plan(only_function(module))
    assert planned is not None and planned.facts is not None
    graph = planned.extracted.graph
    buffers, values = live_ranges(graph, range(len(graph))), movable_values(planned.extracted)
    blocks = tuple(
        Block(i.size, i.lower, i.upper, i.members[0] in values, i.alignment) for i in buffers.items
    )
    problem = CompactionProblem(blocks, 2 * planned.facts.peak)
    return module, planned, Layout(buffers, values, problem, random_moves(rng, problem))


def random_moves(rng: Random, problem: CompactionProblem) -> Compaction:
    """Places anywhere, and moves to anywhere in front of most steps."""
    blocks, at = problem.blocks, dict[int, int]()
    offsets, moves = [0] * len(blocks), list[Move]()

    def anywhere(k: int) -> int:
        others = [(o, o + blocks[j].size) for j, o in at.items() if j != k]
        size = blocks[k].size
        starts = range(0, problem.arena - size + 1, blocks[k].alignment)
        free = [s for s in starts if all(s >= end or o >= s + size for o, end in others)]
        return rng.choice(free) if free else -1

    for step in range(problem.steps):
        at = {k: o for k, o in at.items() if blocks[k].upper > step}
        for k in rng.sample(sorted(at), min(len(at), 2)) if step else ():
            place = anywhere(k) if blocks[k].movable else at[k]
            if place not in (at[k], -1):
                moves.append(Move(step, k, place))
                at[k] = place
        for k, block in enumerate(blocks):
            if block.lower == step:
                offsets[k] = at[k] = anywhere(k)
    return Compaction(tuple(offsets), tuple(moves), 0)


def write(planned: Planned, layout: Layout) -> None:
    """Write a layout into the function, with its plan."""
    write_layout(planned.extracted, layout)
    ends = [o + b.size for o, b in zip(layout.answer.offsets, layout.problem.blocks, strict=True)]
    ends += [m.offset + layout.problem.blocks[m.block].size for m in layout.answer.moves]
    assert planned.facts is not None
    write_plan(planned.func, planned.facts.in_one_arena(max(ends), planned.facts.lower_bound))
