"""In how many bytes the narrow forms of depthwise convolutions work."""

import pytest

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.plan import FORMS
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.targets.core.kernels import fast_forms
from memopt.targets.core.target import target_named

NHWC = "#memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>"
IHWO = "#memgraph.encoding<ihwo, scale = [5.0e-01], zero_point = [0]>>"


@pytest.mark.parametrize(
    ("core", "pixels", "kernel", "stride", "scratch"),
    [
        ("cortex-m55", 2, (3, 3), 1, [4 * 48]),  # of two pixels there is no shorter strip
        ("cortex-m55", 3, (3, 3), 1, [5 * 48, 4 * 48]),
        ("cortex-m55", 7, (3, 3), 1, [9 * 48, 4 * 48]),
        ("cortex-m55", 8, (3, 3), 1, [10 * 48, 6 * 48]),
        ("cortex-m55", 64, (3, 3), 1, [66 * 48, 6 * 48]),
        ("cortex-m55", 200, (3, 3), 1, [84 * 48, 6 * 48]),  # of no whole row either
        ("cortex-m55", 32, (3, 3), 2, [65 * 48, 9 * 48]),
        ("cortex-m55", 64, (2, 2), 1, [65 * 32 + 16, 5 * 32 + 16]),  # and what is multiplied with 0
        ("cortex-m55", 64, (16, 20), 1, [21 * 256 + 16]),  # windows that are long themselves
        ("cortex-m4", 4, (3, 3), 1, [3 * 48]),
        ("cortex-m4", 5, (3, 3), 1, [4 * 48, 3 * 48]),
        ("cortex-m4", 14, (3, 3), 1, [8 * 48, 3 * 48]),
        ("cortex-m4", 15, (3, 3), 1, [9 * 48, 5 * 48]),
        ("cortex-m4", 48, (3, 3), 1, [25 * 48, 5 * 48]),
        ("cortex-m4", 24, (3, 3), 2, [25 * 48, 5 * 48]),
        ("cortex-m4", 24, (3, 3), 3, []),
    ],
)
def test_the_narrow_form_of_a_row_is_as_narrow_for_any(
    core: str, pixels: int, kernel: tuple[int, int], stride: int, scratch: list[int]
) -> None:
    """And there is none where the wide one is no wider."""
    k_h, k_w = kernel
    x = f"tensor<1x{k_h}x{(pixels - 1) * stride + k_w}x24xi8, {NHWC}"
    y = f"tensor<1x1x{pixels}x24xi8, {NHWC}"
    w = f"tensor<1x{k_h}x{k_w}x24xi8, {IHWO}"
    text = (
        f"func.func @main(%x: {x}, %w: {w}) -> {y} {{\n"
        f"  %y = memgraph.depthwise_conv_2d %x, %w window<[{k_h}, {k_w}], stride = [1, {stride}]>"
        f" groups 24 rounding<tflm_double> : ({x}, {w}) -> {y}\n  func.return %y : {y}\n}}\n"
    )
    (op,) = [
        op
        for op in load_text(new_context(), text, "net.mlir").walk()
        if isinstance(op, DepthwiseConv2DOp)
    ]
    found = fast_forms(op, target_named(core))
    assert found == dict(zip(FORMS, scratch, strict=False))
