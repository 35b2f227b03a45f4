"""Constant expressions: what the scheduler leaves out, the C backend evaluates, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from memopt.compile.driver import new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.operators import operations
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Folds
from memopt.text.ir_text import parse_module

ENDS: dict[Any, tuple[int, int]] = {
    np.int8: (-128, 127),
    np.int16: (-(2**15), 2**15 - 1),
    np.int32: (-(2**24), 2**24),
}


def constant_quantize(lab: Any, seed: int, stored: Any, path: Path) -> Path:
    """A model of QUANTIZE x -> y, and of constants of one type each quantised to int8."""
    forge = lab.forge.Forge(np.random.default_rng(seed), True)
    schema = lab.forge.schema
    kinds = {
        np.int8: schema.TensorType.INT8,
        np.int16: schema.TensorType.INT16,
        np.int32: schema.TensorType.INT32,
        np.float32: schema.TensorType.FLOAT32,
    }
    lab.forge.DTYPES.setdefault(schema.TensorType.INT16, np.int16)
    options, code = schema.BuiltinOptions.QuantizeOptions, schema.BuiltinOperator.QUANTIZE

    def add(source: int, result: int) -> None:
        forge.operator(code, [source], result, schema.QuantizeOptionsT(), options)

    add(forge.input([1, 5]), forge.activation([1, 5]))
    for _ in range(8):
        result = forge.activation([4, 64])
        scale = forge.graph.tensors[result].quantization.scale[0]
        if stored is np.float32:
            data = forge.rng.normal(size=(4, 64)) * 40 * scale
            data[0] = (np.arange(64) - 31.5) * np.float32(scale)  # halves
            add(forge.tensor([4, 64], kinds[stored], data), result)
            continue
        low, high = ENDS[stored]
        data = forge.rng.integers(low, high + 1, (4, 64))
        data[0, :2] = low, high
        zero = int(forge.rng.integers(-128, 128)) if stored is np.int8 else 0
        source_scale = scale * float(2.0 ** forge.rng.uniform(-3, 3)) * 127 / high
        add(forge.tensor([4, 64], kinds[stored], data, [source_scale], [zero]), result)
    return forge.save(path)


@pytest.mark.parametrize("stored", [np.int8, np.int16, np.int32, np.float32])
def test_a_constant_quantize_equals_tflm(stored: Any, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    path = constant_quantize(lab, 3, stored, tmp_path / "constants.tflite")
    module = lab.plan(lab.read_model(path))
    results = lab.forge.flatbuffer_utils.read_model(str(path)).subgraphs[0].outputs
    inputs = lab.random_inputs(module, 1, 5)
    want = lab.golden("tflm", path, inputs, [int(t) for t in results], tmp_path / "golden")
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    assert run.output == b"".join(want[int(t)].tobytes() for t in results)


VALUES = np.array([-3.0, -1.25, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.25, 2.0, 5.5, 1e9], "f")
Q = "#memgraph.encoding<scale = [0.5], zero_point = [3]>"
R = "#memgraph.encoding<scale = [0.3], zero_point = [-7]>"


def parsed(text: str) -> ModuleOp:
    module = parse_module(new_context(), text, "constants.mlir")
    module.verify()
    return module


@pytest.mark.parametrize("element", ["i8", "ui8", "i16"])
def test_a_constant_is_what_the_kernel_makes_of_the_same_numbers(
    element: str, tmp_path: Path, lab: Any
) -> None:
    """quantize, requantize and dequantize, of a constant and of an input with its values."""
    lab.need_tools("host")
    numbers = ", ".join(repr(float(v)) for v in VALUES)
    other = R.replace("-7", "7") if element == "ui8" else R
    x, y = f"tensor<12x{element}, {Q}>", f"tensor<12x{element}, {other}>"
    text = f"""func.func @main(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {{
      %c = memgraph.constant dense<[{numbers}]> : tensor<12xf32>
      %1 = memgraph.quantize %c : (tensor<12xf32>) -> {x}
      %2 = memgraph.quantize %1 : ({x}) -> {y}
      %3 = memgraph.dequantize %2 : ({y}) -> tensor<12xf32>
      %4 = memgraph.quantize %x : (tensor<12xf32>) -> {x}
      %5 = memgraph.quantize %4 : ({x}) -> {y}
      %6 = memgraph.dequantize %5 : ({y}) -> tensor<12xf32>
      func.return %3, %6 : tensor<12xf32>, tensor<12xf32>
    }}"""
    module = lab.plan(parsed(text))
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), [VALUES[None]])
    assert run.code == 0, run.messages
    assert run.output[:48] == run.output[48:]
    assert np.frombuffer(run.output, np.float32, 12).max() > 30  # the largest is cut off


def test_onnx_rounds_halves_to_even(tmp_path: Path, lab: Any) -> None:
    """Constants and inputs, as onnxruntime's QuantizeLinear."""
    lab.need_tools("host")
    text = f"""func.func @main(%x: tensor<6xf32>) -> (tensor<6xi8, {Q}>, tensor<6xi8, {Q}>) {{
      %c = memgraph.constant dense<[-0.75, -0.25, 0.25, 0.75, 1.25, 9.0e+09]> : tensor<6xf32>
      %1 = memgraph.quantize %c rounding<onnx_even> : (tensor<6xf32>) -> tensor<6xi8, {Q}>
      %2 = memgraph.quantize %x rounding<onnx_even> : (tensor<6xf32>) -> tensor<6xi8, {Q}>
      func.return %1, %2 : tensor<6xi8, {Q}>, tensor<6xi8, {Q}>
    }}"""
    module = lab.plan(parsed(text))
    values = np.array([[-0.75, -0.25, 0.25, 0.75, 1.25, 9e9]], np.float32)
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), [values])
    assert run.code == 0, run.messages
    assert list(np.frombuffer(run.output, np.int8)) == [1, 3, 3, 5, 5, 127] * 2


