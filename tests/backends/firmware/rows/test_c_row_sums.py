"""Rows of partial sums that several operators add up in one buffer, as C: random networks, with the
numbers of whole operators and of `evaluate`."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Pairs, compiled
from row_networks import cut_some, image_of
from sum_networks import INT8, REAL, assert_alike, expected, numbers
from virtual_networks import ROW_RULES, planned, text_of
from xdsl.dialects.func import FuncOp

from memopt.backends.c.inline.sums import overwriting, sum_row_of
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import reads_virtual
from memopt.dialects.operators.accumulation import AccumulateOp
from memopt.dialects.rows.operations import RowOp

FULL = 1_000  # networks
LEAST = 50  # of each way of adding up, in the full count
PROGRAM = 25  # networks


def ways(func: FuncOp) -> Counter[str]:
    """What adds up rows, and how: by operators."""
    rows: dict[Any, list[RowOp]] = {}
    for op in body_of(func).ops:
        if isinstance(op, RowOp) and sum_row_of(op) is not None:
            rows.setdefault(op.operator, []).append(op)
    found = Counter[str]()
    for its in rows.values():
        row = its[0]
        if isinstance(row.whole, AccumulateOp):
            found["reals" if row.shows_sums else "integers"] += 1
            found["in place"] += "inplace" in str(row.attributes.get("memgraph.alias"))
            found["three or more"] += len(row.inputs) > 2
            found["even"] += "onnx_even" in str(row.whole.properties.get("rounding"))
        else:
            found["both"] += len(overwriting(its)) > 1
            found["inline"] += reads_virtual(row)
    return found


@pytest.fixture(scope="module")
def flags(lab: Any) -> tuple[Path, list[str]]:
    lab.need_tools("host")
    return compiled(lab.OBJECTS, lab.SANITIZE)


@pytest.mark.deep
def test_random_networks_compute_the_same(
    fuzz: float, flags: tuple[Path, list[str]], tmp_path: Path, record_property: Any
) -> None:
    """All that has rows cut or some of it, in place or not, of virtual tensors too, sums in the
    same order for all rows or not."""
    seen = Counter[str]()
    count = max(24, int(FULL * fuzz))
    for start in range(0, count, PROGRAM):
        pairs, want = Pairs(tmp_path / str(start)), dict[int, tuple[FuncOp, list[Any]]]()
        for seed in range(start, min(start + PROGRAM, count)):
            rng = np.random.default_rng([seed, 98])
            quantized = seed % 3 != 1
            text = text_of(rng, quantized, 2 if seed % 4 == 3 else 1, INT8 if quantized else REAL)
            if seed % 6 == 2:
                text = text.replace("tflm_double", "onnx_even")
            module = load_text(new_context(), text, "net.mlir")
            rules = tuple(r for r in ROW_RULES if rng.random() < 0.4)

            def change(func: FuncOp, seed: int = seed, rng: Any = rng) -> None:
                cut_some(func, 3 * seed, rng) if seed % 4 else cut_some(func, seed, rng)

            method = "greedy" if seed % 3 == 0 else "rpo"
            func = planned(module, seed, (*rules, "channel-wise"), change, method)
            found = ways(func)
            if not found:
                continue
            seen += found
            whole = load_text(new_context(), text, "net.mlir")
            image = image_of(only_function(whole), rng)
            results = expected(whole, image)
            planned(whole, seed, ())
            sizes = [int(v.nbytes) for v in results]
            want[seed] = func, results
            pairs.add(seed, whole, module, image.tobytes(), sizes)
        for seed, *outputs in pairs.outputs(flags):
            func, results = want[seed]
            before, after = (numbers(func, output) for output in outputs)
            for a, b, c in zip(before, after, results, strict=True):
                assert_alike(b, a, seed)
                assert_alike(b, c, seed)
    record_property("rows added up in C", dict(seen))
    usual = ("integers", "reals", "in place", "three or more", "both", "even", "inline")
    missing = [way for way in usual if not seen[way]]
    assert not missing, seen
    assert fuzz < 1 or all(seen[way] >= LEAST for way in usual), seen
