"""Virtual rows, made by the rows that read them in scratch: random networks as C, the
same bits as the whole network's."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import Pairs, compiled
from row_networks import cut_some, image_of
from row_steps import same, transposed
from virtual_networks import ROW_RULES, STEPS, joined, planned, text_of

from memopt.backends.c.inline.inlined_rows import made_sums
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import inlined_by, is_virtual, reads_virtual
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.rows.operations import RowOp

FULL = 1_000  # networks
LEAST = 50  # of each way of making rows, in the full count
PROGRAM = 25  # networks


def ways(func: Any) -> Counter[str]:
    """The operators of which rows make others first, and of which rows are made so."""
    found: dict[tuple[str, Any], None] = {}
    for op in body_of(func).ops:
        if isinstance(op, RowOp) and reads_virtual(op):
            found["reader", op.operator] = None
            for value in inlined_by(op):
                assert isinstance(value.op, RowOp)
                found[value.op.whole.name.removeprefix("memgraph."), op.operator] = None
            several = any(is_virtual(v) for m in inlined_by(op) for v in m.op.operands[1:])
            if several:
                found["several", op.operator] = None
            if made_sums(op.inputs):
                found["epilogue", op.operator] = None
            elif len(op.inputs) > 1:
                found["window", op.operator] = None
    return Counter(kind for kind, _ in found)


@pytest.fixture(scope="module")
def flags(lab: Any) -> tuple[Path, list[str]]:
    lab.need_tools("host")
    return compiled(lab.OBJECTS, lab.SANITIZE)


def compared(
    count: int, flags: tuple[Path, list[str]], work: Path, steps: Sequence[Callable[[Any], None]]
) -> Counter[str]:
    """Compare networks of these steps with those whose rows are cut; return the ways of making
    rows."""
    seen, rows_cut = Counter[str](), Counter[str]()
    for start in range(0, count, PROGRAM):
        pairs = Pairs(work / str(start))
        for seed in range(start, min(start + PROGRAM, count)):
            rng = np.random.default_rng([seed, 91])
            text = text_of(rng, seed % 3 != 1, 2 if seed % 4 == 3 else 1, steps)
            module = load_text(new_context(), text, "net.mlir")
            rules = tuple(r for r in ROW_RULES if rng.random() < 0.8)

            def change(func: Any, seed: int = seed, rng: Any = rng) -> None:
                rows_cut.update(cut_some(func, seed, rng))

            made = ways(planned(module, seed, rules, change))
            if not made and steps is STEPS:
                continue
            seen += made
            whole = load_text(new_context(), text, "net.mlir")
            planned(whole, seed, ())
            func = only_function(whole)
            image, last = image_of(func, rng), func.get_return_op()
            assert last is not None
            sizes = [bytes_of(v.type) or 0 for v in last.operands]
            pairs.add(seed, whole, module, image.tobytes(), sizes)
        for seed, before, after in pairs.outputs(flags):
            assert before == after, seed
    return seen + Counter({f"{kind} in rows": n for kind, n in rows_cut.items()})


@pytest.mark.deep
def test_random_networks_compute_the_same_bits(
    fuzz: float, flags: tuple[Path, list[str]], tmp_path: Path, record_property: Any
) -> None:
    """Concatenations, slices, functions and sums of products that are virtual, all that has rows
    cut or some of it, in place or not, inputs and outputs in the arena or the caller's, one or two
    outputs."""
    count = max(7, int(FULL * fuzz))
    seen = compared(count, flags, tmp_path, STEPS)
    record_property("rows made in C", dict(seen))
    assert all(seen[way] for way in ("reader", "window", "several", "concat", "epilogue")), seen
    rare = ("window", "several", "concat", "slice", "split", "relu", "epilogue")
    assert fuzz < 1 or all(seen[way] >= LEAST for way in rare), seen


@pytest.mark.deep
def test_transposed_convolutions_read_rows_by_stride_and_kernel(
    fuzz: float, flags: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """Windows of any stride, dilation and border, rows that nothing reaches, of what is joined or
    of a convolution."""
    seen = compared(
        max(13, int(FULL * fuzz)), flags, tmp_path, (transposed, transposed, joined, same)
    )
    assert seen["transpose_conv_2d in rows"] > 10, seen
