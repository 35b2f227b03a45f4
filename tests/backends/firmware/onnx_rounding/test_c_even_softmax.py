# pyright: basic
"""Softmax of bytes that rounds as ONNX's, by integers: bit for bit what is evaluated, and close to
onnxruntime."""

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from beside import beside, evaluated
from deep import deep_but
from onnx import helper, numpy_helper
from quick_options import QUICK

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.kernels import Form, kernel_files, text_of
from memopt.cli import main
from memopt.compile.driver import load_model, load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.rewrites import apply_rules

FULL = 2000  # operators
EACH = 20  # in a program
BOARDS = ["host", *(f"cortex-{m}" for m in ("m4", "m3", "m0plus", "m55", "m7"))]
SCALES = (1 / 256, float(np.float32(1 / 255)))


def random_operator(rng: np.random.Generator, number: int) -> tuple[str, list[str], str]:
    """Return a random operator with the types of what it reads and makes. Large scales make rows of
    few parts, small ones rows of equal parts, which may lie at halves."""
    shape = [1, *(int(v) for v in rng.integers(1, 9, int(rng.integers(1, 4))))]
    axis = int(rng.integers(1, len(shape)))
    shape[axis] = int(rng.integers(1, (12, 60, 400)[int(rng.integers(3))]))
    types = list[str]()
    for k in range(2):
        is_signed = bool(rng.integers(2))
        zero = int(rng.integers(*((-128, 128) if is_signed else (0, 256))))
        scales = (10 ** rng.uniform(-5, 0.3),)
        if k == 1:
            scales = (*SCALES, 1 / int(rng.integers(2, 400)), 10 ** rng.uniform(-9, 0.3))
            zero = zero if rng.random() < 0.3 else -128 * is_signed
        element = "i8" if is_signed else "ui8"
        scale = scales[int(rng.integers(len(scales)))]
        encoding = f"scale = [{scale:.9e}], zero_point = [{zero}]"
        dimensions = "x".join(map(str, shape))
        types.append(f"tensor<{dimensions}x{element}, #memgraph.encoding<{encoding}>>")
    beta = (1.0, 0.5)[int(rng.random() < 0.2)]
    text = f"  %y{number} = memgraph.softmax %x{number}_0 axis {axis} beta {beta:e}"
    return f"{text} rounding<onnx_even> : ({types[0]}) -> {types[1]}\n", types[:1], types[1]


