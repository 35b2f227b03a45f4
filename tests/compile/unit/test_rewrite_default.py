"""`memopt compile` for C applies what never costs anything, and says so; for TFLM nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from memopt.cli import main

NETWORK = """
!x = tensor<1x6x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!w = tensor<4x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!b = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
!h = tensor<1x6x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
!v = tensor<2x1x1x4xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!c = tensor<2xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
!y = tensor<1x6x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
func.func @main(%x: !x) -> !y {
  %w = memgraph.constant dense<[[[[1, 2]]], [[[0, 0]]], [[[3, 4]]], [[[5, 6]]]]> : !w
  %b = memgraph.constant dense<[10, 200, 30, 40]> : !b
  %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double>
         : (!x, !w, !b) -> !h
  %v = memgraph.constant dense<[[[[7, 2, 3, 1]]], [[[8, -1, 5, -3]]]]> : !v
  %c = memgraph.constant dense<[5, 6]> : !c
  %2 = memgraph.conv_2d %1, %v, %c window<[1, 1]> groups 1 rounding<tflm_double>
         : (!h, !v, !c) -> !y
  func.return %2 : !y
}
"""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK)
    return path


def compiled(path: Path, *arguments: str) -> tuple[Path, dict[str, Any]]:
    out = path.parent / "-".join(("out", path.parent.name, *(a.strip("-") for a in arguments)))
    assert main(["compile", str(path), *arguments, "-o", str(out)]) == 0
    return out, json.loads((out / "report.json").read_text())


def test_c_leaves_out_what_nobody_misses(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = compiled(net)
    (did,) = report["rewrites"]
    assert did == {
        "rule": "constant-channels",
        "sites": 2,
        "left": 0,
        "weights_before": 40,
        "weights_after": 32,
        "macs_before": 384,
        "macs_after": 288,
        "peak_before": None,  # applied without counting it
        "peak_after": None,
        "peaks_proven": False,
    }
    assert report["weights"] == 32 and report["macs"] == 288
    line = "rewrite   constant-channels changed 2 operators, weights 40 -> 32 B, MACs 384 -> 288"
    assert line in capsys.readouterr().out
    assert main(["verify", str(out / "plan.mlir")]) == 0
    assert main(["report", str(net), "--target=host", "--json"]) == 0
    said = capsys.readouterr().out
    assert json.loads(said[said.index("{") :])["rewrites"] == report["rewrites"]


def test_none_is_none_and_rows_are_taken_as_they_are(net: Path) -> None:
    """A plan in rows was rewritten before, or nobody wanted it."""
    out, report = compiled(net, "--rewrite=none", "--rows=all")
    assert report["rewrites"] == [] and report["macs"] == 384
    assert compiled(out / "plan.mlir")[1]["rewrites"] == []


def test_search_takes_part_where_it_is_asked_for(net: Path) -> None:
    text = NETWORK.replace(
        "%1 = memgraph", "%s = memgraph.split %x axis 0 : (!x) -> !x\n  %1 = memgraph"
    )
    net.write_text(text.replace("conv_2d %x", "conv_2d %s"))
    _, report = compiled(net, "--rewrite=all", "--rows=none")
    by_rule = {did["rule"]: did for did in report["rewrites"]}
    found = by_rule["slice-as-view"]
    assert (found["sites"], found["left"], found["peaks_proven"]) == (1, 0, True)
    assert found["peak_before"] >= found["peak_after"] == report["plan"]["peak"]


def test_a_reduction_over_axes_that_lie_apart_copies_nothing(tmp_path: Path) -> None:
    """Its kernel would copy its operand into scratch, 12,800 B in all."""
    path = tmp_path / "apart.mlir"
    path.write_text("""
