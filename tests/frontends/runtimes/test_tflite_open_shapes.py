"""Files whose dimensions are open: what follows from their inputs is inferred, not believed."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import Graph, Op, T, build, objects
from tflm_kept_models import MODELS
from tflm_operator_models import KERNELS
from tflm_plan import planned, write
from tflm_runner import Job, random_inputs, run

from memopt.backends.tflm.repack import pack, unpack
from memopt.cli import main
from memopt.compile.driver import import_bytes
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.tensors import shape_of
from memopt.formats.tflite import Model, read_model
from memopt.frontends.core.shapes import BATCH
from memopt.frontends.tflite.infer import with_shapes
from memopt.frontends.tflite.operators import OPERATORS
from memopt.frontends.tflite.read import read
from memopt.frontends.tflite.shape_rules import RULES


def ints(name: str, values: Any) -> T:
    array = np.array(values, np.int32)
    return T(name, list(array.shape), "INT32", array)


def reshaped() -> bytes:
    """y = (exp x) as a vector per image, times ones: of the vectors the file says that they have 1
    element, since their shape is computed."""
    tensors = [
        T("x", [1, 6, 5, 2], "FLOAT32", signature=[-1, 6, 5, 2]),
        T("e", [1, 6, 5, 2], "FLOAT32", signature=[-1, 6, 5, 2]),
        T("shape", [4], "INT32"),
        *(ints(n, v) for n, v in (("zero", [0]), ("one", [1]))),
        T("n", [], "INT32"),
        ints("rest", 60),
        T("wanted", [2], "INT32"),
        T("flat", [1, 1], "FLOAT32", signature=[-1, -1]),
        T("w", [3, 60], "FLOAT32", np.linspace(-1, 1, 180).reshape(3, 60).astype(np.float32)),
        T("y", [1, 3], "FLOAT32", signature=[-1, 3]),
    ]
    ops = [
        Op("EXP", [0], [1]),
        Op("SHAPE", [1], [2], ("Shape", {"outType": 2})),
        Op("STRIDED_SLICE", [2, 3, 4, 4], [5], ("StridedSlice", {"shrinkAxisMask": 1})),
        Op("PACK", [5, 6], [7], ("Pack", {"valuesCount": 2, "axis": 0})),
        Op("RESHAPE", [1, 7], [8], ("Reshape", {})),
        Op("FULLY_CONNECTED", [8, 9, -1], [10], ("FullyConnected", {})),
    ]
    return build(Graph(tensors, ops, [0], [10]))


def shapes(data: bytes, **given: tuple[int, ...]) -> list[tuple[int, ...]]:
    model = with_shapes(data, read_model(data, "m"), given, "m")
    return [t.shape for t in model.subgraphs[0].tensors]


def test_what_the_file_says_wrongly_is_inferred() -> None:
    found = shapes(reshaped())
    assert (found[8], found[10]) == ((1, 60), (1, 3))
    assert 'memgraph.opaque "RESHAPE"' in str(read(reshaped())), "its shape is still computed"


def test_batch_and_shape_set_open_dimensions() -> None:
    data = reshaped()
    assert shapes(data, x=(3, 6, 5, 2))[8] == shapes(data, **{BATCH: (3,)})[8] == (3, 60)
    module = import_bytes(data, ".tflite", "m.tflite", None, {BATCH: (2,)})
    func = next(iter(functions(module)))
    assert shape_of(func.body.block.args[0]) == (2, 6, 5, 2)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 7, 5, 2), "input 'x': error: has the shape ?x6x5x2, --shape gives 1x7x5x2"),
        ((1, 6, 5), "has the shape ?x6x5x2, --shape gives 1x6x5"),
    ],
)
def test_a_shape_that_does_not_fit_is_refused(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(MemoptError, match=re.escape(message)):
        shapes(reshaped(), x=shape)


@pytest.mark.parametrize("signature", [(), (-1, 8)])
def test_a_reshape_to_another_number_of_elements(
    signature: tuple[int, ...], tmp_path: Path
) -> None:
    """LiteRT infers the shape; TFLM refuses the file, and where nothing is open so do we."""
    wanted = {"newShape": np.array([-1, 8], np.int32)}
    tensors = [
        T("x", [1, 2, 4], "FLOAT32"),
        ints("shape", [-1, 8]),
        T("flat", [1, 2], "FLOAT32", signature=signature),
        T("y", [1, 2], "FLOAT32", signature=signature),
    ]
    ops = [Op("RESHAPE", [0, 1], [2], ("Reshape", wanted)), Op("EXP", [2], [3])]
    data = build(Graph(tensors, ops, [0], [3]))
    assert shapes(data)[2:] == [(1, 8)] * 2
    inputs = random_inputs(data, 1, 0)
    module, _ = planned(data)
    if not signature:
        with pytest.raises(MemoptError, match=r"tensor 2 has the shape \[1, 2\] in the file"):
            write(module, data)
        return
    jobs = [Job("tflm", data, inputs), Job("tflm", write(module, data), inputs)]
    refused, ours = run(jobs, tmp_path)
    assert "allocate" in refused.error and not ours.error
    assert np.allclose(ours.outputs[0][0], np.exp(inputs[0][0].reshape(1, 8)))


def test_a_closed_shape_stays() -> None:
    data = build(
        Graph(
            [T("x", [1, 4], "FLOAT32"), T("y", [1, 4], "FLOAT32")], [Op("EXP", [0], [1])], [0], [1]
        )
    )
    assert shapes(data, **{BATCH: (2,)}) == [(1, 4), (1, 4)]
    with pytest.raises(MemoptError, match="has the fixed shape 1x4, --shape gives 2x4"):
        shapes(data, x=(2, 4))


def test_what_does_not_follow_is_refused_by_name() -> None:
    tensors = [T(n, [1, 4], "FLOAT32", signature=[-1, 4]) for n in ("x", "y")]
    data = build(Graph(tensors, [Op("CUSTOM:own", [0], [1])], [0], [1]))
    assert shapes(data) == [(1, 4), (1, 4)]
    with pytest.raises(MemoptError, match=r"operator 0 \(CUSTOM:own\).*whose shape is not known"):
        shapes(data, x=(2, 4))


def loop(step: list[int]) -> bytes:
    """x doubled until its counter says so."""
    state = [T("i", [], "INT32"), T("x", [1, 4], "FLOAT32", signature=[-1, 4])]
    results = [T("j", [], "INT32"), T("y", [1, 4], "FLOAT32", signature=[-1, 4])]
    run_ = Op("WHILE", [0, 1], [2, 3], ("While", {"condSubgraphIndex": 1, "bodySubgraphIndex": 2}))
    first = replace(state[0], data=np.array(0, np.int32))
    goes_on = Graph(
        [*state, ints("last", 3), T("c", [], "BOOL")], [Op("LESS", [0, 2], [3])], [0, 1], [3]
    )
    body = Graph(
        [*state, ints("one", 1), *results, ints("axis", step)],
        [Op("ADD", [0, 2], [3], ("Add", {})), Op("REVERSE_V2", [1, 5], [4])],
        [0, 1],
        [3, 4],
    )
    return build(Graph([first, state[1], *results], [run_], [1], [3]), goes_on, body)


def test_a_loop_and_its_body_follow() -> None:
    data = loop([1])
    model = with_shapes(data, read_model(data, "m"), {"x": (5, 4)}, "m")
    assert model.subgraphs[0].tensors[3].shape == (5, 4)
    assert [model.subgraphs[g].tensors[1].shape for g in (1, 2)] == [(5, 4), (5, 4)]


def test_both_runtimes_run_what_is_written(tmp_path: Path) -> None:
    """TFLM refuses the file as it is, which says that 60 elements are 1."""
    data = reshaped()
    module, _ = planned(data)
    result = write(module, data)
    inputs = random_inputs(data, 2, 3)
    refused, ours, litert = run(
        [Job("tflm", data, inputs), Job("tflm", result, inputs), Job("litert", data, inputs)],
        tmp_path,
    )
    assert refused.error and not ours.error
    assert np.abs(np.array(ours.outputs) - np.array(litert.outputs)).max() < 1e-4
    tensors = objects(result).subgraphs[0].tensors
    assert list(tensors[8].shape) == [1, 60] and list(tensors[8].shapeSignature) == [-1, -1]


def test_the_command_takes_a_batch(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "open.tflite"
    path.write_bytes(reshaped())
    arguments = ["compile", str(path), "--target=host", "-o", str(tmp_path / "c")]
    assert main([*arguments, "--batch=4"]) == 0
    assert "720 MACs" in capsys.readouterr().out
    assert main([*arguments, "--force", "--shape=x=1x6x6x2"]) == 1
    assert "has the shape ?x6x5x2" in capsys.readouterr().err


# -- every rule ------------------------------------------------------------------------------------


def opened(data: bytes) -> tuple[bytes, Model]:
    """The file in which every dimension is open of what operators make, and is said to be 1."""
    model, objects_ = read_model(data, "m"), unpack(data)
    graph = objects_.subgraphs[0]
    for op in graph.operators:
        for index in op.outputs:
            rank = len(graph.tensors[index].shape) if index >= 0 else 0
            if rank:
                graph.tensors[index].shape = np.ones(rank, np.int32)
                graph.tensors[index].shapeSignature = np.full(rank, -1, np.int32)
    return pack(objects_, b""), model


def not_inferred(data: bytes) -> list[str]:
    """Operators whose results have other shapes than in the file."""
    changed, model = opened(data)
    found = with_shapes(changed, read_model(changed, "m"), {}, "m").subgraphs[0]
    return [
        f"{op.name}: {found.tensors[i].shape}, not {model.subgraphs[0].tensors[i].shape}"
        for op in model.subgraphs[0].operators
        for i in op.outputs
        if i >= 0 and found.tensors[i].shape != model.subgraphs[0].tensors[i].shape
    ]


def test_every_operator_has_a_rule() -> None:
    assert all(RULES[name] for name in OPERATORS if not name.startswith("CUSTOM:"))


@pytest.mark.parametrize("name", [*KERNELS, *MODELS])
def test_shapes_of_every_kernel_are_inferred(name: str) -> None:
    assert not not_inferred({**KERNELS, **MODELS}[name])


@pytest.mark.parametrize(
    "name",
    [
        "resnet8_int8",
        "dscnn_kws_float",
        "mcunet_vww_int8",
        "dtln_noise_suppression",
        "keyword_scrambled_int8",
    ],
)
def test_shapes_of_real_models_are_inferred(name: str, shared: Path) -> None:
    assert not not_inferred((shared / "models" / f"{name}.tflite").read_bytes())
