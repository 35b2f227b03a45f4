"""Random graphs through the whole road: planned and original file side by side in TFLM."""

import random
from pathlib import Path

import numpy as np
import pytest
from tflite_builder import Graph, Op, T, build
from tflm_plan import planned, write
from tflm_runner import Job, random_inputs, run

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import plan_of
from memopt.targets.tflm.arena import tflm_arena

CASES = 1_000


def random_model(rng: random.Random) -> bytes:
    """Float tensors [1, n]; unary, binary, concatenation, sums with scratch, splits, dead ends."""
    tensors = [T("x", [1, rng.choice((8, 20, 64))], "FLOAT32")]
    tensors.append(T("axis", [1], "INT32", np.array([1], np.int32)))
    tensors.append(T("split", [], "INT32", np.array(1, np.int32)))
    values, ops = [0], list[Op]()
    inputs = [0]
    if rng.random() < 0.3:
        tensors.append(T("x2", [1, 32], "FLOAT32"))
        values.append(3)
        inputs.append(3)

    def new(width: int) -> int:
        tensors.append(T(f"t{len(tensors)}", [1, width], "FLOAT32"))
        return len(tensors) - 1

    for _ in range(rng.randrange(3, 14)):
        a, b = rng.choice(values), rng.choice(values)
        width, other = tensors[a].shape[1], tensors[b].shape[1]
        kind = rng.randrange(6)
        if kind == 0 and width + other < 400:
            made = [new(width + other)]
            ops.append(Op("CONCATENATION", [a, b], made, ("Concatenation", {"axis": 1})))
        elif kind == 1:
            made = [new(1)]
            ops.append(Op("SUM", [a, 1], made, ("Reducer", {"keepDims": True})))
        elif kind == 2 and width % 2 == 0:
            made = [new(width // 2), new(width // 2)]
            ops.append(Op("SPLIT", [2, a], made, ("Split", {"numSplits": 2})))
        elif kind == 3:
            same = [v for v in values if tensors[v].shape[1] == width]
            picked = [a, *rng.choices(same, k=rng.randrange(1, 4))]
            made = [new(width)]
            ops.append(Op("ADD_N", picked, made))
        else:
            made = [new(width)]
            ops.append(Op(rng.choice(("NEG", "ABS", "TANH")), [a], made))
        values += made
    read = {i for op in ops for i in op.inputs}
    for i in inputs:
        if i not in read:  # see the test of unread inputs below
            values.append(new(tensors[i].shape[1]))
            ops.append(Op("NEG", [i], values[-1:]))
    unread = [v for v in values if v not in read and v not in inputs]
    outputs = [v for v in unread if rng.random() < 0.8] or unread[:1] or values[-1:]
    return build(Graph(tensors, ops, inputs, outputs))


def test_random_models_run_the_same_and_never_in_more_memory(tmp_path: Path, fuzz: float) -> None:
    rng = random.Random(11)
    jobs: list[Job] = []
    expected: list[tuple[int, int]] = []
    for seed in range(max(30, round(CASES * fuzz))):
        data = random_model(rng)
        module, func = planned(data)
        plan = plan_of(func)
        assert plan is not None
        before = tflm_arena(func, planned=False, source_order=True).head
        if plan.arena > before:  # the writer refuses those: TFLM's own order and places then
            module, func = planned(data, "source", "tflm")
            plan = plan_of(func)
            assert plan is not None
        expected.append((before, plan.arena))
        inputs = random_inputs(data, 2, seed)
        jobs += [Job("tflm", d, inputs) for d in (data, write(module, data))]
    found = run(jobs, tmp_path)
    better = 0
    for heads, old, new in zip(expected, found[::2], found[1::2], strict=True):
        assert (old.error, new.error) == ("", "")
        assert (old.head, new.head) == heads
        assert new.head <= old.head and new.total <= old.total
        better += new.head < old.head
        for a, b in zip(old.outputs, new.outputs, strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert better > len(expected) // 4


@pytest.mark.parametrize("name", ["NEG", "SUM"])
def test_an_input_that_nobody_reads_is_left_to_tflm(name: str, tmp_path: Path) -> None:
    """It counts through step 0 in a plan, TFLM drops it before. So a plan promises more than TFLM
    needs, never less; with scratch in step 0 it can be worse than none, and is refused."""
    shape = [1, 1] if name == "SUM" else [1, 64]
    tensors = [T("x", [1, 64], "FLOAT32"), T("x2", [1, 32], "FLOAT32")]
    tensors += [T("axis", [1], "INT32", np.array([1], np.int32)), T("y", shape, "FLOAT32")]
    inputs, options = ([0, 2], ("Reducer", {"keepDims": True})) if name == "SUM" else ([0], None)
    data = build(Graph(tensors, [Op(name, inputs, [3], options)], [0, 1], [3]))
    module, func = planned(data)
    plan = plan_of(func)
    assert plan is not None
    given = random_inputs(data, 2, 1)
    if name == "SUM":
        with pytest.raises(MemoptError, match=r"TFLM needs 432 B, with the file as it is 384 B"):
            write(module, data)
        return
    old, new = run([Job("tflm", d, given) for d in (data, write(module, data))], tmp_path)
    assert old.error == new.error == ""
    assert new.head <= old.head and new.head < plan.arena
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(old.outputs, new.outputs, strict=True))
