"""Random operators (strides, dilations, padding, groups, activations) against the oracles."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import SEEDS, deep_but, seeds
from forge_int16 import add_int16
from forge_truth import add_stored_quotients
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.operators.fully_connected import FullyConnectedOp

OPERATORS = 40  # per model


def forged(lab: Any, seed: int, quantized: bool, path: Path, all_types: bool = False) -> Path:
    """Operators that TFLM has, with `all_types` one of each kind more and those
    that LiteRT alone has."""
    forge = lab.forge.Forge(np.random.default_rng(seed), quantized)
    for _ in range(OPERATORS):
        lab.forge.add_random(forge)
    if all_types:
        lab.forge.add_each(forge)
        lab.forge.add_of_litert(forge)
    if all_types and quantized:
        add_int16(lab.forge, forge)
        add_stored_quotients(forge)
    return forge.save(path)


@pytest.mark.parametrize("part", SEEDS)
def test_int8_operators_equal_tflm(
    part: str, fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.need_tools("host")
    for seed in seeds(part, 1, 2, 40 * fuzz):
        lab.without_lines(monkeypatch, seed)
        work = tmp_path / str(seed)
        work.mkdir()
        path = forged(lab, seed, True, work / "random.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs = lab.random_inputs(module, 2, seed)
        want = lab.golden("tflm", path, inputs, lab.tensors_of(module), work / "golden")
        assert len(want) == len(lab.tensors_of(module)) >= OPERATORS
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"


@pytest.mark.deep
def test_operators_of_litert_alone_equal_it(fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(2, int(40 * fuzz))):
        work = tmp_path / str(seed)
        forge = lab.forge.Forge(np.random.default_rng(seed), True)
        lab.forge.add_of_litert(forge)
        work.mkdir()
        path = forge.save(work / "random.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs = lab.random_inputs(module, 2, seed)
        want = lab.golden("litert_ref", path, inputs, lab.tensors_of(module), work / "golden")
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"


def test_matrices_of_uint8_are_rounded_once(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """So many elements that some are others if they are rounded twice."""
    lab.need_tools("host")
    differ = 0
    for seed in range(max(2, int(40 * fuzz))):
        forge, work = lab.forge.Forge(np.random.default_rng(seed), True), tmp_path / str(seed)
        forge.store_as(lab.forge.UINT8)
        lab.forge.add_fully_connected(forge, needs_bias=True, below=(400, 40, 40))
        work.mkdir()
        path = forge.save(work / "random.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs = lab.random_inputs(module, 1, seed)
        want = lab.golden("litert_ref", path, inputs, lab.tensors_of(module), work / "golden")
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"
        func = only_function(module)
        (op,) = (op for op in body_of(func).ops if isinstance(op, FullyConnectedOp))
        ((right,),) = want.values()
        for rounding in ("tflite_single", "tflm_double"):
            op.properties["rounding"] = RoundingAttr(rounding)
            weights = Weights.of(module, work)
            wrong = int((evaluate(func, weights, [x[0] for x in inputs])[op.result] != right).sum())
            assert rounding == "tflm_double" or not wrong
            differ += wrong
    assert differ > 0


def test_casts_equal_litert(tmp_path: Path, lab: Any) -> None:
    """Of floats between what each type holds."""
    lab.need_tools("host")
    forge = lab.forge.Forge(np.random.default_rng(2), True)
    for _ in range(3):
        lab.forge.add_cast(forge)
    path = forge.save(tmp_path / "random.tflite")
    module = lab.plan(lab.read_model(path), schedule="source")
    inputs = lab.random_inputs(module, 2, 2)
    for (source, result), x in zip(3 * lab.forge.CASTS, inputs, strict=True):
        if source == lab.forge.FLOAT32:
            limits = np.iinfo(lab.forge.DTYPES[result])
            x[:] = np.clip(300 * x, limits.min, limits.max)
    want = lab.golden("litert_ref", path, inputs, lab.tensors_of(module), tmp_path / "golden")
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []


def test_casts_of_what_no_integer_holds(tmp_path: Path, lab: Any) -> None:
    """C leaves it open, so it is the nearest, and 0 of a NaN; with sanitizers."""
    lab.need_tools("host")
    kinds = ("INT8", "UINT8", "INT32")
    forge, types = lab.forge.Forge(np.random.default_rng(2), True), lab.forge
    types.add_cast(forge, [(types.FLOAT32, getattr(types, kind)) for kind in kinds], [1, 6])
    module = lab.plan(lab.read_model(forge.save(tmp_path / "random.tflite")), schedule="source")
    values = np.array([[[np.nan, np.inf, -np.inf, 3e9, -3e9, -7.9]]], np.float32)
    directory = lab.write(module, tmp_path / "c", "net", "host")
    run = lab.run_project(directory, [values] * 3, lab.SANITIZE)
    assert run.code == 0, run.messages
    ends = {k: np.iinfo(lab.forge.DTYPES[getattr(types, k)]) for k in kinds}
    most = {k: (2147483520 if k == "INT32" else e.max) for k, e in ends.items()}
    want = [
        np.array([0, most[k], e.min, most[k], e.min, max(-7, e.min)]).astype(e.dtype)
        for k, e in ends.items()
    ]
    assert run.output == b"".join(a.tobytes() for a in want)


def test_signs_of_what_is_no_number(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    forge = lab.forge.Forge(np.random.default_rng(1), False)
    lab.forge.add_real_function(forge, "SIGN")
    path = forge.save(tmp_path / "sign.tflite")
    module = lab.plan(lab.read_model(path))
    values = lab.random_inputs(module, 1, 0)
    values[0].reshape(-1)[:6] = [np.nan, 0.0, -0.0, 1e-42, np.inf, -np.inf]
    (want,) = lab.golden("litert", path, values, lab.tensors_of(module), tmp_path).values()
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), values, lab.SANITIZE)
    assert run.code == 0, run.messages
    func = only_function(module)
    made = list(evaluate(func, Weights({}), [values[0][0]]).values())[-1]
    for found in (np.frombuffer(run.output, np.float32), made.reshape(-1)):
        assert np.array_equal(found, want.reshape(-1), equal_nan=True)


CORES = ["cortex-m4", "cortex-m55", "cortex-m3", "cortex-m0plus", "riscv32"]


@pytest.mark.deep
@pytest.mark.parametrize("core", CORES)
def test_int8_operators_equal_tflm_on_a_core(
    core: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(core)
    for seed in range(max(1, int(20 * fuzz))):
        work = tmp_path / str(seed)
        work.mkdir()
        path = forged(lab, 1000 + seed, True, work / "random.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs = lab.random_inputs(module, 1, 1)
        want = lab.golden("tflm", path, inputs, lab.tensors_of(module), work / "golden")
        for flags in ("-O2", "-O2 -DMEMOPT_NO_DSP", "-Os"):
            directory = lab.write(module, work / "c", "net", core)
            run = lab.run_project(directory, inputs, flags)
            assert run.code == 0, run.messages
            assert lab.unequal_tensors(run, want) == [], (seed, flags)


@pytest.mark.deep
def test_float_operators_close_to_litert(fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(2, int(40 * fuzz))):
        work = tmp_path / str(seed)
        work.mkdir()
        path = forged(lab, seed, False, work / "random.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs = lab.random_inputs(module, 2, seed)
        want = lab.golden("litert", path, inputs, lab.tensors_of(module), work / "golden")
        assert len(want) == len(lab.tensors_of(module)) >= OPERATORS
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.worst_difference(run, want, least=0.1) <= 1e-5, f"seed {seed}"


@pytest.mark.deep
@pytest.mark.parametrize("quantized", [True, False])
def test_row_by_row_equals_the_whole_tensor(
    quantized: bool, fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One output row at a time, of input rows that lie anywhere, gives the same tensors: every
    kernel that can, of some of which few seeds have rows. Of each row only what the operation says
    is given."""
    lab.need_tools("host")
    ran, every, least = set[str](), lab.row_kernels(quantized), max(2, int(40 * fuzz))
    for seed in range(least + 6):
        if seed >= least and ran == every:
            break
        lab.without_lines(monkeypatch, seed)
        work = tmp_path / str(seed)
        work.mkdir()
        path = forged(lab, 84 + seed, quantized, work / "random.tflite", all_types=True)
        ran |= checked_row_by_row(lab.read_model(path), work, lab)
    assert ran == every


