"""Row graphs as C: every row equals that of the whole operators' C, bit for bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import forge_operators
import numpy as np
import pytest
from deep import deep_but
from forge_int16 import add_int16
from forge_truth import add_stored_quotients
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from memopt.analysis.constants import constants_of
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.lowering import lower_rows
from memopt.backends.c.project.measure import measure_project
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import plan_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import RowKernelOp, RowOp, family_of
from memopt.dialects.rows.steps import steps_of
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.targets.core.target import target_named

MODELS = (
    "dscnn_kws_int8",
    "resnet8_int8",
    "resnet8_float",
    "person_detect_int8",
    "mobilenet_vww96_int8",
    "tinymaix_mnist_resnet_int8",
    "streaming_wakeword_int8",
)
OPERATORS = 15  # per random model, beside one of each kind
STATIC = 8  # bytes of static RAM beside the arena, of main.c
REFUSED = (
    "rows of a pad of 3 dimensions",
    "rows of a transpose that moves the first dimension",
    "the broadcast ",  # of a row with slopes of fewer axes
)


def in_rows(lab: Any, module: ModuleOp, rows: tuple[str, ...] = ("all",), **model: Any) -> ModuleOp:
    """The module in rows, planned. Sums of stored integers are int32, so places are aligned; bits
    depend on no search for the best ones."""
    MemgraphExpandRowsPass(rows).apply(Context(), module)
    module.verify()
    how = {"place": "best-fit", "target": "host", "alignment": 4, "inplace": "on"}
    planned = lab.plan(module, **(how | model))
    assert isinstance(planned, ModuleOp)
    return planned


def inputs_of(lab: Any, module: ModuleOp, runs: int) -> list[Any]:
    """Of every input a third random, a third extreme, a third as cameras and microphones see."""
    found: list[Any] = []
    rng = np.random.default_rng(runs)
    for array in lab.random_inputs(module, 3 * runs, seed=runs):
        low, high = (-1.0, 1.0) if array.dtype.kind == "f" else (-128, 127)
        shape = array[0].shape
        for n in range(runs):
            array[runs + n] = rng.choice([low, high], shape) if n > 1 else (low, high)[n]
            waves = sum(
                np.sin(np.linspace(0, rng.uniform(1, 9), size)).reshape(
                    [-1 if i == axis else 1 for i in range(len(shape))]
                )
                for axis, size in enumerate(shape)
            )
            array[2 * runs + n] = np.clip(low + (high - low) * (waves + 2) / 4, low, high)
        found.append(array)
    return found


@pytest.mark.deep
@pytest.mark.parametrize(
    "name", deep_but(["dscnn_kws_int8", "resnet8_float", "streaming_wakeword_int8"], MODELS)
)
def test_every_row_is_that_of_the_whole_tensor(
    name: str, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    path = shared / "models" / f"{name}.tflite"
    whole = lab.plan(lab.read_model(path), target="host")
    module = in_rows(lab, lab.read_model(path))
    runs = max(2, int(10 * fuzz))
    inputs = inputs_of(lab, whole, runs)
    want = lab.run_project(lab.write(whole, tmp_path / "whole", name, "host"), inputs)
    got = lab.run_project(lab.write(module, tmp_path / "rows", name, "host"), inputs, lab.SANITIZE)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output
    tensors = lab.whole_rows(got.trace, 3 * runs)
    assert tensors == want.trace
    assert family_of(only_function(module).body.block.ops) == "rows"


def names_in_rows(module: ModuleOp) -> tuple[tuple[str, ...], set[str], set[str]]:
    """Names of all tensors whose operators the C backend computes in rows, the kernels that do, and
    why it does not compute others."""
    constants = constants_of(Weights.of(module), ModelAttr())
    names: list[str] = []
    kernels: set[str] = set()
    refusals: set[str] = set()
    taken = [
        name_of(op.results[0])
        for op in only_function(module).body.block.ops
        if isinstance(op, ComputeOp) and steps_of(op) is not None
    ]
    MemgraphExpandRowsPass(tuple(taken)).apply(Context(), module)
    cuts = [op for op in only_function(module).body.block.ops if isinstance(op, RowKernelOp)]
    for name, cut in zip(taken, cuts, strict=True):
        try:
            calls = lower_rows(cut.computed, constants, target_named("host").isa)
        except MemoptError as error:
            refusals.add(str(error).rpartition("C backend: ")[2])
            continue
        names.append(name)
        kernels |= {c.call.kernel for c in calls}
    return tuple(names), kernels, refusals


def forged(lab: Any, seed: int, quantized: bool, path: Path) -> Path:
    """Random operators of all kinds, and some of an image that otherwise take vectors."""
    forge = lab.forge.Forge(np.random.default_rng(seed), quantized)
    lab.forge.add_each(forge)
    for _ in range(OPERATORS):
        lab.forge.add_random(forge)
    for _ in range(3):
        add_of_an_image(forge, lab.forge.schema)
    lab.forge.add_of_litert(forge)
    if quantized:
        add_int16(lab.forge, forge)
        add_stored_quotients(forge)
        forge.store_as(lab.forge.INT16)
        add_of_pixels(forge, lab.forge.schema, [1, 3, 5, 2])
        forge.store_as(lab.forge.UINT8)
        add_of_an_image(forge, lab.forge.schema)
    found = forge.save(path)
    assert isinstance(found, Path)
    return found


def add_of_an_image(forge: Any, schema: Any) -> None:
    """A fully connected layer of all of an image, a softmax of its pixels, a transpose in rows."""
    shape = [1, *(int(v) for v in forge.rng.integers(1, 7, 3))]
    source, out_n = forge.input(shape), int(forge.rng.integers(1, 12))
    weights = forge.weights([out_n, int(np.prod(shape))], out_n, 0, bool(forge.rng.random() < 0.5))
    options: Any = schema.FullyConnectedOptionsT()
    options.fusedActivationFunction = forge.pick(0, 1, 2, 3)
    forge.operator(
        schema.BuiltinOperator.FULLY_CONNECTED,
        [source, weights, forge.bias(source, weights, out_n, needed=True)],
        forge.activation([1, out_n]),
        options,
        schema.BuiltinOptions.FullyConnectedOptions,
    )
    add_of_pixels(forge, schema, shape)


def add_of_pixels(forge: Any, schema: Any, shape: list[int]) -> None:
    options: Any = schema.SoftmaxOptionsT()
    options.beta = 1.0
    result = forge.activation(shape)
    if forge.quantized:
        quantization = forge.graph.tensors[result].quantization
        wide = forge.element == schema.TensorType.INT16
        quantization.scale = [1 / (32768 if wide else 256)]
        quantization.zeroPoint = [0 if wide else forge.low]
    kind = schema.BuiltinOptions.SoftmaxOptions
    forge.operator(schema.BuiltinOperator.SOFTMAX, [forge.input(shape)], result, options, kind)
    if forge.element == schema.TensorType.INT8 and forge.quantized:  # the kernel with 16 bits
        wide = forge.tensor(shape, schema.TensorType.INT16, None, [1 / 65536], [-32768])
        forge.operator(schema.BuiltinOperator.SOFTMAX, [forge.input(shape)], wide, options, kind)
    source, order = forge.input(shape), forge.tensor([4], schema.TensorType.INT32, [0, 1, 3, 2])
    forge.operator(
        schema.BuiltinOperator.TRANSPOSE,
        [source, order],
        forge.activation([1, shape[1], shape[3], shape[2]], like=source),
        schema.TransposeOptionsT(),
        schema.BuiltinOptions.TransposeOptions,
    )


@pytest.mark.deep
@pytest.mark.parametrize("quantized", [True, False])
def test_every_kernel_computes_rows(
    quantized: bool, fuzz: float, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random operators: their rows are the whole tensor's, on the host with sanitizers."""
    lab.need_tools("host")
    any_shape: Callable[..., list[int]] = lab.forge.random_shape

    def of_one_image(*how: Any) -> list[int]:
        return [1, *any_shape(*how)[1:]]

    for users in (lab.forge, forge_operators):
        monkeypatch.setattr(users, "random_shape", of_one_image)
    ran: set[str] = set()
    refused: set[str] = set()
    # strided is whole but of some: test_c_moves.py; the other of vectors alone: test_c_int16.py
    wanted = lab.row_kernels(quantized) - {"fully_connected_s16"}
    first = (9, 1, 10) if quantized else (11, 1, 12)  # these have all kernels together
    seeds = range(max(20, int(40 * fuzz)))
    for count, seed in enumerate((*first, *(s for s in seeds if s not in first))):
        if count >= max(3, int(40 * fuzz)) and wanted <= ran:
            break
        lab.without_lines(monkeypatch, seed)
        work = tmp_path / str(seed)
        work.mkdir()
        path = forged(lab, 300 + seed, quantized, work / "random.tflite")
        whole = lab.plan(lab.read_model(path), "source", target="host")
        inputs = lab.random_inputs(whole, 2, seed)
        want = lab.run_project(lab.write(whole, work / "whole", "net", "host"), inputs)
        names, kernels, refusals = names_in_rows(lab.read_model(path))
        ran |= kernels
        refused |= refusals
        module = in_rows(lab, lab.read_model(path), names, schedule="rpo", inplace="off")
        project = lab.write(module, work / "rows", "net", "host")
        got = lab.run_project(project, inputs, lab.SANITIZE)
        assert got.code == 0, got.messages
        assert got.output == want.output, f"seed {seed}"
        assert lab.whole_rows(got.trace, 2) == want.trace, f"seed {seed}"
    assert ran - {"strided"} == wanted
    assert all(text.startswith(REFUSED) for text in refused), refused


