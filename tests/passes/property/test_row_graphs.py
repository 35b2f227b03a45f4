"""Row graphs of small networks against brute force: the order over all legal ones, the bound, and
the placement of pieces over all offsets; the verifier reads each plan from the IR alone."""

from random import Random
from typing import Any

import pytest
from oracles import naive_steps, optimum, random_order
from placed_parts import smallest_arena, wrong
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from memopt.compile.driver import build_pipeline, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.passes.plan.extract import extract
from memopt.passes.rows.expand import computing, cut
from memopt.solvers.placement import prove
from memopt.solvers.problems.memory_graph import live_ranges
from memopt.solvers.theory.bounds import flow_bound
from memopt.verify.plan import verify_plan

FULL = 20_000  # graphs, half of them placed too
STEPS = 13  # at most
CONTEXT = new_context()
MODELS = [build_pipeline(f"memgraph-model{{alignment=1 inplace={i}}}") for i in ("on", "off")]
BASES = 9  # at most, to be placed by brute force


def network(random: Random) -> str:
    """Pools, ReLUs, sums, means and parts of an image of a few bytes, one or two results."""
    width, lines = random.randint(1, 2), list[str]()
    made = [("%x", random.randint(2, 4), random.randint(1, 2))]

    def type_of(height: int, channels: int) -> str:
        return f"tensor<1x{height}x{width}x{channels}xi8>"

    for k in range(random.randint(2, 4)):
        name, height, channels = made[-1]
        before = type_of(height, channels)
        same = [n for n, h, c in made if (h, c) == (height, channels)]
        kind = random.choice(("add", "relu", "pool", "pool", "concat", "crop"))
        if kind == "add":
            line = f"add {random.choice(same)}, {name} : ({before}, {before})"
        elif kind == "concat" and channels == 1:
            line = f"concat {random.choice(same)}, {name} axis 3 : ({before}, {before})"
            channels = 2
        elif kind == "crop" and height > 1:
            line = f"slice {name} starts [0, 1, 0, 0] strides [1, 1, 1, 1] : ({before})"
            height -= 1
        elif kind == "pool" and height > 1:
            size, stride = random.randint(1, min(3, height)), random.randint(1, 2)
            above, below = (random.randint(0, size - 1) for _ in range(2))
            window = f"[{size}, 1], stride = [{stride}, 1], pad = [{above}, 0, {below}, 0]"
            line = f"max_pool_2d {name} window<{window}> : ({before})"
            height = (height + above + below - size) // stride + 1
        else:
            line = f"relu {name} : ({before})"
        made.append((f"%v{k}", height, channels))
        lines.append(f"%v{k} = memgraph.{line} -> {type_of(height, channels)}")
    results = [made[-1]]
    if len(made) > 2 and random.random() < 0.25:
        results.append(random.choice(made[1:-1]))
    types = ", ".join(type_of(h, c) for _, h, c in results)
    lines.append(f"func.return {', '.join(n for n, _, _ in results)} : {types}")
    body = "\n".join(lines)
    return f"func.func @main(%x: {type_of(*made[0][1:])}) -> ({types}) {{ {body} }}"


def row_graph(random: Random) -> ModuleOp:
    """Mostly of all operators in rows, in place or not."""
    while True:
        module = Parser(CONTEXT, network(random)).parse_module()
        for step in random.choice(MODELS):
            step.apply(CONTEXT, module)
        func = only_function(module)
        every = range(len(computing(func)))
        share = random.choice((1.0, 1.0, 0.7))
        done = cut(func, [k for k in every if random.random() < share])
        if done and len(extract(func).graph) <= STEPS:
            return module


@pytest.mark.deep
def test_order_bound_and_pieces_are_those_of_brute_force(fuzz: float, record_property: Any) -> None:
    random = Random("row graphs")
    above = placed = larger = 0
    count = max(100, int(FULL * fuzz))
    steps = build_pipeline("memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan")
    for case in range(count):
        module = row_graph(random)
        func = only_function(module)
        graph = extract(func).graph
        best = optimum(graph)
        orders = [tuple(range(len(graph))), random_order(random, graph)]
        assert flow_bound(graph, orders).value <= best, case
        for step in steps:
            step.apply(CONTEXT, module)
        plan = plan_of(func)
        assert plan is not None and plan.family.data == "rows"
        assert plan.peak.data == plan.lower_bound.data == best, case
        assert verify_plan(func, placed=True).peak == best, case
        graph = extract(func).graph
        assert max(naive_steps(graph, range(len(graph)))) == best, case
        above += max(naive_steps(graph, random_order(random, graph))) > best
        problem = live_ranges(graph, range(len(graph)))
        if len(problem.members) > BASES:
            continue
        found = prove(problem, "exact")
        arena = smallest_arena(problem, found.placement.arena)
        assert found.placement.arena == found.lower_bound == plan.arena == arena, case
        assert not wrong(problem, found.placement.offsets, arena), case
        placed += 1
        larger += arena > best
    assert placed > count // 4
    record_property("brute force", ("rows: order, bound", count, above))
    record_property("brute force", ("rows: placement of pieces", placed, larger))
