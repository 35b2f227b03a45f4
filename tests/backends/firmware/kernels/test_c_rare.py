"""Operators that few networks have, as C, against LiteRT's reference kernels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import FLOAT32, INT8, INT16, UINT8, Forge, schema
from forge_rare import add_rare, add_reduction_apart

TIMES = 4  # operators of each kind


def compared(lab: Any, forge: Forge, seed: int, tmp_path: Path, oracle: str = "litert_ref") -> int:
    """Hold all tensors against the runtime's; how many."""
    work = tmp_path / str(seed)
    path = forge.save(tmp_path / f"{seed}.tflite")
    module = lab.plan(lab.read_model(path), schedule="source", target="host")
    inputs, tensors = lab.random_inputs(module, 2, seed), lab.tensors_of(module)
    want = lab.golden(oracle, path, inputs, tensors, work)
    run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    exact = {k: v for k, v in want.items() if v.dtype != np.float32}
    assert lab.unequal_tensors(run, exact) == [], f"seed {seed}"
    reals = {k: v for k, v in want.items() if v.dtype == np.float32}
    assert lab.worst_difference(run, reals, least=0.1) <= 1e-5, f"seed {seed}"
    return len(want)


@pytest.mark.parametrize("element", [INT8, UINT8, FLOAT32], ids=["int8", "uint8", "float32"])
def test_equal_to_litert(element: int, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(1, int(60 * fuzz))):
        forge = Forge(np.random.default_rng(seed), element != FLOAT32, element)
        for _ in range(TIMES):
            add_rare(forge)
            if element == FLOAT32:
                lab.forge.add_pool(forge, schema.BuiltinOperator.L2_POOL_2D)
        assert compared(lab, forge, seed, tmp_path) >= 7 * TIMES


EXTREMES = ("REDUCE_MAX", "REDUCE_MIN")


@pytest.mark.parametrize(
    ("element", "oracle", "names"),
    [
        (INT8, "tflm", ("MEAN", "SUM", *EXTREMES)),
        (INT16, "tflm", ("MEAN", "SUM")),
        (INT16, "litert_ref", EXTREMES),
        (UINT8, "litert_ref", ("MEAN", "SUM", *EXTREMES)),
        (FLOAT32, "litert_ref", ("MEAN", "SUM", "REDUCE_PROD", *EXTREMES)),
    ],
)
def test_reductions_over_axes_that_lie_apart(
    element: int, oracle: str, names: tuple[str, ...], fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """Signed integers are rounded as TFLM does, which has not all of them."""
    lab.need_tools("host")
    for seed in range(max(1, int(60 * fuzz))):
        forge = Forge(np.random.default_rng(seed), element != FLOAT32, element)
        for _ in range(10):
            for name in names:
                add_reduction_apart(forge, name)
        assert compared(lab, forge, seed, tmp_path, oracle) == 10 * len(names)


@pytest.mark.parametrize("kind", ["hybrid", "uint8"])
def test_transposed_convolutions(kind: str, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    # 43 has a product that only scales multiplied as floats round as the runtime does
    for seed in (43, *range(max(1, int(100 * fuzz)))):
        forge = Forge(
            np.random.default_rng(seed), kind == "uint8", UINT8 if kind == "uint8" else INT8
        )
        forge.hybrid = kind == "hybrid"
        for _ in range(20):
            lab.forge.add_transpose_convolution(forge)
        assert compared(lab, forge, seed, tmp_path) == 20
