"""Rows of tensors of three to five dimensions, and operands of fewer, as C: the bits of the whole
operators' C."""

from pathlib import Path
from typing import Any

import pytest
from xdsl.context import Context

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.rows.operations import RowKernelOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass

TENSORS = {
    "frames": ((1, 6, 4), (4,), (1, 1, 4)),
    "image": ((1, 5, 4, 3), (1, 4, 3), (3,)),
    "volume": ((1, 4, 3, 2, 3), (2, 3), (1, 3, 2, 3)),
}
STORED = "scale = [5.0e-02], zero_point = [3]"


def network(shape: tuple[int, ...], others: tuple[tuple[int, ...], ...], quantized: bool) -> str:
    """Sums with tensors of fewer dimensions, which rows of their own make; parts, and a softmax."""
    rounding = " rounding<tflm_double>" if quantized else ""

    def kind(s: tuple[int, ...]) -> str:
        words = [*(["nhwc"] if len(s) == 4 else []), *([STORED] if quantized else [])]
        encoding = f", #memgraph.encoding<{', '.join(words)}>" if words else ""
        return f"tensor<{'x'.join(map(str, s))}x{'i8' if quantized else 'f32'}{encoding}>"

    t, (u, v) = kind(shape), map(kind, others)
    wide = kind((*shape[:-1], 2 * shape[-1]))
    return f"""func.func @main(%x: {t}, %u: {u}, %v: {v}) -> ({wide}, {u}) {{
  %a = memgraph.relu %x{rounding} : ({t}) -> {t}
  %b = memgraph.relu %u{rounding} : ({u}) -> {u}
  %c = memgraph.add %a, %b{rounding} : ({t}, {u}) -> {t}
  %d = memgraph.mul %v, %c{rounding} : ({v}, {t}) -> {t}
  %e = memgraph.concat %d, %a axis {len(shape) - 1} : ({t}, {t}) -> {wide}
  %f = memgraph.relu6 %e{rounding} : ({wide}) -> {wide}
  %g = memgraph.relu6 %b{rounding} : ({u}) -> {u}
  func.return %f, %g : {wide}, {u}
}}"""


@pytest.mark.parametrize("quantized", [True, False])
@pytest.mark.parametrize("name", TENSORS)
def test_rows_of_other_shapes(name: str, quantized: bool, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    shape, *others = TENSORS[name]
    text = network(shape, tuple(others), quantized)
    whole = lab.plan(load_text(new_context(), text, "n.mlir"), target="host")
    module = load_text(new_context(), text, "n.mlir")
    lab.ordered(module, target="host", alignment=4, inplace="on")
    MemgraphExpandRowsPass(("all",)).apply(Context(), module)
    lab.plan(module, "rpo", "best-fit")
    cuts = [op for op in only_function(module).body.block.ops if isinstance(op, RowKernelOp)]
    assert len(cuts) >= 4
    inputs = lab.random_inputs(whole, 3, seed=1)
    want = lab.run_project(lab.write(whole, tmp_path / "whole", "net", "host"), inputs, trace=False)
    project = lab.write(module, tmp_path / "rows", "net", "host")
    got = lab.run_project(project, inputs, lab.SANITIZE, trace=False)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output


def test_what_reads_nothing_but_constants_stays_whole(tmp_path: Path, lab: Any) -> None:
    """As the convolution of the state of a ConvLSTM that begins with zeros does, unrolled: the loop
    over rows has no rows of a constant under a window."""
    lab.need_tools("host")
    image = "tensor<1x5x4x2xf32, #memgraph.encoding<nhwc>>"
    weights = "tensor<2x3x3x2xf32, #memgraph.encoding<ohwi>>"
    window = "window<[3, 3], pad = [1, 1, 1, 1]> groups 1"
    text = f"""func.func @main(%x: {image}) -> {image} {{
  %h = memgraph.constant dense<0.5> : {image}
  %w = memgraph.constant dense<0.25> : {weights}
  %a = memgraph.conv_2d %h, %w {window} : ({image}, {weights}) -> {image}
  %b = memgraph.conv_2d %x, %w {window} : ({image}, {weights}) -> {image}
  %c = memgraph.add %a, %b : ({image}, {image}) -> {image}
  func.return %c : {image}
}}"""
    whole = lab.plan(load_text(new_context(), text, "n.mlir"), target="host")
    module = load_text(new_context(), text, "n.mlir")
    lab.ordered(module, target="host", alignment=4, inplace="on")
    MemgraphExpandRowsPass(("all",)).apply(Context(), module)
    lab.plan(module, "rpo", "best-fit")
    cuts = [op for op in only_function(module).body.block.ops if isinstance(op, RowKernelOp)]
    assert len(cuts) == 2
    inputs = lab.random_inputs(whole, 3, seed=1)
    want = lab.run_project(lab.write(whole, tmp_path / "whole", "net", "host"), inputs, trace=False)
    project = lab.write(module, tmp_path / "rows", "net", "host")
    got = lab.run_project(project, inputs, lab.SANITIZE, trace=False)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output
