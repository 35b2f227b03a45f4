# pyright: basic
"""Subgraphs as functions: which operators they have, by a definition over all ways, and that they
compute what the whole function does."""

from random import Random

import numpy as np
import pytest
from xdsl.parser import Parser
from xdsl.utils.arg_spec import parse_pipeline

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli.arguments import shorthand_text
from memopt.compile.driver import check_module, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.names import name_of
from memopt.passes.memgraph_extract import MemgraphExtractPass

FULL = 10_000  # functions


def network(rng: Random) -> tuple[str, dict[str, list[str]]]:
    """A function of up to eight operators over two arguments and a constant; what each reads."""
    reads: dict[str, list[str]] = {"a": [], "b": [], "c": []}
    lines = ["%c = memgraph.constant dense<0.5> : tensor<3xf32>"]
    for k in range(rng.randint(1, 8)):
        values = rng.choices(list(reads), k=rng.randint(1, 2))
        kind = rng.choice(("add", "sub", "mul") if len(values) > 1 else ("relu", "tanh"))
        types = ", ".join(["tensor<3xf32>"] * len(values))
        operands = ", ".join(f"%{v}" for v in values)
        lines.append(f"%v{k} = memgraph.{kind} {operands} : ({types}) -> tensor<3xf32>")
        reads[f"v{k}"] = values
    returned = rng.sample([v for v in reads if v != "c"], rng.randint(1, 2))
    types = ", ".join(["tensor<3xf32>"] * len(returned))
    lines.append(f"func.return {', '.join(f'%{v}' for v in returned)} : {types}")
    head = f"func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> ({types})"
    return f"{head} {{\n{chr(10).join(lines)}\n}}", {**reads, "": returned}


def ways(reads: dict[str, list[str]], start: str, end: str) -> list[tuple[str, ...]]:
    """Every way from one tensor to another, without the first."""
    return [(*way, end) for v in reads[end] for way in [()] * (v == start) + ways(reads, start, v)]


def is_constant(reads: dict[str, list[str]], name: str) -> bool:
    return name == "c" or (bool(reads[name]) and all(is_constant(reads, v) for v in reads[name]))


def test_against_all_ways(fuzz: float) -> None:
    rng = Random(5)
    taken = refused = 0
    for _ in range(max(150, int(FULL * fuzz))):
        text, reads = network(rng)
        named = [v for v in reads if v]
        count = min(len(named), rng.choice((1, 1, 2)))
        starts, ends = rng.sample(named[:4], count), rng.sample(named[-4:], count)
        between = {v for s in starts for e in ends for way in ways(reads, s, e) for v in way}
        led = all(any(ways(reads, s, e) for e in ends) for s in starts)
        led = led and all(any(ways(reads, s, e) for s in starts) for e in ends)
        module = Parser(new_context(), text).parse_module()
        inputs = [np.array([rng.uniform(-2, 2) for _ in range(3)], np.float32) for _ in range(2)]
        arrays_before = {
            name_of(v): array
            for v, array in evaluate(only_function(module), Weights({}), inputs).items()
        }
        try:
            MemgraphExtractPass(tuple(starts), tuple(ends)).apply(new_context(), module)
        except MemoptError:
            assert not led or any(is_constant(reads, s) for s in starts)
            refused += 1
            continue
        assert led
        taken += 1
        check_module(module)
        func = only_function(module)
        block = body_of(func)
        names = {name_of(r) for op in block.ops for r in op.results}
        assert {v for v in names if not is_constant(reads, v)} == between
        arguments = [name_of(v) for v in block.args]
        outer = {v for b in between for v in reads[b]} - between
        assert sorted(arguments) == sorted(v for v in outer if not is_constant(reads, v))
        last = block.last_op
        assert last is not None
        results = [name_of(v) for v in last.operands]
        outside = {v for n, values in reads.items() if n not in between for v in values}
        assert sorted(results) == sorted(between & (outside | set(ends)))
        arrays = evaluate(func, Weights({}), [arrays_before[v] for v in arguments])
        for value in last.operands:
            assert np.array_equal(arrays[value], arrays_before[name_of(value)])
    assert taken > 20 and refused > 20


@pytest.mark.parametrize(
    "name", ["a.b", "x;0", "it's", "x[0]", "\N{GREEK SMALL LETTER ALPHA}", "1.5", "true", "7"]
)
def test_names_of_the_shorthand(name: str) -> None:
    (spec,) = parse_pipeline(shorthand_text("extract", f"from={name},to=y"))
    assert spec.parameters == {"from": (name,), "to": ("y",)}
