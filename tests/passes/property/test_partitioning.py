"""Operators that are cut along channels, in random networks of int8, uint8, of integers rounded as
ONNX's, and of floats: the same numbers."""

from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from channel_networks import INT8, Steps, bottleneck, sparse_network, sparse_text
from row_steps import convolution, copied, depthwise, function, pool, resized, side_by_side
from row_text import Rng, Text
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import dtype_of, is_stored
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import makes_virtual
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.operators.accumulation import AccumulateOp
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.plan.planned import read_plan
from memopt.rewrites import Sites, apply_rules
from memopt.verify.plan import verify_plan

FULL = 2_000  # networks
LEAST = 500  # operators that each rule cuts in the full count
RULES = ("kernel-wise", "channel-wise")


def joined(net: Text, readers: Steps = (depthwise, pool)) -> None:
    """Two or three tensors beside one another, perhaps joined themselves, and what reads them."""
    side_by_side(net)
    for _ in range(net.pick(1, 2)):
        net.pick(*readers)(net)
    convolution(net)


def functions(net: Text) -> None:
    joined(net, (function, resized, depthwise))


PLAIN = (joined, joined, depthwise, pool, convolution)
STEPS = (*PLAIN, functions, functions, *(s for s in INT8 if s is not copied))
KINDS = ("", "", "tflm_double", "onnx_even", "float")


def network(rng: Rng, kind: str) -> ModuleOp:
    if kind == "float":
        return load_text(new_context(), sparse_text(rng, 1, PLAIN, quantized=False), "net.mlir")
    return sparse_network(rng, 1, kind, steps=PLAIN if kind else STEPS)


def results(module: ModuleOp, value: Any) -> list[Any]:
    func = only_function(module)
    values = evaluate(func, Weights({}), [value])
    last = func.get_return_op()
    assert last is not None
    return [values[v] for v in last.operands]


@pytest.mark.deep
def test_an_operator_for_each_part_computes_the_same(fuzz: float) -> None:
    fired = Counter[str]()
    for n in range(max(25, int(FULL * fuzz))):
        rng = np.random.default_rng(n)
        kind = KINDS[n % len(KINDS)]
        module = network(rng, kind)
        after, sites = module.clone(), Sites()
        apply_rules(after, RULES, sites=sites)
        after.verify()
        fired += sites.changed
        if not sites.changed:
            continue
        x = only_function(module).body.block.args[0]
        image = rng.integers(0, 127, shape_of(x)).astype(dtype_of(x))
        for a, b in zip(results(module, image), results(after, image), strict=True):
            assert a.dtype == b.dtype
            if sites.changed["channel-wise"] and kind == "float":
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5 * np.abs(a).max())
            else:
                assert (a == b).all(), n
    least = LEAST if fuzz >= 1 else 5
    assert all(fired[rule] >= least for rule in RULES), fired


# -- memory -------------------------------------------------------------------------------------

Buffer = SSAValue | AccumulateOp
"""A tensor, or all partial sums of what adds them up."""


def buffers(value: SSAValue) -> frozenset[Buffer]:
    """Where the elements of a value lie."""
    op = value.owner
    if isinstance(op, AccumulateOp) and not is_stored(op.result):
        return frozenset([op])
    if isinstance(op, ComputeOp) and makes_virtual(op):
        return frozenset[Buffer]().union(*map(buffers, op.operands))
    for use in value.uses:
        if isinstance(use.operation, AccumulateOp) and value in use.operation.sums:
            return frozenset([use.operation])
    return frozenset([value])


def size_of(buffer: Buffer) -> int:
    value = buffer.sums[0] if isinstance(buffer, AccumulateOp) else buffer
    return bytes_of(value.type) or 0


def runs(op: Operation) -> bool:
    finished = isinstance(op, AccumulateOp) and not is_stored(op.result)
    return isinstance(op, ComputeOp) and not makes_virtual(op) and not finished


def makers(value: SSAValue) -> frozenset[Operation]:
    op = value.owner
    if not isinstance(op, Operation):
        return frozenset()
    return frozenset([op]) if runs(op) else frozenset[Operation]().union(*map(makers, op.operands))


def least_peak(func: FuncOp) -> int:
    """Over all orders: what is written and will be touched, or is returned, and what is written
    now, at each step."""
    constant = [
        op
        for op in func.body.block.ops
        if op.results and is_constant_expression(op.results[0], GENERIC)
    ]
    known = {v for op in constant for v in op.results}
    last = func.get_return_op()
    assert last is not None
    running = [op for op in func.body.block.ops if runs(op) and op not in constant]
    number = {op: k for k, op in enumerate(running)}
    empty: frozenset[Buffer] = frozenset()
    nothing: frozenset[int] = frozenset()
    reads = [empty.union(*(buffers(v) for v in op.operands if v not in known)) for op in running]
    writes = [empty.union(*map(buffers, op.results)) for op in running]
    first = [
        frozenset(number[m] for v in op.operands if v not in known for m in makers(v))
        for op in running
    ]
    for op in func.body.block.ops:
        if isinstance(op, AccumulateOp) and not is_stored(op.result):
            at = [number[v.owner] for v in op.sums if isinstance(v.owner, Operation)]
            for before, after in pairwise(at):
                first[after] |= {before}
    kept = empty.union(*map(buffers, last.operands))
    given = frozenset[Buffer](func.body.block.args)

    @cache
    def least(done: frozenset[int]) -> int:
        rest = [k for k in range(len(running)) if k not in done]
        made = given.union(*(writes[k] for k in done))
        later = kept.union(*(reads[k] | writes[k] for k in rest))
        held = made & later
        steps = [k for k in rest if first[k] <= done]
        return min(
            (max(sum(map(size_of, held | writes[k])), least(done | {k})) for k in steps),
            default=sum(map(size_of, held)),
        )

    return least(nothing)


def planned_peak(module: ModuleOp, inplace: str) -> int:
    MemgraphModelPass("generic", alignment=1, inplace=inplace).apply(Context(), module)
    MemgraphSchedulePass("auto").apply(Context(), module)
    MemgraphPlacePass("exact").apply(Context(), module)
    verify_plan(only_function(module), placed=True)
    facts = read_plan(only_function(module))
    assert facts is not None and facts.facts is not None
    assert facts.facts.proof != "none" and facts.facts.peak == facts.facts.lower_bound
    return facts.facts.peak


@pytest.mark.deep
def test_the_least_peak_of_sums_in_place_is_that_of_the_definition(fuzz: float) -> None:
    fired, lower = Counter[str](), 0
    for n in range(max(12, int(FULL * fuzz / 2))):
        text = sparse_text(np.random.default_rng(n), 1, (bottleneck, pool), quantized=n % 2 > 0)
        module, sites = load_text(new_context(), text, "net.mlir"), Sites()
        whole = planned_peak(module.clone(), "off")
        apply_rules(module, RULES[n % 3 :] or ("gather",), sites=sites)
        apply_rules(module, ("gather",))
        fired += sites.changed
        found = planned_peak(module.clone(), "off")
        assert found == least_peak(only_function(module)), text
        assert planned_peak(module.clone(), "on") <= found
        lower += found < whole
    assert min(fired[rule] for rule in RULES) > 5 and lower > 3, (fired, lower)
