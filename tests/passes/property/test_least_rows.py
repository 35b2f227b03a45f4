"""`rows=auto` against whole operators and all rows, by the arena that each is planned with."""

from functools import partial
from itertools import count
from typing import Any

import pytest
from benchmarks.tables.large import rows as pooling
from cnn_families import MOBILE, MOBILE_WIDE, detector, mobilenet_v2
from cnn_text import KINDS, network
from work_clock import work_of
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from memopt.compile import run_passes
from memopt.compile.driver import build_pipeline, new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.passes import memgraph_expand_rows
from memopt.passes.plan.extract import extract
from memopt.passes.rows import least_arena as least_rows
from memopt.passes.rows.expand import computing
from memopt.passes.rows.least_arena import choose_rows
from memopt.passes.rows.minimise import Chosen
from memopt.passes.rows.numbers import Cuts, in_rows
from memopt.solvers import clock, joint
from memopt.solvers.problems.memory_graph import live_ranges
from memopt.solvers.programs import worker
from memopt.solvers.scheduling import schedule

FULL = 400  # networks
QUICK = 5
ROWS = ("auto", "none", "all")


def arena(
    text: str,
    rows: str,
    target: str = "generic",
    time_limit: float | None = None,
    streamed: bool = False,
) -> int:
    """Bytes of the whole plan."""
    context = new_context()
    module = Parser(context, text).parse_module()
    options = SettledOptions(
        target=target,
        rows=rows,
        optimize="balanced",
        time_limit=time_limit,
        stream_input=streamed,
    )
    plan_module(context, module, options, Seconds())
    plan = plan_of(only_function(module))
    assert plan is not None
    return plan.arena


def calls(text: str, streamed: bool = False) -> int:
    """Return how many calls the plan of `rows=auto` has."""
    module = Parser(new_context(), text).parse_module()
    options = SettledOptions(
        target="generic", rows="auto", optimize="balanced", stream_input=streamed
    )
    plan_module(new_context(), module, options, Seconds())
    return len(extract(only_function(module)).graph)


