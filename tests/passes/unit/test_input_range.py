"""A declared range of a float input: its ends, what is claimed of it, and who is held to it."""

from pathlib import Path

import numpy as np
import pytest
from channel_networks import inlined, replaced
from xdsl.context import Context

import memopt
from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.api.peaks import memory_graph
from memopt.cli import main
from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.channels import channels_of_result, has_claims
from memopt.dialects.attributes.input_range import LARGEST, declare_range, declared_range
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.operators.real_bounds import MOST, outwards, sums_off
from memopt.passes.memgraph_input_range import parse_range, parse_ranges
from memopt.passes.memgraph_int8_io import MemgraphInt8IoPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.text.ir_text import module_text
from memopt.verify.channels import verify_channels

NETWORK = """
!x = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
!v = tensor<1x1x1x2xf32, #memgraph.encoding<ohwi>>
!y = tensor<1x2x2x1xf32, #memgraph.encoding<nhwc>>
func.func @main(%x: !x {memgraph.range = #memgraph.range<-1.0, 1.0>}) -> !y {
  %w = memgraph.constant dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : !w
  %b = memgraph.constant dense<[1.0, -8.0]> : tensor<2xf32>
  %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 activation<relu>
         : (!x, !w, tensor<2xf32>) -> !x
  %v = memgraph.constant dense<[[[[7.0, 2.0]]]]> : !v
  %2 = memgraph.conv_2d %1, %v window<[1, 1]> groups 1 : (!x, !v) -> !y
  func.return %2 : !y
}
"""


def claims_of(text: str) -> list[str]:
    """What goes of the first operation's channels, after the rule and its verifier; 123 stands for
    infinity, 321 for no number."""
    module = load_text(new_context(), text, "net.mlir")
    for op in body_of(only_function(module)).ops:
        if isinstance(op, ConstantOp):
            array = inlined(op.result)
            array[array == 123], array[array == 321] = np.inf, np.nan
            replaced(op.result, array)
    MemgraphRewritePass(("constant-channels",)).apply(Context(), module)
    ops = [op for op in body_of(only_function(module)).ops if op.name == "memgraph.conv_2d"]
    found = channels_of_result(ops[0].results[0])
    return (
        [] if found is None else [f"{c.index} {c.low} {c.high} {c.reason}" for c in found.left_out]
    )


CASES: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "below zero for sure": ((), ["1 0.0 0.0 interval"]),
    "an end that a kernel may miss": (("-8.0", "-7.0"), []),
    "just enough beyond it": (("-8.0", "-7.0001"), ["1 0.0 0.0 interval"]),
    "no range": ((" {memgraph.range = #memgraph.range<-1.0, 1.0>}", ""), []),
    "a range that is too wide": (("<-1.0, 1.0>", "<-1.0, 1.2>"), []),
    "zero weights": (("[3.0, 4.0]]]]> : !w", "[0.0, -0.0]]]]> : !w"), ["1 0.0 0.0 zero_weights"]),
    "weights that overflow": (("[1.0, 2.0]", "[3.0e38, 2.0e38]"), []),
    "a weight that is infinite": (("[1.0, 2.0]", "[123.0, 2.0]"), []),
    "a weight that is none": (("[1.0, 2.0]", "[321.0, 2.0]"), []),
    "an infinite bias": (("[1.0, -8.0]", "[123.0, -8.0]"), []),
    "one of relu6": (
        ("activation<relu>", "activation<relu6>"),
        ["1 0.0 0.0 interval"],
    ),
    "a constant that is not zero": (("-8.0", "14.0"), []),
    "read through an infinite weight": (("[7.0, 2.0]", "[7.0, 123.0]"), []),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_claimed(name: str) -> None:
    change, expected = CASES[name]
    assert not change or NETWORK.count(change[0]) == 1
    assert claims_of(NETWORK.replace(change[0], change[1]) if change else NETWORK) == expected


def test_a_point_is_a_range() -> None:
    """All channels hold one value then, and zeros go."""
    zero = NETWORK.replace("<-1.0, 1.0>", "<0.0, 0.0>")
    assert claims_of(zero) == ["1 0.0 0.0 constant_inputs"]


