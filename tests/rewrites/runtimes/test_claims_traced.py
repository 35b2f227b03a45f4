"""What `constant-channels` says of real models, against the runtimes that run their files: every
claim in every tensor, and every kept channel of the narrower file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from firmware_helpers import load
from xdsl.context import Context

from memopt.backends.tflm.rewritten_file import write_rewritten
from memopt.compile.driver import load_model
from memopt.dialects.attributes.channels import NARROWED, channels_of_result
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.formats.tflite import read_model
from memopt.passes.memgraph_rewrite import MemgraphRewritePass

lab: Any = load("lab")
INPUTS = 1_000  # of each model
AT_ONCE = 25
ORACLES = {
    "hello_world_int8": "tflm",
    "mobilenet_vww96_int8": "tflm",
    "person_detect_int8": "tflm",
    "mcunet_vww_int8": "tflm",
    "swiftnet_cell_vww_uint8": "litert_ref",  # TensorFlow Lite Micro has no convolution of uint8
}
LEFT_OUT = {
    "hello_world_int8": 4,
    "mobilenet_vww96_int8": 2_192,
    "person_detect_int8": 4,
    "mcunet_vww_int8": 371,
    "swiftnet_cell_vww_uint8": 6,
}


def drawn(name: str, path: Path, runs: int) -> Iterator[list[Any]]:
    """Inputs a few at a time: random ones, the ends of the range alone, and smooth ones."""
    (index,) = read_model(path.read_bytes(), name).subgraphs[0].inputs
    tensor = read_model(path.read_bytes(), name).subgraphs[0].tensors[index]
    shape, kind = tensor.shape, np.dtype(tensor.type.lower())
    real = kind.kind == "f"  # beyond what it is quantized to
    low, high = (-3, 3) if real else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    for first in range(0, runs, AT_ONCE):
        rng: Any = np.random.default_rng([first, 31])
        images: list[Any] = []
        for k in range(first, min(first + AT_ONCE, runs)):
            if k % 3 == 0:
                image = rng.uniform(low, high, shape)
            elif k % 3 == 1:
                alike = rng.random() < 0.3
                image = np.where(rng.random(() if alike else shape) < rng.random(), low, high)
                image = np.broadcast_to(image, shape)
            else:
                steps: Any = rng.uniform(0.01, 1, len(shape))
                wave = np.sin(np.tensordot(steps, np.indices(shape), 1) + rng.uniform(0, 6))
                image = (wave + 1) / 2 * (high - low) + low
            images.append((image if real else np.rint(image)).astype(kind))
        yield [np.stack(images)]


@pytest.mark.deep
@pytest.mark.parametrize("name", ORACLES)
def test_every_claim_holds_in_the_runtime(
    name: str, shared: Path, tmp_path: Path, fuzz: float
) -> None:
    path, small = shared / "models" / f"{name}.tflite", tmp_path / "narrower.tflite"
    module = load_model(path, {})
    MemgraphRewritePass(("constant-channels",)).apply(Context(), module)
    small.write_bytes(write_rewritten(module))
    operators = read_model(small.read_bytes(), name).subgraphs[0].operators
    pairs: list[tuple[int, int, Any]] = []  # a tensor of the file, of the narrower one, and claims
    for op in body_of(only_function(module)).ops:
        link = op.attributes.get(NARROWED) or op.attributes.get("memgraph.source")
        if isinstance(link, SourceAttr) and link.operator.data >= 0:
            outputs = operators[link.operator.data].outputs
            for value, old, new in zip(op.results, link.tensor_ids, outputs, strict=True):
                pairs.append((old, new, channels_of_result(value)))
    claims = sum(len(its.left_out) for _, _, its in pairs if its is not None)
    assert claims == LEFT_OUT[name]
    for inputs in drawn(name, path, max(3, int(INPUTS * fuzz))):
        want = lab.golden(ORACLES[name], path, inputs, [old for old, _, _ in pairs], tmp_path / "w")
        got = lab.golden(ORACLES[name], small, inputs, [new for _, new, _ in pairs], tmp_path / "g")
        for old, new, its in pairs:
            found = want[old]
            for c in its.left_out if its is not None else ():
                seen = found[..., c.index]
                assert c.low <= seen.min() and seen.max() <= c.high, (old, c)
            kept = found if its is None else found[..., list(its.kept)]
            assert np.array_equal(kept, got[new]), (old, new)
