# pyright: basic
"""Recurrent layers of ONNX as C, whole and in rows, close to onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_programs import compare, saved
from recurrent_networks import KINDS, layers
from xdsl.context import Context

from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.rows.operations import RowOp
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.rows.expand import NoRowsError
from memopt.rewrites import apply_rules

pytest.importorskip("onnxruntime")
FULL = 400
FIRST = 6
BOUND = 4e-6


@pytest.mark.deep
@pytest.mark.parametrize("stored", [False, True])
def test_layers_are_close_to_onnxruntime(
    stored: bool, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    lab.need_tools("host")
    for seed in range(max(FIRST, int(FULL * fuzz))):
        path, given = layers(tmp_path / f"{seed}.onnx", seed, stored=stored)
        compare(lab, path, given, BOUND, BOUND, ["--rewrite=all"])


def run(lab: Any, path: Path, work: Path, target: str, given: dict[str, Any], rows: bool) -> bytes:
    """Return what the C prints; in rows, if any operator is a layer that has them."""
    module = load_model(path, {})
    apply_rules(module, ("stored-weights",))
    lab.ordered(module, target=target, alignment=4, inplace="on")
    if rows:
        MemgraphExpandRowsPass(("all",)).apply(Context(), module)
        ops = [op for op in only_function(module).body.block.ops if isinstance(op, RowOp)]
        if not any("_layer" in op.operation.name for op in ops):
            raise NoRowsError("no layer", "")
    lab.plan(module, "rpo", "best-fit")
    flags = (lab.SANITIZE,) if target == "host" else ()
    inputs = [v[None] for v in given.values()]
    done = lab.run_project(lab.write(module, work, "net", target), inputs, *flags, trace=False)
    assert done.code == 0, done.messages
    return done.output


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target, stored", [("host", False), ("cortex-m4", False), ("host", True)])
def test_rows_have_the_bits_of_the_whole(
    kind: str, target: str, stored: bool, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    lab.need_tools(target)
    wanted, seed = max(2, int(40 * fuzz)), 0
    while wanted:
        seed += 1
        path, given = layers(tmp_path / f"{seed}.onnx", seed, kind, "forward", stored)
        try:
            got = run(lab, path, tmp_path / f"r{seed}", target, given, rows=True)
        except NoRowsError:
            continue
        wanted -= 1
        assert got == run(lab, path, tmp_path / f"w{seed}", target, given, rows=False), seed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stored", [False, True])
def test_a_board_computes_what_the_host_does(
    stored: bool, kind: str, tmp_path: Path, lab: Any
) -> None:
    on_the_board(lab, tmp_path, layers(tmp_path / "m.onnx", 3, kind, "bidirectional", stored))


@pytest.mark.parametrize("width, linear", [((7, 12), 0), ((4, 15), 1)])
def test_blocks_of_units_of_a_gru(
    width: tuple[int, int], linear: int, tmp_path: Path, lab: Any
) -> None:
    """A block of units and a rest of 4 or 7, and such sums; reset before the product and after."""
    network = layers(tmp_path / "m.onnx", 4, "GRU", "reverse", width=width, linear=linear)
    on_the_board(lab, tmp_path, network)


@pytest.mark.deep
@pytest.mark.parametrize(
    "kind, width, linear",
    [
        *(("GRU", width, linear) for width in ((11, 21), (10, 16)) for linear in (0, 1)),
        *(("GRU", width, linear) for width, linear in (((7, 12), 1), ((4, 15), 0))),
        ("LSTM", (14, 9), None),
    ],
)
def test_blocks_of_units_with_every_rest(
    kind: str, width: tuple[int, int], linear: int | None, tmp_path: Path, lab: Any
) -> None:
    network = layers(tmp_path / "m.onnx", 4, kind, "reverse", width=width, linear=linear)
    on_the_board(lab, tmp_path, network)


def on_the_board(lab: Any, work: Path, network: tuple[Path, dict[str, Any]]) -> None:
    """Check that the board's numbers are the host's."""
    lab.need_tools("cortex-m4")
    host, board = (
        np.frombuffer(run(lab, network[0], work / t, t, network[1], rows=False), np.float32)
        for t in ("host", "cortex-m4")
    )
    assert abs(host - board).max() <= BOUND


def test_tanh_is_within_its_bound(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    x = np.concatenate([np.linspace(-12, 12, 3000), [88, -88, 1e30, -1e30, np.inf, np.nan]])
    x = x.astype("f4")
    given = {"x": x[:, None, None]}
    constants = {"w": np.ones((1, 1, 1), "f4"), "r": np.zeros((1, 1, 1), "f4")}
    node = helper.make_node("RNN", ["x", *constants], ["y"], hidden_size=1)
    path = saved(tmp_path / "m.onnx", [node], given, constants)
    result = np.frombuffer(run(lab, path, tmp_path / "c", "host", given, rows=False), "f4")
    np.testing.assert_allclose(result, np.tanh(x.astype("f8")), rtol=0, atol=4e-7)
