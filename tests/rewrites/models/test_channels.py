"""`constant-channels` on the shared models: the page of figures, and the same bits as before."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT
from scripts import loaded

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.attributes.channels import channels_of_result
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.rewrites import apply_rules

INPUTS = 1_000  # of which the first 30 are computed both ways


@pytest.mark.deep
def test_the_page_is_what_is_found(shared: Path) -> None:
    table = loaded("channel_table")
    assert (ROOT / "docs/reference/channels.md").read_text() == table.page(shared), (
        "make docs/reference/channels.md"
    )


@pytest.mark.parametrize(
    "name",
    [
        "hello_world_int8",
        "mcunet_vww_int8",
        "mobilenet_vww96_int8",
        "person_detect_int8",
        "swiftnet_cell_vww_uint8",
    ],
)
def test_what_is_left_computes_the_same(name: str, shared: Path, fuzz: float) -> None:
    """Every tensor; and each claim holds for what it says, of random, extreme and smooth inputs."""
    module = load_model(shared / "models" / f"{name}.tflite", {})
    before = only_function(module)
    last = before.get_return_op()
    assert last is not None
    for op in list(body_of(before).ops):  # nobody here knows that of uint8
        if isinstance(op, SoftmaxOp) and "uint8" in name:
            last.operands[0] = op.input
            op.detach()
            op.erase(safe_erase=False)
            before.update_function_type()
    copy = module.clone()
    after, weights = only_function(copy), Weights.of(module)
    assert apply_rules(after, ("constant-channels",))
    copy.verify()
    tensors = [
        [
            v
            for op in body_of(func).ops
            if isinstance(op, ComputeOp) and not is_constant_expression(op.results[0], GENERIC)
            for v in op.results
        ]
        for func in (before, after)
    ]
    for seed in range(INPUTS if fuzz >= 1 else 1):
        rng: Any = np.random.default_rng(seed)
        kinds = [(shape_of(a), np.dtype(dtype_of(a))) for a in body_of(before).args]
        inputs = [drawn(rng, *kind, (seed + len(name)) % 3) for kind in kinds]
        old = evaluate(before, weights, inputs)
        new = evaluate(after, weights, inputs) if seed < 30 else None
        for a, b in zip(*tensors, strict=True):
            claims, want = channels_of_result(b), old[a]
            for c in claims.left_out if claims is not None else ():
                seen = want[..., c.index]
                assert c.low <= seen.min() and seen.max() <= c.high
            if claims is not None:
                want = want[..., list(claims.kept)]
            assert new is None or np.array_equal(want, new[b]), b


def drawn(rng: Any, shape: tuple[int, ...], kind: Any, how: int) -> Any:
    """Random, of the ends alone, or smooth: between -1 and 1, of the whole range of integers."""
    real = rng.uniform(-1, 1, shape)
    if how == 1:
        real = np.sign(real) if rng.random() < 0.7 else np.full(shape, rng.choice([-1, 1]))
    elif how == 2:
        steps: Any = rng.uniform(0.1, 1, len(shape))
        real = np.sin(np.tensordot(steps, np.indices(shape), 1) + rng.uniform(0, 6))
    if kind.kind == "f":
        return real.astype(kind)
    limits = np.iinfo(kind)
    return np.clip(np.rint((real + 1) / 2 * 255 + limits.min), limits.min, limits.max).astype(kind)
