"""`rows=auto` against every choice of operators on small random networks."""

import random
from itertools import combinations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from memopt.compile.driver import build_pipeline, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.plan.extract import extract
from memopt.passes.rows.expand import computing, cut
from memopt.passes.rows.minimise import ever_fewer_rows
from memopt.passes.rows.numbers import carried, in_rows
from memopt.solvers.problems.memory_graph import live_ranges, profile
from memopt.solvers.scheduling import schedule


def network(rng: random.Random, steps: int | None = None) -> FuncOp:
    """Pools, ReLUs and sums on images of eight channels at most, the last result returned; each
    reads the last, or any where their number is given."""
    side = rng.randint(3, 8)
    made = [("%x", side, rng.randint(1, 8))]
    lines: list[str] = []
    for k in range(steps or rng.randint(2, 4)):
        name, height, channels = rng.choice(made[-4:]) if steps else made[-1]
        shape = f"tensor<1x{height}x{side}x{channels}xi8>"
        same = [n for n, h, c in made if n != name and (h, c) == (height, channels)]
        if same and rng.random() < 0.5:
            line = f"memgraph.add {rng.choice(same)}, {name} : ({shape}, {shape}) -> {shape}"
        elif rng.random() < 0.3:
            line = f"memgraph.relu {name} : ({shape}) -> {shape}"
        else:
            kernel, stride = rng.randint(1, min(3, height)), rng.randint(1, 2)
            height = (height - kernel) // stride + 1
            result = f"tensor<1x{height}x{side}x{channels}xi8>"
            window = f"window<[{kernel}, 1], stride = [{stride}, 1]>"
            line = f"memgraph.max_pool_2d {name} {window} : ({shape}) -> {result}"
        made.append((f"%v{k}", height, channels))
        lines.append(f"%v{k} = {line}")
    first, last = (f"tensor<1x{h}x{side}x{c}xi8>" for _, h, c in (made[0], made[-1]))
    lines.append(f"func.return {made[-1][0]} : {last}")
    body = "\n".join(lines)
    module = Parser(new_context(), f"func.func @main(%x: {first}) -> {last} {{ {body} }}")
    return only_function(modelled(module.parse_module()))


def modelled(module: ModuleOp) -> ModuleOp:
    for step in build_pipeline("memgraph-model{alignment=1 inplace=on}"):
        step.apply(new_context(), module)
    return module


def planned(func: FuncOp, positions: tuple[int, ...]) -> tuple[int, int]:
    """Peak (bytes) and calls with these operators cut."""
    copy = func.clone()
    cut(copy, positions)
    graph = extract(copy).graph
    return schedule(graph, "search").peak, len(graph)


