"""Inputs and outputs with lines of a cache of their own: the smallest arena of all orders, places
by their definition, and networks in rows that compute the same."""

import random
from itertools import combinations

import numpy as np
import pytest
from joint_problems import orders
from pass_functions import place_function, schedule_function
from random_functions import random_function
from row_networks import image_of, network
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import live_ranges
from memopt.analysis.weights import Weights
from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions, only_function
from memopt.dialects.memgraph.plan import bytes_offset, drop_plan, model_of, places_of
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.plan.extract import extract
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import live_ranges as placement_of
from memopt.text.ir_text import module_text
from memopt.verify.plan import verify_plan

SMALL, ROWS = 1_000, 400
Interval = tuple[int, int]


def end_values(func: FuncOp) -> list[tuple[Interval, range, int]]:
    """Return bytes and life of each group, and the line of the inputs and outputs, 0 of others: by
    offsets and sizes of types alone."""
    memory, places = function_memory(func, model_of(func)), places_of(func)
    found: list[tuple[Interval, range, int]] = []
    lines = model_of(func).align_io.data
    for group, life in zip(memory.groups, live_ranges(memory), strict=True):
        value, inside = group.members[0]
        offset = bytes_offset(places.get(value))
        if offset is None or not group.in_arena or not group.members:
            continue
        size = max(at + (bytes_of(v.type) or 0) for v, at in group.members)
        is_end = group.is_input or group.is_output
        found.append(((offset - inside, offset - inside + size), life, lines * is_end))
    return found


def check_lines(func: FuncOp) -> int:
    """Check that who lives with an input or output is in none of its lines, but for a result in its
    place. Return how many inputs and outputs do not end with a line."""
    held = [entry for entry in end_values(func) if entry[0][0] < entry[0][1]]
    assert all(not lines or start % lines == 0 for (start, _), _, lines in held)
    for (one, life, lines), (other, other_life, more) in combinations(held, 2):
        a, b = rounded(one, lines), rounded(other, more)
        is_apart = a[1] <= b[0] or b[1] <= a[0]
        both = range(max(life[0], other_life[0]), min(life[-1], other_life[-1]) + 1)
        assert is_apart or not both or len(both) == 1, (one, other, both)
    return sum(bool(lines) and end % lines != 0 for (_, end), _, lines in held)


def rounded(interval: Interval, lines: int) -> Interval:
    return interval if not lines else (interval[0], -(-interval[1] // lines) * lines)


@pytest.mark.parametrize("lines", [8, 16])
def test_the_smallest_arena_of_all_orders(lines: int, fuzz: float) -> None:
    """By the exact placement of each order of small functions with views, slices and concats."""
    rng, count, larger = random.Random(lines), 0, 0
    while count < max(25, int(SMALL * fuzz)):
        module = random_function(rng, 5)
        func = next(functions(module))
        drop_plan(func)
        MemgraphModelPass(alignment=1, io="arena", inplace="off").apply(Context(), module)
        try:
            extract(func)
        except MemoptError:
            continue  # aliases that contradict each other
        arenas: list[int] = []
        for align in (0, lines):
            MemgraphModelPass(align_io=align).apply(Context(), module)
            graph = extract(func).graph
            least = min(place(placement_of(graph, o), "exact").arena for o in orders(graph))
            schedule_function(func, "auto", None)
            place_function(func, "joint", None)
            assert verify_plan(func, placed=True).arena == least
            arenas.append(least)
            check_lines(func)
            drop_plan(func)
        assert arenas[0] <= arenas[1]
        larger += arenas[0] < arenas[1]
        count += 1
    assert larger > count // 4


def results(func: FuncOp, image: Array) -> list[bytes]:
    values, last = evaluate(func, Weights({}), [image]), func.get_return_op()
    assert last is not None
    return [values[v].tobytes() for v in last.operands]


STEPS = (
    "memgraph-model{{target=host alignment=4 inplace={inplace} align-io=32}},{rows}"
    "memgraph-schedule{{method=rpo}},memgraph-place{{method=greedy-by-size}},"
    "memgraph-verify-plan{{placed=true}}"
)


@pytest.mark.deep
def test_networks_compute_the_same_in_rows(fuzz: float) -> None:
    """Whole and in rows, with results in place and without; printed and read again."""
    ragged = 0
    for seed in range(max(12, int(ROWS * fuzz))):
        rng = np.random.default_rng(seed)
        text = network(rng, seed % 3 == 0, True, branch=seed % 2 == 1, outputs=1 + seed % 2)
        before, after = (
            only_function(load_text(new_context(), text, "net.mlir")) for _ in range(2)
        )
        image, inplace = image_of(before, rng), seed % 4 < 2
        module = after.parent_op()
        assert isinstance(module, ModuleOp)
        rows = "memgraph-expand-rows," * (seed % 3 != 1)
        for step in build_pipeline(STEPS.format(inplace="on" if inplace else "off", rows=rows)):
            step.apply(new_context(), module)
        again = only_function(load_text(new_context(), module_text(module), "again.mlir"))
        assert verify_plan(again, placed=True).arena == verify_plan(after, placed=True).arena
        if not rows:
            ragged += check_lines(after)
        assert results(again, image) == results(before, image), seed
    assert ragged
