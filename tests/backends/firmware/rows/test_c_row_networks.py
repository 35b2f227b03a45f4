"""Random networks of all operators that have kernels, in rows and whole: the same bits as C, and of
stored integers those that `evaluate` says. Many networks are one program of few kernels."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Program, compiled
from deep import deep_but
from row_networks import cut_some, image_of, kinds, network
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import CHOSEN
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.rewrites import apply_rules

PARTS = 4  # that run side by side
FULL = 2_000  # networks
LEAST = 100  # of every operator, in the full count
PROGRAM = 25  # networks


def planned(
    text: str, seed: int, rows: np.random.Generator | None
) -> tuple[ModuleOp, Counter[str]]:
    """The network, whole or in rows, and what is cut."""
    module, context = load_text(new_context(), text, "net.mlir"), Context()
    func = only_function(module)
    if seed % 4 > 1:
        apply_rules(func, ("slice-as-view",))
    if seed % 3 == 2:
        apply_rules(func, ("depthwise-in-place",))
    io, inplace = ("caller" if seed % 2 else "arena"), ("on" if seed % 3 else "off")
    MemgraphModelPass(target="host", alignment=4, inplace=inplace, io=io).apply(context, module)
    found = cut_some(func, seed, rows) if rows is not None else Counter[str]()
    MemgraphSchedulePass(method="rpo").apply(context, module)
    MemgraphPlacePass("greedy-by-size").apply(context, module)
    return module, found


def overwriting(module: ModuleOp) -> int:
    """The depthwise convolutions that are planned over their operand."""
    ops = body_of(only_function(module)).ops
    return sum(isinstance(op, DepthwiseConv2DOp) and CHOSEN in op.attributes for op in ops)


@pytest.fixture(scope="module")
def flags(lab: Any) -> tuple[Path, list[str]]:
    lab.need_tools("host")
    return compiled(lab.OBJECTS, lab.SANITIZE)


@pytest.mark.deep
@pytest.mark.parametrize("part", deep_but([0, 1], range(PARTS)))
def test_rows_of_networks_compute_the_same_bits(
    part: int,
    fuzz: float,
    flags: tuple[Path, list[str]],
    tmp_path: Path,
    record_property: Any,
) -> None:
    """Half of them with a branch across what is cut, a quarter with two results; outputs in the
    arena or the caller's, in place or not, depthwise ones too, slices as views or not."""
    rows, all_, over = Counter[str](), Counter[str](), 0
    seeds = range(part, max(3 * PARTS, int(FULL * fuzz)), PARTS)
    for start in range(0, len(seeds), PROGRAM):
        program = Program(tmp_path / str(start))
        given, want = b"", list[tuple[int, bool, list[bytes]]]()
        for seed in seeds[start : start + PROGRAM]:
            rng, n = np.random.default_rng(10_000 + seed), seed // PARTS
            outputs = 2 if n % 4 == 3 else 1
            quantized = n % 3 != 1
            text = network(rng, quantized, branch=n % 2 == 1, outputs=outputs)
            func = only_function(load_text(new_context(), text, "net.mlir"))
            image = image_of(func, rng)
            values = evaluate(func, Weights({}), [image])
            last = func.get_return_op()
            assert last is not None
            results = [values[v].tobytes() for v in last.operands]
            sizes = [image.nbytes, *map(len, results)]
            given += image.tobytes()
            want.append((seed, quantized, results))
            module, _ = planned(text, seed, None)
            over += overwriting(module)
            program.add(module, f"whole{seed}", sizes)
            module, cut = planned(text, seed, rng)
            program.add(module, f"rows{seed}", sizes)
            rows, all_ = rows + cut, all_ + kinds(func)
        found = program.run(flags[0], given, flags[1])
        for seed, quantized, results in want:
            size = sum(map(len, results))
            whole, in_rows, found = found[:size], found[size : 2 * size], found[2 * size :]
            assert whole == in_rows, seed
            if quantized:
                assert whole == b"".join(results), seed
        assert not found
    record_property("cut in C", {k: (rows[k], all_[k]) for k in all_})
    record_property("depthwise in place", over)
    assert fuzz < 1 or min(rows[k] for k in all_) * PARTS >= LEAST, rows
    assert fuzz < 1 or over * PARTS >= LEAST
