"""What is gathered by its readers: the least peak by a definition of its own, the same numbers, and
never more bytes than with a buffer for the whole."""

from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.functions import only_function
from memopt.dialects.plan import is_gathered
from memopt.dialects.tensors import bytes_of, shape_of
from memopt.driver import load_text, new_context
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.planned import read_plan
from memopt.rewrites import apply_rules
from memopt.verify.plan import verify_plan


def network(rng: Random) -> str:
    """Up to six operators and the concatenations between them, one or two results."""
    channels = {"x": rng.randint(1, 3)}
    lines: list[str] = []

    def type_of(name: str) -> str:
        return f"tensor<1x2x2x{channels[name]}xf32, #memgraph.encoding<nhwc>>"

    for k in range(rng.randint(2, 6)):
        known = list(channels)
        if rng.random() < 0.6:
            parts = [rng.choice(known) for _ in range(rng.randint(2, 3))]
            name = f"c{k}"
            channels[name] = sum(channels[p] for p in parts)
            types = ", ".join(map(type_of, parts))
            operands = ", ".join(f"%{p}" for p in parts)
            ends = f"({types}) -> {type_of(name)}"
            lines.append(f"%{name} = memgraph.concat {operands} axis 3 : {ends}")
            known.append(name)
        source, name = rng.choice(known[-3:]), f"v{k}"
        channels[name] = channels[source]
        ends = f"({type_of(source)}) -> {type_of(name)}"
        kind, window = rng.choice((("relu", ""), ("tanh", ""), ("max_pool_2d", " window<[1, 1]>")))
        lines.append(f"%{name} = memgraph.{kind} %{source}{window} : {ends}")
    results = rng.sample([n for n in channels if n != "x"], 1 + (rng.random() < 0.3))
    results = list(dict.fromkeys([list(channels)[-1], *results]))[:2]
    returned = ", ".join(f"%{r}" for r in results)
    types = ", ".join(map(type_of, results))
    body = "\n  ".join([*lines, f"func.return {returned} : {types}"])
    return f"func.func @main(%x: {type_of('x')}) -> ({types}) {{\n  {body}\n}}"


def module_of(text: str, inplace: str, gathered: bool) -> tuple[ModuleOp, FuncOp, bool]:
    module = load_text(new_context(), text, "net.mlir")
    func = only_function(module)
    fired = gathered and apply_rules(func, ("gather",))
    model = MemgraphModelPass("generic", alignment=1, inplace=inplace)
    model.apply(Context(), module)
    return module, func, fired


def least_peak(func: FuncOp) -> int:
    """Over all orders: what is read later, or returned, and what is made, at each step."""
    operations = [op for op in func.body.block.ops if not isinstance(op, ReturnOp)]
    running = [op for op in operations if not is_gathered(op)]
    last = func.body.block.last_op
    assert last is not None

    def parts(value: SSAValue) -> set[SSAValue]:
        owner = value.owner
        if isinstance(owner, Operation) and is_gathered(owner):
            return set[SSAValue]().union(*map(parts, owner.operands))
        return {value}

    reads = {op: set[SSAValue]().union(*map(parts, op.operands)) for op in running}
    kept = set(last.operands)
    size: Callable[[SSAValue], int] = lambda v: bytes_of(v.type) or 0  # noqa: E731
    best: int | None = None
    for order in permutations(running):
        made: set[SSAValue] = set(func.body.block.args)
        peak = 0
        for step, op in enumerate(order):
            if not reads[op] <= made:
                break
            later = kept.union(*(reads[o] for o in order[step:]))
            live = {v for v in made if v in later or (step == 0 and not v.uses)} | set(op.results)
            peak = max(peak, sum(map(size, live)))
            made |= set(op.results)
        else:
            best = peak if best is None else min(best, peak)
    assert best is not None
    return best


def planned_peak(module: ModuleOp, func: FuncOp) -> int:
    MemgraphSchedulePass("auto").apply(Context(), module)
    MemgraphPlacePass("exact").apply(Context(), module)
    verify_plan(func, placed=True)
    facts = read_plan(func)
    assert facts is not None and facts.facts is not None
    assert facts.facts.proof != "none" and facts.facts.peak == facts.facts.lower_bound
    return facts.facts.peak


def results(func: FuncOp, value: Any) -> list[Any]:
    values = evaluate(func, Weights({}), [value])
    last = func.body.block.last_op
    assert last is not None
    return [values[v] for v in last.operands]


def test_the_least_peak_is_that_of_the_definition(fuzz: float) -> None:
    rng, fired, lower = Random(5), 0, 0
    for _ in range(max(40, int(2_000 * fuzz))):
        text = network(rng)
        module, func, changed = module_of(text, "off", True)
        whole, before, _ = module_of(text, "off", False)
        shape = shape_of(func.body.block.args[0])
        value = np.random.default_rng(fired).standard_normal(shape).astype(np.float32)
        for a, b in zip(results(before, value), results(func, value), strict=True):
            assert (a == b).all()
        expected = least_peak(func)
        assert planned_peak(module, func) == expected, text
        unchanged = planned_peak(whole, before)
        assert expected <= unchanged, text
        fired += changed
        lower += expected < unchanged
    assert fired > 10 and lower > 5, (fired, lower)


def test_nothing_takes_the_place_of_a_part_that_is_read_elsewhere_too(fuzz: float) -> None:
    """Results over dying operands: the verifier agrees with every plan."""
    rng, fired = Random(6), 0
    for _ in range(max(40, int(2_000 * fuzz))):
        module, func, changed = module_of(network(rng), "on", True)
        planned_peak(module, func)
        fired += changed
    assert fired > 10, fired
