"""`rows=auto` against whole operators and all rows, by the arena that each is planned with."""

import pytest
from cnn_text import KINDS, network
from xdsl.parser import Parser

from memopt.dialects.functions import only_function
from memopt.dialects.plan import plan_of
from memopt.driver import build_pipeline, new_context
from memopt.passes.extract import extract
from memopt.passes.least_rows import choose_rows
from memopt.passes.pipelines import Choices
from memopt.planning import Seconds, plan_module
from memopt.solvers.problems.memory_graph import live_ranges

FULL = 400  # networks
QUICK = 5
ROWS = ("auto", "none", "all")


def arena(text: str, rows: str, target: str = "generic", time_limit: float | None = None) -> int:
    """Bytes of the whole plan."""
    context = new_context()
    module = Parser(context, text).parse_module()
    choices = Choices(rows=(rows,), optimize="balanced", time_limit=time_limit)
    plan_module(context, module, target, choices, Seconds())
    plan = plan_of(only_function(module))
    assert plan is not None
    return plan.arena


def test_auto_is_never_above_whole_operators_or_all_rows(fuzz: float) -> None:
    """Ten kinds of networks, float and int8 in turn; the first kinds are placed quickly."""
    smaller = 0
    for seed in range(max(QUICK, round(FULL * fuzz))):
        element = "i8" if seed // len(KINDS) % 2 else "f32"
        text = network(seed, element)
        auto, whole, every = (arena(text, rows) for rows in ROWS)
        assert auto <= min(whole, every), (seed, element)
        smaller += auto < whole
    assert smaller


def test_nor_with_fast_kernels_that_take_scratch(fuzz: float) -> None:
    """Balanced kernels make the arena of each plan larger by what helps it."""
    for seed in range(max(2, round(FULL // 8 * fuzz))):
        text = network(seed + 3, "i8")
        auto, whole, every = (arena(text, rows, "cortex-m4") for rows in ROWS)
        assert auto <= min(whole, every), seed


def test_what_is_chosen_is_placed_as_it_says() -> None:
    """Dense stacks, whose fewest calls are hard to place: some more are cut, not all."""
    text = network(14, "f32")
    module = Parser(new_context(), text).parse_module()
    for step in build_pipeline("memgraph-model{alignment=4 inplace=on}"):
        step.apply(new_context(), module)
    chosen = choose_rows(only_function(module))
    stands, joint = chosen.arranged()
    graph = stands.graph
    joint.placement.verify(live_ranges(graph, joint.order))
    for step in build_pipeline("memgraph-expand-rows{rows=auto},memgraph-schedule"):
        step.apply(new_context(), module)
    assert len(extract(only_function(module)).graph) == len(graph)
    assert arena(text, "auto") == chosen.arena


@pytest.mark.parametrize("seconds", [0.001, 0.5])
def test_a_deadline_leaves_whole_operators_at_the_most(seconds: float) -> None:
    """The best known by then is handed over; the first that is known are whole operators."""
    text = network(4, "f32")
    whole = arena(text, "none")
    assert arena(text, "auto", time_limit=seconds) <= whole