# Of issue 9: arena, stack and static RAM together, bytes. The arena counted here is the proven
# peak: parts of a tensor are placed together so far, and with them the arena is larger.
RAM = {
    "resnet8_int8": 11_100,
    "dscnn_kws_int8": 4_650,
    "person_detect_int8": 13_150,
    "mobilenet_vww96_int8": 28_900,
}


QUICK = ("resnet8_int8", "dscnn_kws_int8")  # of a normal run; `make fuzz` has all


@pytest.mark.deep
@pytest.mark.parametrize("name", RAM)
def test_rows_on_a_cortex_m(name: str, shared: Path, fuzz: float, tmp_path: Path, lab: Any) -> None:
    """The outputs of whole operators and of TensorFlow Lite Micro, canaries that hold and trip, and
    what rows cost. Three inputs on a Cortex-M4, in the full count thirty on each core."""
    if fuzz < 1 and name not in QUICK:
        pytest.skip("in make fuzz")
    path = shared / "models" / f"{name}.tflite"
    inputs = inputs_of(lab, lab.read_model(path), 10 if fuzz >= 1 else 1)
    answers = outputs_of_tflm(lab, path, inputs, tmp_path / "tflm")
    for target in lab.BOARDS if fuzz >= 1 else ("cortex-m4",):
        lab.need_tools(target)
        on_a_core(lab, path, target, inputs, answers, tmp_path / target)


