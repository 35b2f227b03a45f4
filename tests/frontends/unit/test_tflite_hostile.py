"""Broken .tflite files: one MemoptError with its place, nothing else, never large."""

import random
from pathlib import Path

import numpy as np
import pytest
from tflite_builder import Extra, Graph, Op, T, build, objects

from memopt.backends.tflm.repack import pack, unpack
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats import tflite_control
from memopt.frontends.tflite.read import read

MODELS = (
    "dscnn_kws_int8",
    "hello_world_int8",
    "keyword_scrambled_int8",
    "person_detect_vela_plan",
    "resnet8_int8",
    "selfie_segmentation",
    "streaming_wakeword_int8",
    "swiftnet_cell_vww_uint8",
)


def outcome(data: bytes) -> str:
    """`""` for success, else the message. Anything but a MemoptError of one line is a failure."""
    try:
        read(data, "bad.tflite").verify()
        return ""
    except MemoptError as error:
        text = str(error)
        assert text.startswith("bad.tflite") and ": error: " in text and "\n" not in text
        return text


def tables_of(data: bytes) -> int:
    """About where the weights begin to prevail: faults in front of it hit tables and vectors."""
    return min(len(data), 30_000)


@pytest.mark.parametrize("name", MODELS)
def test_truncated_files_are_refused(name: str, shared: Path, fuzz: float) -> None:
    data = (shared / "models" / f"{name}.tflite").read_bytes()
    rng = random.Random(name)
    cuts = [0, 1, 4, 7, 8, 12, len(data) // 2]
    cuts += [rng.randrange(len(data) - 64) for _ in range(max(10, round(200 * fuzz)))]
    refused = sum(bool(outcome(data[:cut])) for cut in cuts)
    # Behind the last table there may only be weights, which a shorter file also lacks.
    assert refused == len(cuts)


@pytest.mark.deep
@pytest.mark.parametrize("name", MODELS)
def test_corrupted_bytes_are_refused_or_harmless(name: str, shared: Path, fuzz: float) -> None:
    data = (shared / "models" / f"{name}.tflite").read_bytes()
    rng = random.Random(name)
    refused = 0
    count = max(20, round(500 * fuzz))
    for i in range(count):
        broken = bytearray(data)
        where = rng.randrange(tables_of(data)) if i % 4 else rng.randrange(len(data))
        broken[where] = rng.choice((0, 1, 127, 128, 255, broken[where] ^ 1 << rng.randrange(8)))
        refused += bool(outcome(bytes(broken)))
    assert refused < count


@pytest.mark.deep
def test_a_small_model_survives_every_byte_broken(fuzz: float) -> None:
    """Every byte of a small file that has all kinds of tables, with several values each."""
    tensors = [
        T("x", [1, 4, 4, 2], scale=(0.5,)),
        T("w", [2, 1, 1, 2], data=np.ones((2, 1, 1, 2), np.int8), scale=(0.5, 0.25)),
        T("state", [4], variable=True),
        T("shape", [2], "INT32", np.array([1, 32], np.int32)),
        T("a", [1, 4, 4, 2], scale=(0.5,)),
        T("b", [1, 32], scale=(0.5,)),
        T("c", [4]),
    ]
    ops = [
        Op("CONV_2D", [0, 1, -1], [4], ("Conv2D", {"strideH": 1, "strideW": 1})),
        Op("RESHAPE", [4, 3], [5], ("Reshape", {"newShape": np.array([1, 32], np.int32)})),
        Op("CUSTOM:thing", [5, 2], [6], None, b"\x01\x02"),
    ]
    extra = Extra(
        metadata={tflite_control.KEY: tflite_control.serialize([((0, 2),)])},
        signatures={"serve": ({"x": 0}, {"y": 6})},
    )
    data = build(Graph(tensors, ops, [0], [6]), extra=extra)
    assert outcome(data) == ""
    messages: set[str] = set()
    values = (0, 1, 2, 3, 127, 128, 254, 255)
    for where in range(len(data)):
        for value in values[: max(2, round(len(values) * fuzz))]:
            messages.add(outcome(data[:where] + bytes((value,)) + data[where + 1 :]))
    assert len(messages) > 50


RELU = Graph([T("x", [4]), T("y", [4])], [Op("RELU", [0], [1])], [0], [1])


def chain(*operators: Op, outputs: tuple[int, ...] = (2,), count: int = 3) -> bytes:
    return build(Graph([T(f"t{i}", [4]) for i in range(count)], operators, [0], outputs))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are too few for a flatbuffer"),
        (b"PK\3\4" + bytes(60), "file identifier b'.*' is not b'TFL3'"),
        (build(RELU, extra=Extra(version=2)), "schema version 2 is not 3"),
        (build(), "the model has no subgraph"),
        (
            chain(Op("ADD", [0, 2], [1]), Op("RELU", [1], [2])),
            r"subgraph 0 operator 0 \(ADD\): error: reads tensor 2, which operator 1 makes later: "
            "the graph is cyclic or out of order",
        ),
        (
            chain(Op("RELU", [1], [1]), Op("RELU", [1], [2])),
            r"operator 0 \(RELU\): error: reads tensor 1, which operator 0 makes later",
        ),
        (
            chain(Op("RELU", [0], [1]), Op("LOG", [0], [1])),
            r"operator 1 \(LOG\): error: output tensor 1 is also made by operator 0",
        ),
        (
            chain(Op("RELU", [0], [0])),
            r"operator 0 \(RELU\): error: output 0 is an input, constant or variable",
        ),
        (chain(Op("RELU", [7], [1])), "operator 0: error: tensor index 7 is not within -1 .. 2"),
        (chain(Op("RELU", [-2], [1])), "operator 0: error: tensor index -2 is not within"),
        (chain(Op("RELU", [0], [1])), "outputs: error: tensor 2 is made by no operator"),
        (
            build(Graph([T("x", [4, -1]), T("y", [4])], RELU.operators, [0], [1])),
            r"tensor 0: error: negative dimension in shape \[4, -1\]",
        ),
        (
            build(Graph([T("x", [1 << 20, 1 << 20]), T("y", [4])], RELU.operators, [0], [1])),
            "tensor 0: error: shape .* overflows",
        ),
        (
            build(Graph([T("x", [1 << 30], "FLOAT32"), T("y", [4])], RELU.operators, [0], [1])),
            "tensor 0: error: 4294967296 bytes are above the limit of 2 GiB",
        ),
        (
            build(
                Graph(
                    [T("x", [4]), T("y", [4]), T("w", [9], data=np.ones(8, np.int8))],
                    RELU.operators,
                    [0],
                    [1],
                )
            ),
            "tensor 2: error: its buffer holds 8 bytes, shape and type need 9",
        ),
        (
            build(Graph(RELU.tensors, RELU.operators, [0, 0], [1])),
            "inputs: error: a tensor is listed twice",
        ),
        (
            build(RELU, extra=Extra(metadata={tflite_control.KEY: b"\1\xff\xff\xff\xff\x0f"})),
            "metadata: error: control dependencies end early",
        ),
        (
            build(
                Graph(
                    [T("x", [4], scale=(float("nan"),)), RELU.tensors[1]], RELU.operators, [0], [1]
                )
            ),
            "tensor 0: error: a quantization scale is not finite",
        ),
        (
            build(
                Graph(
                    [T("x", [2], scale=(1.0, 2.0), zero=(1, 2, 3)), RELU.tensors[1]],
                    RELU.operators,
                    [0],
                    [1],
                )
            ),
            "tensor 0: error: 2 scales and 3 zero points",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(data: bytes, message: str) -> None:
    import re

    text = outcome(data)
    assert re.search(message, text), text


def test_a_scale_too_few_for_its_dimension_makes_no_typed_operation() -> None:
    """TFLM computes with such models; we schedule them, but do not claim to know the arithmetic."""
    tensors = [T("x", [1, 8], scale=(1.0, 2.0, 3.0), axis=1), T("y", [1, 8], scale=(1.0,))]
    text = str(read(build(Graph(tensors, [Op("RELU", [0], [1])], [0], [1]))))
    assert 'memgraph.opaque "RELU"' in text


def test_shared_tables_cannot_make_a_small_file_large() -> None:
    """Ten thousand operators that are one table: refused, not expanded beyond the file's size."""
    data = build(Graph([T(f"t{i}", [4]) for i in range(2)], list(RELU.operators) * 3000, [0], [1]))
    assert "also made by" in outcome(data)
    model = unpack(data)
    big = np.zeros(4000, np.int32)
    for op in model.subgraphs[0].operators:
        op.inputs = None
    model.subgraphs[0].operators[0].inputs = big
    single = bytearray(pack(model, b""))
    # Point every slot of the operators' vector to the operator with the 4,000 inputs.
    from memopt.formats.flatbuffer import Flatbuffer

    graph = Flatbuffer(bytes(single)).root(b"TFL3").tables(2)[0]
    places = [t.position for t in graph.tables(3)]
    target = graph.target(3)
    assert target is not None
    first = max(places, key=lambda p: p == places[0])
    for i in range(len(places)):
        slot = target + 4 + 4 * i
        single[slot : slot + 4] = (first - slot).to_bytes(4, "little")
    assert "refers to more elements than it can hold" in outcome(bytes(single))


def test_options_that_do_not_fit_the_file_are_refused() -> None:
    tensors = [T("x", [1, 4]), T("y", [4])]
    op = Op("RESHAPE", [0], [1], ("Reshape", {"newShape": np.array([0x5EADBEEF], np.int32)}))
    data = build(Graph(tensors, [op], [0], [1]))
    at = data.index((0x5EADBEEF).to_bytes(4, "little"))
    assert data[at - 4 : at] == b"\1\0\0\0"
    broken = data[: at - 4] + b"\xff\xff\xff\x7f" + data[at:]
    assert "operator 0 (RESHAPE): error: malformed ReshapeOptions" in outcome(broken)
    assert objects(data).subgraphs[0].operators[0].builtinOptions.newShape[0] == 0x5EADBEEF
