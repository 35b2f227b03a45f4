"""Choices, products of matrices and gathered rows, as C, against LiteRT and TFLM."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from forge_model import BOOL, FLOAT32, INT8, INT16, INT32, UINT8, Forge
from forge_truth import (
    COMPARISONS,
    add,
    add_choice,
    add_comparison,
    add_functions,
    add_gather,
    add_gather_nd,
    add_logic,
    add_matrix,
    add_outer,
    add_product,
)

TIMES = 8  # operators of each kind


@pytest.mark.deep
@pytest.mark.parametrize(
    "element", deep_but(INT8, [INT8, UINT8, FLOAT32]), ids=["int8", "uint8", "float32"]
)
def test_equal_to_litert(element: int, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(1, int(20 * fuzz))):
        forge = Forge(np.random.default_rng(seed), element != FLOAT32, element)
        for _ in range(TIMES):
            add_choice(forge)
            add_gather_nd(forge)
            for name in COMPARISONS:
                add_comparison(forge, name)
            add_outer(forge)
            if element != UINT8:
                add_product(forge)
            if element == FLOAT32:  # LiteRT rounds those of int8 once, TFLM twice
                add_matrix(forge)
            if element == INT8:
                add_functions(forge)
        add_gather(forge)
        add_logic(forge)
        path = forge.save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs, tensors = lab.random_inputs(module, 2, seed), lab.tensors_of(module)
        want = lab.golden("litert_ref", path, inputs, tensors, tmp_path / str(seed))
        assert len(want) >= 9 * TIMES
        project = lab.write(module, tmp_path / str(seed) / "c", "net", "host")
        run = lab.run_project(project, inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        exact = {k: v for k, v in want.items() if v.dtype != np.float32}
        assert lab.unequal_tensors(run, exact) == [], f"seed {seed}"
        reals = {k: v for k, v in want.items() if v.dtype == np.float32}
        assert lab.worst_difference(run, reals) <= 1e-5


def test_what_is_true_is_stored_and_cast(tmp_path: Path, lab: Any) -> None:
    """Constants of true and false, and what is true as a number."""
    lab.need_tools("host")
    forge = Forge(np.random.default_rng(1), False)
    shape = [1, 2, 2, 3]
    known = forge.tensor(shape, BOOL, np.arange(12).reshape(shape) % 3 == 0)
    a, b = forge.input(shape), forge.input(shape)
    less, both = forge.tensor(shape, BOOL), forge.tensor(shape, BOOL)
    add(forge, "Less", [a, b], less)
    add(forge, "LogicalOr", [less, known], both)
    add(forge, "SelectV2", [known, a, b], forge.activation(shape))
    for element in (FLOAT32, INT32, INT8, UINT8):
        kinds = {"inDataType": BOOL, "outDataType": element}
        add(forge, "Cast", [both], forge.tensor(shape, element), **kinds)
    path = forge.save(tmp_path / "m.tflite")
    module = lab.plan(lab.read_model(path), schedule="source")
    inputs, tensors = lab.random_inputs(module, 2, 5), lab.tensors_of(module)
    want = lab.golden("litert_ref", path, inputs, tensors, tmp_path / "golden")
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []


def test_int8_equal_to_tflm(fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(5, 5 + max(1, int(20 * fuzz))):
        forge = Forge(np.random.default_rng(seed), True)
        for _ in range(TIMES):
            add_product(forge)
            add_gather_nd(forge)
            add_matrix(forge)
        work = tmp_path / str(seed)
        path = forge.save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs, tensors = lab.random_inputs(module, 2, 5), lab.tensors_of(module)
        want = lab.golden("tflm", path, inputs, tensors, work / "golden")
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"


@pytest.mark.parametrize(("oracle", "odd"), [("tflm", 1.0), ("litert_ref", 1.3)])
def test_int16_products_equal_both_runtimes(
    oracle: str, odd: float, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """Sums in 64 bits, some of them beyond what the result holds. Of multipliers close to a power
    of two LiteRT and TFLM keep different ones: it is TFLM's."""
    lab.need_tools("host")
    for seed in range(max(1, int(20 * fuzz))):
        forge = Forge(np.random.default_rng(seed), True, INT16)
        for _ in range(3 * TIMES):
            add_product(forge)
            made = forge.graph.operators[-1]
            tensors = [forge.graph.tensors[t] for t in (*made.inputs, *made.outputs)]
            a, b, result = (t.quantization for t in tensors)
            result.scale = [a.scale[0] * b.scale[0] * odd * float(2 ** forge.rng.integers(12, 17))]
        path, work = forge.save(tmp_path / f"{seed}.tflite"), tmp_path / str(seed)
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs, indices = lab.random_inputs(module, 2, seed), lab.tensors_of(module)
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        want = lab.golden(oracle, path, inputs, indices, work / "golden")
        assert len(want) == 3 * TIMES
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"