@pytest.mark.parametrize("target", deep_but(BOARDS[:3], BOARDS))
def test_random_operators_are_what_evaluate_computes(
    target: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    flags = lab.SANITIZE if target == "host" else "-O2"
    for seed in range(max(2, int(FULL / EACH * fuzz))):
        rng = np.random.default_rng(seed)
        text = beside([random_operator(rng, k) for k in range(EACH)])
        module = lab.plan(load_text(new_context(), text, "net.mlir"))
        inputs = lab.random_inputs(module, 1, seed)
        folder = tmp_path / str(seed)
        run = lab.run_project(lab.write(module, folder, "net", target), inputs, flags, trace=False)
        assert run.code == 0, run.messages
        assert run.output == evaluated(module, inputs), seed


# Exponentials around each half step of random totals and scales, exact halves among them.
NEAR_HALVES = r"""
#include "memopt_softmax_even.h"
#include <math.h>
#include <stdio.h>

static uint32_t state = 1;
static uint32_t drawn(uint32_t most) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)(state >> 4) * most >> 28);
}

int main(void) {
  uint32_t tried, wrong = 0, divided = 0, ties = 0;
  for (tried = 0; tried < 400000; ++tried) {
    const uint64_t total = (16777216u + (uint64_t)drawn(1u << 26)) & ~(tried % 3 ? 511ull : 0ull);
    const float scale = tried % 3 ? 1.0f / 256.0f : 1.0f / (float)(1 + drawn(400));
    const memopt_softmax_even even = memopt_softmax_even_of(total, scale);
    const double half = ((double)drawn(257) + 0.5) * scale * (double)total;
    const double mantissa = floor(half) + (tried % 2 ? 0 : (double)drawn(5) - 2);
    if (mantissa > 0 && mantissa <= 16777216) {
      const float quotient = (float)mantissa / (float)total / scale;
      const uint32_t exponential = (uint32_t)mantissa << 7;
      const uint32_t steps = memopt_softmax_even_steps(&even, even.factor, even.near, exponential);
      wrong += steps != (uint32_t)rintf(quotient);
      ties += quotient - floorf(quotient) == 0.5f;
      divided += (uint32_t)((uint64_t)exponential * even.factor >> 32) + 0x8000u >> 16 != steps;
    }
  }
  printf("%u %u %u", wrong, ties > 1000, divided > 1000);
  return 0;
}
"""


def test_halves_and_what_is_next_to_them_are_divided(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for name in ("memopt_softmax_even.h", "memopt_common.h"):
        (tmp_path / name).write_text(text_of(kernel_files()[name], Form(rounds_even=True)))
    (tmp_path / "main.c").write_text(NEAR_HALVES)
    command = ["gcc", "-O1", "-std=c99", "-I.", "main.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    ran = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert ran.stdout == "0 1 1"


# -- as onnxruntime ----------------------------------------------------------------------------


def between_pairs(rng: np.random.Generator) -> tuple[bytes, Any]:
    """Return a model of a softmax between pairs over any axis, and its input."""
    shape = tuple(int(v) for v in rng.integers(1, 40, 3))
    axis = int(rng.integers(1, 3))
    x = np.clip(rng.normal(0, 10 ** rng.uniform(0, 2), shape), -128, 127).astype(np.int8)
    tensors = {
        "s": np.float32(10 ** rng.uniform(-3, -0.5)),
        "z": np.int8(rng.integers(-128, 128)),
        "t": np.float32(SCALES[int(rng.integers(2))]),
        "o": np.int8(-128),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node("Softmax", ["r"], ["n"], axis=axis),
        helper.make_node("QuantizeLinear", ["n", "t", "o"], ["y"]),
    ]
    info = [helper.make_tensor_value_info(k, onnx.TensorProto.INT8, shape) for k in "xy"]
    constants = [numpy_helper.from_array(np.asarray(v), k) for k, v in tensors.items()]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString(), x


def test_a_softmax_between_pairs_is_one_of_integers(tmp_path: Path, fuzz: float) -> None:
    """Steps off onnxruntime, by at most one where what it rounds is half a step. Its one kernel for
    pairs and softmax has coarser exponentials: one part in seventy is a step off."""
    ort = pytest.importorskip("onnxruntime")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    off = elements = 0
    for seed in range(max(20, int(FULL * fuzz))):
        data, x = between_pairs(np.random.default_rng(seed))
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        (want,) = session.run(None, {"x": x})
        path = tmp_path / "m.onnx"
        path.write_bytes(data)
        module = load_model(path, {})
        apply_rules(module, ("qdq-fold",))
        assert "memgraph.dequantize" not in {op.name for op in module.walk()}
        func = only_function(module)
        last = func.get_return_op()
        assert last is not None
        got = evaluate(func, Weights.of(module), [x])[last.operands[0]]
        apart = abs(got.astype(int) - want.astype(int))
        assert apart.max() <= 1, seed
        off, elements = off + int(apart.sum()), elements + apart.size
    assert off <= 1 + elements // 1000


@pytest.mark.parametrize("target", deep_but("cortex-m3", ["cortex-m3", "cortex-m0plus"]))
def test_without_an_fpu_no_floats_are_linked(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    data, _ = between_pairs(np.random.default_rng(0))
    (tmp_path / "m.onnx").write_bytes(data)
    words = ["compile", str(tmp_path / "m.onnx"), f"--target={target}", "--int8-io", *QUICK]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    subprocess.run(["make", "-s", "-C", tmp_path / "out", "BUILD=b"], check=True)
    (image,) = (tmp_path / "out" / "b").glob("*.elf")
    symbols = subprocess.run(["arm-none-eabi-nm", image], capture_output=True, text=True).stdout
    floats = re.findall(r" (__aeabi_[fd]\w+|expf?|rintf?)$", symbols, re.MULTILINE)
    assert "softmax_even" in symbols and not floats
