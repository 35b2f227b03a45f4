"""Hostile input to `memopt-opt`: one line with a place, the right exit code, nothing half-written.

Runs in this process, so that hundreds of cases are fast; a traceback would be an exception here.
"""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memopt.cli.opt import main

Capture = pytest.CaptureFixture[str]
PASSES = ("--schedule=source", "--place=greedy-by-size", "--verify-plan")

PLANNED = """!t0 = tensor<1x8x8x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [-128]>>
!t1 = tensor<4x3x3x4xi8, #memgraph.encoding<ohwi>>
#inplace = #memgraph.alias<operand = 0, kind = inplace>
builtin.module attributes {memgraph.files = {ab = "net.tflite"}} {
  func.func @main(%x: !t0 {memgraph.name = "in"}) -> tensor<16xi8> attributes {
      memgraph.model = #memgraph.model<target = host, alignment = 8>} {
    %w = memgraph.constant #memgraph.weights<"ab", "7"> : !t1
    %b = memgraph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %0 = memgraph.conv_2d %x, %w, %b window<[3, 3], pad = [1, 1, 1, 1]> groups 1
      activation<relu> rounding<tflm_double> : (!t0, !t1, tensor<4xi32>) -> !t0
    %1, %2 = memgraph.opaque "two"(%0) stateful options {a = 1 : i64} {
      memgraph.scratch = [#memgraph.scratch<96>], memgraph.source = #memgraph.source<0, 3, [7, 8]>}
      : (!t0) -> (tensor<16xi8>, tensor<4xi8>)
    %3 = memgraph.fused (%i = %1 : tensor<16xi8>) -> tensor<16xi8> {
      %j = memgraph.relu %i {memgraph.alias = [[#inplace]]} : (tensor<16xi8>) -> tensor<16xi8>
      memgraph.yield %j : tensor<16xi8>
    }
    func.return %3 : tensor<16xi8>
  }
}
"""


def attempt(arguments: list[str], capsys: Capture) -> tuple[int, str]:
    """(exit code, stderr) of one run."""
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, capsys.readouterr().err


def error_lines(printed: str) -> list[str]:
    """The one line of an error, of a text that cannot be read with what is there and a caret."""
    lines = printed.splitlines()
    assert len(lines) == 1 or (len(lines) == 3 and lines[2].lstrip(" ") == "^"), printed
    return lines


def refused(arguments: list[str], capsys: Capture, place: str) -> str:
    """The one line of a run that must fail with exit code 1; it names `place`."""
    code, printed = attempt(arguments, capsys)
    assert code == 1, (code, printed)
    lines = error_lines(printed)
    assert place in lines[0], lines[0]
    assert "error: " in lines[0], lines[0]
    assert "internal error" not in lines[0], lines[0]
    assert "Traceback" not in lines[0]
    return lines[0]


def survives(path: Path, out: Path, capsys: Capture, *flags: str) -> bool:
    """Whether the input was accepted; if not, it was refused as it should be."""
    out.write_text("before")
    code, printed = attempt([str(path), *flags, "-o", str(out)], capsys)
    if code == 0:
        assert printed == ""
        assert out.read_text() != "before"
        return True
    assert code == 1
    lines = error_lines(printed)
    assert lines[0].startswith(str(path)) and ": error: " in lines[0], lines[0]
    assert "internal error" not in lines[0], lines[0]
    assert out.read_text() == "before", "something was written"
    assert sorted(p.name for p in out.parent.iterdir() if p.name.startswith(".")) == []
    return False


def damaged(data: bytes, rng: random.Random, truncations: int, corruptions: int) -> list[bytes]:
    """Copies cut off anywhere, and copies with one byte changed."""
    cut = [data[: rng.randrange(len(data))] for _ in range(truncations)]
    for _ in range(corruptions):
        copy = bytearray(data)
        copy[rng.randrange(len(copy))] ^= rng.randrange(1, 256)
        cut.append(bytes(copy))
    return cut


def damage(
    data: bytes, suffix: str, share: float, folder: Path, capsys: Capture, *flags: str
) -> None:
    rng = random.Random(len(data))
    path, out = folder / f"bad{suffix}", folder / "out.mlir"
    accepted = 0
    cases = damaged(data, rng, max(10, round(200 * share)), max(25, round(500 * share)))
    for case in cases:
        path.write_bytes(case)
        accepted += survives(path, out, capsys, *flags)
    assert accepted < len(cases)


