"""Every rule of rewrites/ is tested by its docstring: what it makes of what, and what it leaves.

Nothing here knows a rule by name: a new file in rewrites/ is a new row of these tests.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.attributes import SourceAttr
from memopt.dialects.functions import functions, only_function
from memopt.dialects.range_attribute import declared_range
from memopt.dialects.stored import numpy_dtype
from memopt.dialects.structure import OpaqueOp
from memopt.dialects.tensors import is_buffer
from memopt.driver import new_context
from memopt.rewrites import RULES, SOURCE, apply_rules, rule_of
from memopt.text import module_text, parse_module

BLOCK = re.compile(r"^(Before|After|Left alone):\n((?:    .*\n|\n)+)", re.MULTILINE)
DRAWS = 20  # random inputs of every example


@dataclass(frozen=True)
class Example:
    """IR of a docstring: `after` is None where a rule leaves `before` alone."""

    rule: str
    number: int
    before: str
    after: str | None

    def __str__(self) -> str:
        return f"{self.rule}-{'alone' if self.after is None else 'before'}{self.number}"


def examples(rule: str) -> Iterator[Example]:
    """The blocks of a rule's docstring. Every `Before` has its `After` right behind it."""
    spec = find_spec(RULES[rule])
    assert spec is not None and spec.origin is not None
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text()), clean=False)
    blocks = BLOCK.findall((text or "") + "\n")
    assert len(blocks) == (text or "").count("func.func"), f"{rule}: a block of another name"
    waiting = None
    for number, (kind, body) in enumerate(blocks):
        assert (kind == "After") == (waiting is not None), f"{rule}: block {number}, {kind}"
        if kind == "After":
            assert waiting is not None
            types = "".join(re.findall(r"^ *!\w+ = .*\n", waiting, re.MULTILINE))
            yield Example(rule, number - 1, waiting, types + body)
        elif kind == "Left alone":
            yield Example(rule, number, body, None)
        waiting = body if kind == "Before" else None
    assert waiting is None, f"{rule}: a Before without its After"


EXAMPLES = [e for rule in RULES for e in examples(rule)]
CHANGED = [e for e in EXAMPLES if e.after is not None]


def parsed(text: str) -> ModuleOp:
    module = parse_module(new_context(), text, "docstring.mlir")
    module.verify()
    return module


def plain(module: ModuleOp) -> str:
    """The module's text without the names of its values."""
    copy = module.clone()
    for op in copy.walk():
        values: list[SSAValue] = [
            *op.results,
            *(a for r in op.regions for b in r.blocks for a in b.args),
        ]
        for value in values:
            value.name_hint = None
    return module_text(copy)


def applied(example: Example) -> ModuleOp:
    module = parsed(example.before)
    assert apply_rules(module, (example.rule,)) == (example.after is not None)
    module.verify()
    return module


@pytest.mark.parametrize("rule", RULES)
def test_a_docstring_shows_what_a_rule_does_and_what_it_leaves(rule: str) -> None:
    assert rule_of(rule).exact in ("bits", "rounding")
    found = [e.after is None for e in examples(rule)]
    assert True in found and False in found


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_before_becomes_after(example: Example) -> None:
    expected = example.before if example.after is None else example.after
    module = applied(example)
    assert plain(module) == plain(parsed(expected))
    assert not apply_rules(module, (example.rule,))  # all of it the first time


@pytest.mark.parametrize("example", CHANGED, ids=str)
def test_what_a_rule_changed_is_no_operator_of_the_file(example: Example) -> None:
    """A writer copies an operation with a `memgraph.source` from the file as it stands there."""

    def content(op: Operation) -> tuple[object, ...]:
        own = {
            k: v for k, v in op.attributes.items() if k not in ("memgraph.names", "memgraph.alias")
        }
        shapes = [
            t.get_shape()
            for t in (*op.operand_types, *op.result_types)
            if isinstance(t, TensorType)
        ]
        return op.name, dict(op.properties), own, shapes

    module = parsed(example.before)
    operators = [op for f in functions(module) for op in f.body.block.ops]
    for number, op in enumerate(operators):
        op.attributes[SOURCE] = SourceAttr(0, number, ())
    stood = {op.attributes[SOURCE]: content(op) for op in operators}
    apply_rules(module, (example.rule,))
    for op in (op for f in functions(module) for op in f.body.block.ops):
        if SOURCE in op.attributes:
            assert content(op) == stood[op.attributes[SOURCE]]


# -- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", CHANGED, ids=str)
def test_before_and_after_compute_the_same(example: Example) -> None:
    before, after = parsed(example.before), applied(example)
    if any(isinstance(op, OpaqueOp) for op in before.walk()):
        pytest.skip("an opaque operator has no numbers: nobody knows what it computes")
    for seed in range(DRAWS):
        inputs = draw(before, seed)
        for a, b in zip(outputs(before, inputs), outputs(after, inputs), strict=True):
            compare(a, b, rule_of(example.rule).exact)


def draw(module: ModuleOp, seed: int) -> list[Any]:
    """Random inputs of the only function: of int8 every value, of int32, biases, small ones, of
    reals those of a declared range."""
    random: Any = np.random.default_rng(seed)
    found: list[Any] = []
    for argument in only_function(module).body.block.args:
        assert is_buffer(argument.type)
        type_: Any = argument.type
        dtype = numpy_dtype(type_.element_type)[0]
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            low, high = max(limits.min, -1_000), min(limits.max, 1_000)
            found.append(random.integers(low, high + 1, type_.get_shape()).astype(dtype))
        elif (ends := declared_range(argument)) is not None:
            found.append(random.uniform(*ends, type_.get_shape()).astype(dtype))
        else:
            found.append(random.normal(scale=4, size=type_.get_shape()).astype(dtype))
    return found


def outputs(module: ModuleOp, inputs: Sequence[Any]) -> list[Any]:
    """What the only function returns."""
    func = only_function(module)
    values = evaluate(func, Weights.of(module), inputs)
    returned = func.get_return_op()
    assert returned is not None
    return [values[v] for v in returned.operands]


def compare(a: Any, b: Any, exact: str) -> None:
    assert a.dtype == b.dtype and a.shape == b.shape
    if a.dtype.kind == "f":
        np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-6 * max(np.abs(a).max(), 1e-30))
    else:
        off = np.abs(a.astype(np.int64) - b.astype(np.int64)).max(initial=0)
        assert off <= (1 if exact == "rounding" else 0)
