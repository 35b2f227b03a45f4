"""tosa, a dialect of others: what memopt knows of its memory, planned, and lowered and run by
standard MLIR."""

import re
from pathlib import Path

import numpy as np
import pytest
from standard_mlir import (
    BUFFERS,
    LOWER,
    SIDES,
    SUPPORT,
    entry,
    inside,
    library,
    need_mlir,
    results,
    standard,
    tensor,
)

from memopt.cli.opt import main as opt
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import GENERIC, model_of

IMAGE, ROW = "tensor<1x6x6x4xf32>", "tensor<1x144xf32>"
# Twelve operations as MLIR 19 has them, most of which xDSL's dialect lacks.
NET = f"""
func.func @net(%x: tensor<1x8x8x2xf32>, %w: tensor<4x3x3x2xf32>, %b: tensor<4xf32>) -> {ROW} {{
  %0 = tosa.conv2d %x, %w, %b {{dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
    stride = array<i64: 1, 1>}}
    : (tensor<1x8x8x2xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> {IMAGE}
  %1 = tosa.tanh %0 : ({IMAGE}) -> {IMAGE}
  %2 = tosa.exp %1 : ({IMAGE}) -> {IMAGE}
  %3 = tosa.add %2, %0 : ({IMAGE}, {IMAGE}) -> {IMAGE}
  %4 = tosa.reshape %3 {{new_shape = array<i64: 1, 144>}} : ({IMAGE}) -> {ROW}
  %5 = tosa.slice %4 {{start = array<i64: 0, 16>, size = array<i64: 1, 72>}}
    : ({ROW}) -> tensor<1x72xf32>
  %6 = tosa.maximum %5, %5 : (tensor<1x72xf32>, tensor<1x72xf32>) -> tensor<1x72xf32>
  %7 = tosa.sigmoid %6 : (tensor<1x72xf32>) -> tensor<1x72xf32>
  %8 = tosa.abs %5 : (tensor<1x72xf32>) -> tensor<1x72xf32>
  %9 = tosa.concat %7, %8 {{axis = 1 : i32}} : (tensor<1x72xf32>, tensor<1x72xf32>) -> {ROW}
  %10 = tosa.sub %9, %4 : ({ROW}, {ROW}) -> {ROW}
  return %10 : {ROW}
}}
"""
TOSA = (
    "--pass-pipeline=builtin.module(func.func("
    "tosa-to-linalg-named,tosa-to-linalg,tosa-to-tensor,tosa-to-arith,"
    "linalg-generalize-named-ops),canonicalize)"
)


@pytest.fixture
def planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The network, through mlir-opt's generic form, in the order of least peak."""
    need_mlir()
    generic, path = tmp_path / "generic.mlir", tmp_path / "planned.mlir"
    generic.write_text(standard(NET, "--mlir-print-op-generic"))
    flags = ["--allow-unregistered-dialect", "--schedule=auto", "--place=auto", "--verify-plan"]
    command = [str(generic), "--model=inplace=on,alignment=4", *flags, "--print-op-generic"]
    assert opt([*command, "-o", str(path)]) == 0
    return path


def test_views_and_results_in_place(planned: Path) -> None:
    module = load_text(new_context(True), planned.read_text(), str(planned))
    func = only_function(module)
    operations = list(body_of(func).ops)[:-1]
    memory = [behaviour_of(op, model_of(func)) for op in operations]
    runs = [m.executes for m in memory]
    assert runs == [True] * 4 + [False] * 2 + [True] * 3 + [False, True]
    (view,), (part,), joined = (memory[k].aliases for k in (4, 5, 9))
    assert (view.kind, part.kind, part.byte_offset) == ("view", "slice", 64)
    assert [a.byte_offset for a in joined] == [0, -288]
    assert all(not m.effects for m in memory)
    assert all(m.inplace for m in memory[1:4])
    # %4, of which %5 is a part, %6, and %9, in which %7 and %8 lie; nothing else needs bytes then
    assert f"peak = {576 + 288 + 576}, lower_bound = 1440" in planned.read_text()


def test_the_plan_is_read_by_mlir_opt_and_back(planned: Path, tmp_path: Path) -> None:
    flags = ("--allow-unregistered-dialect", "--mlir-print-op-generic")
    back = tmp_path / "back.mlir"
    back.write_text(standard(planned.read_text(), *flags))
    checked = ["-p", "memgraph-verify-plan{placed=true}", "--allow-unregistered-dialect"]
    assert opt([str(back), *checked, "-o", str(tmp_path / "out.mlir")]) == 0


def test_what_is_no_piece_or_not_wanted_is_copied() -> None:
    text = """
func.func @f(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x12xf32>) {
  %0 = "tosa.slice"(%x) {start = array<i64: 0, 1>, size = array<i64: 4, 3>}
    : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %1 = "tosa.concat"(%x, %y) {axis = 1 : i32}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %2 = "tosa.add"(%x, %z) : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  %3 = "tosa.cast"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf16>
  %4 = "tosa.reshape"(%x) : (tensor<4x6xf32>) -> tensor<24xf32>
  %5 = "tosa.custom"(%x) : (tensor<4x6xf32>) -> tensor<24xf32>
  func.return %0, %1 : tensor<4x3xf32>, tensor<4x12xf32>
}
""".replace("%y: tensor<4x6xf32>)", "%y: tensor<4x6xf32>, %z: tensor<1x6xf32>)")
    func = only_function(load_text(new_context(True), text, "f.mlir"))
    found = [behaviour_of(op, GENERIC) for op in list(body_of(func).ops)[:-1]]
    assert [m.executes for m in found] == [True, True, True, True, False, True]
    assert not any(m.aliases for m in found[:4])
    assert found[5].effects and not any(m.effects for m in found[:5])


def test_lowered_to_linalg_it_runs_as_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_mlir()
    linalg, path = standard(NET, TOSA), tmp_path / "linalg.mlir"
    assert "tosa." not in linalg
    path.write_text(linalg)
    shapes = [(1, 8, 8, 2), (4, 3, 3, 2), (4,)]
    rng = np.random.default_rng(11)
    inputs = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    takes, makes = [tensor(shape) for shape in shapes], [tensor((1, 144))]
    support = library(SUPPORT, "support", tmp_path)
    whole = inside(linalg, entry("net", takes, makes, None))
    want = results(whole, (BUFFERS, *LOWER), inputs, [support])
    assert opt([str(path), "-p", "memgraph-schedule,memgraph-place,memgraph-to-memref"]) == 0
    lowered = standard(capsys.readouterr().out)
    (arena,) = {int(n) for n in re.findall(r"@net\(%\w+: memref<(\d+)xi8>", lowered)}
    for side in SIDES:
        text = inside(lowered, entry("net", takes, makes, arena, side))
        assert results(text, LOWER, inputs, [support]) == want