def on_a_core(
    lab: Any, path: Path, target: str, inputs: list[Any], answers: bytes, work: Path
) -> None:
    name = path.stem
    whole = lab.plan(lab.read_model(path), target=target)
    module = in_rows(lab, lab.read_model(path), target=target)
    projects = [
        lab.write(m, work / folder, name, target)
        for m, folder in ((whole, "whole"), (module, "rows"))
    ]
    want, got = (lab.run_project(p, inputs, trace=False) for p in projects)
    assert (want.code, got.code) == (0, 0), got.messages
    assert got.output == want.output == answers
    plan = plan_of(only_function(module))
    assert plan is not None
    assert plan.peak.data + got.numbers["stack_bytes"] + STATIC <= RAM[name]
    calls = sum(isinstance(op, RowOp) for op in only_function(module).body.block.ops)
    assert got.numbers["instructions"] - want.numbers["instructions"] <= 600 * calls
    flash = [measure_project(p, target)["flash"] for p in projects]
    assert flash[1] - flash[0] <= 1_536
    shrink = 4 * (1 + lab.top_padding(module) // 4)
    first = [array[:1] for array in inputs]
    tripped = lab.run_project(
        projects[1], first, f"-O2 -DMEMOPT_ARENA_SHRINK={shrink}", "shrunk", trace=False
    )
    assert tripped.code == 2, tripped.messages


def outputs_of_tflm(lab: Any, path: Path, inputs: list[Any], work: Path) -> bytes:
    """What TensorFlow Lite Micro answers, run after run."""
    func = only_function(lab.read_model(path))
    last = func.get_return_op()
    assert last is not None
    tensors: list[int] = []
    for value in last.operands:
        assert isinstance(value, OpResult)
        source = value.op.attributes["memgraph.source"]
        assert isinstance(source, SourceAttr)
        tensors.append(source.tensor_ids[value.index])
    found = lab.golden("tflm", path, inputs, tensors, work)
    return b"".join(found[t][run].tobytes() for run in range(len(inputs[0])) for t in tensors)
