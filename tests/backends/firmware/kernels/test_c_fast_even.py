# pyright: basic
"""Fast kernels of operators that round as ONNX's: what they compute is what is evaluated."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from fast_networks import (
    OPERATORS,
    add_deep,
    add_depthwise,
    add_some,
    add_words,
    check_even,
    extreme,
    usual,
)

from memopt.backends.c.weights import packing
from memopt.dialects.memgraph.plan import FORMS
from memopt.targets.core.target import target_named


@pytest.mark.deep
@pytest.mark.usefixtures("host_as_dsp")
def test_operators_that_round_as_onnx_are_what_evaluate_computes(
    fuzz: float, tmp_path: Path, lab: Any, kinds: Counter[int]
) -> None:
    lab.need_tools("host")
    fast = 0
    for seed in range(max(2, int(50 * fuzz))):
        forge = (extreme, usual)[seed % 2](lab, np.random.default_rng(seed))
        add_deep(lab, forge)
        add_words(lab, forge)
        add_some(lab, forge)
        form = FORMS[seed // 2 % len(FORMS)]
        fast += check_even(lab, forge, "host", lab.SANITIZE, tmp_path / str(seed), form)
    assert fast >= 60
    assert min(kinds[k] for k in (packing.FLOAT, packing.PACKED, packing.PLAIN)) >= 5, kinds
    assert kinds[packing.FUSED] == 0


@pytest.mark.usefixtures("host_as_mve")
def test_blocks_of_vectors_that_round_as_onnx_are_what_evaluate_computes(
    tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    for seed, make in enumerate((extreme, usual)):
        forge = make(lab, np.random.default_rng(seed))
        add_deep(lab, forge, (16, 48, 64, 40), 3 + seed)
        for kernel in ((1, 1), (2, 3), (3, 3)):
            add_depthwise(lab, forge, kernel, 5 + 8 * seed)
        check_even(lab, forge, "host", lab.SANITIZE, tmp_path / str(seed), FORMS[seed])


@pytest.mark.deep
@pytest.mark.parametrize(
    "target", deep_but("cortex-m4", ["cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"])
)
def test_a_board_rounds_as_onnx(target: str, tmp_path: Path, lab: Any) -> None:
    """By its FPU, or by Helium."""
    lab.need_tools(target)
    for number, make in enumerate((usual, extreme)):
        forge = make(lab, np.random.default_rng(7 + number))
        add_deep(lab, forge)
        add_deep(lab, forge, (16, 40, 48), 20)
        add_words(lab, forge)
        add_depthwise(lab, forge, (5, 4), 21)
        add_depthwise(lab, forge, (7, 7), 17, 70)
        add_some(lab, forge)
        for form in FORMS:
            fast = check_even(lab, forge, target, "-O2", tmp_path / f"{number}{form}", form)
            assert fast >= OPERATORS // 2 or target_named(target).isa[0] != "dsp"
