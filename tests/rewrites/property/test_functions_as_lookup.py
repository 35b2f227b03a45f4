"""`functions-as-lookup` over random functions of a byte: all 256 have the same results, to the
bit."""

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.rewrites import apply_rules
from memopt.text.ir_text import parse_module

CASES = 2_000
ONE = ("relu", "tanh", "logistic", "abs", "neg", "exp", "sqrt", "gelu", "hard_swish", "square")
TWO = ("add", "sub", "mul", "div", "maximum", "minimum", "squared_difference")


def drawn(rng: random.Random) -> str:
    """A random graph of functions between Q/DQ pairs, most of them of one argument alone."""
    types = {"f": "tensor<1x256xf32>", "c": "tensor<1xf32>"}
    for name in "abz":
        low, kind = rng.choice(((-128, "i8"), (0, "ui8")))
        scale, zero = rng.choice((0.03, 0.25, 2.0)), low + rng.randrange(256)
        encoding = f"#memgraph.encoding<scale = [{scale}], zero_point = [{zero}]>"
        types[name] = f"tensor<1x256x{kind}, {encoding}>"
    lines = ["%0 = memgraph.dequantize %a : (!a) -> !f"]
    made = ["%0"]
    for k in range(1, rng.randint(2, 7)):
        if rng.random() < 0.5:
            lines.append(f"%{k} = memgraph.{rng.choice(ONE)} {made[-1]} : (!f) -> !f")
        else:
            left, right = made[-1], rng.choice((*made, "%c", "%c"))
            of = "(!f, !c)" if right == "%c" else "(!f, !f)"
            lines.append(f"%{k} = memgraph.{rng.choice(TWO)} {left}, {right} : {of} -> !f")
        made.append(f"%{k}")
        if rng.random() < 0.4:
            lines.append(f"%q{k} = memgraph.quantize %{k} rounding<onnx_even> : (!f) -> !b")
            lines.append(f"%d{k} = memgraph.dequantize %q{k} : (!b) -> !f")
            made.append(f"%d{k}")
    results = [f"%y = memgraph.quantize {made[-1]} rounding<onnx_even> : (!f) -> !z"]
    also = rng.choice((None, None, None, made[-2]))
    values = f"%y, {also} : !z, !f" if also else "%y : !z"
    aliases = [f"!{name} = {kind}" for name, kind in types.items()]
    head = f"func.func @main(%a: !a) -> ({values.partition(' : ')[2]}) {{"
    number = f"%c = memgraph.constant dense<{rng.choice((0.5, 3.0, -1.25))}> : !c"
    return "\n".join([*aliases, head, number, *lines, *results, f"func.return {values}", "}"])


def results(module: ModuleOp, given: Sequence[Array]) -> list[Array]:
    """Evaluate the only function and return what it returns."""
    func = only_function(module)
    with np.errstate(all="ignore"):
        values = evaluate(func, Weights.of(module), given)
    (end,) = [op for op in body_of(func).ops if op.name == "func.return"]
    return [values[v] for v in end.operands]


def test_a_table_has_what_its_functions_make_of_each_byte(fuzz: float) -> None:
    rng, count = random.Random(3), Counter[str]()
    for _ in range(int(CASES * fuzz)):
        text = drawn(rng)
        before, after = (parse_module(new_context(), text, "case.mlir") for _ in range(2))
        if not apply_rules(after, ("functions-as-lookup",)):
            count["stays"] += 1
            continue
        argument = only_function(before).args[0]
        every = np.arange(256, dtype=np.uint8).reshape(1, 256)
        given = [every if "ui8" in str(argument.type) else every.view(np.int8)]
        try:
            expected = results(before, given)
        except MemoptError:  # of an infinite number, behind what became a table
            count["refused"] += 1
            continue
        for wanted, got in zip(expected, results(after, given), strict=True):
            np.testing.assert_array_equal(wanted, got, text)
        count[str(len(list(body_of(only_function(after)).ops)))] += 1
    assert min(count["stays"], count["2"]) > 0.1 * CASES * fuzz, count
