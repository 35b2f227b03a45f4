"""Multiplications and weights: by hand, of single operations and of whole functions."""

import json
import re
from pathlib import Path

import pytest

from memopt.analysis.work import Work, function_work, work_of
from memopt.cli import main
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.rows.operations import RowOp
from memopt.passes.rows.expand import expand
from memopt.rewrites import apply_rules

TEXT = """
func.func @main(%x: tensor<1x8x8x4xf32, #memgraph.encoding<nhwc>>) -> tensor<1x10xf32> {
  %w = memgraph.constant dense<0.0> : tensor<6x3x3x4xf32, #memgraph.encoding<ohwi>>
  %b = memgraph.constant dense<0.0> : tensor<6xf32>
  %0 = memgraph.conv_2d %x, %w, %b window<[3, 3], stride = [2, 2], pad = [0, 0, 1, 1]> groups 1
    : (tensor<1x8x8x4xf32, #memgraph.encoding<nhwc>>, tensor<6x3x3x4xf32, #memgraph.encoding<ohwi>>,
       tensor<6xf32>) -> tensor<1x4x4x6xf32, #memgraph.encoding<nhwc>>
  %1 = memgraph.mul %0, %0 : (tensor<1x4x4x6xf32, #memgraph.encoding<nhwc>>,
    tensor<1x4x4x6xf32, #memgraph.encoding<nhwc>>) -> tensor<1x4x4x6xf32, #memgraph.encoding<nhwc>>
  %2 = memgraph.reshape %1 : (tensor<1x4x4x6xf32, #memgraph.encoding<nhwc>>) -> tensor<1x96xf32>
  %f = memgraph.constant dense<0.0> : tensor<10x96xf32>
  %3 = memgraph.fully_connected %2, %f : (tensor<1x96xf32>, tensor<10x96xf32>) -> tensor<1x10xf32>
  %4 = memgraph.fully_connected %2, %f : (tensor<1x96xf32>, tensor<10x96xf32>) -> tensor<1x10xf32>
  %5 = memgraph.opaque "MYSTERY"(%3, %4) : (tensor<1x10xf32>, tensor<1x10xf32>) -> tensor<1x10xf32>
  func.return %5 : tensor<1x10xf32>
}
"""


def test_work_by_hand() -> None:
    func = only_function(load_text(new_context(), TEXT, "work.mlir"))
    model = model_of(func)
    by_name = {op.name: work_of(op, model) for op in func.body.block.ops}
    conv = by_name["memgraph.conv_2d"]
    assert (conv.macs, conv.weights) == (4 * 4 * 6 * 3 * 3 * 4, 4 * (6 * 3 * 3 * 4 + 6))
    assert by_name["memgraph.mul"].macs == 4 * 4 * 6
    dense = by_name["memgraph.fully_connected"]
    assert (dense.macs, dense.weights) == (960, 3840)
    assert by_name["memgraph.opaque"].macs is None
    whole = function_work(func)
    assert whole.macs == 3456 + 96 + 2 * 960
    assert whole.weights == 4 * (216 + 6) + 3840  # shared weights are in flash once
    assert whole.unknown == ("MYSTERY",)


def test_a_graph_that_nobody_knows_has_no_macs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = {
        "name": "g",
        "tensors": [{"name": n, "bytes": 16, "is_weight": n == "w"} for n in ("x", "w", "y")],
        "nodes": [{"name": "n", "op": "Conv", "inputs": ["x", "w"], "outputs": ["y"]}],
        "graph_inputs": ["x"],
        "graph_outputs": ["y"],
    }
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph))
    assert main(["report", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["macs"], report["macs_unknown"], report["weights"]) == (None, ["Conv"], None)
    assert main(["report", str(path)]) == 0
    assert "work      unknown MACs (not counted: Conv), weights unknown" in capsys.readouterr().out


def test_the_table_has_the_work_of_every_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = tmp_path / "work.mlir", tmp_path / "work.html"
    path.write_text(TEXT)
    assert main(["report", str(path), "--html", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    header = next(line for line in lines if line.startswith("Operator"))
    assert header.split("  ")[-1].strip() == "Result"
    assert "MACs" in header and "Weights (B)" in header
    assert re.search(r" 3,456 +888  ", next(line for line in lines if "(conv_2d)" in line))
    assert re.search(r" \? +0  ", next(line for line in lines if "(MYSTERY)" in line))
    assert '<td class="n">3,456</td><td class="n">888</td>' in page.read_text()


def test_rows_are_the_work_of_their_operator() -> None:
    text = TEXT.replace('memgraph.opaque "MYSTERY"(%3, %4)', "memgraph.add %3, %4")
    func = only_function(load_text(new_context(), text, "work.mlir"))
    whole = function_work(func)
    expand(func, None)
    assert any(isinstance(op, RowOp) for op in func.body.block.ops)
    assert function_work(func) == whole


RESIDUAL = """
!x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x3x2xf32, #memgraph.encoding<ohwi>>
func.func @main(%x: !x) -> !x {
  %w = memgraph.constant dense<1.0> : !w
  %1 = memgraph.conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 : (!x, !w) -> !x
  %2 = memgraph.add %x, %1 : (!x, !x) -> !x
  func.return %2 : !x
}
"""


def test_who_makes_what_it_reads_has_that_work() -> None:
    func = only_function(load_text(new_context(), RESIDUAL, "residual.mlir"))
    whole, last = function_work(func), next(op for op in func.walk() if op.name == "memgraph.add")
    assert work_of(last, model_of(func)) == Work(0, 0)
    assert apply_rules(func, ("residual-epilogue",))
    assert function_work(func) == work_of(last, model_of(func)) == whole == Work(576, 144)
