"""What the tests of generated C share: plan a model, write its project, run it, ask the oracles."""

import importlib
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import compiled
import numpy as np
import oracle_process
import pytest
from numpy.typing import NDArray
from tools import has_tools as has_tools
from tools import need_tools as need_tools
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.backends.c.emit.call import element_kind
from memopt.backends.c.emit.layout import layout_of
from memopt.backends.c.kernels import kernel_files
from memopt.backends.c.kernels.binary.even_lines import tflm_sum_fields
from memopt.backends.c.project.write import write_project
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import ORDER
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.targets.core.target import target_named, target_names

Array = NDArray[Any]
HERE = Path(__file__).parent
BOARDS = tuple(n for n in target_names("c") if target_named(n).has_memories)
SANITIZE = "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all"
OBJECTS: Path | None = None  # where object files are kept for other projects of these tests


@dataclass(frozen=True)
class Run:
    """What a program left: exit code, messages, the numbers it printed, outputs, traced tensors."""

    code: int
    messages: str
    numbers: dict[str, int]
    output: bytes
    trace: dict[int, list[bytes]]


def read_model(path: Path) -> ModuleOp:
    tflite = importlib.import_module("memopt.frontends.tflite.read")
    module = tflite.read(path.read_bytes(), path.name, path)
    assert isinstance(module, ModuleOp)
    return module


def ordered(module: ModuleOp, method: str = "auto", **model: Any) -> ModuleOp:
    """The module with its memory model and order."""
    context = Context()
    if model:
        MemgraphModelPass(**model).apply(context, module)
    MemgraphSchedulePass(method=method).apply(context, module)  # type: ignore[arg-type]
    return module


def plan(module: ModuleOp, schedule: str = "auto", place: str = "auto", **model: Any) -> ModuleOp:
    """The module, planned in place: memory model, order, offsets."""
    ordered(module, schedule, **model)
    MemgraphPlacePass(place).apply(Context(), module)
    return module


def main_of(module: ModuleOp) -> FuncOp:
    return next(functions(module))


def tensors_of(module: ModuleOp) -> list[int]:
    """The source's indices of all tensors that an executing operation writes."""
    found: list[int] = []
    for op in main_of(module).body.block.ops:
        source = op.attributes.get("memgraph.source")
        if ORDER in op.attributes and isinstance(source, SourceAttr):
            found += source.tensor_ids
    return found


def source_tensor(value: Any) -> int:
    """The source's index of a result."""
    source = value.op.attributes["memgraph.source"]
    assert isinstance(source, SourceAttr)
    return source.tensor_ids[int(value.index)]


def top_padding(module: ModuleOp) -> int:
    """Bytes between the end of the highest tensor and the end of the arena."""
    layout = layout_of(module)
    ends = [a.offset + (bytes_of(v.type) or 0) for v, a in layout.addresses.items()]
    return layout.arena - max(ends)


def random_inputs(module: ModuleOp, runs: int, seed: int) -> list[Array]:
    """One array [runs, ...] per input: all stored integers, or floats in [-1, 1)."""
    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    for argument in main_of(module).body.block.args:
        shape = (runs, *shape_of(argument))
        if element_kind(argument) == "f32":
            arrays.append(rng.random(shape, dtype=np.float32) * 2 - 1)
        elif element_kind(argument) == "bool":
            arrays.append(rng.random(shape) < 0.5)
        else:
            limits = np.iinfo(dtype_of(argument))
            arrays.append(rng.integers(limits.min, limits.max + 1, shape, limits.dtype))
    return arrays


NO_TFLITE_KERNELS = {
    *("compare_s16", "compare_plain_s8", "softmax_along_f32"),
    *("atan2_f32", "local_response_normalization_f32"),  # whole: test_c_uncommon.py
    *(f"layer_normalization_{way}" for way in ("f32", "quotient_f32", "line_f32")),
    *("layer_normalization_even_s8", "layer_normalization_even_u8"),
    "group_normalization_f32",
}


