"""Virtual tensors, concatenations, slices, functions and sums: the least peak
by a definition of its own, the same numbers, and never more bytes than with a buffer for
the whole."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import alias_lists
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.plan.planned import read_plan
from memopt.rewrites import Sites, apply_rules
from memopt.verify.plan import verify_plan

FULL = 2_000  # networks
GATHER = ("gather",)
SLICES = (
    "gather",
    "slice-as-view",
    "slice-by-readers",
    "function-by-readers",
    "residual-epilogue",
)

Shape = tuple[int, int, int]


def network(rng: Random, slices: bool) -> str:
    """Up to six operators, the concatenations and slices between them, one or two results."""
    shapes: dict[str, Shape] = {"x": (2, 2, rng.randint(1, 3))}
    lines: list[str] = []

    def type_of(name: str) -> str:
        return f"tensor<1x{'x'.join(map(str, shapes[name]))}xf32, #memgraph.encoding<nhwc>>"

    def line(names: Sequence[str], text: str, operands: Sequence[str]) -> None:
        made = ", ".join(map(type_of, names))
        ends = f"({', '.join(map(type_of, operands))}) -> ({made})"
        lines.append(f"{', '.join(f'%{n}' for n in names)} = memgraph.{text} : {ends}")

    for k in range(rng.randint(2, 5 if slices else 6)):
        known, kind = list(shapes), rng.random()
        if kind < 0.6:
            image = rng.choice(known)
            alike = [v for v in known if shapes[v][:2] == shapes[image][:2]]
            parts = [rng.choice(alike) for _ in range(rng.randint(2, 3))]
            shapes[f"c{k}"] = *shapes[image][:2], sum(shapes[p][2] for p in parts)
            line([f"c{k}"], f"concat {', '.join(f'%{p}' for p in parts)} axis 3", parts)
            known.append(f"c{k}")
        if slices and kind > 0.3:
            name = rng.choice(known[-2:])
            axis = rng.choice((0, 2, 2, 2))
            size = shapes[name][axis]
            first = rng.randint(0, size - 1)

            def cut(name: str, axis: int, count: int) -> Shape:
                h, w, c = (count if i == axis else d for i, d in enumerate(shapes[name]))
                return h, w, c

            if rng.random() < 0.3 and first:
                shapes[f"a{k}"], shapes[f"b{k}"] = (
                    cut(name, axis, first),
                    cut(name, axis, size - first),
                )
                line([f"a{k}", f"b{k}"], f"split %{name} axis {axis + 1}", [name])
                known += [f"a{k}", f"b{k}"]
            else:
                shapes[f"a{k}"] = cut(name, axis, size - first)
                starts = [0, *(first if i == axis else 0 for i in range(3))]
                line([f"a{k}"], f"slice %{name} starts {starts} strides [1, 1, 1, 1]", [name])
                known.append(f"a{k}")
        if slices and rng.random() < 0.3:
            name = rng.choice(known[-2:])
            c, other = shapes[name][2], rng.choice([v for v in known if shapes[v] == shapes[name]])
            weights, made = f"tensor<{c}x1x1x{c}xf32, #memgraph.encoding<ohwi>>", type_of(name)
            lines.append(f"%w{k} = memgraph.constant dense<5.0e-01> : {weights}")
            conv = f"memgraph.conv_2d %{name}, %w{k} window<[1, 1]> groups 1"
            lines.append(f"%m{k} = {conv} : ({made}, {weights}) -> {made}")
            shapes[f"m{k}"] = shapes[f"s{k}"] = shapes[name]
            line([f"s{k}"], f"add %m{k}, %{other}", [name, other])
            known.append(f"s{k}")
        source = rng.choice(known[-1 if slices else -3 :])
        shapes[f"v{k}"] = shapes[source]
        line([f"v{k}"], rng.choice(KINDS).replace("%", f"%{source}"), [source])
    results = rng.sample([n for n in shapes if n != "x"], 1 + (rng.random() < 0.3))
    results = list(dict.fromkeys([list(shapes)[-1], *results]))[:2]
    returned = ", ".join(f"%{r}" for r in results)
    types = ", ".join(map(type_of, results))
    body = "\n  ".join([*lines, f"func.return {returned} : {types}"])
    return f"func.func @main(%x: {type_of('x')}) -> ({types}) {{\n  {body}\n}}"


KINDS = ("relu %", "tanh %", "max_pool_2d % window<[1, 1]>")


def module_of(
    text: str, inplace: str, rules: Sequence[str]
) -> tuple[ModuleOp, FuncOp, Counter[str]]:
    module = load_text(new_context(), text, "net.mlir")
    func = only_function(module)
    sites = Sites()
    if rules:
        apply_rules(func, rules, sites=sites)
    model = MemgraphModelPass("generic", alignment=1, inplace=inplace)
    model.apply(Context(), module)
    return module, func, sites.changed


def shows(op: Operation) -> bool:
    """Whether results are no bytes of their own: who reads them keeps all operands alive."""
    return any(a.kind.data in ("virtual", "slice") for its in alias_lists(op) for a in its)


def least_peak(func: FuncOp) -> int:
    """Over all orders: what is read now or later, or returned, and what is made, at each step."""
    known = ReturnOp | ConstantOp
    operations = [op for op in func.body.block.ops if not isinstance(op, known)]
    running = [op for op in operations if not shows(op)]
    last = func.body.block.last_op
    assert last is not None

    def parts(value: SSAValue) -> set[SSAValue]:
        owner = value.owner
        if isinstance(owner, ConstantOp):
            return set()
        if isinstance(owner, Operation) and shows(owner):
            return set[SSAValue]().union(*map(parts, owner.operands))
        return {value}

    reads = {op: set[SSAValue]().union(*map(parts, op.operands)) for op in running}
    kept = set[SSAValue]().union(*map(parts, last.operands))
    size: Callable[[SSAValue], int] = lambda v: bytes_of(v.type) or 0  # noqa: E731
    first = set[SSAValue](func.body.block.args)
    bits = range(len(running))

    @cache
    def least(done: int) -> int:
        """Of the steps that come after those of the set."""
        made = first.union(*(running[k].results for k in bits if done >> k & 1))
        later = kept.union(*(reads[running[k]] for k in bits if not done >> k & 1))
        held = sum(size(v) for v in made if v in later or (not done and not v.uses))
        nexts = [k for k in bits if not done >> k & 1 and reads[running[k]] <= made]
        return min(
            (max(held + sum(map(size, running[k].results)), least(done | 1 << k)) for k in nexts),
            default=0,
        )

    return least(0)


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


@pytest.mark.deep
def test_the_least_peak_is_that_of_the_definition(fuzz: float) -> None:
    rng, fired, lower = Random(5), Counter[str](), 0
    for n in range(max(60, int(FULL * fuzz))):
        rules = SLICES if n % 2 else GATHER
        text = network(rng, rules is SLICES)
        module, func, changed = module_of(text, "off", rules)
        whole, before, _ = module_of(text, "off", ())
        shape = shape_of(func.body.block.args[0])
        value = np.random.default_rng(n).standard_normal(shape).astype(np.float32)
        for a, b in zip(results(before, value), results(func, value), strict=True):
            assert (a == b).all()
        expected = least_peak(func)
        assert planned_peak(module, func) == expected, text
        unchanged = planned_peak(whole, before)
        assert expected <= unchanged or rules is SLICES, text
        fired += changed
        lower += expected < unchanged
    assert min(fired[rule] for rule in SLICES) > 5 and lower > 5, (fired, lower)


@pytest.mark.deep
def test_nothing_takes_the_place_of_a_part_that_is_read_elsewhere_too(fuzz: float) -> None:
    """Results over dying operands: the verifier agrees with every plan."""
    rng, fired = Random(6), Counter[str]()
    for n in range(max(90, int(FULL * fuzz))):
        rules = SLICES if n % 2 else GATHER
        module, func, changed = module_of(network(rng, rules is SLICES), "on", rules)
        planned_peak(module, func)
        fired += changed
    assert min(fired[rule] for rule in SLICES) > 5, fired
