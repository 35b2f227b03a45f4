"""No rewrite raises the proven optimum: typed networks before and after all rules that keep every
bit, with results over dying operands and without."""

from collections import Counter
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest
from channel_networks import INT8, bottleneck, mixed, sparse_network, sparse_text
from exhaustive import optimum
from oracles import random_graph
from row_steps import convolution, copied, cropped, same, side_by_side, strided
from row_text import Rng, Text
from rule_examples import examples, parsed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.attributes.rewrites import rewrites_of
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.plan import rewrite_search
from memopt.passes.plan.extract import extract
from memopt.rewrites import RULES, named_rules, rule_of
from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.scheduling import schedule
from memopt.solvers.theory.bounds import trivial

FULL = 13_000  # networks
LEAST = 500  # of every rule, in the full count
CLAIMED = tuple(r for r in RULES if rule_of(r).applied in ("safe", "search"))
"""The rules that say that they never raise the least peak."""
OF_EXAMPLES = "functions-as-formula", "layer-normalization", "stored-weights"
"""Claimed rules for which no random network has anything to do; their examples have."""
ELSEWHERE = "computed-again", "computed-shapes", "division-as-product", "power-as-square"
MADE = tuple(r for r in CLAIMED if r not in (*ELSEWHERE, *OF_EXAMPLES))
"""Claimed rules that change something here: no network computes a shape, divides, takes a power,
normalizes, gates or recurs, and none is in rows, for which something may be computed again."""


def rectified(net: Text) -> None:
    net.add(f"relu {net.last[0]}", [net.last], net.last[1])


def beside(net: Text) -> None:
    """Two tensors joined along their channels, and what reads them so."""
    side_by_side(net)
    net.pick(rectified, pooled)(net)


def pooled(net: Text) -> None:
    net.add(f"max_pool_2d {net.last[0]} window<[1, 1]>", [net.last], net.last[1])


def sliced(net: Text) -> None:
    """Some of a tensor, for what reads it where it is."""
    net.pick(cropped, strided, cropped)(net)
    net.pick(rectified, pooled)(net)


def twins(net: Text) -> None:
    """What is computed twice, and what reads both."""
    image = net.last
    for _ in range(2):
        net.add(f"max_pool_2d {image[0]} window<[1, 1]>", [image], image[1])
    pair = net.made[-2:]
    net.add(f"add {pair[0][0]}, {pair[1][0]}{net.rounding}", pair, image[1])


def skipped(net: Text) -> None:
    """A function of an image that stays."""
    image = net.last
    rectified(net)
    pooled(net)
    pair = [image, net.last]
    net.add(f"add {image[0]}, {net.last[0]}{net.rounding}", pair, image[1])


def padded(net: Text) -> None:
    """What a convolution pads itself."""
    name, (_, h, w, c) = net.last
    text = f"pad {name} before [0, 1, 0, 0] after [0, 0, 1, 0] value 0.0"
    net.add(text, [net.last], (1, h + 1, w + 1, c))
    convolution(net)


def wide(net: Text) -> None:
    """More channels, a depthwise convolution of them or a residual block, one place of each."""
    _, (_, h, w, _) = net.last
    channels = 160 // (h * w) + 4
    image = mixed(net, net.last, channels)
    if net.rng.random() < 0.5:
        same(net)
    else:
        pooled(net)
        mixed(net, net.last, channels)
        pair = [image, net.last]
        net.add(f"add {image[0]}, {net.last[0]}{net.rounding}", pair, image[1])
    text = f"max_pool_2d {net.last[0]} window<[{h}, {w}]>"
    net.add(text, [net.last], (1, 1, 1, channels))


MORE = (sliced, *(beside, sliced, rectified, padded, skipped, wide) * 2, padded, twins, wide)
STEPS = (*(s for s in INT8 if s is not copied), *MORE)
"""Without copies, which scheduling takes for moves between memories."""