func.func @main(%x: tensor<2x10x8x10xf32>) -> tensor<2x8xf32> {
  %1 = memgraph.reduce_max %x axes [1, 3] : (tensor<2x10x8x10xf32>) -> tensor<2x8xf32>
  func.return %1 : tensor<2x8xf32>
}
""")
    _, report = compiled(path, "--target=host")
    assert [did["rule"] for did in report["rewrites"]] == ["reduction-in-turn"]
    assert report["plan"]["arena"] == 6400 + 640
    assert compiled(path, "--target=host", "--rewrite=safe")[1]["plan"]["arena"] == 12_864


# One row, in two of which nothing lies better than in one
COLUMNS = """
!x = tensor<1x1x64x8xf32, #memgraph.encoding<nhwc>>
!w = tensor<1x1x3x8xf32, #memgraph.encoding<ihwo>>
func.func @main(%x: tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32> {
  %w = memgraph.constant dense<1.0> : !w
  %c = memgraph.constant dense<1.0> : tensor<1x1x64x8xf32>
  %1 = memgraph.add %x, %c : (tensor<1x1x1x8xf32>, tensor<1x1x64x8xf32>) -> !x
  %2 = memgraph.depthwise_conv_2d %1, %w window<[1, 3], pad = [0, 1, 0, 1]> groups 8
         : (!x, !w) -> !x
  %3 = memgraph.mean %2 axes [1, 2] keep_dims : (!x) -> tensor<1x1x1x8xf32>
  func.return %3 : tensor<1x1x1x8xf32>
}
"""


def test_cycles_are_spent_on_bytes_that_are_asked_for(tmp_path: Path) -> None:
    """By name, by --optimize=ram, into memories, or where the bytes are missed without."""
    path = tmp_path / "columns.mlir"
    path.write_text(COLUMNS)

    def is_in_place(*arguments: str) -> bool:
        out, report = compiled(path, "--target=cortex-m4", "--measure=off", *arguments)
        text = (out / "plan.mlir").read_text()
        assert (report["plan"]["arena"] < 4096) == (" in_place" in text)
        return " in_place" in text

    assert not is_in_place("--rewrite=all")
    assert not is_in_place("--rewrite=all", "--rows=none", "--optimize=speed")
    assert is_in_place("--rewrite=all", "--optimize=ram")
    assert is_in_place("--rewrite=depthwise-in-place", "--rows=none")
    assert is_in_place("--rewrite=all", "--memory=sram:64K")
    assert not is_in_place("--rewrite=all", "--fit=5K")
    assert is_in_place("--rewrite=all", "--fit=3K")
    assert not is_in_place("--rewrite=all", "--rows=none", "--ram=6000")
    assert is_in_place("--rewrite=all", "--rows=none", "--ram=5000")


def test_whole_operators_receive_no_rows(tmp_path: Path, capsys: Any) -> None:
    """The depthwise window in place needs less whole than in rows; what reads the input is cut."""
    path = tmp_path / "received.mlir"
    path.write_text(
        """
!x = tensor<1x32x16x8xf32, #memgraph.encoding<nhwc>>
!w = tensor<1x3x1x8xf32, #memgraph.encoding<ihwo>>
func.func @main(%1: !x) -> !x {
  %w = memgraph.constant dense<1.0> : !w
  %2 = memgraph.relu %1 : (!x) -> !x
  %3 = memgraph.depthwise_conv_2d %2, %w window<[3, 1], pad = [1, 0, 1, 0]> groups 8
         : (!x, !w) -> !x
  func.return %3 : !x
}
"""
    )
    command = ["--target=cortex-m4", "--measure=off", "--rewrite=all", "--stream-input"]
    out, report = compiled(path, *command)
    assert report["plan"]["arena"] == 17_408
    assert "memgraph.receive" in (out / "plan.mlir").read_text()
    few = {
        "--ram=18300": "388 B are missing; it is arena 17,408 B,",
        "--fit=17000": "17,000 B are 408 B too few: all operators in rows",
    }
    for option, said in few.items():
        assert main(["compile", str(path), *command, option, "-o", str(tmp_path / "o")]) == 1
        assert said in capsys.readouterr().err
    assert main(["compile", str(path), *command[:-1], "--fit=9K", "-o", str(tmp_path / "o")]) == 1
    assert "whole operators need 16,576 B, and rows of them" in capsys.readouterr().err


def test_a_refusal_names_rules_that_cost_cycles(tmp_path: Path, capsys: Any) -> None:
    """They are applied where RAM is missed without; elsewhere by --optimize=ram, so that is named
    with them."""
    path = tmp_path / "columns.mlir"
    path.write_text(COLUMNS)
    command = ["compile", str(path), "--target=cortex-m4", "--measure=off"]
    few = [*command, "-o", str(tmp_path / "few"), "--ram=3900"]
    assert main(few) == 1
    assert "; what would fit: --rewrite=all: " in capsys.readouterr().err
    assert main([*few, "--rewrite=all"]) == 0
    (named,) = compiled(path, *command[2:])[1]["advice"]
    assert named["option"] == "--rewrite=all --optimize=ram"
    with_it = compiled(path, *command[2:], *named["option"].split())[1]["plan"]
    assert with_it["arena"] == named["arena"] < 4096