BUGS = {
    "a constant of another value": ("1 [0.0, 0.0]", "1 [0.5, 0.5]", "is in [0.0, 0.0], not in"),
    "no constant": ("-8.0", "-6.0", "is in [0.0, 1.0"),
    "a wider range": ("<-1.0, 1.0>", "<-1.0, 1.5>", "is in [0.0, 2.5"),
    "no range": (
        " {memgraph.range = #memgraph.range<-1.0, 1.0>}",
        "",
        "of 2 are left, not [0, 1]",
    ),
    "weights that are not zero": ("interval]", "zero_weights]", "are not zero"),
    "inputs that vary": ("interval]", "constant_inputs]", "are not constant"),
    "another filter": ("%w axis 0 kept [0]", "%w axis 0 kept [1]", "biases are left of other"),
    "another bias": ("%b axis 0 kept [0]", "%b axis 0 kept [1]", "biases are left of other"),
    "another channel": ("%v axis 3 kept [0]", "%v axis 3 kept [1]", "for other channels than"),
    "a weaker reason": ("interval]", "unread]", ""),
}


def narrowed(text: str = NETWORK) -> str:
    module = load_text(new_context(), text, "net.mlir")
    MemgraphRewritePass(("constant-channels",)).apply(Context(), module)
    return module_text(module)


def verified(text: str) -> int:
    module = load_text(new_context(), text, "claims.mlir")
    return verify_channels(only_function(module), Weights.of(module).array)


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_found(name: str) -> None:
    old, new, said = BUGS[name]
    text = narrowed().replace("-8.000000e+00", "-8.0")
    assert text.count(old) == 1
    text = text.replace(old, new)
    if not said:  # the reason is weaker, and true
        assert verified(text) == 1
        return
    with pytest.raises(MemoptError) as found:
        verified(text)
    assert said in str(found.value)


def test_a_channel_that_is_lost_is_zero() -> None:
    """The bias lets it through, and the claim says so: its reader would miss it."""
    text = (
        narrowed()
        .replace("-8.000000e+00", "2.0")
        .replace("[0.0, 0.0] interval", "[0.0, 9.1] unread")
    )
    with pytest.raises(MemoptError, match="has lost a channel that is not zero and is read here"):
        verified(text)


# -- numbers ------------------------------------------------------------------------------------


def test_ends_are_rounded_outwards() -> None:
    values = np.array([0.1, -0.1, 1.0, 1e-50, -1e-50, LARGEST])
    low, high = outwards(values, values)
    assert (low <= values).all() and (high >= values).all()
    assert low[2] == high[2] == 1 and low[5] == high[5] == np.float32(LARGEST)
    assert (np.nextafter(low[:-1], np.float32(np.inf)) >= high[:-1]).all()
    assert high[3] == np.float32(1e-45) and low[4] == np.float32(-1e-45)


def test_sums_of_zeros_are_exact_and_large_ones_unknown() -> None:
    zero, one = np.zeros(1), np.ones(1)
    found = sums_off(zero, zero, zero, 100)
    assert found is not None and found[0] == found[1] == 0
    assert sums_off(-one, one, one * LARGEST, 3) is None
    assert sums_off(-one, one, one * np.nan, 3) is None
    assert sums_off(-one, one, one, MOST) is None


@pytest.mark.parametrize("order", range(20))
def test_a_sum_is_within_its_bounds_in_any_order(order: int) -> None:
    """Float32 products added one by one, the order at random, against their bounds."""
    rng = np.random.default_rng(order)
    count = int(rng.integers(1, 2000))
    x = (rng.normal(size=count) * 10.0 ** rng.integers(-20, 10)).astype(np.float32)
    w = rng.normal(size=count).astype(np.float32)
    exact = x.astype(np.float64) * w.astype(np.float64)
    found = sums_off(exact.sum()[None], exact.sum()[None], abs(exact).sum()[None], count)
    assert found is not None
    total = np.float32(0)
    for i in rng.permutation(count):
        total = np.float32(total + np.float32(x[i] * w[i]))
    assert found[0] <= total <= found[1]


# -- what says it -------------------------------------------------------------------------------


def test_texts() -> None:
    assert parse_range("a=b=-1:.5e-1") == ("a=b", -1.0, 0.05)
    assert parse_ranges(["x=-1:1", "y=0:2", "x=-1:1"]) == {"x": (-1.0, 1.0), "y": (0.0, 2.0)}
    for text in ("x", "x=1", "x=1:", "=1:2", "x=1:2:3", "x=1;2"):
        with pytest.raises(ValueError, match="expected NAME=LOW:HIGH"):
            parse_range(text)


