"""An input that is pushed row by row, as C: every bit is that of the whole operators' C."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from pass_functions import assign_function
from row_networks import network
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.cli import main as memopt
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.dialects.rows.operations import ReceiveOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_memory import parse_banks
from memopt.passes.memgraph_place import MemgraphPlacePass

MODELS = (
    "dscnn_kws_int8",
    "resnet8_int8",
    "resnet8_float",
    "person_detect_int8",
    "tinymaix_mnist_resnet_int8",
    "streaming_wakeword_int8",
)


def streamed(lab: Any, module: ModuleOp, rows: str = "all", **model: Any) -> ModuleOp:
    """The module with its input in rows, planned; sums are int32, so places are aligned. Bits
    depend on no search for the best ones."""
    MemgraphExpandRowsPass((rows,), stream_input=True).apply(Context(), module)
    module.verify()
    how = {"place": "best-fit", "target": "host", "alignment": 4, "inplace": "on"}
    planned = lab.plan(module, **(how | model))
    assert isinstance(planned, ModuleOp)
    return planned


@pytest.mark.deep
@pytest.mark.parametrize("name", deep_but(list(MODELS[1:3]), MODELS))
def test_streamed_models_compute_the_same_bits(
    name: str, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """Of all tensors, with sanitizers: an arena that is too small or read too late is seen."""
    lab.need_tools("host")
    path = shared / "models" / f"{name}.tflite"
    whole = lab.plan(lab.read_model(path), target="host")
    rows = "auto" if name == "resnet8_int8" else "all"  # whole operators behind rows, too
    module = streamed(lab, lab.read_model(path), rows, schedule="auto")
    runs = max(2, int(10 * fuzz))
    inputs = lab.random_inputs(whole, runs, seed=5)
    want = lab.run_project(lab.write(whole, tmp_path / "whole", name, "host"), inputs)
    got = lab.run_project(lab.write(module, tmp_path / "rows", name, "host"), inputs, lab.SANITIZE)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output
    assert lab.whole_rows(got.trace, runs) == want.trace


@pytest.mark.deep
@pytest.mark.parametrize("quantized", deep_but(True, [True, False]))
def test_random_networks_compute_the_same_bits(
    quantized: bool, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """Also with the caller's outputs, in several memories, and in shared objects."""
    lab.need_tools("host")
    count, refused = max(5, int(50 * fuzz)), 0
    for seed in range(count):
        text = network(np.random.default_rng(seed), quantized)
        whole = lab.plan(load_text(new_context(), text, "n.mlir"), "source", target="host")
        inputs = lab.random_inputs(whole, 2, seed)
        work = tmp_path / str(seed)
        want = lab.run_project(lab.write(whole, work / "whole", "net", "host"), inputs, trace=False)
        rows = "auto" if seed % 3 == 0 else "all"
        io = "caller" if seed % 2 else "arena"
        module = load_text(new_context(), text, "n.mlir")
        try:
            module = streamed(lab, module, rows, schedule="rpo", io=io)
        except MemoptError as error:  # a product whose first operand is a vector
            assert "has no rows, it reads all of x" in str(error)
            refused += 1
            continue
        project = lab.write(module, work / "rows", "net", "host")
        got = lab.run_project(project, inputs, lab.SANITIZE, trace=False)
        assert (want.code, got.code) == (0, 0), got.messages
        assert got.output == want.output, f"seed {seed}"
    assert refused <= count / 25


