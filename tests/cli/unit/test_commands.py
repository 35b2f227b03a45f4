"""`memopt compile`, `report` and `verify` on the demo network, small variant."""

import json
import re
import struct
from pathlib import Path

import pytest

from memopt.cli import main

FIGURE1 = {
    "name": "figure1",
    "tensors": [
        {"name": f"t{i}", "bytes": size, "is_weight": False}
        for i, size in enumerate((1568, 3136, 1568, 512, 512, 256, 256, 512))
    ],
    "nodes": [
        {"name": "1", "op": "Conv", "inputs": ["t0"], "outputs": ["t1"]},
        {"name": "2", "op": "Conv", "inputs": ["t1"], "outputs": ["t2"]},
        {"name": "3", "op": "Conv", "inputs": ["t2"], "outputs": ["t3"]},
        {"name": "4", "op": "Conv", "inputs": ["t1"], "outputs": ["t4"]},
        {"name": "5", "op": "Conv", "inputs": ["t3"], "outputs": ["t5"]},
        {"name": "6", "op": "Conv", "inputs": ["t4"], "outputs": ["t6"]},
        {"name": "7", "op": "Concat", "inputs": ["t5", "t6"], "outputs": ["t7"]},
    ],
    "graph_inputs": ["t0"],
    "graph_outputs": ["t7"],
}


@pytest.fixture
def figure1(tmp_path: Path) -> Path:
    path = tmp_path / "figure1.json"
    path.write_text(json.dumps(FIGURE1))
    return path


@pytest.fixture
def shrunk(tmp_path: Path) -> Path:
    from demo_model import demo_model

    path = tmp_path / "small.tflite"
    path.write_bytes(demo_model(size="small"))
    return path


