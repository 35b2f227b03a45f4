# pyright: basic
"""Shell blocks of the guides run as they stand, in a folder with the files that they name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from onnx import TensorProto, helper
from places import ROOT
from qdq_pairs import Pairs, convolution
from standard_mlir import need_mlir
from tools import need_tools

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
GUIDES = ROOT / "docs/guides"
CHAIN = """
func.func @net(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %e = tensor.empty() : tensor<6x8xf32>
  %a = linalg.exp ins(%x : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %f = tensor.empty() : tensor<6x8xf32>
  %b = linalg.add ins(%a, %x : tensor<6x8xf32>, tensor<6x8xf32>)
    outs(%f : tensor<6x8xf32>) -> tensor<6x8xf32>
  %g = tensor.empty() : tensor<6x8xf32>
  %c = linalg.mul ins(%a, %b : tensor<6x8xf32>, tensor<6x8xf32>)
    outs(%g : tensor<6x8xf32>) -> tensor<6x8xf32>
  return %c : tensor<6x8xf32>
}
"""


def masked(rate: float) -> bytes:
    """A network of a signal, a mask of four parts and a sampling rate, which divides."""
    shapes = {"x": [1, 4, 16], "mask": [1, 4, 1], "sr": [1], "y": [1, 4, 16]}
    x, mask, sr, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    )
    nodes = [
        helper.make_node("Mul", ["x", "mask"], ["kept"]),
        helper.make_node("Div", ["sr", "full"], ["share"]),
        helper.make_node("Mul", ["kept", "share"], ["y"]),
    ]
    full = helper.make_tensor("full", TensorProto.FLOAT, [1], [rate])
    graph = helper.make_graph(nodes, "vad", [x, mask, sr], [y], [full])
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def run_blocks(page: str, folder: Path) -> int:
    """Run a guide's blocks there, one after the other; return how many there are."""
    blocks = BLOCK.findall((GUIDES / page).read_text(encoding="utf-8"))
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    for block in blocks:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=folder,
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}"
    return len(blocks)


@pytest.mark.deep
def test_onnx(tmp_path: Path) -> None:
    """An input that was fixed is no argument of the C, and stored bytes are."""
    need_tools("cortex-m4")
    (tmp_path / "vad.onnx").write_bytes(masked(32_000))
    (tmp_path / "net.onnx").write_bytes(convolution(Pairs(2)))
    assert run_blocks("onnx.md", tmp_path) == 2
    fixed = (tmp_path / "vad/vad.h").read_text()
    assert "vad_run(uint8_t *arena, const float *input_0, float *output_0);" in fixed
    stored = (tmp_path / "net/net.h").read_text()
    assert "net_run(uint8_t *arena, const int8_t *input_0, int8_t *output_0);" in stored


@pytest.mark.deep
def test_memrefs(tmp_path: Path) -> None:
    """One allocation is left of all."""
    need_mlir()
    (tmp_path / "net.mlir").write_text(CHAIN)
    assert run_blocks("memrefs.md", tmp_path) == 1
    assert (tmp_path / "buffers.mlir").read_text().count("memref.alloc") > 1
    assert (tmp_path / "lowered.mlir").read_text().count("memref.alloc") == 1