USE = r"""
#include "net.h"
#include <stdio.h>
#include <string.h>

static uint8_t arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGNMENT)));
static int8_t image[NET_ROWS * NET_ROW_BYTES], row[NET_ROW_BYTES], output[NET_OUTPUT_BYTES];

static int read_row(void *context, int32_t number, int8_t *place) {
  if (number == *(int *)context) {
    return 7;
  }
  memcpy(place, image + number * NET_ROW_BYTES, NET_ROW_BYTES);
  return 0;
}

/* Rows from `from` on are pushed from a buffer that is overwritten afterwards. */
static int push(net_state *state, int from, int to) {
  int code = 0, r;
  for (r = from; r < to; ++r) {
    memcpy(row, image + r * NET_ROW_BYTES, NET_ROW_BYTES);
    code = net_push_row(state, row);
    memset(row, 0x55, sizeof row);
    if (code != (r == NET_ROWS - 1)) {
      return -100 - r;
    }
  }
  return code;
}

static void show(void) {
  fwrite(output, 1, sizeof output, stdout);
  memset(output, 0, sizeof output);
}

int main(void) {
  static net_state state;
  int never = -1, third = 3;
  if (fread(image, 1, sizeof image, stdin) != sizeof image) return 1;
  if (net_start(&state, NULL, output) != 1 || net_start(&state, arena + 1, output) != 1) return 2;
  if (net_start(NULL, arena, output) != 2) return 3;
  if (net_start(&state, arena, output) || push(&state, 0, NET_ROWS) != 1) return 4;
  show();
  if (net_push_row(&state, row) >= 0 || net_row_place(&state) != NULL) return 5;
  /* begun again in the middle of a run, and a row that is not there */
  if (net_start(&state, arena, output) || push(&state, 0, NET_ROWS / 2) != 0) return 6;
  memset(arena, 0x33, sizeof arena);
  if (net_start(&state, arena, output) || net_push_row(&state, NULL) >= 0) return 7;
  if (push(&state, 0, NET_ROWS) != 1) return 8;
  show();
  if (net_run(arena, read_row, &never, output) != 0) return 9;
  show();
  if (net_run(arena, read_row, &third, output) != 3) return 10;
  if (net_run(arena, NULL, &never, output) != 2) return 11;
  /* outputs stay in the arena if nobody wants them */
  if (net_run(arena, read_row, &never, NULL) != 0) return 12;
  memcpy(output, arena + NET_OUTPUT_0_OFFSET, sizeof output);
  show();
  return 0;
}
"""