def test_fewer_calls_are_searched_for_where_that_saves_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Dense stacks of 192 rows, all of which are placed at once: CP-SAT would place what is left
    whole beside 115 calls in the same arena, which takes longer than planning the 77 others."""
    text = network(34, "i8")
    assert calls(text) == 192
    monkeypatch.setattr(least_rows, "QUESTION_CALLS", 50)
    assert calls(text) <= 132


@pytest.mark.deep
def test_nor_are_there_more_calls_in_a_streamed_mobilenet() -> None:
    """A smoother order of 611 calls is placed where 744 are placed at once."""
    assert calls(mobilenet_v2(96), streamed=True) <= 611


@pytest.mark.deep
def test_a_long_chain_is_placed_in_its_proven_peak() -> None:
    """MobileNetV2 of full width, streamed: 1,841 calls in all rows. Stretches of rows on demand are
    where the search begins, without which it ends at more than twice the bytes."""
    module = Parser(new_context(), mobilenet_v2(224, MOBILE_WIDE, 32)).parse_module()
    options = SettledOptions(target="generic", rows="auto", optimize="balanced", stream_input=True)
    plan_module(new_context(), module, options, Seconds())
    plan = plan_of(only_function(module))
    assert plan is not None and plan.proof.data == "flow"
    assert plan.arena == plan.peak.data == 93_856


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


ONE_ROW = """
!x = tensor<1x5x9x8xf32>
!r = tensor<1x1x9x8xf32>
!y = tensor<1x1x9x10xf32>
func.func @main(%x: !x) -> !y {
  %1 = memgraph.logistic %x : (!x) -> !x
  %2 = memgraph.mul %1, %x : (!x, !x) -> !x
  %3, %4 = memgraph.split %2 axis 1 : (!x) -> (tensor<1x4x9x8xf32>, !r)
  %5 = memgraph.pad %4 before [0, 0, 0, 2] after [0, 0, 0, 0] value 0.0 : (!r) -> !y
  %6 = memgraph.neg %5 : (!y) -> !y
  func.return %6 : !y
}
"""


VIRTUAL = """
!x = tensor<1x3x4x7xf32, #memgraph.encoding<nchw>>
!c = tensor<1x6x4x7xf32, #memgraph.encoding<nchw>>
!w = tensor<3x6x2x2xf32, #memgraph.encoding<oihw>>
!y = tensor<1x3x2x6xf32, #memgraph.encoding<nchw>>
!m = tensor<1x3x1x1xf32, #memgraph.encoding<nchw>>
!p = tensor<1x3x3x8xf32, #memgraph.encoding<nchw>>
func.func @main(%x: !x) -> !p {
  %w = memgraph.constant dense<0.5> : !w
  %1 = memgraph.concat %x, %x axis 1 : (!x, !x) -> !c
  %2 = memgraph.conv_2d %1, %w window<[2, 2], stride = [2, 1]> groups 1 : (!c, !w) -> !y
  %3 = memgraph.average_pool_2d %2 window<[2, 6]> : (!y) -> !m
  %4 = memgraph.logistic %3 : (!m) -> !m
  %5 = memgraph.mul %4, %2 : (!m, !y) -> !y
  %6 = memgraph.pad %5 before [0, 0, 1, 2] after [0, 0, 0, 0] value 0.0 : (!y) -> !p
  func.return %6 : !p
}
"""


def test_what_is_no_step_has_no_rows_that_could_stay_whole() -> None:
    """Each row of a virtual concatenation is made by who reads it."""
    module = Parser(new_context(), VIRTUAL).parse_module()
    options = SettledOptions(
        target="host", rows="auto", rewrite="all", optimize="balanced", io="caller", alignment=4
    )
    plan_module(new_context(), module, options, Seconds())
    plan = plan_of(only_function(module))
    assert plan is not None and plan.proof.data != "none"


def test_what_has_one_row_is_proven_as_it_stays_whole() -> None:
    """All rows have a peak of 2,160 bytes; whole, the last operator overwrites its operand."""
    module = Parser(new_context(), ONE_ROW).parse_module()
    options = SettledOptions(target="host", rows="auto", optimize="speed", io="kept")
    plan_module(new_context(), module, options, Seconds())
    plan = plan_of(only_function(module))
    assert plan is not None and plan.peak.data == plan.lower_bound.data == 2_088


@pytest.mark.parametrize("seconds", [0.001, 0.5])
def test_a_deadline_leaves_whole_operators_at_the_most(seconds: float) -> None:
    """The best known by then is handed over; the first that is known are whole operators."""
    text = network(4, "f32")
    whole = arena(text, "none")
    assert arena(text, "auto", time_limit=seconds) <= whole


def test_rows_are_not_cut_after_the_deadline() -> None:
    """Each look at the clock takes a second; cutting looks at each operator, and so does what reads
    its rows."""
    func = only_function(Parser(new_context(), pooling(1)).parse_module())
    every = range(len(computing(func)))
    looks = count()
    with clock.reading(lambda: float(next(looks))):
        steps = len(in_rows(func, every, 1e9).graph)
        needed = next(looks)
        assert needed > steps > 300
        for limit in (1, needed // 2):
            began = next(looks)
            with pytest.raises(clock.TimeIsOverError):
                in_rows(func, every, float(began + limit))
            assert next(looks) - began <= limit + 2


@pytest.mark.parametrize("limit", [0.0, 0.05, 0.1, 0.3])
def test_choosing_rows_ends_at_the_deadline(limit: float) -> None:
    """By a clock that counts calls; without a limit it takes 0.7 of its seconds."""
    func = only_function(Parser(new_context(), pooling(1)).parse_module())
    choose_rows(func.clone(), clock.now())  # what is loaded at first use
    taken = work_of(lambda: choose_rows(func, clock.now() + limit))
    assert taken <= 1.1 * limit + 0.05


def test_nor_where_the_input_is_received_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the chosen rows are those that are planned, each received when it is needed, and
    that they are placed once."""
    placed: list[int] = []
    solve = joint.solve

    def counted(*arguments: Any, **options: Any) -> joint.Joint:
        placed.append(1)
        return solve(*arguments, **options)

    text = mobilenet_v2(24, MOBILE[:3])
    every = arena(text, "all", streamed=True)
    monkeypatch.setattr(joint, "solve", counted)
    assert arena(text, "auto", streamed=True) <= every
    assert not placed