def test_damaged_ir(tmp_path: Path, capsys: Capture, fuzz: float) -> None:
    path = tmp_path / "good.mlir"
    path.write_text(PLANNED)
    assert survives(path, tmp_path / "out.mlir", capsys, *PASSES)
    damage(PLANNED.encode(), ".mlir", 2 * fuzz, tmp_path, capsys, *PASSES)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["models/hello_world_int8.tflite", "models/resnet8_int8.tflite"])
def test_damaged_tflite(
    name: str, shared: Path, tmp_path: Path, capsys: Capture, fuzz: float
) -> None:
    damage((shared / name).read_bytes(), ".tflite", fuzz, tmp_path, capsys, *PASSES)


def test_damaged_onnx(shared: Path, tmp_path: Path, capsys: Capture, fuzz: float) -> None:
    data = (shared / "graphs/hrnet_w18_small_v1.onnx").read_bytes()
    damage(data, ".onnx", 0.4 * fuzz, tmp_path, capsys, "--schedule=source")


def test_damaged_json(shared: Path, tmp_path: Path, capsys: Capture, fuzz: float) -> None:
    data = (shared / "graphs/train_resnet18_b1.json").read_bytes()
    damage(data, ".json", fuzz, tmp_path, capsys, "--schedule=source")


IR_CASES: dict[str, tuple[str, str]] = {
    "cycle": (
        'func.func @f() {\n  %a = memgraph.opaque "A"(%b) : (tensor<4xi8>) -> tensor<4xi8>\n'
        '  %b = memgraph.opaque "B"(%a) : (tensor<4xi8>) -> tensor<4xi8>\n  func.return\n}\n',
        ":2:3: error: b is used before it is made",
    ),
    "undefined value": ("func.func @f() {\n  func.return %z : tensor<4xi8>\n}\n", "z"),
    "negative shape": (
        'func.func @f() {\n  %a = memgraph.opaque "A"() : () -> tensor<-4xi8>\n  func.return\n}\n',
        ":2:",
    ),
    "overflowing shape": (
        'func.func @f() {\n  %a = memgraph.opaque "A"() : () -> '
        "tensor<9223372036854775807x1024xi8>\n  func.return\n}\n",
        ":2:3: error: tensor<9223372036854775807x1024xi8> has",
    ),
    "negative scratch": ("func.func @f() attributes {a = #memgraph.scratch<-4>}\n", ":1:1: error"),
    "unknown key": ("func.func @f() attributes {a = #memgraph.model<align = 4>}\n", ":1:54: error"),
    "unknown operation": (
        "func.func @f() {\n  memgraph.nothing\n}\n",
        "memgraph.nothing is not registered",
    ),
    "unknown dialect": ('func.func @f() {\n  "no.such"() : () -> ()\n}\n', ":2:"),
    "two definitions": (
        'func.func @f() {\n  %a = memgraph.opaque "A"() : () -> tensor<4xi8>\n'
        '  %a = memgraph.opaque "A"() : () -> tensor<4xi8>\n  func.return\n}\n',
        ":3:",
    ),
    "nothing but rubbish": ("\x7f\x01 }{ %%% !! ::\n", ":1:"),
    "deep parentheses": ("(" * 100_000, ":1:"),
    "deep attributes": ("func.func @f() attributes {a = " + "[" * 100_000, ""),
    "deep types": ("func.func @f() attributes {a = " + "tuple<" * 50_000, ""),
    "deep regions": ('"builtin.module"() ({\n' * 3_000, ""),
    "string without end": ('func.func @f() attributes {a = "' + "a" * 10_000, ""),
    "huge number": ("func.func @f() attributes {a = #memgraph.scratch<1" + "0" * 6000 + ">}\n", ""),
    "huge float": ("func.func @f() attributes {a = 1.0e999999 : f32}\n", ""),
}


@pytest.mark.parametrize("name", IR_CASES)
def test_hostile_ir(name: str, tmp_path: Path, capsys: Capture) -> None:
    text, fragment = IR_CASES[name]
    path, out = tmp_path / "in.mlir", tmp_path / "out.mlir"
    path.write_text(text)
    line = refused([str(path), *PASSES, "-o", str(out)], capsys, str(path))
    assert fragment in line, line
    assert not out.exists()


def graph(**changes: object) -> dict[str, object]:
    """A small JSON graph, with parts replaced."""
    tensors = [{"name": n, "bytes": 4, "is_weight": False} for n in "xyz"]
    nodes = [
        {"name": "a", "op": "A", "inputs": ["x"], "outputs": ["y"]},
        {"name": "b", "op": "B", "inputs": ["y"], "outputs": ["z"]},
    ]
    plain = {"name": "g", "source": "", "tensors": tensors, "nodes": nodes}
    return plain | {"graph_inputs": ["x"], "graph_outputs": ["z"]} | changes


