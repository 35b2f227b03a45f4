"""What CMSIS-NN's kernels ask for, held against arenas measured on a Cortex-M4, and one by one."""

import json
from pathlib import Path
from typing import Any

import pytest
from tflite_builder import Graph, Op, T, build
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from memopt.cli.opt import main
from memopt.compile.driver import new_context
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.frontends.tflite.read import read
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.targets.cmsis_nn.scratch import cmsis_nn_bytes
from memopt.targets.tflm.arena import tflm_arena
from memopt.targets.tflm.scratch import requested

# Bytes of TFLM's whole arena on a Cortex-M4, emulated: with its reference kernels the tail, with
# CMSIS-NN's everything. Beyond the head, the latter keep 32 bytes for a FULLY_CONNECTED and 4 for
# each scratch buffer and their list, rounded up to 16.
MEASURED = {
    "resnet8_int8": (5_188, 54_996),
    "dscnn_kws_int8": (6_772, 22_820),
    "mobilenet_vww96_int8": (26_932, 100_708),
    "person_detect_int8": (26_996, 82_308),
    "ad01_autoencoder_int8": (1_492, 2_580),
    "hello_world_int8": (644, 772),
    "streaming_wakeword_int8": (8_596, 16_596),
    "tinymaix_mnist_resnet_int8": (2_212, 6_260),
}


def modelled(path: Path, target: str, scratch: str = "cmsis-nn") -> ModuleOp:
    module = read(path.read_bytes(), path.name, path)
    MemgraphModelPass(target, scratch=scratch).apply(new_context(), module)
    return module