def checked_row_by_row(module: ModuleOp, work: Path, lab: Any) -> set[str]:
    """Run a network whole and row by row, to the same tensors; return the kernels that ran so."""
    lab.plan(module, schedule="source")
    inputs = lab.random_inputs(module, 1, 4)
    directory = lab.write(module, work / "c", "net", "host")
    whole = lab.run_project(directory, inputs)
    assert whole.code == 0, whole.messages
    ran = set(lab.scatter.scatter(module, directory / "net.c", "host"))
    rows = lab.run_project(directory, inputs, lab.SANITIZE, build="rows")
    assert rows.code == 0, rows.messages
    assert rows.trace == whole.trace, work
    return ran


NO_TFLITE = """
!w = tensor<1x5x4x3xi16>
!b = tensor<1x5x4x3xi8>
!r = tensor<1x5x4x3xf32>
!t = tensor<1x5x4x3xi1>
!s = tensor<1x5x4x3xi8, #memgraph.encoding<scale = [1.0e-01], zero_point = [3]>>
!u = tensor<1x5x4x3xui8, #memgraph.encoding<scale = [1.0e-01], zero_point = [3]>>
!v = tensor<4x3xf32>
!c = tensor<3xf32>
func.func @main(%v: !w, %w: !w, %a: !b, %b: !b, %x: !r, %s: !s, %u: !u)
    -> (!t, !t, !r, !r, !r, !r, !r, !r, !s, !u, !r) {
  %0 = memgraph.less %v, %w : (!w, !w) -> !t
  %1 = memgraph.less %a, %b : (!b, !b) -> !t
  %2 = memgraph.softmax %x axis 2 beta 1.0 : (!r) -> !r
  %3 = memgraph.atan2 %x, %2 : (!r, !r) -> !r
  %4 = memgraph.local_response_normalization %x radius 1 bias 1.0 alpha 0.5 beta 0.75 : (!r) -> !r
  %k = memgraph.constant dense<[0.5, -2.0, 3.0]> : !c
  %m = memgraph.constant dense<[[0.5, -2.0, 3.0], [1, 2, 4], [1, 3, 9], [0, 1, 2]]> : !v
  %5 = memgraph.layer_normalization %x, %k, %k axis 3 epsilon 0.1 : (!r, !c, !c) -> !r
  %6 = memgraph.layer_normalization %x, %m axis 2 epsilon 0.1 form "quotient" : (!r, !v) -> !r
  %7 = memgraph.layer_normalization %x axis 3 epsilon 0.1 form "line" around_zero : (!r) -> !r
  %8 = memgraph.layer_normalization %s, %k, %k axis 3 epsilon 0.1 rounding<onnx_even>
         : (!s, !c, !c) -> !s
  %9 = memgraph.layer_normalization %u, %m axis 2 epsilon 0.1 rounding<onnx_even> : (!u, !v) -> !u
  %10 = memgraph.group_statistics %x groups 3 : (!r) -> tensor<2x3xf32>
  %11 = memgraph.group_normalization %x, %10, %k, %k epsilon 0.1
          : (!r, tensor<2x3xf32>, !c, !c) -> !r
  func.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %11
    : !t, !t, !r, !r, !r, !r, !r, !r, !s, !u, !r
}
"""


def test_rows_of_what_no_tflite_has(tmp_path: Path, lab: Any) -> None:
    """Rows equal whole tensors of kernels that only other formats reach."""
    lab.need_tools("host")
    module = load_text(new_context(), NO_TFLITE, "net.mlir")
    assert checked_row_by_row(module, tmp_path, lab) == lab.NO_TFLITE_KERNELS


@pytest.mark.parametrize("core", deep_but("cortex-m4", ["cortex-m4", "cortex-m55"]))
def test_row_by_row_on_a_core(core: str, tmp_path: Path, lab: Any) -> None:
    """The same with kernels for the DSP extension and for Helium, at odd addresses."""
    lab.need_tools(core)
    path = forged(lab, 78, True, tmp_path / "random.tflite")
    module = lab.plan(lab.read_model(path), schedule="source")
    inputs = lab.random_inputs(module, 1, 4)
    directory = lab.write(module, tmp_path / "c", "net", core)
    whole = lab.run_project(directory, inputs)
    assert whole.code == 0, whole.messages
    assert lab.scatter.scatter(module, directory / "net.c", core)
    rows = lab.run_project(directory, inputs, build="rows")
    assert rows.code == 0, rows.messages
    assert rows.trace == whole.trace
