"""The verifier of channels that were left out: each seeded bug is found, by name."""

import pytest
from places import ROOT
from xdsl.context import Context

from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.channels import has_claims
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.verify.channels import verify_channels

TEXT = (ROOT / "tests/filecheck/memgraph-verify-channels.mlir").read_text()

BUGS = {
    "a constant of another value": ("1 [11, 11]", "1 [12, 12]", "is in [11, 11], not in [12, 12]"),
    "an interval that is too narrow": ("[-98, 81]", "[-97, 81]", "is in [-98, 81]"),
    "no constant": ("81] unread", "81] interval", "channel 2 is said to be constant"),
    "weights that are not zero": ("127] interval", "127] zero_weights", "are not zero"),
    "inputs that vary": ("127] interval", "127] constant_inputs", "are not constant"),
    "another width": ("channels<4,", "channels<5,", "channels [0, 4] of 5 are left, not [0]"),
    "another filter": ("%w axis 0 kept [0]", "%w axis 0 kept [2]", "biases are left of other"),
    "another bias": ("%b axis 0 kept [0]", "%b axis 0 kept [1]", "biases are left of other"),
    "another channel": ("%v axis 3 kept [0]", "%v axis 3 kept [1]", "for other channels than"),
    "a value that was not folded": ("[0, 20, 0, 136]", "[0, 20, 0, 0]", "the bias has"),
    "another value folded": ("[0, 20, 0, 136]", "[0, 21, 0, 136]", "the bias has"),
    "a channel that stays folded": ("[0, 20, 0, 136]", "[1, 20, 0, 136]", "the bias has"),
    "a bias that was not folded": ("%4, %3 window", "%4, %c window", "the bias has"),
    "a channel that is read": ("[7, 2, 0, 1]", "[7, 2, 1, 1]", "lost a channel that varies"),
    "padding that is no constant": (
        "%4, %3 window<[1, 1]> groups 1",
        "%4, %3 window<[1, 1], pad = [1, 0, 0, 0]> groups 1",
        "which padding is",
    ),
    "a sum that leaves an int32": ("[5, 6]> : !c", "[5, 2147483600]> : !c", "no int32"),
    "a dead filter that does": ("30, 9000]", "30, 2147483647]", "no int32"),
    "what needs all channels": (
        "memgraph.conv_2d %2, %4, %3 window<[1, 1]> groups 1 rounding<tflm_double>",
        'memgraph.opaque "X"(%2, %4, %3)',
        "all of them are needed here",
    ),
}


def verified(text: str, in_rows: bool = False) -> int:
    module = load_text(new_context(), text, "claims.mlir")
    if in_rows:
        MemgraphExpandRowsPass(("all",)).apply(Context(), module)
    return verify_channels(only_function(module), Weights.of(module).array)


@pytest.mark.parametrize("in_rows", [False, True], ids=["whole", "rows"])
def test_the_claims_hold(in_rows: bool) -> None:
    module = load_text(new_context(), TEXT, "claims.mlir")
    assert has_claims(only_function(module))
    assert verified(TEXT, in_rows) == 3


RELU_LATER = """
!x = tensor<1x2x2x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!y = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!w = tensor<2x1x1x1xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
!v = tensor<1x1x1x2xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
!b = tensor<2xi32, #memgraph.encoding<scale = [2.5e-01], zero_point = [0]>>
func.func @main(%x: !x) -> !x {
  %w = memgraph.constant dense<[[[[1]]], [[[2]]]]> : !w
  %b = memgraph.constant dense<[0, -90000]> : !b
  %v = memgraph.constant dense<[[[[1, 0]]]]> : !v
  %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double>
         : (!x, !w, !b) -> !y
  %dead = memgraph.max_pool_2d %1 window<[1, 1]> : (!y) -> !y
  %2 = memgraph.relu %1 : (!y) -> !y
  %3 = memgraph.conv_2d %2, %v window<[1, 1]> groups 1 rounding<tflm_double> : (!y, !v) -> !x
  func.return %3 : !x
}
"""


@pytest.mark.parametrize("rules", [("constant-channels",), ("safe",)])
def test_no_rule_changes_that_of_which_something_is_said(rules: tuple[str, ...]) -> None:
    """A channel is said to be -128, which a ReLU that is applied later would make 3."""
    module = load_text(new_context(), RELU_LATER, "relu.mlir")
    MemgraphRewritePass(rules).apply(Context(), module)
    MemgraphRewritePass(("all",)).apply(Context(), module)
    func = only_function(module)
    assert has_claims(func)
    assert verify_channels(func, Weights.of(module).array)


@pytest.mark.parametrize("in_rows", [False, True], ids=["whole", "rows"])
@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_found(name: str, in_rows: bool) -> None:
    old, new, said = BUGS[name]
    head, body = TEXT.split("func.func @main", 1)
    assert body.count(old) == 1
    text = f"{head}func.func @main{body.replace(old, new)}"
    if "pad = " in new:  # then the result is larger
        text = text.replace("(!h, !v1, !c) -> !x", "(!h, !v1, !c) -> !z")
        text = text.replace("return %5 : !x", "return %5 : !z").replace(") -> !x {", ") -> !z {")
        numbers = "#memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>"
        text = f"!z = tensor<1x3x2x2xi8, {numbers}>\n{text}"
    with pytest.raises(MemoptError) as found:
        verified(text, in_rows)
    assert said in str(found.value)