Z = "#memgraph.encoding<scale = [0.5], zero_point = [4]>"
REFUSED = {
    "activation": (
        f"memgraph.concat %c, %c axis 0 activation<relu> : (tensor<2xi8, {Q}>, tensor<2xi8, {Q}>)"
        f" -> tensor<4xi8, {Q}>",
        "fused activation",
    ),
    "joined": (
        f"memgraph.concat %c, %c axis 0 : (tensor<2xi8, {Q}>, tensor<2xi8, {Q}>)"
        f" -> tensor<4xi8, {Z}>",
        "different quantization",
    ),
    "pad": (
        "memgraph.pad %c before [1] after [1] value 1.0 :"
        f" (tensor<2xi8, {Q}>) -> tensor<4xi8, {Q}>",
        "a pad with another value",
    ),
    "single": (
        f"memgraph.quantize %c rounding<tflite_single> : (tensor<2xi8, {Q}>) -> tensor<2xi8, {Z}>",
        "not tflite_single",
    ),
    "float16": (
        f"memgraph.quantize %c : (tensor<2xi8, {Q}>) -> tensor<2xf16, {Z}>",
        "quantized as f16",
    ),
    "cast": ("memgraph.cast %f : (tensor<2xf32>) -> tensor<2xi8>", "values that int8"),
    "infinite": (
        f"memgraph.quantize %i : (tensor<2xf32>) -> tensor<2xi8, {Q}>",
        "an infinite value",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_constant_is_refused_where_the_kernel_is(name: str, tmp_path: Path, lab: Any) -> None:
    line, message = REFUSED[name]
    result = line.rsplit("->", 1)[1]
    text = f"""func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, {result}) {{
      %c = memgraph.constant dense<[-128, 127]> : tensor<2xi8, {Q}>
      %f = memgraph.constant dense<[1.0, 128.5]> : tensor<2xf32>
      %i = memgraph.constant dense<"0x0000803F0000807F"> : tensor<2xf32>
      %1 = {line}
      %2 = memgraph.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %2, %1 : tensor<2xf32>, {result}
    }}"""
    module = lab.plan(parsed(text))
    with pytest.raises(MemoptError, match=message):
        lab.write(module, tmp_path / "c", "net", "host")


# One constant expression of each kind, of %i (int8, 2x3), %b (int32, 2), %f (float32, 2x3), %g
# (float32, 2) or %h (float32).
PER_ROW = "axis 0 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>"
PAIR = "tensor<2xf32>"
STRETCHES = "%f shape [2, 3] sizes [3, 3] terms [0, 0, 1, 1] numbers"
TALLER = "(tensor<2x3xf32>) -> tensor<3x3xf32>"
TRUTH = "(tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>"
COMPARED = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
LOGIC = "(tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>"
FOLDED = {
    **{name: f"memgraph.{name} %g, %g : {TRUTH}" for name in COMPARED},
    **{name: f"memgraph.{name} %t, %t : {LOGIC}" for name in ("logical_and", "logical_or")},
    "logical_not": "memgraph.logical_not %t : (tensor<2xi1>) -> tensor<2xi1>",
    "choose": "memgraph.choose %t, %g, %g : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>)"
    " -> tensor<2xf32>",
    "cast": "memgraph.cast %f : (tensor<2x3xf32>) -> tensor<2x3xi32>",
    "concat": "memgraph.concat %f, %f axis 1 : (tensor<2x3xf32>, tensor<2x3xf32>)"
    " -> tensor<2x6xf32>",
    "cumulative_sum": "memgraph.cumulative_sum %f axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>",
    "copy": "memgraph.copy %f : (tensor<2x3xf32>) -> tensor<2x3xf32>",
    "divided": f"memgraph.divided %f, %g {PER_ROW}",
    "dequantize": f"memgraph.dequantize %i : (tensor<2x3xi8, {Q}>) -> tensor<2x3xf32>",
    "fold_into_bias": "memgraph.fold_into_bias %i, %b axis 1 values [1, 2, 3] :"
    f" (tensor<2x3xi8, {Q}>, tensor<2xi32>) -> tensor<2xi32>",
    "gather_along": "memgraph.gather_along %f, %n axis 1 : (tensor<2x3xf32>, tensor<2xi32>)"
    " -> tensor<2x2xf32>",
    "normalization_terms": "memgraph.normalization_terms %g, %g, %g, %g epsilon 0.5 :"
    f" ({PAIR}, {PAIR}, {PAIR}, {PAIR}) -> ({PAIR}, {PAIR})",
    "mirrored": f"memgraph.mirrored {STRETCHES} [1, 0, 1, 0, 1, 2] : {TALLER}",
    "one_hot": "memgraph.one_hot %n, %h, %h axis 1 : (tensor<2xi32>, tensor<f32>, tensor<f32>)"
    " -> tensor<2x3xf32>",
    "pack": "memgraph.pack %f, %f axis 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2x3xf32>",
    "pad": "memgraph.pad %f before [0, 1] after [1, 0] value 2.0 :"
    " (tensor<2x3xf32>) -> tensor<3x4xf32>",
    "picked": f"memgraph.picked {STRETCHES} [-1, 0, 1, 2, 1, 0] : {TALLER}",
    "quantize": f"memgraph.quantize %i : (tensor<2x3xi8, {Q}>) -> tensor<2x3xi8, {R}>",
    "reciprocal": "memgraph.reciprocal %f : (tensor<2x3xf32>) -> tensor<2x3xf32>",
    "scaled": f"memgraph.scaled %f, %g {PER_ROW}",
    "shifted": f"memgraph.shifted %f, %g {PER_ROW}",
    "reshape": "memgraph.reshape %f : (tensor<2x3xf32>) -> tensor<6xf32>",
    "slice": "memgraph.slice %f starts [0, 2] strides [1, -2] :"
    " (tensor<2x3xf32>) -> tensor<2x2xf32>",
    "strided": "memgraph.strided %f start 2 sizes [2, 2] steps [3, -1] :"
    " (tensor<2x3xf32>) -> tensor<2x2xf32>",
    "take": "memgraph.take %f axis 1 kept [0, 2] : (tensor<2x3xf32>) -> tensor<2x2xf32>",
    "transpose": "memgraph.transpose %f permutation [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
}


def test_every_operation_that_folds_is_evaluated(tmp_path: Path, lab: Any) -> None:
    folding = {op.name for op in operations() if issubclass(op, ComputeOp) and op.has_trait(Folds)}
    assert folding == {f"memgraph.{name}" for name in FOLDED}
    for name, line in FOLDED.items():
        result = line.rsplit("->", 1)[1].strip()
        made = "%1, %3" if result.startswith("(") else "%1"
        result = result.strip("()")
        text = f"""func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, {result}) {{
          %f = memgraph.constant dense<[[1.5, -2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
          %i = memgraph.constant dense<[[1, -2, 3], [4, 5, 127]]> : tensor<2x3xi8, {Q}>
          %b = memgraph.constant dense<[7, -8]> : tensor<2xi32>
          %n = memgraph.constant dense<[2, 0]> : tensor<2xi32>
          %t = memgraph.constant dense<[1, 0]> : tensor<2xi1>
          %h = memgraph.constant dense<0.5> : tensor<f32>
          %g = memgraph.constant dense<[0.5, 2.0]> : tensor<2xf32>
          {made} = {line}
          %2 = memgraph.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          func.return %2, {made} : tensor<2xf32>, {result}
        }}"""
        lab.write(lab.plan(parsed(text)), tmp_path / name, "net", "host")