CYCLE = [
    {"name": "a", "op": "A", "inputs": ["z"], "outputs": ["y"]},
    {"name": "b", "op": "B", "inputs": ["y"], "outputs": ["z"]},
]
JSON_CASES: dict[str, object] = {
    "no graph": [],
    "nothing": {},
    "cycle": graph(nodes=CYCLE),
    "negative bytes": graph(tensors=[{"name": n, "bytes": -4, "is_weight": False} for n in "xyz"]),
    "overflow": graph(tensors=[{"name": n, "bytes": 1 << 70, "is_weight": False} for n in "xyz"]),
    "no bytes": graph(tensors=[{"name": n} for n in "xyz"]),
    "a word for bytes": graph(tensors=[{"name": n, "bytes": "many"} for n in "xyz"]),
    "unknown tensor": graph(graph_outputs=["q"]),
    "nodes no list": graph(nodes=7),
    "names no text": graph(nodes=[{"name": 1, "op": 2, "inputs": [3], "outputs": [4]}]),
    "not a number": graph(tensors=[{"name": n, "bytes": float("nan")} for n in "xyz"]),
}


@pytest.mark.parametrize("name", JSON_CASES)
def test_hostile_json(name: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(JSON_CASES[name]))
    refused([str(path), "--schedule=auto"], capsys, str(path))


def test_a_good_json_graph_is_accepted(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(graph()))
    assert attempt([str(path), "--schedule=auto"], capsys) == (0, "")


def write_bytes(data: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(data)

    return write


FILES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "directory": lambda path: path.mkdir(),
    "not UTF-8": write_bytes(b"func.func @\xff\xfe() {}\n"),
    "zeros": write_bytes(bytes(1000)),
}


@pytest.mark.parametrize("suffix", [".mlir", ".tflite", ".onnx", ".json"])
@pytest.mark.parametrize("kind", [*FILES, "empty"])
def test_hostile_file(kind: str, suffix: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / f"in{suffix}"
    FILES.get(kind, write_bytes(b""))(path)
    refused([str(path)], capsys, str(path))


def test_unknown_suffix(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "net.pt"
    path.write_bytes(b"")
    assert "unknown kind of file" in refused([str(path)], capsys, str(path))


@pytest.mark.parametrize("where", ["missing/out.mlir", "in.mlir/out.mlir", "folder"])
def test_unwritable_output(where: str, tmp_path: Path, capsys: Capture) -> None:
    path, out = tmp_path / "in.mlir", tmp_path / where
    path.write_text(PLANNED)
    (tmp_path / "folder").mkdir()
    refused([str(path), "-o", str(out)], capsys, str(out))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "in.mlir"]
    assert not list((tmp_path / "folder").iterdir())


def test_a_failed_run_leaves_the_old_output(tmp_path: Path, capsys: Capture) -> None:
    path, out = tmp_path / "in.mlir", tmp_path / "out.mlir"
    path.write_text(PLANNED)
    out.write_text("old")
    refused([str(path), "--verify-plan", "-o", str(out)], capsys, str(path))
    assert out.read_text() == "old"
    path.write_text(PLANNED + "// -----\nfunc.func @broken(")
    refused([str(path), "--split-input-file", "-o", str(out)], capsys, str(path))
    assert out.read_text() == "old"


USAGE = [
    ["--no-such-flag"],
    ["--schedule"],
    ["--schedule=fastest"],
    ["--schedule="],
    ["--place=luck"],
    ["--fuse=yes"],
    ["--model=colour=red"],
    ["--prepare=everything"],
    ["--time-limit=soon"],
    ["-p", "no-such-pass"],
    ["-p", "memgraph-schedule{"],
    ["-p", "memgraph-schedule{method = }"],
    ["-p", "memgraph-schedule{speed=9}"],
    ["-p", "memgraph-schedule", "--place=auto"],
    ["-p", "memgraph-schedule", "--time-limit=3"],
    ["-t", "exe"],
    ["-t", "tflite"],
    ["--shape=x"],
    ["--shape=x=axb"],
    ["--stats=xml"],
]


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_wrong_usage(arguments: list[str], tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(PLANNED)
    code, printed = attempt([*arguments, str(path)], capsys)
    assert code == 2, printed
    assert re.search(r"^memopt-opt: error: \S", printed, re.MULTILINE), printed
    assert printed.splitlines()[-1].startswith("memopt-opt: error: ")
