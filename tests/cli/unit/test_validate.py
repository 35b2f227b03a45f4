"""`memopt validate`: the planned network beside a reference, on samples in files."""

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from onnx import TensorProto, helper

from memopt.backends.c.project import write
from memopt.cli import main
from memopt.cli.commands import validate as command
from memopt.dialects.memgraph.errors import MemoptError
from memopt.validate import program
from memopt.validate.differences import accuracy, confusion, difference, errors, is_classes
from memopt.validate.job import REFERENCES, Job, answer_of
from memopt.validate.samples import Input, read_samples
from memopt.validate.stored import Stored, as_file, as_stored
from memopt.validate.validation import references_of

I8 = np.dtype(np.int8)
F32 = np.dtype(np.float32)


@pytest.fixture
def dscnn(shared: Path, tmp_path: Path) -> tuple[str, str]:
    """A keyword network, and samples with labels that it gives itself."""
    path = shared / "models" / "dscnn_kws_int8.tflite"
    x = np.random.default_rng(3).normal(0, 20, (3, 49, 10, 1)).astype(np.float32)
    np.savez(tmp_path / "samples.npz", x=x, y=np.array([1, 2, 3]))
    return str(path), str(tmp_path / "samples.npz")


def answer(capsys: Any, *arguments: str) -> dict[str, Any]:
    assert main(["validate", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("target", deep_but("host", ["host", "cortex-m4"]))
def test_c_is_the_runtime_bit_for_bit(target: str, dscnn: tuple[str, str], capsys: Any) -> None:
    model, data = dscnn
    options = [f"--data={data}", f"--target={target}", "--against=tflm", "--layers"]
    content = answer(capsys, model, *options, "--max-different=0")
    assert (content["samples"], content["against"], content["target"]) == (3, "tflm", target)
    assert [(one["elements"], one["different"]) for one in content["outputs"]] == [(36, 0)]
    assert content["accuracy"] == content["reference_accuracy"]
    assert sum(map(sum, content["confusion"])) == 3
    assert {one["against"] for one in content["layers"]} == {"tflm"}
    assert len(content["layers"]) == 12
    assert content["first_difference"] is None
    assert content["agree"] == []


def test_a_planned_file_is_compared_too(dscnn: tuple[str, str], capsys: Any) -> None:
    model, data = dscnn
    content = answer(capsys, model, f"--data={data}", "--target=tflm", "--samples=2")
    assert (content["samples"], content["layers"]) == (2, None)
    assert content["outputs"][0]["different"] == 0
    assert main(["validate", model, f"--data={data}", "--target=tflm", "--layers"]) == 2
    assert "--layers is of C targets" in capsys.readouterr().err


@pytest.mark.deep
def test_a_mutated_kernel_is_named(
    dscnn: tuple[str, str], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool before the last layers has another bit; so has all that follows."""
    model, data = dscnn
    write_files = write.write_files

    def mutated(project: Any, directory: Path, layout: str) -> None:
        write_files(project, directory, layout)
        (kernel,) = directory.glob("kernels/memopt_average_pool_2d_s8.h")
        changed = kernel.read_text().replace("sum += *x;", "sum += *x ^ 8;")
        assert changed != kernel.read_text()
        kernel.write_text(changed)

    monkeypatch.setattr(program, "write_files", mutated)
    content = answer(capsys, model, f"--data={data}", "--layers", "--rows=none")
    assert "AvgPool" in content["first_difference"]
    assert content["agree"] == []
    assert main(["validate", model, f"--data={data}", "--max-different=0", "--rows=none"]) == 1
    out, error = capsys.readouterr()
    assert "elements differ, by at most" in out
    assert error.endswith("elements differ from litert-reference\n")


def onnx_model(path: Path) -> str:
    """Two convolutions, channels first; the optimiser joins nothing that rounds."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 8, 8])
    rng = np.random.default_rng(0)
    weights = [
        helper.make_tensor(name, TensorProto.FLOAT, shape, rng.normal(size=shape).ravel())
        for name, shape in (("v", (5, 3, 3, 3)), ("w", (4, 5, 1, 1)))
    ]
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return str(path)


@pytest.mark.parametrize("options", [[], pytest.param(["--nhwc-io"], marks=pytest.mark.deep)])
def test_images_lie_as_the_file_has_them(options: list[str], tmp_path: Path, capsys: Any) -> None:
    model = onnx_model(tmp_path / "net.onnx")
    x = np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    content = answer(
        capsys, model, f"--data={tmp_path / 'x.npy'}", "--rewrite=all", "--layers", *options
    )
    assert content["against"] == "onnxruntime"
    assert content["outputs"][0]["different"] == 0
    assert content["outputs"][0]["cosine"] == pytest.approx(1)
    assert [one["different"] for one in content["layers"]] == [0] * len(content["layers"])
    assert {one["against"] for one in content["layers"]} >= {"onnxruntime"}


def test_what_is_wrong_has_one_line(dscnn: tuple[str, str], tmp_path: Path, capsys: Any) -> None:
    model, data = dscnn
    for code, *arguments in (
        (1, f"--data={tmp_path / 'none.npz'}"),
        (1, f"--data={model}"),
        (2, f"--data={data}", "--against=onnxruntime"),
        (1, f"--data={data}", "--labels=z"),
        (2, f"--data={data}", "--samples=0"),
        (1, f"--data={tmp_path}"),
    ):
        if arguments == [f"--data={tmp_path}"]:
            np.save(tmp_path / "a.npy", np.zeros(3))
        assert main(["validate", model, *arguments]) == code, arguments
        assert capsys.readouterr().err.count("\n") == 1


def test_each_reference_is_of_one_kind_of_file() -> None:
    """The first is the default."""
    assert set(REFERENCES) == {
        *("litert", "litert-reference", "tflm", "onnxruntime", "onnxruntime-optimised")
    }
    assert references_of(Path("a.tflite")) == ["litert-reference", "evaluate", "litert", "tflm"]
    assert references_of(Path("a.onnx"))[0] == "onnxruntime"
    assert references_of(Path("a.mlir")) == ["evaluate"]


def test_a_reference_that_ends_is_no_end_of_ours(tmp_path: Path) -> None:
    """TFLM aborts at what is no model."""
    path = tmp_path / "net.tflite"
    path.write_bytes(b"TFL3 is no model")
    for reference in ("tflm", "litert"):
        with pytest.raises(MemoptError, match=reference):
            answer_of(reference, Job(path, [np.zeros((1, 4), np.int8)]))


def test_samples_of_files(tmp_path: Path) -> None:
    one, two = Input("a", (1, 2)), Input("b", (3,))
    np.savez(tmp_path / "named.npz", b=np.zeros((4, 3)), a=np.ones((4, 1, 2)), y=np.arange(4))
    read = read_samples(tmp_path / "named.npz", [one, two])
    assert [array.shape for array in read.inputs] == [(4, 1, 2), (4, 3)]
    assert read.labels is not None and read.labels.tolist() == [0, 1, 2, 3]
    assert len(read.first(3)) == 3
    np.savez(tmp_path / "numbered.npz", np.ones((4, 2)), np.zeros((4, 3)))
    assert read_samples(tmp_path / "numbered.npz", [one, two]).inputs[0].shape == (4, 1, 2)
    folder = tmp_path / "folder"
    folder.mkdir()
    for k in range(3):
        np.save(folder / f"{k}.npy", np.full(2, k))
    assert read_samples(folder, [one]).inputs[0].tolist() == [[[0, 0]], [[1, 1]], [[2, 2]]]
    np.savez(tmp_path / "one.npz", a=np.ones((1, 1, 2)), y=np.int64(3))
    read = read_samples(tmp_path / "one.npz", [one])
    assert len(read.first(1)) == 1
    assert read.labels is not None and read.labels.tolist() == [3]
    with pytest.raises(MemoptError, match="an array of "):
        read_samples(_saved(tmp_path / "number.npy", np.array(1.0)), [Input("a", (1,))])
    (tmp_path / "labels.csv").write_text("1\n0\n2\n")
    read = read_samples(folder, [one], str(tmp_path / "labels.csv"))
    assert read.labels is not None and read.labels.tolist() == [1, 0, 2]
    for inputs, name in (([one], "named.npz"), ([two, two], "numbered.npz")):
        with pytest.raises(MemoptError):
            read_samples(tmp_path / name, [Input("c", (7,)), *inputs])
    np.savez(tmp_path / "objects.npz", np.array([{}], dtype=object))
    broken = bytearray((tmp_path / "named.npz").read_bytes())
    broken[200] ^= 1
    (tmp_path / "broken.npz").write_bytes(broken)
    (tmp_path / "cut.npz").write_bytes(broken[:300])
    written = (tmp_path / "named.npz").read_bytes()
    for name, place, values in (
        ("encrypted.npz", 6, (1, 0)),  # flags
        ("unknown.npz", 8, (77, 0)),  # compression
    ):
        begins = [written.index(b"PK\x03\x04") + place, written.index(b"PK\x01\x02") + place + 2]
        changed = bytearray(written)
        for begin in begins:
            changed[begin : begin + 2] = bytes(values)
        (tmp_path / name).write_bytes(changed)
    with zipfile.ZipFile(tmp_path / "lzma.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.write(_saved(tmp_path / "b.npy", np.arange(300.0)), "b.npy")
    changed = bytearray((tmp_path / "lzma.npz").read_bytes())
    changed[60:120] = b"\xff" * 60
    (tmp_path / "lzma.npz").write_bytes(changed)
    several = ("objects.npz", "broken.npz", "cut.npz", "encrypted.npz", "unknown.npz", "lzma.npz")
    for name in several:
        with pytest.raises(MemoptError, match="no arrays of numpy"):
            read_samples(tmp_path / name, [two])
    for x, y in ((np.array([["x", "y"]]), np.ones(1)), (np.ones((1, 2)), np.array(["cat"]))):
        np.savez(tmp_path / "words.npz", a=x, y=y)
        with pytest.raises(MemoptError, match="real numbers, not <U"):
            read_samples(tmp_path / "words.npz", [one])
    with pytest.raises(MemoptError, match="different numbers of samples"):
        read_samples(folder, [one], str(_saved(tmp_path / "y.npy", np.zeros(2))))


def test_labels_may_lie_among_the_samples(tmp_path: Path) -> None:
    """The file of labels is no sample, and a .csv none beside arrays of numpy."""
    one = Input("a", (1, 2))
    for kind in ("npy", "csv"):
        folder = tmp_path / kind
        folder.mkdir()
        for k in range(2):
            np.save(folder / f"{k}.npy", np.full(2, k))
            if kind == "csv":
                np.savetxt(folder / f"{k}.csv", np.full((1, 2), k), delimiter=",")
                (folder / f"{k}.npy").unlink()
        labels = folder / "labels.csv"
        labels.write_text("1\n0\n")
        read = read_samples(folder, [one], str(labels))
        assert read.inputs[0].tolist() == [[[0, 0]], [[1, 1]]]
        assert read.labels is not None and read.labels.tolist() == [1, 0]
    assert len(read_samples(tmp_path / "npy", [one])) == 2
    with pytest.raises(MemoptError):
        read_samples(tmp_path / "csv", [one])
    labels = _saved(tmp_path / "npy" / "labels.npy", np.array([3, 4]))
    assert len(read_samples(tmp_path / "npy", [one], str(labels))) == 2


def test_an_input_may_be_called_as_labels_are(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    read = read_samples(path, [Input("y", (2,))])
    assert read.labels is None and read.inputs[0].tolist() == [[1, 2], [3, 4]]
    read = read_samples(path, [Input("y", (1,))], "y")
    assert read.labels is not None and read.labels.tolist() == [2, 4]
    assert read.inputs[0].tolist() == [[1], [3]]


def test_a_csv_has_a_line_of_real_numbers_per_sample(tmp_path: Path) -> None:
    """Flat samples, with a column of labels by its name; in a folder a file is one sample."""
    one = Input("a", (1, 2, 3))
    path = tmp_path / "x.csv"
    path.write_text("\ufeffa,b,c, y ,e,f,g\n1,2,3,7,4,5,6\n\n-1,2.5,3,8,4,5,6e1\n")
    read = read_samples(path, [one])
    assert read.inputs[0].tolist() == [[[[1, 2, 3], [4, 5, 6]]], [[[-1, 2.5, 3], [4, 5, 60]]]]
    assert read.labels is not None and read.labels.tolist() == [7, 8]
    named = read_samples(path, [one], "b")  # then y is no label
    assert named.labels is not None and named.labels.tolist() == [2, 2.5]
    assert named.inputs[0].ravel().tolist()[:3] == [1, 3, 7]
    folder = tmp_path / "folder"
    folder.mkdir()
    for k in range(2):
        (folder / f"{k}.csv").write_text(f"t,u,y\n{k},2,3\n4,5,6\n")
    assert read_samples(folder, [one]).inputs[0].tolist() == [
        [[[k, 2, 3], [4, 5, 6]]] for k in range(2)
    ]


@pytest.mark.parametrize(
    ("text", "labels", "why"),
    [
        ("", None, "no line of numbers"),
        ("a,b,c,d,e,f\n", None, "no line of numbers"),
        ("1,2,3,4,5,6\n1,2,x,4,5,6\n", None, "line 2: could not convert"),
        ("a,b,c,d,e,f\n1,2,3,4,5\n", None, "sample 1 has 5 numbers, others 6"),
        ("1,2,3,4,5,6\n1\n", None, "sample 2 has 1 numbers, others 6"),
        ("1,,3,4,5,6\n1,2,3,4,5,6\n", None, "line 1: neither names nor numbers"),
        ("1,2,3,x,y,z\n1,2,3,4,5,6\n", None, "line 1: neither names nor numbers"),
        ("nan,nan,1,2,3,4\n1,2,3,4,5,6\n", None, "line 1: neither names nor numbers"),
        ("1,2,3,4,5,6\n1,2,3,4,5,1_0\n", None, "line 2: no finite number: '1_0'"),
        ("a,b,c,d,e,f\n1,2,3,4,5,inf\n", None, "line 2: no finite number: 'inf'"),
        ("a,a,c,d,e,f\n1,2,3,4,5,6\n", None, "two columns have the same name"),
        ("1,2,3,4,5\n", None, "samples of 1x2x3 are wanted, an array of 1x5"),
        ("1,2,3,4,5,6\n", "kind", "no column 'kind': its first line has no names"),
        ("a,b,c,d,e,kinds\n1,2,3,4,5,6\n", "kind", r"no column 'kind' \(did you mean kinds"),
    ],
)
def test_a_wrong_csv_says_where(text: str, labels: str | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(MemoptError, match=why):
        read_samples(path, [Input("a", (1, 2, 3))], labels)


def test_a_csv_is_of_one_input(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("1,2\n")
    with pytest.raises(MemoptError, match=r"a \.csv has one input, the model 2"):
        read_samples(path, [Input("a", (1,)), Input("b", (1,))])


@pytest.mark.deep
def test_the_page_has_what_json_has(dscnn: tuple[str, str], tmp_path: Path, capsys: Any) -> None:
    model, data = dscnn
    page = tmp_path / "page.html"
    content = answer(capsys, model, f"--data={data}", "--layers", f"--html={page}")
    text = page.read_text()
    assert f"<b>{100 * content['accuracy']:.2f} %</b><span>accuracy</span>" in text
    assert f"<b>0</b><span>of {len(content['layers'])} operators differ</span>" in text
    for layer in content["layers"]:
        assert f'title="{layer["tensor"]}"' in text
    cells = re.findall(r'<td(?: class=right)? style="[^"]*">(\d+)</td>', text)
    assert list(map(int, cells)) == [n for row in content["confusion"] for n in row]
    assert f"<dt>data</dt><dd>{data}</dd>" in text
    assert main(["validate", model, f"--data={data}", "--html=-"]) == 2
    assert "--html=-: expected a file" in capsys.readouterr().err


def test_a_page_replaces_nothing_that_is_read(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is said before the run."""
    monkeypatch.setattr(command, "validate", None)  # is not called
    model, folder, labels = tmp_path / "net.tflite", tmp_path / "data", tmp_path / "labels.csv"
    folder.mkdir()
    for file in (model, folder / "a.npy", labels):
        file.write_text("kept")
    words = ["validate", str(model), f"--data={folder}", f"--labels={labels}"]
    for page in (model, folder / "a.npy", labels):
        assert main([*words, f"--html={page}"]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "is read by this run and would be replaced" in error
        assert page.read_text() == "kept"
    assert main([*words, f"--html={folder}"]) == 2
    assert f"--html={folder}: expected a file" in capsys.readouterr().err


def _saved(path: Path, array: Any) -> Path:
    np.save(path, array)
    return path


def test_reals_become_stored_integers_as_the_header_rounds() -> None:
    """Halves go away from zero; what does not fit is the nearest that does."""
    tensor = Stored("x", (7,), I8, 0.5, -3)
    reals = np.array([[0.25, -0.25, 0.2499, 100.0, -100.0, float("nan"), 1.0]], np.float32)
    assert tensor.holding(reals).tolist() == [[-2, -4, -3, 127, -128, -3, -1]]
    assert tensor.reals(np.array([-3, -1], np.int8)).tolist() == [0, 1]
    with pytest.raises(MemoptError, match="int8"):
        tensor.holding(np.array([[300]]))
    real = Stored("x", (7,), F32, None, 0)
    assert as_stored(reals, real, tensor).dtype == I8
    file, device = Stored("x", (2,), F32, None, 0), Stored("x", (2,), I8, 0.5, -3)
    back = as_file(np.array([[-2, -4]], np.int8), file, device)
    assert back.tolist() == [[0.5, -0.5]]


def test_images_move() -> None:
    first, last = Stored("x", (1, 3, 4, 5), F32, None, 0), Stored("x", (1, 4, 5, 3), F32, None, 0)
    x = np.arange(120, dtype=np.float32).reshape(2, 1, 3, 4, 5)
    moved = as_stored(x, first, last, turned=True)
    assert np.array_equal(moved, x.transpose(0, 1, 3, 4, 2))
    assert np.array_equal(as_file(moved, first, last, turned=True), x)
    with pytest.raises(MemoptError, match="cannot be read"):
        as_stored(x, first, last)
    sequence = Stored("x", (1, 3, 4), F32, None, 0), Stored("x", (1, 4, 1, 3), F32, None, 0)
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    moved = as_stored(x, *sequence, turned=True)
    assert np.array_equal(moved[0, 0, :, 0], x[0, 0].T)


def test_what_may_lie_either_way_is_refused_unless_its_layout_says_it() -> None:
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3, 1)
    square = Stored("x", (1, 3, 3, 1), F32, None, 0)
    assert np.array_equal(as_stored(x, square, square), x)
    with pytest.raises(MemoptError, match="either way"):
        as_stored(x, square, square, turned=True)
    grey = np.arange(9, dtype=np.float32).reshape(1, 1, 1, 3, 3)
    both = Stored("x", (1, 1, 3, 3), F32, None, 0), Stored("x", (1, 3, 3, 1), F32, None, 0)
    assert np.array_equal(as_stored(grey, *both, turned=True).ravel(), grey.ravel())
    cube = Stored("x", (1, 3, 3, 3), F32, None, 0)
    first, last = replace(cube, layout="nchw"), replace(cube, layout="nhwc")
    x = np.arange(27, dtype=np.float32).reshape(1, 1, 3, 3, 3)
    assert np.array_equal(as_stored(x, first, first, turned=True), x)
    assert np.array_equal(as_stored(x, first, last, turned=True), x.transpose(0, 1, 3, 4, 2))
    assert np.array_equal(as_file(as_stored(x, first, last, True), first, last, True), x)


def test_differences_are_counted() -> None:
    tensor = Stored("y", (4,), I8, 0.5, 0)
    one = difference(tensor, np.array([1, 2, 3, 4], np.int8), np.array([1, 2, 3, 0], np.int8))
    assert (one.elements, one.different, one.max_abs, one.mean_abs) == (4, 1, 4, 1)
    assert (one.rmse, one.mae) == (1.0, 0.5)
    reals = Stored("y", (3,), F32, None, 0)
    a = np.array([1, np.nan, 1000], np.float32)
    b = np.array([1.005, np.nan, 1000], np.float32)
    assert difference(reals, a, b).different == 0  # 1e-5 of the largest
    assert difference(reals, a, b + np.float32(0.02)).different == 2
    assert difference(reals, a[:1] * 0, b[:1] * 0).cosine is None


def test_labels_are_classes_or_numbers() -> None:
    output = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
    assert accuracy(output, np.array([1, 0, 0])) == pytest.approx(2 / 3)
    assert accuracy(output, np.array([[0, 1], [1, 0], [1, 0]])) == pytest.approx(2 / 3)
    assert confusion(output, np.array([1, 0, 0])) == [[1, 1], [0, 1]]
    assert accuracy(np.array([[0.4], [0.6]]), np.array([0, 1])) == 1
    assert is_classes(np.array([0, 1, 7])) and not is_classes(np.array([0.5, 1]))
    assert not is_classes(np.array([[2, 3]]))
    assert errors(np.array([[1.0, 2.0]]), np.array([[1.0, 4.0]])) == (pytest.approx(2**0.5), 1.0)