@pytest.mark.parametrize("name", MEASURED)
def test_the_arena_measured_with_cmsis_nn(name: str, shared: Path) -> None:
    module = modelled(shared / "models" / f"{name}.tflite", "tflm")
    (func,) = functions(module)
    operators = list(func.body.block.ops)
    scratches = sum(
        len(requested(op, ModelAttr.of({"scratch": "cmsis-nn"})) or ()) for op in operators
    )
    dense = sum(isinstance(op, FullyConnectedOp) for op in operators)
    handles = -(-(4 * scratches + 4) // 16) * 16 if scratches else 0
    tail, arena = MEASURED[name]
    head = tflm_arena(func, planned=False, source_order=True).head
    assert tail + 32 * dense + handles + head == arena


def peak(path: Path, model: str, capsys: pytest.CaptureFixture[str]) -> int:
    assert (
        main([str(path), f"--model={model}", "--schedule=auto", "--stats=json", "-o", "/dev/null"])
        == 0
    )
    return json.loads(capsys.readouterr().err.splitlines()[-1])["peak"]


def test_the_plan_counts_it(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """resnet8: 576 bytes beside the three tensors of its widest convolution, none by default."""
    path = shared / "models" / "resnet8_int8.tflite"
    assert peak(path, "target=tflm,scratch=none", capsys) == 49_152
    assert peak(path, "target=tflm", capsys) == 49_152
    assert peak(path, "target=tflm,scratch=cmsis-nn", capsys) == 49_152 + 576
    # Five rows and one column of 128 channels: two bytes each; a vector core: 4 x 124 channels.
    path = shared / "models" / "streaming_wakeword_int8.tflite"
    assert peak(path, "target=tflm,scratch=cmsis-nn", capsys) == 6_656 + 5 * 128 * 2
    assert peak(path, "target=cortex-m55,scratch=cmsis-nn", capsys) > 4 * 124 * 10


def test_leaving_it_forgets_it(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plan with offsets for scratch, planned again without: nothing of it is left."""
    path, planned = shared / "models" / "resnet8_int8.tflite", tmp_path / "planned.mlir"
    model = "--model=target=tflm,scratch=cmsis-nn"
    assert (
        main(
            [
                str(path),
                model,
                "--schedule=auto",
                "--place=auto",
                "--verify-plan",
                "-o",
                str(planned),
            ]
        )
        == 0
    )
    assert "#memgraph.scratch<576, " in planned.read_text()
    assert main([str(planned), "--model=scratch=none", "--schedule=auto", "-o", str(planned)]) == 0
    assert "memgraph.scratch<" not in planned.read_text()
    capsys.readouterr()


@pytest.mark.parametrize("model", ["target=tflm", "target=cortex-m4", "target=cortex-m55"])
@pytest.mark.parametrize("io", ["arena", "kept"])
def test_plans_hold(model: str, io: str, shared: Path, tmp_path: Path) -> None:
    """TFLM lays scratch over an input that has been read, so kept inputs are not left to it."""
    planned = tmp_path / "planned.mlir"
    flags = [f"--model={model},scratch=cmsis-nn,io={io}", "--schedule=auto", "--place=auto"]
    path = shared / "models" / "resnet8_int8.tflite"
    assert main([str(path), *flags, "--verify-plan", "-o", str(planned)]) == 0
    written = main([str(planned), "-t", "tflite", "-o", str(tmp_path / "planned.tflite")])
    assert written == (0 if (model, io) == ("target=tflm", "arena") else 1)


INT8: dict[str, Any] = {"scale": (0.5,), "zero": [0]}


def only(graph: Graph) -> Operation:
    (func,) = functions(read(build(graph)))
    (op,) = [o for o in func.body.block.ops if not isinstance(o, ConstantOp) and o.results]
    return op


def window(
    kind: str, image: tuple[int, int, int], filters: int, kernel: tuple[int, int], **more: Any
) -> Operation:
    """One convolution; SAME padding unless `padding=1`, stride 1."""
    import numpy as np

    options: dict[str, Any] = {"padding": 0, "strideH": 1, "strideW": 1, **more}
    stored = options.pop("type", "INT8")
    h, w, c = image
    if options["padding"]:
        h, w = h - kernel[0] + 1, w - kernel[1] + 1
    h, w = -(-h // options["strideH"]), -(-w // options["strideW"])
    depthwise = kind == "DEPTHWISE_CONV_2D"
    shape = (1, *kernel, filters) if depthwise else (filters, *kernel, c)
    if depthwise:
        options["depthMultiplier"] = filters // c
    scale: Any = INT8 if stored != "FLOAT32" else {}
    weights = np.zeros(shape, np.float32 if stored == "FLOAT32" else np.int8)
    wide = "FLOAT32" if stored == "FLOAT32" else "INT8"
    tensors = [
        T("x", [1, *image], stored, **scale),
        T("w", shape, wide, weights, **scale),
        T("y", [1, h, w, filters], stored, **scale),
    ]
    name = "DepthwiseConv2D" if depthwise else "Conv2D"
    return only(Graph(tensors, [Op(kind, [0, 1, -1], [2], (name, options))], [0], [2]))


CONV, DEPTHWISE = "CONV_2D", "DEPTHWISE_CONV_2D"
CASES: list[tuple[str, Operation, tuple[int, ...], tuple[int, ...]]] = [
    # arm_convolve_s8: two columns of int16, rounded to 4; four columns of int8, rounded to 16
    ("3x3", window(CONV, (8, 8, 16), 4, (3, 3)), (576,), (576,)),
    ("27 taps", window(CONV, (8, 8, 3), 4, (3, 3)), (112,), (128,)),
    ("1x1", window(CONV, (8, 8, 16), 4, (1, 1)), (), ()),
    ("1x1 stride", window(CONV, (8, 8, 16), 4, (1, 1), strideH=2, strideW=2), (), ()),
    # arm_convolve_1_x_n_s8: the padded end of a row, 3 taps and one of padding
    ("row", window(CONV, (1, 8, 4), 4, (1, 3)), (48,), (16,)),
    ("row of 3 channels", window(CONV, (1, 8, 3), 4, (1, 3)), (48,), (64,)),
    ("column", window(CONV, (8, 1, 4), 4, (3, 1)), (48,), (64,)),
    # arm_convolve_fast_s16: two columns, below 512 elements
    ("int16", window(CONV, (8, 8, 16), 4, (3, 3), type="INT16"), (576,), ()),
    ("int16 slow", window(CONV, (8, 8, 64), 4, (3, 3), type="INT16"), (), ()),
    ("float", window(CONV, (8, 8, 16), 4, (3, 3), type="FLOAT32"), (), ()),
    # arm_depthwise_conv_s8_opt; 3x3 has a kernel of its own, but not with vectors
    ("depthwise 3x3", window(DEPTHWISE, (8, 8, 8), 8, (3, 3)), (), (4464,)),
    ("depthwise 5x5", window(DEPTHWISE, (8, 8, 8), 8, (5, 5)), (400,), (12400,)),
    ("multiplier", window(DEPTHWISE, (8, 8, 8), 16, (5, 5)), (), ()),
    ("dilated", window(DEPTHWISE, (8, 8, 8), 8, (5, 5), dilationHFactor=2), (), ()),
]


@pytest.mark.parametrize(("name", "op", "dsp", "mve"), CASES)
def test_one_operator(name: str, op: Operation, dsp: tuple[int, ...], mve: tuple[int, ...]) -> None:
    assert cmsis_nn_bytes(op, mve=False) == dsp, name
    assert cmsis_nn_bytes(op, mve=True) == mve, name


def test_pools_sums_and_dense() -> None:
    import numpy as np

    pool = {"padding": 1, "strideH": 1, "strideW": 1, "filterHeight": 4, "filterWidth": 4}
    tensors = [T("x", [1, 4, 4, 24], **INT8), T("y", [1, 1, 1, 24], **INT8)]
    for kind, dsp in (("AVERAGE_POOL_2D", (96,)), ("MAX_POOL_2D", ())):
        op = only(Graph(tensors, [Op(kind, [0], [1], ("Pool2D", pool))], [0], [1]))
        assert (cmsis_nn_bytes(op, mve=False), cmsis_nn_bytes(op, mve=True)) == (dsp, ())
    for constant, mve in ((np.zeros((6, 8), np.int8), ()), (None, (24,))):
        tensors = [T("x", [1, 8], **INT8), T("w", [6, 8], "INT8", constant, **INT8)]
        tensors.append(T("y", [1, 6], **INT8))
        dense = Op("FULLY_CONNECTED", [0, 1, -1], [2], ("FullyConnected", {}))
        inputs = [0] if constant is not None else [0, 1]
        op = only(Graph(tensors, [dense], inputs, [2]))
        assert (cmsis_nn_bytes(op, mve=False), cmsis_nn_bytes(op, mve=True)) == ((), mve)