def test_in_python(tmp_path: Path) -> None:
    file = tmp_path / "net.mlir"
    file.write_text(NETWORK.replace(" {memgraph.range = #memgraph.range<-1.0, 1.0>}", ""))
    rewrite = "memgraph-rewrite{rules=safe}"
    plain = memopt.plan(str(file), rows="none")
    less = memopt.plan(str(file), rows="none", input_ranges={"x": (-1, 1)})
    assert less.peak < plain.peak
    counted = memopt.peak(str(file), pipeline=rewrite, input_ranges={"x": (-1, 1)})
    assert counted.peak == less.peak < memopt.peak(str(file), pipeline=rewrite).peak
    with pytest.raises(ValueError, match="a MemoryGraph has bytes and no elements"):
        memopt.peak(memory_graph(str(file)), input_ranges={"x": (-1, 1)})
    with pytest.raises(MemoptError, match="the first end is above the second"):
        memopt.plan(str(file), input_ranges={"x": (1, -1)})
    with pytest.raises(MemoptError, match="names 'z', but the inputs are: x"):
        memopt.plan(str(file), input_ranges={"z": (1, 2)})


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.mlir"
    file.write_text(NETWORK.replace(" {memgraph.range = #memgraph.range<-1.0, 1.0>}", ""))
    out = tmp_path / "out"
    assert main(["compile", str(file), "--input-range=x=-1:1", "-o", str(out)]) == 0
    assert "constant-channels changed 2 operators" in capsys.readouterr().out
    assert "memgraph.range = #memgraph.range<-1.0, 1.0>" in (out / "plan.mlir").read_text()
    assert "_INPUT_0_LEAST (-1.0f)" in (out / "net.h").read_text()
    assert main(["report", str(file), "--input-range=x=1"]) == 2
    assert main(["report", str(file), "--input-range=x=1:2", "--input-range=x=1:3"]) == 2
    assert main(["report", str(file), "--input-range=x=nan:3"]) == 1


def test_a_stored_input_has_no_range() -> None:
    text = """
    !q = tensor<1x4xi8, #memgraph.encoding<scale = [0.5], zero_point = [3]>>
    func.func @main(%x: tensor<1x4xf32> {memgraph.range = #memgraph.range<-1.0, 1.0>}) -> !q {
      %0 = memgraph.quantize %x : (tensor<1x4xf32>) -> !q
      func.return %0 : !q
    }
    """
    module = load_text(new_context(), text, "net.mlir")
    func = only_function(module)
    assert declared_range(body_of(func).args[0]) == (-1.0, 1.0)
    assert declared_range(next(iter(body_of(func).ops)).results[0]) is None
    MemgraphInt8IoPass().apply(Context(), module)
    assert "memgraph.range" not in module_text(module)
    with pytest.raises(MemoptError, match="is i8; a range is declared of float32 only"):
        declare_range(func, 0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("#memgraph.range<1.0, -1.0>", "the first end is above"),
        ("#memgraph.range<0.0, 1.0e300>", "no float32 is that large"),
    ],
)
def test_what_is_no_range_is_not_read(attribute: str, said: str) -> None:
    text = NETWORK.replace("#memgraph.range<-1.0, 1.0>", attribute)
    with pytest.raises(Exception, match=said):
        load_text(new_context(), text, "net.mlir")


def test_another_attribute_is_refused() -> None:
    module = load_text(new_context(), NETWORK.replace("#memgraph.range<-1.0, 1.0>", "3 : i64"), "n")
    with pytest.raises(MemoptError, match=r"is no #memgraph\.range"):
        MemgraphRewritePass(("constant-channels",)).apply(Context(), module)


def test_after_rules_that_change_constants() -> None:
    """Weights and biases that are computed of constants are read as the numbers that they are."""
    between = """  %f = memgraph.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %m = memgraph.mul %1, %f : (!x, tensor<2xf32>) -> !x
  %n = memgraph.sub %m, %f activation<relu> : (!x, tensor<2xf32>) -> !x
  %v ="""
    text = NETWORK.replace(" activation<relu>\n", "\n").replace("  %v =", between)
    text = text.replace("conv_2d %1, %v", "conv_2d %n, %v")
    module = load_text(new_context(), text, "net.mlir")
    MemgraphRewritePass(("all",)).apply(Context(), module)
    func = only_function(module)
    assert has_claims(func) and "memgraph.scaled" in module_text(module)
    assert verify_channels(func, Weights({}).array) == 1
    before = only_function(load_text(new_context(), text, "net.mlir"))
    for seed in range(20):
        image = np.random.default_rng(seed).uniform(-1, 1, (1, 2, 2, 2)).astype(np.float32)
        old, new = (evaluate(f, Weights({}), [image]) for f in (before, func))
        ends = [f.get_return_op() for f in (before, func)]
        a, b = (v[e.operands[0]] for v, e in zip((old, new), ends, strict=True) if e is not None)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