def test_report_json_has_the_keys_of_the_contract(
    figure1: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(figure1), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == [
        *("model", "operators", "tensors", "macs", "macs_unknown", "weights", "in_float32"),
        *("open_batch", "persistent"),
        *("source", "plan", "memories", "rewrites", "target", "advice"),
    ]
    assert report["operators"] == 7
    assert report["tensors"] == 8
    assert report["source"]["peak"] == 5216  # every size is a multiple of 16
    assert report["plan"]["peak"] == report["plan"]["arena"] == 4960
    assert report["plan"]["optimal"] is True
    assert report["plan"]["arena_optimal"] is True
    assert report["plan"]["alignment"] == 16


@pytest.mark.deep
def test_seconds_go_to_stderr_and_what_is_written_has_none(
    shrunk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that generated files that are committed change only if the plan does."""
    for name in ("a", "b"):
        assert main(["compile", str(shrunk), "-o", str(tmp_path / name), "--stats=json"]) == 0
        (line,) = capsys.readouterr().err.splitlines()
        assert list(json.loads(line)["seconds"]) == [
            *("import", "rewrite", "fuse", "schedule", "place", "emit")
        ]
    first, second = ((tmp_path / name).rglob("*") for name in ("a", "b"))
    for one, other in zip(sorted(first), sorted(second), strict=True):
        assert one.is_dir() or one.read_bytes() == other.read_bytes(), one
    assert main(["report", str(shrunk), "--json"]) == 0
    assert "seconds" not in capsys.readouterr().out


def test_report_text_and_page(
    figure1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    assert main(["report", str(figure1), "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert "5,216 B (5.1 KiB) -> 4,960 B (4.8 KiB), optimal" in out
    assert "4,960" in page.read_text()


def test_ram_that_does_not_fit_is_refused_with_the_shortfall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal, model = tmp_path / "out", tmp_path / "net.mlir"
    model.write_text(
        "!t = tensor<1x8x8x8xf32>\n"
        "func.func @main(%x: !t) -> !t {\n"
        '  %a = memgraph.tanh %x {memgraph.names = ["wide"]} : (!t) -> !t\n'
        "  func.return %a : !t\n}\n"
    )
    assert main(["compile", str(model), "--ram=1K", "-o", str(goal)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "1,024 B are missing" in error
    assert "wide 2,048 B" in error
    assert not goal.exists()


def test_shared_objects_that_do_not_fit_are_refused_with_the_shortfall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows would fit, but shared objects take none."""
    model = tmp_path / "pool.mlir"
    model.write_text(
        "func.func @main(%x: tensor<1x64x16x1xf32>) -> tensor<1x32x8x1xf32> {\n"
        "  %y = memgraph.max_pool_2d %x window<[2, 2], stride = [2, 2]> : "
        "(tensor<1x64x16x1xf32>) -> tensor<1x32x8x1xf32>\n"
        "  func.return %y : tensor<1x32x8x1xf32>\n}\n"
    )
    goal = tmp_path / "out"
    command = ["compile", str(model), "--ram=5000", "-o", str(goal)]
    assert main([*command, "--place=shared-objects"]) == 1
    assert "120 B are missing" in capsys.readouterr().err


def test_what_c_does_not_support_leaves_nothing(
    figure1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = tmp_path / "out"
    assert main(["compile", str(figure1), "-o", str(goal)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "Conv" in error
    assert sorted(p.name for p in tmp_path.iterdir()) == ["figure1.json"]


def test_verify_reads_back_what_opt_wrote(
    figure1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from memopt.cli.opt import main as opt

    plan = tmp_path / "plan.mlir"
    assert opt(["--schedule=auto", "--place=auto", str(figure1), "-o", str(plan)]) == 0
    assert main(["verify", str(plan)]) == 0
    assert "optimality: not checked" in capsys.readouterr().out
    text = plan.read_text()
    plan.write_text(text.replace("arena = 4960", "arena = 4976"))
    assert main(["verify", str(plan)]) == 1
    assert "4960" in capsys.readouterr().err


def test_a_planned_tflite_is_verified_and_a_broken_plan_is_not(
    shrunk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = tmp_path / "out"
    assert main(["compile", str(shrunk), "--target=tflm", "-o", str(goal)]) == 0
    written = goal / "small.tflite"
    assert main(["verify", str(written)]) == 0
    capsys.readouterr()
    data = written.read_bytes()
    report = json.loads((goal / "report.json").read_text())
    assert report["plan"]["arena"] <= report["source"]["arena"]
    head = struct.pack("<2i", 1, 1)
    at = [i for i in range(len(data)) if data.startswith(head, i)]
    broken = bytearray(data)
    for start in at:
        count = struct.unpack_from("<i", data, start + 8)[0]
        if not 5 < count < 1000 or start + 12 + 4 * count > len(data):
            continue
        offsets = struct.unpack_from(f"<{count}i", data, start + 12)
        if all(v == -1 or (v >= 0 and v % 16 == 0) for v in offsets):
            broken[start + 12 : start + 12 + 4 * count] = bytes(4 * count)  # all at offset 0
    assert bytes(broken) != data
    written.write_bytes(bytes(broken))
    assert main(["verify", str(written)]) == 1
    assert "overwrites" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["compile", "x.json"], "-o"),
        (["report", "x.json", "--schedule=nonsense"], "No such file"),
        (["frobnicate"], "invalid choice"),
        (["compile", "x.json", "--target=tflm", "--shared-kernels", "-o", "y"], "of C targets"),
    ],
)
def test_wrong_usage(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    assert code in (1, 2)
    said = capsys.readouterr().err
    assert text in said
    assert said.count("\n") == 1  # no page of usage that hides the error


def test_shared_objects_are_named_with_their_bytes(
    figure1: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["report", str(figure1), "--place=shared-objects"]
    assert main([*arguments, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert sum(plan["objects"]) == plan["arena"] >= plan["objects_lower_bound"] >= plan["peak"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert f"objects   {len(plan['objects'])}: {plan['objects'][0]:,}" in out
    assert main(["report", str(figure1), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert plan["objects"] is None
    assert plan["objects_lower_bound"] is None


def test_an_arena_above_its_bound_says_so(
    figure1: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(figure1), "--schedule=source", "--place=tflm"]) == 0
    out = capsys.readouterr().out
    assert (
        "-> 5,216 B (5.1 KiB), bound 4,704 B (4.6 KiB) over all orders, proof" in out
    )  # the order of the file
    assert re.search(
        r"^arena .* -> 5,\d+ B \(5.. KiB\), bound 4,704 B \(4.6 KiB\) over all orders$",
        out,
        re.MULTILINE,
    )


def test_unknown_method_and_size_are_usage_errors(
    figure1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(figure1), "--schedule=nonsense"]) == 2
    assert "auto" in capsys.readouterr().err
    assert main(["compile", str(figure1), "--ram=lots", "-o", str(tmp_path / "o")]) == 2
    assert "64K" in capsys.readouterr().err


@pytest.mark.parametrize("io", ["arena", "kept", "caller"])
@pytest.mark.parametrize("inplace", ["on", "off"])
def test_fusion_changes_no_peak_wherever_inputs_and_outputs_live(
    shrunk: Path, io: str, inplace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    peaks: list[int] = []
    for more in ([], ["--no-fuse"]):
        arguments = ["report", str(shrunk), "--json", "--target=host", "--rows=none", f"--io={io}"]
        assert main([*arguments, f"--inplace={inplace}", *more]) == 0
        plan = json.loads(capsys.readouterr().out)["plan"]
        assert plan["optimal"] is True
        peaks.append(plan["peak"])
    assert peaks[0] == peaks[1]


def test_a_folder_that_cannot_be_made_is_named(
    shrunk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = shrunk / "below_a_file" / "out"
    assert main(["compile", str(shrunk), "--rows=none", "-o", str(goal)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "below_a_file" in error
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.tflite"]
