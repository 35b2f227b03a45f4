"""Networks without their dead and constant channels, as C: the bits of the whole ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Program, compiled
from deep import deep_but
from firmware_helpers import load
from real_channels import KERNELS, images, real_network
from xdsl.context import Context

from memopt.analysis.constants import constants_of
from memopt.analysis.intervals import intervals
from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.channels import has_claims
from memopt.dialects.attributes.input_range import declare_range
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import elements_of
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass

lab: Any = load("lab")
MODELS = (
    "hello_world_int8",
    "mobilenet_vww96_int8",
    "person_detect_int8",
    "hello_world_float",
    "mobilenet_vww96_float",
)
FULL = 400  # random float networks
RULE = MemgraphRewritePass(("constant-channels",))


def project(path: Path, directory: Path, target: str, narrow: bool, rows: bool = False) -> Path:
    module = lab.read_model(path)
    if path.stem.endswith("float"):
        declare_range(only_function(module), 0, -1.0, 1.0)  # as the inputs are
    if narrow:
        RULE.apply(Context(), module)
    if rows:
        MemgraphExpandRowsPass(("all",)).apply(Context(), module)
    lab.plan(module, "rpo" if rows else "auto", "greedy-by-size" if rows else "auto", alignment=4)
    made: Path = lab.write(module, directory, path.stem, target)
    return made


@pytest.mark.deep
@pytest.mark.parametrize("name", deep_but(list(MODELS[:2]), MODELS))
def test_c_computes_the_same(name: str, shared: Path, tmp_path: Path, fuzz: float) -> None:
    """Whole and in rows, under the sanitizers; by default the large ones in one of both."""
    path = shared / "models" / f"{name}.tflite"
    inputs = lab.random_inputs(lab.read_model(path), max(1, int(100 * fuzz)), seed=5)
    want = lab.run_project(project(path, tmp_path / "as-it-was", "host", narrow=False), inputs)
    assert want.code == 0 and want.output
    forms = (False, True) if fuzz >= 1 or name == MODELS[0] else (name == MODELS[1],)
    for rows in forms:
        directory = project(path, tmp_path / f"narrow-{rows}", "host", narrow=True, rows=rows)
        got = lab.run_project(directory, inputs, lab.SANITIZE, trace=False)
        assert got.code == 0, got.messages
        assert got.output == want.output


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "share"), [("mobilenet_vww96_int8", 0.7), ("person_detect_int8", 1.04)]
)
def test_instructions_on_a_cortex_m4(
    name: str, share: float, shared: Path, tmp_path: Path, fuzz: float, record_property: Any
) -> None:
    """vww96 has half of its multiplications left; of 8 channels that person_detect has 7 of, fewer
    are computed at a time. The outputs are TensorFlow Lite Micro's."""
    lab.need_tools("cortex-m4")
    path = shared / "models" / f"{name}.tflite"
    module = lab.read_model(path)
    inputs = lab.random_inputs(module, max(1, int(100 * fuzz)), seed=6)
    last = lab.main_of(module).get_return_op()
    tensor = lab.source_tensor(last.operands[0])
    want = lab.golden("tflm", path, inputs, [tensor], tmp_path / "golden")[tensor]
    names = ("whole", "narrow")
    runs = [
        lab.run_project(
            project(path, tmp_path / n, "cortex-m4", n == "narrow"), inputs, trace=False
        )
        for n in names
    ]
    assert [run.code for run in runs] == [0, 0]
    assert runs[0].output == runs[1].output == want.tobytes()
    before, after = (run.numbers["instructions"] for run in runs)
    record_property("instructions", (before, after))
    assert after < before * share, (before, after)


@pytest.mark.deep
def test_real_networks_compute_the_same_bits(tmp_path: Path, fuzz: float) -> None:
    """Random float networks whose input has a range: whole and narrow, the same kernels in the same
    order but for products with zero, so the same numbers; and within the bounds of any kernel."""
    lab.need_tools("host")
    program, given = Program(tmp_path / "networks"), b""
    want: list[tuple[int, int, Array, Array]] = []
    seed = 0
    while len(want) < max(12, int(FULL * fuzz)):
        seed += 1
        rng = np.random.default_rng([seed, 78])
        module = real_network(rng, steps=KERNELS)
        narrow, func = module.clone(), only_function(module)
        RULE.apply(Context(), narrow)
        if not has_claims(only_function(narrow)):
            continue
        (image, last) = images(func, rng)[seed % 4], func.get_return_op()
        assert last is not None
        bounds = intervals(func, constants_of(Weights({}), GENERIC)).of[last.operands[0]]
        result = 4 * elements_of(last.operands[0])
        for form, name in ((module, "whole"), (narrow, "narrow")):
            lab.plan(form, "rpo", "greedy-by-size", alignment=4)
            program.add(form, f"{name}{seed}", [image.nbytes, result])
        given += image.tobytes()
        want.append((seed, result, bounds.low, bounds.high))
    folder, flags = compiled(lab.OBJECTS, lab.SANITIZE)
    found = program.run(folder, given, flags)
    for number, size, low, high in want:
        whole, less, found = found[:size], found[size : 2 * size], found[2 * size :]
        a, b = (np.frombuffer(v, np.float32) for v in (whole, less))
        assert np.array_equal(a, b), number
        assert (low <= a).all() and (a <= high).all(), number
    assert not found