def without_lines(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """With an odd seed, round sums of int8 twice, which TFLM does: as if no line did the same."""
    name = "memopt.backends.c.kernels.binary.tflm_sum_fields"
    monkeypatch.setattr(name, none_of if seed % 2 else tflm_sum_fields)


def none_of(op: object) -> None:
    """Return no fields of a line."""


def row_kernels(quantized: bool) -> set[str]:
    """The kernels that compute rows of whole operators of stored integers, or of floats alone."""
    found = {f.removeprefix("memopt_").removesuffix(".c") for f in kernel_files() if ".c" in f}
    found = {k for k in found if "_even_" not in k}  # of ONNX: test_c_onnx.py
    found = {k for k in found if "hybrid_" not in k}  # of whole images: test_c_hybrid.py
    found = {k for k in found if "_in_place_" not in k}  # whole: test_c_row_networks.py
    sums = {k for k in found if "_sum_" in k and not k.startswith("reduce_")}
    found -= sums  # of several operators: test_c_sums.py
    found -= {"inlined", "inlined_row", "epilogue_row", "regrouped"}  # test_c_inlined.py
    of_no_host = ("_packed_", "_blocks_", "_strips_", "_narrow_", "table_")  # test_c_fast.py
    found = {k for k in found if not any(part in k for part in of_no_host)}
    found -= {"gather", "strided", "picked"}  # whole: test_c_moves.py, test_c_picked.py
    found -= {"cast_any"}  # test_c_integers.py
    found -= {"fully_connected_offset_s8"}  # test_c_offset_weights.py
    found -= {"atan_f32", "erf_f32"}  # of ONNX: test_onnx_nodes.py, whole as all of one number are
    whole = ("floor_div_i32", "floor_mod_i32", "div_i32", "abs_i32", "neg_i32")
    found -= {"remainder_f32", "remainder_i32"}  # of ONNX: test_onnx_nodes.py
    found = {
        k for k in found if not k.startswith(("scatter_update", "tree_", "conv_integer"))
    }  # the same
    whole += tuple(k for k in found if k.endswith("_i64"))  # test_c_onnx_integers.py
    found = {k for k in found if k not in whole}  # the same
    found -= NO_TFLITE_KERNELS  # test_c_random_operators.py, without forged files
    found -= {"attention_f32", "attention_s8"}  # of no file: test_c_attention.py, _bytes.py
    found -= {"outer_products_f32"}  # of no file: test_c_products_by_place.py
    # of no file: test_c_group_normalization.py, test_c_gates.py
    found = {k for k in found if not k.startswith(("group_statistics_", "formula_"))}
    # of no .tflite: test_c_recurrent_layers.py
    found -= {f"{kind}_layer_{of}" for kind in ("gru", "rnn") for of in ("f32", "hybrid")}
    found -= {"custom"}  # what the user writes: test_c_custom.py
    found = {k for k in found if not k.startswith("cmsis_")}  # whole: test_c_cmsis_nn.py
    found -= {"choose", "gather_nd", "broadcast"}  # whole: test_c_truth.py
    found = {k for k in found if not k.startswith("batch_matmul_")}  # whole: test_c_truth.py
    rare = ("cumulative_sum_", "add_n_", "top_k_", "one_hot", "scatter_nd_")
    found = {k for k in found if not k.startswith(rare)}  # whole: test_c_rare.py
    found = {k for k in found if not k.startswith("detection_")}  # test_c_detection.py
    found = {k for k in found if not k.startswith("signal_")}  # test_c_signal.py
    found -= {"non_max_suppression", "conv_3d_f32", "real_fft_2d_f32", "complex_part_f32"}
    found -= {"max_pool_places_f32", "max_unpool_f32", "landmarks_to_matrix_f32"}
    found = {k for k in found if not k.startswith("transform_")}
    found -= {"dynamic_update_slice"}  # whole: test_c_uncommon.py, as all of these
    stays = ("svdf_", "lstm_", "real_lstm_", "sequence_rnn_")
    found = {k for k in found if not k.startswith(stays)}  # test_c_state.py
    integers = {"s8", "u8", "s16", "i32", "bool"}
    floats = {k for k in found if k.endswith("_f32") and not integers & set(k.split("_"))}
    alike = {k for k in found if not {"f32", *integers} & set(k.split("_"))}  # any type
    return found - floats if quantized else floats | alike


def whole_rows(trace: dict[int, list[bytes]], runs: int) -> dict[int, list[bytes]]:
    """Of each tensor its bytes in every run, from those of its rows, which are traced in order."""
    found: dict[int, list[bytes]] = {}
    for tensor, pieces in trace.items():
        each = len(pieces) // runs
        assert each * runs == len(pieces)
        found[tensor] = [b"".join(pieces[n * each : (n + 1) * each]) for n in range(runs)]
    return found


def cores_of(number: int, fuzz: float) -> tuple[str, ...]:
    """Return the cores that a model runs on: one in turn, all in the full counts."""
    return BOARDS if fuzz >= 1 else BOARDS[number % len(BOARDS) :][:1]


def run_project(
    directory: Path,
    inputs: Sequence[Array],
    cflags: str | None = None,
    build: str = "build",
    trace: bool = True,
    variables: Sequence[str] = (),
) -> Run:
    """Build a project, with `variables` of make's, and run it once on all inputs ([runs, ...]
    each)."""
    data = b"".join(array[run].tobytes() for run in range(len(inputs[0])) for array in inputs)
    (directory / "in.bin").write_bytes(data)
    for old in ("out.bin", "trace.bin"):
        (directory / old).unlink(missing_ok=True)
    flags = (cflags or "-O2") + (" -DMEMOPT_TRACE" if trace else "")
    command = ["make", "-s", "-C", str(directory), f"BUILD={build}", f"CFLAGS={flags}", *variables]
    if OBJECTS is not None:
        compiled.make(command, directory, build, OBJECTS)
    command += ["run", "IN=in.bin", "OUT=out.bin", *(["TRACE=trace.bin"] if trace else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    output, traced = directory / "out.bin", directory / "trace.bin"
    numbers: dict[str, int] = {}
    for line in done.stderr.splitlines():
        name, _, value = line.partition(" ")
        if value.isdigit():
            numbers[name] = int(value)
    return Run(
        done.returncode,
        done.stderr + done.stdout,
        numbers,
        output.read_bytes() if output.exists() else b"",
        read_trace(traced.read_bytes()) if traced.exists() else {},
    )


def read_trace(data: bytes) -> dict[int, list[bytes]]:
    """Tensor index -> its bytes in every run."""
    found: dict[int, list[bytes]] = {}
    at = 0
    while at < len(data):
        tensor, size = (int(v) for v in np.frombuffer(data, np.uint32, 2, at))
        found.setdefault(tensor, []).append(data[at + 8 : at + 8 + size])
        at += 8 + size
    return found


def golden(
    oracle: str,
    model: Path,
    inputs: Sequence[Array],
    tensors: Sequence[int],
    work: Path,
    stays: bool = False,
) -> dict[int, Array]:
    """Tensor index -> [runs, ...], computed by golden_<oracle>.py in another process; `litert_ref`
    are LiteRT's reference kernels, which round as they are written, on any machine. If `stays`,
    variables keep what they hold from one run to the next; LiteRT's always do."""
    work.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {f"input_{i}": a for i, a in enumerate(inputs)}
    np.savez(work / "inputs.npz", **arrays)
    job: dict[str, Any] = {
        "model": str(model),
        "inputs": str(work / "inputs.npz"),
        "tensors": list(tensors),
        "output": str(work / "golden.npz"),
        "reference": oracle == "litert_ref",
        "stays": stays,
    }
    oracle_process.run(HERE / f"golden_{oracle.removesuffix('_ref')}.py", job)
    with np.load(work / "golden.npz") as found:
        return {int(k.removeprefix("tensor_")): found[k] for k in found.files}


def unequal_tensors(run: Run, want: Mapping[int, Array]) -> list[str]:
    """Tensors that differ in any bit from the oracle, or were not traced once per run."""
    faults: list[str] = []
    for tensor, arrays in want.items():
        got = run.trace.get(tensor, [])
        if len(got) != len(arrays):
            faults.append(f"tensor {tensor}: {len(got)} traces for {len(arrays)} runs")
        for index, (a, b) in enumerate(zip(got, arrays, strict=False)):
            if a != b.tobytes():
                wrong = np.frombuffer(a, b.dtype).reshape(b.shape) != b
                faults.append(f"tensor {tensor} run {index}: {wrong.sum()} of {b.size} differ")
    return faults


def worst_difference(run: Run, want: Mapping[int, Array], least: float = 0.0) -> float:
    """max|a - b| / max|b| over all tensors and runs, where the largest value counts as `least` at
    least, because what cancels is rounded as its terms are; every tensor must have been traced."""
    worst = 0.0
    for tensor, arrays in want.items():
        assert len(run.trace[tensor]) == len(arrays)
        for got, b in zip(run.trace[tensor], arrays, strict=True):
            a = np.frombuffer(got, b.dtype).reshape(b.shape).astype(np.float64)
            scale = max(float(np.abs(b).max()), least)
            worst = max(worst, float(np.abs(a - b).max()) / (scale or 1.0))
    return worst


def write(module: ModuleOp, directory: Path, name: str, target: str) -> Path:
    write_project(module, directory, name, target)
    return directory
