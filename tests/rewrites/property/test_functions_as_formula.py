"""`functions-as-formula` over random functions of a real number: the same numbers, to the bit."""

import random
from collections import Counter

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.formula import CALLS, REGISTERS, registers_of, steps_of
from memopt.rewrites import apply_rules
from memopt.text.ir_text import parse_module

CASES = 2_000
TWO = [name for name, op in CALLS.items() if issubclass(op, BinaryOp)]
ONE = [name for name in CALLS if name not in TWO]


def drawn(rng: random.Random) -> str:
    """A random graph of functions of one tensor, sometimes of two, and of numbers."""
    lines, values = list[str](), ["%x"]
    for k in range(rng.randint(2, 9)):
        first = values[-1] if rng.random() < 0.9 else rng.choice(values)
        if rng.random() < 0.4:
            lines.append(f"%{k} = memgraph.{rng.choice(ONE)} {first} : (!f) -> !f")
        else:
            second = rng.choice(("%x", "%x", values[-1], "%c", "%d", rng.choice(("%x", "%z"))))
            of = "(!f, !c)" if second in ("%c", "%d") else "(!f, !f)"
            kind = rng.choice((*TWO, "mul", "mul"))
            ends = rng.choice(("", "", "", " activation<relu>"))
            ends = "" if kind not in ("add", "sub", "mul", "div") else ends
            lines.append(f"%{k} = memgraph.{kind} {first}, {second}{ends} : {of} -> !f")
        values.append(f"%{k}")
    return "\n".join(
        [
            "!f = tensor<2x3x32xf32>",
            "!c = tensor<1xf32>",
            "func.func @main(%x: !f, %z: !f) -> !f {",
            f"%c = memgraph.constant dense<{rng.choice((0.5, 3.0, -1.25))}> : !c",
            f"%d = memgraph.constant dense<{rng.choice((0.0, 1.0, 6.0))}> : !c",
            *lines,
            f"func.return {values[-1]} : !f",
            "}",
        ]
    )


def result(module: ModuleOp, given: list[Array]) -> Array:
    """Evaluate the only function and return what it returns."""
    func = only_function(module)
    with np.errstate(all="ignore"):
        values = evaluate(func, Weights.of(module), given)
    (end,) = [op for op in body_of(func).ops if op.name == "func.return"]
    return values[end.operands[0]]


def test_a_formula_computes_what_its_operators_did(fuzz: float) -> None:
    rng, count = random.Random(5), Counter[str]()
    for seed in range(int(CASES * fuzz)):
        text = drawn(rng)
        before, after = (parse_module(new_context(), text, "case.mlir") for _ in range(2))
        if not apply_rules(after, ("functions-as-formula",)):
            count["stays"] += 1
            continue
        after.verify()
        assert not apply_rules(after, ("functions-as-formula",)), text
        numbers = np.random.default_rng(seed)
        given = [3 * numbers.normal(size=(2, 3, 32)).astype(np.float32) for _ in range(2)]
        np.testing.assert_array_equal(result(after, given), result(before, given), text)
        count["formula"] += 1
    assert min(count["stays"], count["formula"]) > 0.1 * CASES * fuzz, count


@pytest.mark.parametrize(
    "text, why",
    [
        ("mul(x, logistic(x)", "is no formula"),
        ("x", "computes nothing"),
        ("mul(x, y)", "'y' is no formula of x"),
        ("mul(x)", "is no formula of x"),
        ("tanh(2.0)", "is no formula of x"),
        ("mul(x, 2)", "'2' is no formula of x"),
        ("conv_2d(x, x)", "is no formula of x"),
        ("mul(x, 1e999)", "is no formula of x"),
        ("mul(x, -1e999)", "is no formula of x"),
    ],
)
def test_what_is_no_formula(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("(", r"\(").replace(")", r"\)")):
        steps_of(text)


def test_what_stands_twice_is_computed_once() -> None:
    steps = steps_of("mul(tanh(add(x, 1.0)), exp(add(x, 1.0)))")
    assert [step.call for step in steps] == ["add", "tanh", "exp", "mul"]
    assert steps[0].operands == (0, 1.0) and steps[3].operands == (2, 3)


def test_no_value_is_overwritten_before_it_is_read(fuzz: float) -> None:
    """Random formulas, as a kernel runs them in its registers."""
    rng = random.Random(7)
    for _ in range(max(100, int(CASES * fuzz))):
        terms = ["x"]
        for _ in range(rng.randint(1, 7)):
            first, second = (rng.choice(terms[-5:]) for _ in range(2))
            terms.append(rng.choice((f"mul({first}, {second})", f"exp({first})")))
        if len(terms[-1]) > 2_000 or terms[-1] == "x":
            continue
        steps = steps_of(terms[-1])
        try:
            places = registers_of(steps)
        except ValueError:
            continue
        registers: list[int | None] = [None] * REGISTERS
        registers[places[0]] = 0
        for number, step in enumerate(steps, 1):
            assert all(registers[places[v]] == v for v in step.operands if isinstance(v, int))
            registers[places[number]] = number
    four = "mul(mul(exp(x), tanh(x)), mul(mul(abs(x), erf(x)), mul(log(x), x)))"
    assert len(set(registers_of(steps_of(four)))) == REGISTERS
    with pytest.raises(ValueError, match="at most 4 values at a time"):
        registers_of(steps_of(four.replace("log(x)", "mul(log(x), sqrt(x))")))