def network(rng: Rng, n: int) -> ModuleOp:
    results = 1 + (n % 5 == 0)
    if n % 6:
        module = sparse_network(rng, results, steps=STEPS)
        if n % 6 in (1, 2):
            compute_unread(module, n // 6)
        return module
    return load_text(new_context(), sparse_text(rng, results, (bottleneck, rectified)), "net.mlir")


def compute_unread(module: ModuleOp, n: int) -> None:
    """An operator once more, for nobody, or for one of its readers once more."""
    known = body_of(only_function(module)).ops
    operators = [op for op in known if isinstance(op, ComputeOp) and op.results[0].uses]
    op = operators[n % len(operators)]
    reader = next(iter(op.results[0].uses)).operation
    copies = [op.clone()]
    if isinstance(reader, ComputeOp):
        copies.append(reader.clone({op.results[0]: copies[0].results[0]}))
    body_of(only_function(module)).insert_ops_before(copies, reader)


def least_peak(module: ModuleOp) -> int:
    found = schedule(extract(only_function(module)).graph)
    assert found.proof != "none" and found.peak == found.lower_bound
    return found.peak


def results(module: ModuleOp, value: Any) -> list[bytes]:
    func = only_function(module)
    values = evaluate(func, Weights({}), [value])
    last = func.get_return_op()
    assert last is not None
    return [values[v].tobytes() for v in last.operands]


@pytest.mark.deep
def test_no_rule_raises_the_least_peak(fuzz: float, record_property: Any) -> None:
    fired, left, lower = Counter[str](), Counter[str](), 0
    for n in range(FULL if fuzz >= 1 else max(40, int(FULL * fuzz / 2))):
        rng = np.random.default_rng(n)
        module = network(rng, n)
        inplace = "on" if n % 2 else "off"
        MemgraphModelPass("generic", alignment=1 << n % 5, inplace=inplace).apply(Context(), module)
        after = module.clone()
        MemgraphRewritePass(CLAIMED).apply(Context(), after)
        did = rewrites_of(only_function(after))
        if not did:
            continue
        fired += Counter({d.rule.data: d.sites.data for d in did})
        left += Counter({d.rule.data: d.left.data for d in did})
        before, now = least_peak(module), least_peak(after)
        assert now <= before, n
        lower += now < before
        found = [p for d in did if (p := d.figure("peak"))]
        assert all(a >= b for a, b in found) and (not found or found[-1][1] == now), n
        if n % 2:
            continue
        x = only_function(module).body.block.args[0]
        image = rng.integers(0, 127, shape_of(x)).astype(dtype_of(x))
        assert results(module, image) == results(after, image), n
    record_property("operations changed", dict(fired))
    record_property("operations left", dict(left))
    assert lower > 3 and all(fired[rule] > 0 for rule in MADE), fired
    assert fuzz < 1 or min(fired[rule] for rule in MADE) >= LEAST, fired


@pytest.mark.parametrize("rule", OF_EXAMPLES)
@pytest.mark.parametrize("inplace", ["on", "off"])
def test_nor_does_a_rule_in_its_examples(inplace: str, rule: str) -> None:
    """Where the operand dies, and where it is read again."""
    checked = 0
    for example in examples(rule):
        if not example.after:
            continue
        module = parsed(example.before)
        MemgraphModelPass("generic", alignment=4, inplace=inplace).apply(Context(), module)
        after = module.clone()
        MemgraphRewritePass((rule,)).apply(Context(), after)
        assert rewrites_of(only_function(after))
        assert least_peak(after) <= least_peak(module), example.before
        checked += 1
    assert checked


def test_what_never_raises_it_is_exact_to_the_bit() -> None:
    assert {rule_of(rule).exact for rule in CLAIMED} == {"bits"}
    assert set(named_rules(("safe",))) < set(CLAIMED) < set(named_rules(("all",)))


@pytest.mark.parametrize(
    ("count", "deadline", "change", "sizes"),
    [
        (10_000, None, "ADD", [4, 2, 4, 3, 3]),
        (10_001, None, "ADD", [4]),
        (10_001, inf, "ADD", [4, 2, 4, 3, 3]),
        (10_001, None, "DROP", [0, 2, 3, 3, 2]),
    ],
)
def test_of_very_many_rows_all_sites_of_a_rule_are_tried_or_none(
    monkeypatch: pytest.MonkeyPatch, count: int, deadline: float, change: str, sizes: list[int]
) -> None:
    """A trial of them takes seconds. It does not matter how many a rule makes of them."""
    private: Any = rewrite_search
    asked: list[int] = []

    def tried(_: object, trial: dict[str, frozenset[int]]) -> Schedule:
        asked.append(len(trial["rule"]))
        return Schedule(
            tuple(range(10_001)), 5 if trial["rule"] == frozenset({0, 1}) else 9, 5, "flow"
        )

    monkeypatch.setattr(private._Search, "candidate", tried)
    best = Schedule(tuple(range(count)), 5, 5, "flow")
    taken = {"rule": frozenset(range(4) if change == "DROP" else ())}
    search = private._Search(None, deadline, best, True, 5, {}, None, work=10**9, taken=taken)
    search.change("rule", getattr(private, change), range(4))
    assert asked == sizes
    assert search.taken["rule"] == (set() if len(sizes) == 1 else {0, 1})


def test_an_answer_for_fewer_bytes_is_taken_again_only_where_it_tells(fuzz: float) -> None:
    """Where a search ended early its order is any."""
    private: Any = rewrite_search
    rng, taken, again = Random(4), 0, 0
    for _ in range(max(100, int(300 * fuzz))):
        graph = random_graph(rng, 7, negative=False)
        least = optimum(graph)
        limit = max(0, rng.choice((trivial(graph) - 1, least - 1, least + 4)))
        asked = schedule(graph, "auto", most=limit)
        most = max(0, rng.choice((least - 1, least, asked.peak)))
        best = Schedule((), 0, 0, "flow")
        search = private._Search(None, None, best, True, most, {"text": (limit, asked)}, None)
        answer = search.known("text")
        again += answer is None
        if answer is not None and answer.peak <= most:
            assert answer.peak == least, (graph, limit, most)
            taken += 1
        elif answer is not None:
            assert least > most, (graph, limit, most)
    assert taken and again


def test_sites_that_make_a_known_text_are_known_as_far_as_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    private: Any = rewrite_search
    bound = Schedule((), 9, 7, "none")

    def as_text(*_: object) -> str:
        return "text"

    for name in ("rewritten", "text_of"):
        monkeypatch.setattr(private, name, as_text)
    search = private._Search(None, None, bound, True, 6, {"text": (4, bound)}, None)
    assert search.candidate({"rule": frozenset({1})}) is bound
    assert search.asked[frozenset({("rule", 1)})] == (4, bound)
