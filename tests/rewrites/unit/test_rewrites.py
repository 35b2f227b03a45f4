"""Every rule of rewrites/ is tested by its docstring: what it makes of what, and what it leaves.

Nothing here knows a rule by name: a new file in rewrites/ is a new row of these tests. What of a
rule's conditions would take too long to show there stands in `left_alone/`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from rule_examples import LEFT_ALONE, Example, examples, parsed, plain
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.stored import numpy_dtype
from memopt.dialects.attributes.input_range import declared_range
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.functions import functions, only_function
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import is_buffer
from memopt.rewrites import EVERY, RULES, SOURCE, apply_rules, is_met, kinds_in, rule_of

DRAWS = 20  # random inputs of every example, in full


EXAMPLES = [e for rule in RULES for e in examples(rule)]
CHANGED = [e for e in EXAMPLES if e.after is not None]


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


def test_what_is_left_alone_is_of_a_rule() -> None:
    assert {path.stem for path in LEFT_ALONE.iterdir()} <= set(RULES)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_before_becomes_after(example: Example) -> None:
    expected = example.before if example.after is None else example.after
    module = applied(example)
    assert plain(module) == plain(parsed(expected))
    assert not apply_rules(module, (example.rule,))  # all of it the first time


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_says_itself_what_it_needs(rule: str) -> None:
    assert "needs" in vars(rule_of(rule))


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_rule_does_nothing_where_all_that_it_needs_is_missing(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ask the rules that need other operations all the same."""
    module = parsed(example.before)
    kinds = kinds_in(module)
    unmet = [rule for rule in RULES if not is_met(rule_of(rule), kinds)]
    assert unmet and example.rule not in unmet  # or the example shows nothing of the rule
    for rule in unmet:
        monkeypatch.setattr(rule_of(rule), "needs", EVERY)
        assert not apply_rules(module, (rule,)), rule


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
def test_before_and_after_compute_the_same(example: Example, fuzz: float) -> None:
    before, after = parsed(example.before), applied(example)
    if any(isinstance(op, OpaqueOp) for op in before.walk()):
        pytest.skip("an opaque operator has no numbers: nobody knows what it computes")
    for seed in range(max(5, int(DRAWS * fuzz))):
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