def test_pushed_begun_again_and_fed_by_a_callback(shared: Path, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    path = shared / "models" / "tinymaix_mnist_resnet_int8.tflite"
    whole = lab.plan(lab.read_model(path), target="host")
    inputs = lab.random_inputs(whole, 1, 4)
    want = lab.run_project(lab.write(whole, tmp_path / "whole", "net", "host"), inputs, trace=False)
    project = lab.write(streamed(lab, lab.read_model(path)), tmp_path / "rows", "net", "host")
    (project / "use.c").write_text(USE)
    sources = [str(p) for p in (project / "kernels").glob("*.c")]
    command = [
        "cc",
        "-std=c99",
        "-Wall",
        "-Wextra",
        *lab.SANITIZE.split(),
        "-I",
        str(project),
        "-I",
        str(project / "kernels"),
    ]
    command += ["-o", str(project / "use"), str(project / "use.c"), str(project / "net.c")]
    done = subprocess.run([*command, *sources, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(
        [str(project / "use")], input=inputs[0].tobytes(), capture_output=True, check=False
    )
    assert ran.returncode == 0, ran
    assert ran.stdout == 4 * want.output


def test_other_memories(tmp_path: Path, lab: Any) -> None:
    """Two banks, and shared objects: the state holds what the caller gives."""
    lab.need_tools("host")
    text = """
!t = tensor<1x8x6x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!m = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
func.func @main(%x: !t) -> !m {
  %y = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> : (!t) -> !t
  %z = memgraph.add %y, %x rounding<tflm_double> : (!t, !t) -> !t
  %m = memgraph.mean %z axes [1, 2] rounding<tflm_double> : (!t) -> !m
  func.return %m : !m
}
"""
    whole = lab.plan(load_text(new_context(), text, "n.mlir"), target="host")
    inputs = lab.random_inputs(whole, 3, 1)
    want = lab.run_project(lab.write(whole, tmp_path / "whole", "net", "host"), inputs, trace=False)
    for place in ("banks", "objects"):
        module = load_text(new_context(), text, "n.mlir")
        MemgraphExpandRowsPass(stream_input=True).apply(Context(), module)
        lab.ordered(module, target="host", alignment=4, inplace="on")
        if place == "banks":
            assign_function(only_function(module), parse_banks("fast:96,slow:4K"))
        else:
            MemgraphPlacePass("shared-objects").apply(Context(), module)
        project = lab.write(module, tmp_path / place, "net", "host")
        got = lab.run_project(project, inputs, lab.SANITIZE, trace=False)
        assert got.code == 0, got.messages
        assert got.output == want.output, place


# Bytes: the proven peak of rows that are all streamed, at an alignment of 4.
PEAKS = {"resnet8_int8": 9_152, "dscnn_kws_int8": 3_552}


@pytest.mark.deep
@pytest.mark.parametrize("name", deep_but("dscnn_kws_int8", PEAKS))
def test_streamed_on_cortex_m4(name: str, shared: Path, tmp_path: Path, lab: Any) -> None:
    """The same outputs; canaries that hold and trip; what receiving a row costs."""
    lab.need_tools("cortex-m4")
    path = shared / "models" / f"{name}.tflite"
    whole = lab.plan(lab.read_model(path), target="cortex-m4")
    module = streamed(lab, lab.read_model(path), target="cortex-m4")
    plan = plan_of(only_function(module))
    assert plan is not None
    assert plan.peak.data <= PEAKS[name]
    inputs = lab.random_inputs(whole, 3, seed=2)
    want = lab.run_project(
        lab.write(whole, tmp_path / "whole", name, "cortex-m4"), inputs, trace=False
    )
    project = lab.write(module, tmp_path / "rows", name, "cortex-m4")
    got = lab.run_project(project, inputs, trace=False)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output
    steps = [op for op in only_function(module).body.block.ops if "memgraph.order" in op.attributes]
    more = got.numbers["instructions"] - want.numbers["instructions"]
    assert 0 < more <= 600 * len(steps)
    assert any(isinstance(op, ReceiveOp) for op in steps)
    shrink = 4 * (1 + lab.top_padding(module) // 4)
    flags = f"-O2 -DMEMOPT_ARENA_SHRINK={shrink}"
    assert lab.run_project(project, inputs, flags, "shrunk", trace=False).code == 2


def test_compile_streamed(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one command; what cannot is said by name, and leaves nothing."""
    model = str(shared / "models" / "tinymaix_mnist_resnet_int8.tflite")
    assert (
        memopt(["compile", model, "--rows=all", "--stream-input", "-o", str(tmp_path / "a")]) == 0
    )
    header = (tmp_path / "a" / "tinymaix_mnist_resnet_int8.h").read_text()
    assert "INT8_ROWS 28 /*" in header and "INT8_ROW_BYTES 28u" in header
    assert (
        memopt(["report", model, "--rows=auto", "--stream-input", "--target=host", "--json"]) == 0
    )
    assert '"peak": 1412' in capsys.readouterr().out
    for arguments, code, message in (
        (["--place=exact", "--stream-input"], 2, "--stream-input needs operators in rows"),
        (["--rows=none", "--stream-input"], 2, "--stream-input needs operators in rows"),
        (["--rows=all", "--stream-input", "--target=tflm"], 2, "--stream-input: TensorFlow Lite"),
        (["--rows=all", "--stream-input", "--io=kept"], 1, "is not kept, as the memory model"),
    ):
        assert memopt(["compile", model, *arguments, "-o", str(tmp_path / "no")]) == code
        assert message in capsys.readouterr().err
        assert not (tmp_path / "no").exists()


def test_recurrent_layers_take_steps_as_they_arrive(tmp_path: Path, lab: Any) -> None:
    """No more of a sequence is there than the step that has arrived and what layers hold."""
    lab.need_tools("host")
    text = """func.func @main(%x: tensor<1x6x3xf32>) -> tensor<1x1x4xf32> {
  %w = memgraph.constant dense<0.5> : tensor<15x3xf32>
  %r = memgraph.constant dense<-0.25> : tensor<15x5xf32>
  %b = memgraph.constant dense<0.125> : tensor<20xf32>
  %v = memgraph.constant dense<0.25> : tensor<8x5xf32>
  %s = memgraph.constant dense<0.5> : tensor<8x2xf32>
  %c = memgraph.constant dense<-0.5> : tensor<8xf32>
  %h = memgraph.gru_layer %x, %w, %r, %b linear_before_reset : (tensor<1x6x3xf32>,
      tensor<15x3xf32>, tensor<15x5xf32>, tensor<20xf32>) -> tensor<1x6x5xf32>
  %y = memgraph.lstm_layer %h, %v, %s, %c : (tensor<1x6x5xf32>, tensor<8x5xf32>,
      tensor<8x2xf32>, tensor<8xf32>) -> tensor<1x6x4xf32>
  %z = memgraph.slice %y starts [0, 5, 0] strides [1, 1, 1] : (tensor<1x6x4xf32>)
      -> tensor<1x1x4xf32>
  func.return %z : tensor<1x1x4xf32>
}"""
    whole = lab.plan(load_text(new_context(), text, "n.mlir"), "source", target="host")
    inputs = lab.random_inputs(whole, 3, 1)
    want = lab.run_project(lab.write(whole, tmp_path / "w", "net", "host"), inputs, trace=False)
    module = streamed(lab, load_text(new_context(), text, "n.mlir"))
    plan = plan_of(only_function(module))
    assert plan is not None
    assert plan.peak.data <= 4 * (3 + 3 * 5 + 2 * 4)
    project = lab.write(module, tmp_path / "rows", "net", "host")
    got = lab.run_project(project, inputs, lab.SANITIZE, trace=False)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output