@pytest.mark.deep
@pytest.mark.parametrize("side", [48, 96])
def test_nor_in_a_streamed_mobilenet(side: int) -> None:
    text = mobilenet_v2(side)
    assert arena(text, "auto", streamed=True) <= arena(text, "all", streamed=True)


@pytest.mark.deep
@pytest.mark.parametrize("side", [32, 64])
def test_nor_in_a_detector(side: int) -> None:
    """Check a network of many concatenations and upsamplings."""
    text = detector(side)
    assert arena(text, "auto") <= min(arena(text, "all"), arena(text, "none"))


@pytest.mark.parametrize("seed", [3, 24, 44])
def test_a_small_network_is_planned_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a network whose rows all fit at once: no program is solved, no whole plan is made
    beside, and only all rows and those of the fewest calls are cut."""
    solved: list[str] = []
    cut: list[int] = []
    plain = least_rows.Cuts.of_until

    def counted(
        cuts: least_rows.Cuts, positions: Any, deadline: float | None
    ) -> least_rows.InRows | None:
        cut.append(frozenset(positions) not in cuts.made)
        return plain(cuts, positions, deadline)

    def ask(kind: str, *rest: object) -> None:
        solved.append(kind)

    def rival(*arguments: object) -> None:
        solved.append("rival")

    monkeypatch.setattr(worker, "ask", ask)
    monkeypatch.setattr(run_passes, "_smaller", rival)
    monkeypatch.setattr(least_rows.Cuts, "of_until", counted)
    arena(network(seed, "i8" if seed // len(KINDS) % 2 else "f32"), "auto")
    assert not solved
    assert sum(cut) <= 2


@pytest.mark.deep
def test_it_takes_less_than_whole_operators_and_all_rows_together(fuzz: float) -> None:
    """Compare work, by calls of functions, on most networks that no program is solved for."""
    count = max(20, round(FULL * fuzz))
    faster = 0
    arena(network(100, "f32"), "auto")  # imports what is imported late
    for seed in range(100, 100 + count):
        text = network(seed, "i8" if seed // len(KINDS) % 2 else "f32")
        auto, uncut, every = (work_of(partial(arena, text, rows)) for rows in ROWS)
        faster += auto < uncut + every
    assert faster >= 0.8 * count, faster


def test_only_what_has_no_rows_is_no_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that any other failure in the plan of all rows is raised."""
    text = network(3, "i8")
    shape = "tensor<2x4x4x8xi8>"
    several = f"func.func @main(%x: {shape}) -> {shape} {{\n"
    several += f"  %y = memgraph.relu %x : ({shape}) -> {shape}\n  func.return %y : {shape}\n}}"
    assert arena(several, "auto", "cortex-m4") == arena(several, "none", "cortex-m4")

    def broken(func: FuncOp, names: frozenset[str] | None) -> None:
        raise MemoptError("broken")

    def unbounded(*arguments: object) -> bool:
        return False

    monkeypatch.setattr(memgraph_expand_rows, "expand", broken)
    monkeypatch.setattr(run_passes, "_is_least", unbounded)
    with pytest.raises(MemoptError, match="broken"):
        arena(text, "auto", "cortex-m4")


def test_the_fewest_rows_are_not_cut_where_they_are_hardly_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows that save too few calls to be asked about get no copy of the function of their own."""
    module = Parser(new_context(), network(34, "i8")).parse_module()
    plan_module(new_context(), module, SettledOptions(target="generic", rows="none"), Seconds())
    cuts = Cuts(only_function(module))
    rows = cuts.of(range(len(computing(cuts.func))))
    ordered = schedule(rows.graph, "auto")

    def fewer_rows(*_: object, calls: int) -> list[Chosen]:
        return [Chosen(rows.cut - {min(rows.cut)}, ordered.order[calls + 1 :], False)]

    monkeypatch.setattr(least_rows, "fewer_rows", fewer_rows)
    monkeypatch.setattr(least_rows, "MANY_CALLS", 1)
    few = least_rows._few_rows(cuts, rows, ordered, None)  # pyright: ignore[reportPrivateUsage]
    assert few is None
    assert len(cuts.made) == 1