@pytest.mark.deep
def test_no_choice_has_less_calls_where_that_is_said(fuzz: float) -> None:
    rng, fewest, least = random.Random(4), 0, 0
    count = max(20, round(1_000 * fuzz))
    for _ in range(count):
        func = network(rng)
        every = range(len(computing(func)))
        able = cut(func.clone(), every)
        choices = [
            planned(func, chosen) for n in range(len(able) + 1) for chosen in combinations(able, n)
        ]
        whole, rows = choices[0][0], choices[-1][0]
        for most in {rows, (rows + whole) // 2}:
            if most < rows:
                continue
            chosen = ever_fewer_rows(func, limit=most)[-1]
            peak, calls = planned(func, tuple(chosen.positions))
            assert peak <= most
            assert calls == chosen.calls
            best = min(calls for peak, calls in choices if peak <= most)
            assert chosen.calls >= best
            assert not chosen.fewest or chosen.calls == best
            fewest += chosen.fewest
            least += chosen.calls == best
    assert fewest >= count // 2, fewest
    assert least >= count, least


def test_what_is_left_whole_is_counted_as_it_is_extracted(fuzz: float) -> None:
    """By the numbers of all rows, as in the graph of the choice itself: the same levels."""
    rng, steps = random.Random(6), 0
    count = max(40, round(2_000 * fuzz))
    for _ in range(count):
        func = network(rng)
        rows = in_rows(func, range(len(computing(func))))
        order = schedule(rows.graph, "greedy").order
        whole = frozenset(k for k in rows.cut if rng.random() < 0.5)
        some, small = rows.numbers.with_whole(whole), in_rows(func, rows.cut - whole)
        like = some.like(order)
        some.graph.check()
        assert len(some.graph) == len(small.graph)
        ours = profile(some.graph, like)
        theirs = profile(small.graph, carried(rows, like, some, small))
        assert ours.levels == theirs.levels
        steps += all(a >= b for a, b in zip(ours.steps, theirs.steps, strict=True))
    assert steps > 0.95 * count, steps  # what lies in place is guessed, and hardly ever too much


def column(rng: random.Random) -> FuncOp:
    """The mean of each channel as a column, some operators along it, and what reads the image and
    the column again, as a network that weighs channels by their neighbours."""
    side, channels = rng.randint(1, 4), rng.randint(2, 6)
    image = f"tensor<1x{side}x2x{channels}xi8>"
    mean, along = f"tensor<1x1x1x{channels}xi8>", f"tensor<1x{channels}x1x1xi8>"
    window = "window<[3, 1], pad = [1, 0, 1, 0]>"
    lines = [f"%m = memgraph.average_pool_2d %x window<[{side}, 2]> : ({image}) -> {mean}"]
    lines.append(f"%c0 = memgraph.reshape %m : ({mean}) -> {along}")
    for k in range(steps := rng.randint(1, 3)):
        op = f"max_pool_2d %c{k} {window}" if rng.random() < 0.6 else f"relu %c{k}"
        lines.append(f"%c{k + 1} = memgraph.{op} : ({along}) -> {along}")
    lines.append(f"%b = memgraph.reshape %c{steps} : ({along}) -> {mean}")
    lines.append(f"%y = memgraph.mul %x, %b : ({image}, {mean}) -> {image}")
    body = "\n".join([*lines, f"func.return %y : {image}"])
    module = Parser(new_context(), f"func.func @main(%x: {image}) -> {image} {{ {body} }}")
    return only_function(modelled(module.parse_module()))


def test_rows_of_one_row_are_placed_where_that_is(fuzz: float) -> None:
    """The rows of what a sum gives, where they lie in the one row of a tensor that is read whole:
    no step needs less than in the graph of the choice itself."""
    rng = random.Random(7)
    for _ in range(max(25, round(2_000 * fuzz))):
        func = column(rng)
        rows = in_rows(func, range(len(computing(func))))
        order = schedule(rows.graph, "greedy").order
        whole = frozenset(k for k in rows.cut if rng.random() < 0.3)
        some, small = rows.numbers.with_whole(whole), in_rows(func, rows.cut - whole)
        like = some.like(order)
        live_ranges(some.graph, like).check()
        levels = profile(small.graph, carried(rows, like, some, small)).levels
        assert all(a >= b for a, b in zip(profile(some.graph, like).levels, levels, strict=True))


@pytest.mark.deep
def test_what_is_cut_is_planned_and_placed_as_the_verifier_reads_it(fuzz: float) -> None:
    """Any operators in rows, whole ones between them in place or not: the plan that is read again
    has the peak that was planned."""
    rng, mixed = random.Random(5), 0
    steps = build_pipeline("memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}")
    for _ in range(max(40, round(2_000 * fuzz))):
        func = network(rng)
        every = range(len(computing(func)))
        done = cut(func, [k for k in every if rng.random() < 0.6])
        mixed += 0 < len(done) < len(every)
        module = func.parent_op()
        assert isinstance(module, ModuleOp)
        for step in steps:
            step.apply(new_context(), module)
    assert mixed


def test_rows_whose_window_is_padding_read_nothing() -> None:
    """Whole, `%d` runs after `%c`; the order of its rows does not say so."""
    text = """
func.func @main(%x: tensor<1x9x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %w = memgraph.constant #memgraph.weights<"00", "w"> : tensor<1x3x1x1xf32>
  %a = memgraph.conv_2d %x, %w window<[3, 1], stride = [2, 1], pad = [2, 0, 0, 0]> groups 1
    : (tensor<1x9x2x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x5x2x1xf32>
  %n = memgraph.reduce_max %x axes [2] keep_dims : (tensor<1x9x2x1xf32>) -> tensor<1x9x1x1xf32>
  %b = memgraph.average_pool_2d %x window<[9, 1]> : (tensor<1x9x2x1xf32>) -> tensor<1x1x2x1xf32>
  %c = memgraph.reduce_max %b axes [2] keep_dims : (tensor<1x1x2x1xf32>) -> tensor<1x1x1x1xf32>
  %v = memgraph.constant #memgraph.weights<"00", "v"> : tensor<4x2x1x1xf32>
  %d = memgraph.conv_2d %c, %v window<[2, 1], dilation = [2, 1], pad = [1, 0, 1, 0]> groups 1
    : (tensor<1x1x1x1xf32>, tensor<4x2x1x1xf32>) -> tensor<1x1x1x4xf32>
  %u = memgraph.constant #memgraph.weights<"00", "u"> : tensor<1x2x1x1xf32>
  %e = memgraph.depthwise_conv_2d %a, %u window<[2, 1], stride = [2, 1], dilation = [2, 1]> groups 1
    : (tensor<1x5x2x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  %k = memgraph.constant #memgraph.weights<"00", "k"> : tensor<1x1x1x1xf32>
  %f = memgraph.add %e, %k : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>
  func.return %f : tensor<1x2x2x1xf32>
}
"""
    module = Parser(new_context(), text).parse_module()
    for step in build_pipeline("memgraph-model{alignment=4 inplace=off}"):
        step.apply(new_context(), module)
    func = only_function(module)
    chosen, every = ever_fewer_rows(func)[-1], range(len(computing(func)))
    peaks: list[int] = []
    for positions in (chosen.positions, every):
        copy = func.clone()
        cut(copy, positions)
        peaks.append(schedule(extract(copy).graph, "auto").peak)
    assert peaks[0] <= peaks[1] and len(chosen.positions) < len(every)
