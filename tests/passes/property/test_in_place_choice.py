"""In place inside the cost model against in place after scheduling, and in place as a choice
against in place wherever possible: never worse, and now and then better."""

import random
from dataclasses import replace

import pytest
from cases import make
from joint_problems import choices, orders
from oracles import random_graph
from pass_functions import place_function, schedule_function

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.plan.extract import extract
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, live_ranges, profile
from memopt.solvers.problems.placement import PlacementProblem
from memopt.solvers.scheduling import schedule
from memopt.verify.plan import verify_plan

GRAPHS = 10_000
NARROWING = 5_000


def peaks(graph: MemoryGraph) -> tuple[int, int]:
    """The least peak where results may lie over operands, and that of the best order without, in
    which then each result that can lies over an operand."""
    alone = schedule(replace(graph, inplace=()))
    inside = schedule(graph)
    assert inside.proof != "none" and inside.peak == inside.lower_bound
    return inside.peak, profile(graph, alone.order).peak


def test_it_is_never_worse_than_in_place_after_scheduling(fuzz: float) -> None:
    rng = random.Random(3)
    better = 0
    for _ in range(max(400, int(GRAPHS * fuzz))):
        inside, after = peaks(random_graph(rng, rng.randint(3, 7)))
        assert inside <= after
        better += inside < after
    assert better > 0


def test_a_relu_beside_another_reader() -> None:
    """Both orders need 19 bytes where nothing lies over anything; the ReLU, if it is last, none of
    its own."""
    graph = make({"x": 8}, [("relu", "x", "r:8"), ("other", "x", "o:3")], outputs="r o")
    assert schedule(graph).peak == 19
    relu = InPlace(operator=0, result=1, operand=0)
    assert peaks(replace(graph, inplace=(relu,))) == (11, 19)


def narrowing(rng: random.Random) -> str:
    """A function of three to five operators, some of which make bytes of reals: their results are
    in place in the first quarter of an operand, and what lies there keeps the rest from others."""
    types = {"%x": f"{rng.randint(1, 3)}xf32"}
    read: set[str] = set()
    lines: list[str] = []
    for k in range(rng.randint(3, 5)):
        reals = [v for v in types if "f32" in types[v]]
        taken = [rng.choice(list(types)[-4:])]
        name, made = "op", rng.choice(("2xi8", "5xi8", "1xf32", "1xf32", "2xf32", "2xf32"))
        if reals and rng.random() < 0.5:
            taken = [rng.choice(reals)]
            alike = [v for v in reals if v != taken[0] and types[v] == types[taken[0]]]
            taken += alike[: rng.randint(0, 1)]
            name, made = ("Relu", "Add")[len(taken) - 1], types[taken[0]].replace("f32", "i8")
        elif rng.random() < 0.5:
            taken = list(dict.fromkeys([*taken, rng.choice(list(types))]))
        of = ", ".join(f"tensor<{types[v]}>" for v in taken)
        lines.append(
            f'%t{k} = memgraph.opaque "{name}"({", ".join(taken)}) : ({of}) -> tensor<{made}>'
        )
        types[f"%t{k}"] = made
        read.update(taken)
    ends = [v for v in types if v not in read and v != "%x"]
    made = ", ".join(f"tensor<{types[v]}>" for v in ends)
    model = "#memgraph.model<alignment = 1, inplace = on>"
    return (
        f"func.func @main(%x: tensor<{types['%x']}>) -> ({made})"
        f" attributes {{memgraph.model = {model}}} {{\n"
        + "\n".join(lines)
        + f"\nfunc.return {', '.join(ends)} : {made}\n}}"
    )


def smallest(problems: set[PlacementProblem]) -> int:
    """The smallest arena of all, each placed exactly."""
    best = 1 << 60
    for problem in sorted(problems, key=lambda p: p.load):
        if problem.load < best:
            best = min(best, place(problem, "exact").arena)
    return best


@pytest.mark.deep
def test_a_choice_is_never_worse_than_always(fuzz: float) -> None:
    """Ordered and placed jointly, verified: the smallest arena of all orders and all that can be in
    place, which is now and then below that of all orders with in place wherever possible."""
    rng = random.Random(3)
    better = 0
    for _ in range(max(60, int(NARROWING * fuzz))):
        text = narrowing(rng)
        func = only_function(load_text(new_context(), text, "random"))
        graph = extract(func).graph
        usual = smallest({live_ranges(graph, o) for o in orders(graph)})
        best = smallest({live_ranges(g, o) for o in orders(graph) for g in choices(graph, o)})
        schedule_function(func, "auto", None)
        place_function(func, "joint", None)
        found = verify_plan(func).arena
        assert found == best <= usual, text
        assert place_function(func, "joint", None) == found, text
        verify_plan(func)
        better += best < usual
    assert better > 0
