"""A window that slides over a stream, as C: every output is that of the whole operators' C on the
whole window, bit for bit."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from row_networks import network
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.persistent import Sliding, sliding_of
from memopt.cli import main as memopt
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import Array, dtype_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.memgraph_slide import MemgraphSlidePass
from memopt.passes.memgraph_verify_plan import MemgraphVerifyPlanPass

# How far it slides, how many bytes may be kept, and how many are.
MODELS = (
    ("streaming_wakeword_int8", 1, None, 3_536),
    ("dscnn_kws_int8", 2, None, 24_470),
    ("dscnn_kws_int8", 2, 6_000, 5_910),
)


def sliding(
    lab: Any, module: ModuleOp, rows: int, kept: int | None = None, **model: Any
) -> Sliding:
    """Plan the module for a window that slides by so many rows."""
    MemgraphExpandRowsPass(stream_input=True).apply(Context(), module)
    MemgraphSlidePass(rows, kept).apply(Context(), module)
    module.verify()
    how = {"place": "best-fit", "target": "host", "alignment": 4, "inplace": "on"}
    lab.plan(module, **(how | model))
    MemgraphVerifyPlanPass(placed=True).apply(Context(), module)
    found = sliding_of(only_function(module))
    assert found is not None
    return found


def stream_and_windows(module: ModuleOp, found: Sliding, outputs: int, seed: int) -> list[Array]:
    """[1, frames, ...] as it is pushed, [outputs, 1, height, ...] as whole operators take it."""
    (argument,) = body_of(only_function(module)).args
    first = found.runs * found.rows
    shape = (first + (outputs - 1) * found.rows, *shape_of(argument)[2:])
    rng, kind = np.random.default_rng(seed), np.dtype(dtype_of(argument))
    real: Array = rng.standard_normal(shape).astype(np.float32)
    frames = real if kind.kind == "f" else rng.integers(-128, 128, shape).astype(kind)
    ends = [first + k * found.rows for k in range(outputs)]
    windows: Array = np.stack([frames[end - found.height : end][None] for end in ends])
    return [frames[None], windows]


@pytest.mark.deep
@pytest.mark.parametrize(("name", "rows", "most", "kept"), MODELS)
def test_models_give_what_whole_windows_give(
    name: str, rows: int, most: int | None, kept: int, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """With sanitizers; the arena and what is kept hold no byte more than is planned."""
    lab.need_tools("host")
    path = shared / "models" / f"{name}.tflite"
    whole = lab.plan(lab.read_model(path), target="host")
    module = lab.read_model(path)
    found = sliding(lab, module, rows, most)
    assert found.bytes == kept
    stream, windows = stream_and_windows(whole, found, 4, 5)
    want = lab.run_project(
        lab.write(whole, tmp_path / "whole", name, "host"), [windows], trace=False
    )
    project = lab.write(module, tmp_path / "rows", name, "host")
    got = lab.run_project(project, [stream], lab.SANITIZE)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output


@pytest.mark.deep
@pytest.mark.parametrize("quantized", deep_but(True, [True, False]))
def test_random_networks_give_what_whole_windows_give(
    quantized: bool, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """Also with the caller's outputs, and where new rows come from above and below."""
    lab.need_tools("host")
    done = 0
    for seed in range(max(7, int(100 * fuzz))):
        rng = np.random.default_rng([seed, quantized])
        text = network(rng, quantized, branch=seed % 3 == 0)
        whole, module = (load_text(new_context(), text, "n.mlir") for _ in "ab")
        height = shape_of(body_of(only_function(whole)).args[0])[1]
        io = "caller" if seed % 2 else "arena"
        try:
            found = sliding(lab, module, int(rng.integers(1, max(2, height // 2))), io=io)
        except MemoptError as error:
            refused = "memgraph-slide: no", "has no rows, it reads all of x"
            assert any(text in str(error) for text in refused), error
            continue
        lab.plan(whole, "source", target="host")
        stream, windows = stream_and_windows(whole, found, 3, seed)
        work = tmp_path / str(seed)
        project = lab.write(whole, work / "whole", "net", "host")
        want = lab.run_project(project, [windows], trace=False)
        project = lab.write(module, work / "rows", "net", "host")
        got = lab.run_project(project, [stream], lab.SANITIZE, trace=False)
        assert (want.code, got.code) == (0, 0), got.messages
        assert got.output == want.output, f"seed {seed}"
        done += 1
    assert done >= 4


SEQUENCE = """
!x = tensor<1x20x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
!p = tensor<1x1x20x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!w = tensor<8x1x3x4xi8, #memgraph.encoding<ohwi, scale = [2.0e-02], zero_point = [0]>>
!q = tensor<1x1x18x8xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
!y = tensor<1x18x8xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [-9]>>
!r = tensor<1x1x9x8xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
!z = tensor<1x9x8xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [-9]>>
!m = tensor<1x8xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [2]>>
func.func @main(%x: !x) -> !m {
  %w = memgraph.constant dense<3> : !w
  %0 = memgraph.reshape %x : (!x) -> !p
  %1 = memgraph.conv_2d %0, %w window<[1, 3]> groups 1 rounding<tflm_double> : (!p, !w) -> !q
  %2 = memgraph.reshape %1 : (!q) -> !y
  %3 = memgraph.relu %2 : (!y) -> !y
  %4 = memgraph.reshape %3 : (!y) -> !q
  %5 = memgraph.max_pool_2d %4 window<[1, 2], stride = [1, 2]> : (!q) -> !r
  %6 = memgraph.reshape %5 : (!r) -> !z
  %7 = memgraph.mean %6 axes [1] rounding<tflm_double> : (!z) -> !m
  func.return %7 : !m
}
"""


def test_sequences_slide_too(tmp_path: Path, lab: Any) -> None:
    """Layers over time as Keras writes them, pictures one pixel high, which have no rows."""
    lab.need_tools("host")
    whole, module = (load_text(new_context(), SEQUENCE, "n.mlir") for _ in "ab")
    lab.plan(whole, "source", target="host")
    MemgraphRewritePass(("frames-as-rows",)).apply(Context(), module)
    found = sliding(lab, module, 2)
    assert (found.macs, found.kept_macs) == (18 * 3 * 4 * 8, 16 * 3 * 4 * 8)
    stream, windows = stream_and_windows(whole, found, 3, 1)
    project = lab.write(whole, tmp_path / "whole", "net", "host")
    want = lab.run_project(project, [windows], trace=False)
    project = lab.write(module, tmp_path / "rows", "net", "host")
    got = lab.run_project(project, [stream], lab.SANITIZE, trace=False)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output
    assert len(set(got.output)) > 1


USE = r"""
#include "net.h"
#include <stdio.h>
#include <string.h>

static uint8_t arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGNMENT)));
static int8_t output[NET_OUTPUT_BYTES], row[NET_ROW_BYTES];

int main(void) {
  static net_state state;
  int pushed = 0, code, start, first = (int)NET_FIRST_ROWS;
  if (net_start(&state, NULL, output) != 1 || net_start(NULL, arena, output) != 2) return 2;
  for (start = 0; start < 2; ++start) { /* begun again after rows that are not to be seen */
    if (net_start(&state, arena, output) != 0) return 3;
    memset(row, 77, sizeof row);
    if (start == 0 && (net_push_row(&state, row) != 0 || net_push_row(&state, row) != 0)) return 4;
  }
  if (net_push_row(&state, NULL) >= 0) return 5;
  while (fread(row, 1, sizeof row, stdin) == sizeof row) {
    if (pushed % 3 == 1) { /* filled in place */
      memcpy(net_row_place(&state), row, sizeof row);
      if (net_row_place(&state) != net_row_place(&state)) return 6;
      code = net_push_row(&state, net_row_place(&state));
    } else {
      code = net_push_row(&state, row);
      memset(row, 0x55, sizeof row);
    }
    ++pushed;
    if (code != (pushed >= first && pushed % (int)NET_NEW_ROWS == 0)) return 7;
    if (pushed % (int)NET_NEW_ROWS == 0) { /* the arena is free between windows */
      memset(arena, 0x33, sizeof arena);
    }
    if (code) {
      fwrite(output, 1, sizeof output, stdout);
      memset(output, 0, sizeof output);
    }
  }
  return 0;
}
"""


@pytest.mark.deep
def test_the_arena_is_free_between_windows(shared: Path, tmp_path: Path, lab: Any) -> None:
    """Pushed by a copy and in place, begun again, with an arena that is overwritten meanwhile."""
    lab.need_tools("host")
    path = shared / "models" / "dscnn_kws_int8.tflite"
    whole = lab.plan(lab.read_model(path), target="host")
    module = lab.read_model(path)
    found = sliding(lab, module, 2)
    stream, windows = stream_and_windows(whole, found, 3, 4)
    want = lab.run_project(
        lab.write(whole, tmp_path / "whole", "net", "host"), [windows], trace=False
    )
    project = lab.write(module, tmp_path / "rows", "net", "host")
    (project / "use.c").write_text(USE)
    sources = [str(p) for p in (project / "kernels").glob("*.c")]
    command = ["cc", "-std=c99", "-Wall", "-Wextra", *lab.SANITIZE.split(), "-I", str(project)]
    command += ["-I", str(project / "kernels"), "-o", str(project / "use")]
    command += [str(project / "use.c"), str(project / "net.c"), *sources, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(
        [str(project / "use")], input=stream.tobytes(), capture_output=True, check=False
    )
    assert ran.returncode == 0, ran
    assert ran.stdout == want.output


@pytest.mark.deep
@pytest.mark.parametrize(("rows", "arena", "kept"), [(1, 256, 3_536), (4, 1_024, 3_152)])
def test_wakeword_on_cortex_m4(
    rows: int, arena: int, kept: int, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """The same outputs, and a fraction of the instructions; canaries that hold and trip. Of several
    rows two go in one call."""
    lab.need_tools("cortex-m4")
    name = "streaming_wakeword_int8"
    path = shared / "models" / f"{name}.tflite"
    whole = lab.plan(lab.read_model(path), target="cortex-m4")
    module = lab.read_model(path)
    found = sliding(lab, module, rows, target="cortex-m4")
    plan = plan_of(only_function(module))
    assert plan is not None
    assert (plan.arena, found.bytes) == (arena, kept)
    stream, windows = stream_and_windows(whole, found, 3, 2)
    want = lab.run_project(
        lab.write(whole, tmp_path / "whole", name, "cortex-m4"), [windows], trace=False
    )
    project = lab.write(module, tmp_path / "rows", name, "cortex-m4")
    assert ("o->rows[next[number]]" in (project / f"{name}.c").read_text()) == (rows > 1)
    got = lab.run_project(project, [stream], trace=False)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output
    assert got.numbers["instructions"] < rows * want.numbers["instructions"] // 5
    flags = "-O2 -DMEMOPT_ARENA_SHRINK=16"
    assert lab.run_project(project, [stream], flags, "shrunk", trace=False).code == 2


@pytest.mark.deep
def test_compile_and_report(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one command; what cannot is said by name, and leaves nothing."""
    model = str(shared / "models" / "streaming_wakeword_int8.tflite")
    assert memopt(["compile", model, "--slide=1", "-o", str(tmp_path / "a")]) == 0
    told = capsys.readouterr().out
    assert "1 of 30 rows are new in a window: 46,040 of 826,368 MACs, 94.4% saved" in told
    assert "3,536 B from window to window" in told
    header = (tmp_path / "a" / "streaming_wakeword_int8.h").read_text()
    assert "_KEPT_BYTES 3536u" in header and "_run(" not in header
    assert memopt(["report", model, "--slide=1", "--target=cortex-m4", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["plan"]["sliding"] == {
        "rows": 30,
        "new_rows": 1,
        "first_window": 30,
        "kept_bytes": 3_536,
        "macs": 826_368,
        "kept_macs": 780_328,
    }
    assert report["target"]["static_ram"] >= 3_536
    for arguments, code, message in (
        (["--slide=0"], 2, "--slide=0: a number of rows, from 1 on"),
        (["--slide=1.5"], 2, "--slide=1.5: a number of rows, from 1 on"),
        (["--slide=1", "--rows=auto"], 2, "--slide cuts every operator that has rows, not"),
        (["--slide=1", "--fit=4K"], 2, "--slide: --fit is of whole windows"),
        (["--slide=1", "--memory=a:4K"], 2, "--slide: --memory has no place for what stays"),
        (["--slide=1", "--target=tflm"], 2, "--slide: TensorFlow Lite Micro runs every window"),
        (["--slide=1", "--io=kept"], 1, "is not kept, as the memory model"),
        (["--kept=1K"], 2, "--kept is of a window that slides: --slide=N says by how much"),
        (["--slide=1", "--kept=0"], 2, "--kept=0: no window is kept in that"),
        (["--slide=1", "--kept=20"], 1, "no fewer than 1,160 B are found to be kept"),
        (["--slide=30"], 1, "has 30 rows, so no two runs have one in common"),
    ):
        assert memopt(["compile", model, *arguments, "-o", str(tmp_path / "no")]) == code
        assert message in capsys.readouterr().err
        assert not (tmp_path / "no").exists()
