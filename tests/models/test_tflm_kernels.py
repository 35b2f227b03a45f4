"""Scratch formulas against what TFLM's kernels really ask for: one small model per kernel."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import Extra, Graph, Op, T, build, bytes_behind
from tflm_plan import import_for_tflm, planned, write
from tflm_runner import Answer, Job, random_inputs, run

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.plan import plan_of
from memopt.formats import tflite_control
from memopt.targets.tflm.arena import file_operators, tflm_arena
from memopt.targets.tflm.scratch import scratch_bytes

AXES = np.array([1, 2], np.int32)
UNIT = (1.0,)


def one(op: Op, *tensors: T) -> bytes:
    """A model of one operator: tensor 0 is its input, the last one its output. A LOGISTIC or a
    NEG in front makes an intermediate tensor, so that there is something to plan."""
    first = tensors[0]
    front = "LOGISTIC" if first.type == "INT8" else "NEG"
    scale = (1 / 256,) if first.type == "INT8" else ()
    inner = T("inner", first.shape, first.type, scale=scale, zero=(-128,) if scale else ())
    graph = [T("input", first.shape, first.type, scale=(0.1,) if scale else ()), *tensors[1:]]
    graph.append(inner)
    last = len(graph) - 1
    moved = [last if i == 0 else i for i in op.inputs]
    ops = [Op(front, [0], [last]), Op(op.name, moved, [last - 1], op.options)]
    return build(Graph(graph, ops, [0], [last - 1]))


def reduce(name: str, type_: str) -> bytes:
    # The maximum keeps its operand's scale; sums and means may have any.
    scale = () if type_ != "INT8" else (1 / 256,) if name == "REDUCE_MAX" else UNIT
    zero = (-128,) if scale == (1 / 256,) else ()
    return one(
        Op(name, [0, 1], [2], ("Reducer", {"keepDims": False})),
        T("x", [2, 5, 7, 9], type_),
        T("axes", [2], "INT32", AXES),
        T("y", [2, 9], type_, scale=scale, zero=zero),
    )


def packed(count: int) -> Any:
    return np.full((count + 1) // 2, 0x21, np.uint8)


def weighted(name: str, shape: list[int], out: list[int], options: tuple[str, dict[str, Any]]):
    channels = shape[3] if name == "DEPTHWISE_CONV_2D" else shape[0]
    axis = 3 if name == "DEPTHWISE_CONV_2D" else 0
    return one(
        Op(name, [0, 1, 2], [3], options),
        T("x", [1, 6, 6, 4] if len(shape) == 4 else [1, 144], "INT8"),
        T("w", shape, "INT4", packed(int(np.prod(shape))), scale=(0.5,) * channels, axis=axis)
        if len(shape) == 4
        else T("w", shape, "INT4", packed(int(np.prod(shape))), scale=(0.5,)),
        T("b", [channels], "INT32", np.zeros(channels, np.int32)),
        T("y", out, "INT8", scale=(2.0,)),
    )


def transpose_conv(type_: str) -> bytes:
    real = type_ == "FLOAT32"
    kind = np.float32 if real else np.int8
    return one(
        Op(
            "TRANSPOSE_CONV",
            [1, 2, 0],
            [3],
            ("TransposeConv", {"strideH": 2, "strideW": 2, "padding": 1}),
        ),
        T("x", [1, 3, 3, 2], type_),
        T("shape", [4], "INT32", np.array([1, 7, 7, 1], np.int32)),
        T("w", [1, 3, 3, 2], type_, np.ones((1, 3, 3, 2), kind), scale=() if real else UNIT),
        T("y", [1, 7, 7, 1], type_, scale=() if real else (9.0,)),
    )


CONV = {"padding": 0, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
MODELS = {
    "mean_int8": reduce("MEAN", "INT8"),
    "mean_float": reduce("MEAN", "FLOAT32"),
    "sum_int8": reduce("SUM", "INT8"),
    "sum_float": reduce("SUM", "FLOAT32"),
    "max_int8": reduce("REDUCE_MAX", "INT8"),
    "max_float": reduce("REDUCE_MAX", "FLOAT32"),
    "min_float": reduce("REDUCE_MIN", "FLOAT32"),
    "mirror_pad": one(
        Op("MIRROR_PAD", [0, 1], [2], ("MirrorPad", {})),
        T("x", [5, 7, 3], "FLOAT32"),
        T("pads", [3, 2], "INT32", np.array([[1, 2], [2, 1], [0, 0]], np.int32)),
        T("y", [8, 10, 3], "FLOAT32"),
    ),
    "add_n": one(Op("ADD_N", [0, 0, 0], [1]), T("x", [3], "FLOAT32"), T("y", [3], "FLOAT32")),
    "transpose_conv_int8": transpose_conv("INT8"),
    "transpose_conv_float": transpose_conv("FLOAT32"),
    "conv_int4": weighted("CONV_2D", [8, 3, 3, 4], [1, 6, 6, 8], ("Conv2D", CONV)),
    "depthwise_int4": weighted(
        "DEPTHWISE_CONV_2D",
        [1, 5, 5, 4],
        [1, 6, 6, 4],
        ("DepthwiseConv2D", {**CONV, "depthMultiplier": 1}),
    ),
    "fully_connected_int4": weighted("FULLY_CONNECTED", [5, 144], [1, 5], ("FullyConnected", {})),
}
QUIET = {"transpose_conv_float"}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    jobs = [Job("tflm", data, random_inputs(data, 1, 0)) for data in MODELS.values()]
    return dict(zip(MODELS, run(jobs, tmp_path_factory.mktemp("kernels")), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_tflm_asks_for_the_scratch_that_we_expect(name: str, answers: dict[str, Answer]) -> None:
    _, func = import_for_tflm(MODELS[name])
    scratch = [s for op, _ in file_operators(func) for s in scratch_bytes(op) or ()]
    assert bool(scratch) == (name not in QUIET)
    assert answers[name].error == ""
    assert tflm_arena(func, planned=False).head == answers[name].head


def test_planned_kernels_with_scratch_stay_within_their_plan(tmp_path: Path) -> None:
    jobs: list[Job] = []
    arenas: list[int] = []
    for data in MODELS.values():
        module, func = planned(data)
        plan = plan_of(func)
        assert plan is not None
        arenas.append(plan.arena)
        inputs = random_inputs(data, 2, 1)
        jobs += [Job("tflm", d, inputs) for d in (data, write(module, data))]
    found = run(jobs, tmp_path)
    for name, arena, before, after in zip(MODELS, arenas, found[::2], found[1::2], strict=True):
        assert after.head == arena <= before.head, name
        assert len(before.outputs) == 2
        for a, b in zip(before.outputs, after.outputs, strict=True):
            assert np.array_equal(a[0], b[0]), name


# -- LiteRT reads what moved --------------------------------------------------------------------


def branches(extra: Extra | None = None) -> bytes:
    tensors = [T("x", [64], "FLOAT32"), *[T(n, [64], "FLOAT32") for n in "abcd"]]
    tensors += [T("y", [64], "FLOAT32"), T("w", [64], "FLOAT32", np.arange(64, dtype=np.float32))]
    ops = [
        Op("NEG", [0], [1]),
        Op("ADD", [0, 6], [2], ("Add", {})),
        Op("EXP", [1], [3]),
        Op("ABS", [2], [4]),
        Op("ADD", [3, 4], [5], ("Add", {})),
    ]
    return build(Graph(tensors, ops, [0], [5]), extra=extra)


def test_litert_reads_moved_control_dependencies_and_buffers(tmp_path: Path) -> None:
    edges = tflite_control.serialize([((0, 2), (1, 3))])
    controlled = branches(Extra(metadata={tflite_control.KEY: edges}))
    plain = branches()
    outside = bytes_behind(plain, [6])
    jobs: list[Job] = []
    for data in (plain, controlled, outside):
        inputs = random_inputs(data, 3, 5)
        jobs += [Job("litert", data, inputs), Job("litert", write(planned(data)[0], data), inputs)]
    found = run(jobs, tmp_path)
    assert [a.error for a in found] == [""] * 6
    first = found[0].outputs
    assert all(np.array_equal(a, b) for f in found for a, b in zip(first, f.outputs, strict=True))
    assert np.ptp(first[0][0]) > 1


def test_tflm_reads_what_was_behind_the_file(tmp_path: Path) -> None:
    """TFLM reads no buffer behind the flatbuffer (tflite-micro#3196): there it computes with what
    its arena holds."""
    plain = branches()
    outside = bytes_behind(plain, [6])
    inputs = random_inputs(plain, 2, 5)
    jobs = [Job("tflm", data, inputs) for data in (plain, write(planned(outside)[0], outside))]
    right, ours = run(jobs, tmp_path)
    assert np.array_equal(right.outputs, ours.outputs) and ours.error == ""


# -- results in their operands' place ------------------------------------------------------------

UNARY = ("ABS", "ELU", "EXP", "LEAKY_RELU", "LOGISTIC", "NEG", "RELU", "RELU6", "SQRT", "TANH")
BINARY = ("ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "SUB")
INT8_KERNELS = ("ADD", "LEAKY_RELU", "LOGISTIC", "MUL", "RELU", "RELU6", "SUB", "TANH")
MOVES = {"RESHAPE": [1, 1024], "SQUEEZE": [32, 32], "EXPAND_DIMS": [1, 1, 32, 32]}
SCALES = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}


def in_a_row(name: str, type_: str) -> bytes:
    """input -> RELU -> operator (with the input, for binary ones) -> ABS or RELU -> output."""
    quantised = type_ == "INT8"
    shape = MOVES.get(name, [1, 32, 32])
    scale, zero = SCALES.get(name, (0.05, 0))

    def tensor(label: str, s: list[int], made_by_it: bool = False) -> T:
        if not quantised:
            return T(label, s, type_)
        return T(label, s, type_, scale=(scale if made_by_it else 0.05,), zero=(zero * made_by_it,))

    tensors = [tensor("x", [1, 32, 32]), tensor("a", [1, 32, 32]), tensor("b", shape, True)]
    tensors += [tensor("y", shape, True), T("axis", [1], "INT32", np.array([0], np.int32))]
    tensors += [T("shape", [2], "INT32", np.array([1, 1024], np.int32))]
    inputs = [1, 0] if name in BINARY else [1]
    inputs += {"RESHAPE": [5], "EXPAND_DIMS": [4]}.get(name, [])
    options: dict[str, tuple[str, dict[str, Any]]] = {
        "LEAKY_RELU": ("LeakyRelu", {"alpha": 0.5}),
        "SQUEEZE": ("Squeeze", {"squeezeDims": np.array([0], np.int32)}),
        **{n: (n.title(), {}) for n in ("ADD", "DIV", "MUL", "SUB", "RESHAPE")},
    }
    ops = [
        Op("RELU", [0], [1]),
        Op(name, inputs, [2], options.get(name)),
        Op("RELU" if quantised else "ABS", [2], [3]),
    ]
    return build(Graph(tensors, ops, [0], [3]))


def test_results_may_take_their_operands_place_in_tflm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With views and in-place on, every such kernel of TFLM still gives the same answer."""
    import tflm_plan

    on = ModelAttr("tflm", 16, "arena", views=True, inplace=True, scratch="tflm")
    cases = [(n, "FLOAT32") for n in (*UNARY, *BINARY, *MOVES)]
    cases += [(n, "INT8") for n in (*INT8_KERNELS, *MOVES)]
    jobs: list[Job] = []
    arenas: list[int] = []
    for name, type_ in cases:
        data = in_a_row(name, type_)
        monkeypatch.setattr(tflm_plan, "TFLM", on)
        module, func = planned(data)
        plan = plan_of(func)
        assert plan is not None
        arenas.append(plan.arena)
        inputs = random_inputs(data, 2, 3)
        jobs += [Job("tflm", d, inputs) for d in (data, write(module, data))]
    found = run(jobs, tmp_path)
    for case, arena, before, after in zip(cases, arenas, found[::2], found[1::2], strict=True):
        assert (before.error, after.error) == ("", ""), case
        assert after.head == arena < before.head, case
        for a, b in zip(before.outputs, after.outputs, strict=True):
            assert np.array_equal(a[0], b[0], equal_nan=True), case
            assert np.ptp(np.nan_to_num(a[0])) > 0, case
