"""Training steps that PyTorch gave: what orders and places make of those that are kept."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import main as bench
from benchmarks.tables.captured import captured, measure
from benchmarks.tables.captures import NAMES, capture_graph, capture_text

import memopt
from memopt.cli import main

PEAKS = {  # bytes in program order, and of the best order
    "resnet18_b1_sgd": (64_103_936, 31_147_584),
    "resnet18_b1_adam": (64_103_936, 31_147_584),
    "resnet18_b32_sgd": (716_432_896, 703_104_576),
    "resnet18_b32_adam": (716_432_896, 703_104_576),
    "mobilenetv2_b1_sgd": (85_492_096, 79_182_976),
    "mobilenetv2_b1_adam": (85_492_096, 79_182_976),
    "transformer4_b8_sgd": (55_353_408, 55_353_408),
    "transformer4_b8_adam": (55_353_408, 55_353_408),
    "transformer24_b8_sgd": (518_103_104, 518_103_104),
    "transformer24_b8_adam": (518_103_104, 518_103_104),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_best_order_is_proven_and_placed_without_a_gap(name: str) -> None:
    found = measure(captured(name), None)
    assert (found.source, found.peak) == PEAKS[name]
    assert found.optimal and found.arena == found.peak


def test_persistent_bytes_are_those_of_the_network() -> None:
    """11,689,512 weights, the statistics of 20 normalizations, of 4,800 channels, and the batch;
    Adam keeps two moments of each weight."""
    weights, statistics = 4 * 11_689_512, 20 * 8 + 2 * 4 * 4_800
    batch = 4 * 3 * 224 * 224 + 8
    assert captured("resnet18_b1_sgd").persistent == weights + statistics + batch
    assert captured("resnet18_b1_adam").persistent == 3 * weights + statistics + batch


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert bench(["training", "--quick", "--json", str(out)]) == 0
    (row,), beside = (t["rows"] for t in json.loads(out.read_text())["tables"])
    assert (row["peak B"], row["saved %"], row["of all bytes %"]) == (31_147_584, 51.4, 29.6)
    assert row["optimal"] and {r["what"] for r in beside} >= {"order, median CPU s"}
    assert bench(["training", "--graphs", "vgg"]) == 2
    assert "no capture is called 'vgg'" in capsys.readouterr().err


@pytest.mark.deep
def test_reports_keep_what_stays_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And say what order alone saves, which of a transformer is nothing."""
    for name, persistent, text in (
        ("resnet18_b1_sgd", 47_398_728, "order     alone saves 51.4 % of the peak: no order"),
        ("transformer4_b8_sgd", 4_217_760, "order     alone saves nothing: no order needs less"),
    ):
        path = tmp_path / f"{name}.json"
        path.write_text(capture_text(name))
        assert main(["report", str(path)]) == 0
        said = capsys.readouterr().out
        assert f"persistent {persistent:,} B" in said and text in said
        assert main(["report", str(path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["persistent"] == persistent


def test_without_pytorch_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["capture", "net.py", "-o", str(tmp_path / "net.json")]) == 1
    assert "capturing needs PyTorch: pip install torch" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


STEP = """
import torch
from memopt.torch import Step, training

net = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(inplace=True), torch.nn.Dropout(),
                          torch.nn.Dropout())
x = torch.zeros(2, 8)

def example():
    return net, (x,)

def step():
    return training(net, (x,), torch.zeros(2, 4), torch.nn.functional.mse_loss, "adam")

def views(state, x):
    row = state["table"][1]          # a view of what stays
    row.add_(x[0])
    y = torch.empty(4, 8)
    y[2:].copy_(x)                   # a part of a tensor
    return (y * row).sum()

mine = Step(views, {"table": torch.zeros(3, 8)}, (x,))
empty = Step(lambda state: state["w"].add_(1), {"w": x}, ())
data = Step(lambda state: state["w"].nonzero() + 1, {"w": x}, ())
number = 7

def broken():
    return net(torch.zeros(2, 9))
"""


def test_modules_steps_and_what_is_neither(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install torch")
    script, out = tmp_path / "net.py", tmp_path / "net.json"
    script.write_text(STEP)

    def capture(name: str = "") -> dict[str, Any]:
        assert main(["capture", f"{script}{name}", "-o", str(out)]) == 0
        return json.loads(out.read_text())

    module = capture()
    assert module["graph_inputs"] == ["x"] or len(module["graph_inputs"]) == 1
    stay = {t["name"]: t["bytes"] for t in module["tensors"] if t.get("persistent")}
    assert stay == {"0.weight": 128, "0.bias": 16}
    step = capture(":step")
    drawn = [n for n in step["nodes"] if "bernoulli" in n["op"] or "dropout" in n["op"]]
    assert len(drawn) == 2 and drawn[1]["after"] == [drawn[0]["name"]]
    assert sum(t["bytes"] for t in step["tensors"] if t.get("persistent")) == 3 * 144 + 64 + 32
    mutated = {name for n in step["nodes"] for name in n.get("mutates", [])}
    assert {"state.weights.0.weight", "state.first.0.bias"} <= mutated
    mine = capture(":mine")
    by_op = {n["op"]: n for n in mine["nodes"]}
    assert by_op["aten.add_.Tensor"]["mutates"] == ["state.table"]
    made = by_op["aten.copy_.default"]["mutates"]
    assert {t["name"]: t["bytes"] for t in mine["tensors"]}[made[0]] == 128
    for graph in (module, step, mine):
        plan = memopt.plan(graph)
        assert plan.optimal and plan.arena >= plan.peak
    for name, text in {
        ":empty": "returns nothing that it makes",
        ":data": "a size that depends on data",
        ":number": "neither a memopt.torch.Step nor a module",
        ":gone": "has no 'gone'",
        ":broken": "RuntimeError",
    }.items():
        out.unlink(missing_ok=True)
        assert main(["capture", f"{script}{name}", "-o", str(out)]) == 1
        shown = capsys.readouterr().err
        assert text in shown and "Traceback" not in shown and not out.exists()


def test_plans_of_a_module() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install torch")
    from memopt.torch import plan

    net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
    found = plan(net, (torch.zeros(4, 8),))
    assert found.optimal and found.peak >= 2 * 4 * 64 * 4 and found.arena == found.peak


@pytest.mark.parametrize("name", NAMES)
def test_pytorch_gives_what_is_kept(name: str) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install torch")
    from torch_networks import captured as captured_now

    assert captured_now(name) == capture_graph(name)
