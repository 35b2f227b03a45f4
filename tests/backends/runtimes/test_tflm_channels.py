"""The `.tflite` without dead and constant channels: smaller, and the same answers in TFLM."""

import json
from pathlib import Path

import numpy as np
import pytest
from deep import deep_but
from tflite_builder import Graph, Op, T, build
from tflm_runner import Job, random_inputs, run
from xdsl.dialects.builtin import ModuleOp

from memopt.cli import main
from memopt.compile import rewritten_network
from memopt.compile.driver import import_bytes
from memopt.formats.tflite import read_model

RUNS = 500
MOST_BYTES = {"mobilenet_vww96_int8": 106_500, "person_detect_int8": 301_000}
PEAKS = {"mobilenet_vww96_int8": 55_296, "person_detect_int8": 52_992}


@pytest.mark.deep
@pytest.mark.parametrize("name", deep_but("person_detect_int8", MOST_BYTES))
def test_the_narrower_file_answers_the_same(
    name: str, shared: Path, tmp_path: Path, fuzz: float
) -> None:
    path = shared / "models" / f"{name}.tflite"
    arguments = ["compile", str(path), "--target=tflm", "--rewrite=safe", "-o", str(tmp_path / "o")]
    assert main(arguments) == 0
    before, after = path.read_bytes(), (tmp_path / "o" / path.name).read_bytes()
    assert len(after) <= MOST_BYTES[name]
    assert (tmp_path / "o" / f"{name}.narrowed.tflite").stat().st_size < len(before)
    graph = read_model(after, name).subgraphs[0]
    read = {i for op in graph.operators for i in (*op.inputs, *op.outputs) if i >= 0}
    assert read == set(range(len(graph.tensors)))  # nothing that no operator reads
    report = json.loads((tmp_path / "o/report.json").read_text())
    assert report["plan"]["peak"] == PEAKS[name]
    inputs = random_inputs(before, max(5, int(RUNS * fuzz)), seed=4)
    old, new = run([Job("tflm", model, inputs) for model in (before, after)], tmp_path)
    assert old.error == new.error == ""
    assert new.total < old.total and new.head == report["plan"]["arena"]
    for a, b in zip(old.outputs, new.outputs, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert any(np.ptp(answer[0]) for answer in old.outputs)
    assert main(["verify", str(tmp_path / "o/plan.mlir")]) == 0


@pytest.mark.deep
def test_a_float_file_in_a_range_answers_the_same(shared: Path, tmp_path: Path) -> None:
    """Nobody misses zeros that are not added: the same numbers. Its reshape says the shape in an
    operand alone, which has to be another."""
    path = shared / "models/mobilenet_vww96_float.tflite"
    arguments = ["compile", str(path), "--target=tflm", "--rewrite=safe", "-o", str(tmp_path / "o")]
    assert main([*arguments, "--input-range=input_1=-1:1"]) == 0
    before, after = path.read_bytes(), (tmp_path / "o" / path.name).read_bytes()
    assert len(after) < 150_000 < len(before)
    rng = np.random.default_rng(4)
    inputs = [[rng.uniform(-1, 1, (1, 96, 96, 3)).astype(np.float32)] for _ in range(3)]
    old, new = run([Job("tflm", model, inputs) for model in (before, after)], tmp_path)
    assert old.error == new.error == ""
    for a, b in zip(old.outputs, new.outputs, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert main(["verify", str(tmp_path / "o/plan.mlir")]) == 0


def test_other_rules_are_refused_by_name(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(shared / "models/person_detect_int8.tflite")
    rule = "--rewrite=constant-channels,gather"
    assert main(["compile", path, "--target=tflm", rule, "-o", str(tmp_path / "o")]) == 2
    said = capsys.readouterr().err
    assert "--rewrite=gather: a .tflite is written with no rule but computed-shapes, const" in said
    assert not (tmp_path / "o").exists()


@pytest.mark.deep
def test_rules_that_leave_the_same_network_are_not_written_again(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rules, which no file can say; channels alone; and padding with them, which none can
    either. What `dead-operators` and others leave of it, which is the same, is there already."""
    path, files = shared / "models/mcunet_vww_int8.tflite", list[ModuleOp]()
    written = rewritten_network.written

    def counting(module: ModuleOp) -> bytes:
        files.append(module)
        return written(module)

    monkeypatch.setattr(rewritten_network, "written", counting)
    module = import_bytes(path.read_bytes(), ".tflite", str(path), path)
    answer = rewritten_network.rewrite_network(module, ("safe",))
    assert len(files) == 3
    assert answer.network == written(files[1])
    assert [done.rule.data for done in answer.did] == ["constant-channels"]
    assert len(answer.why) == 1 and answer.why[0].startswith("pad-into-window not applied: ")


def test_a_slice_that_says_how_many_channels_it_takes_is_left_with_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then nothing is left out, and the plan is that of the file."""
    path = tmp_path / "net.tflite"
    path.write_bytes(sliced())
    arguments = ["compile", str(path), "--target=tflm", "--rewrite=safe", "-o", str(tmp_path / "o")]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "rewrite   constant-channels not applied: " in said
    assert "it would take other sizes than the file says" in said
    assert json.loads((tmp_path / "o/report.json").read_text())["rewrites"] == []
    assert not (tmp_path / "o/net.narrowed.tflite").exists()
    assert main(["verify", str(tmp_path / "o/plan.mlir")]) == 0


def sliced() -> bytes:
    """Two matrices, of which the first has a row of zeros, and half of what it makes between."""

    def stored(name: str, shape: list[int]) -> T:
        return T(name, shape, scale=[0.5], zero=[0])

    def weights(name: str, values: list[list[int]]) -> T:
        array = np.array(values, np.int8)
        return T(name, list(array.shape), "INT8", array, scale=[0.1], zero=[0])

    tensors = [
        stored("x", [2, 2]),
        weights("w", [[1, 2], [0, 0], [3, 4]]),
        stored("h", [2, 3]),
        *(
            T(name, [2], "INT32", np.array(values, np.int32))
            for name, values in (("begin", [0, 0]), ("end", [1, 3]), ("step", [1, 1]))
        ),
        stored("s", [1, 3]),
        weights("v", [[5, 6, 7]]),
        stored("y", [1, 1]),
    ]
    operators = [
        Op("FULLY_CONNECTED", [0, 1, -1], [2], ("FullyConnected", {})),
        Op("STRIDED_SLICE", [2, 3, 4, 5], [6], ("StridedSlice", {})),
        Op("FULLY_CONNECTED", [6, 7, -1], [8], ("FullyConnected", {})),
    ]
    return build(Graph(tensors, operators, [0], [8]))
