"""What is derived of a function is derived once and handed on: `memopt compile` is counted."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memopt.analysis import storage_groups
from memopt.cli import main
from memopt.dialects import fingerprint
from memopt.passes import extract
from memopt.verify.plan import verify_plan

# two branches and a chain: modules are contracted, the order changes, and there is a view
MODEL = """
func.func @main(%x: tensor<1x64xf32>) -> tensor<4x16xf32> {
  %a = memgraph.relu %x : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %b = memgraph.tanh %a : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %c = memgraph.relu %x : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %d = memgraph.add %b, %c : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %r = memgraph.reshape %d : (tensor<1x64xf32>) -> tensor<4x16xf32>
  %e = memgraph.relu %r : (tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %e : tensor<4x16xf32>
}
"""
# the file as it was; as imported, with a hyper-node, flat in its order
CHANGES = 4


def watch(
    monkeypatch: pytest.MonkeyPatch, counted: Counter[str], function: Callable[..., Any]
) -> None:
    """Count the calls of a function wherever it was imported."""

    def called(*args: Any, **options: Any) -> Any:
        counted[function.__name__] += 1
        return function(*args, **options)

    for module in [m for n, m in sys.modules.items() if n.startswith("memopt.")]:
        for name, value in list(vars(module).items()):
            if value is function:
                monkeypatch.setattr(module, name, called)


@pytest.mark.parametrize("inplace", ["off", "on"])
def test_compile_derives_everything_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inplace: str
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(MODEL)
    arguments = ["compile", str(path), f"--inplace={inplace}", "--target=host", "-o"]
    assert main([*arguments, str(tmp_path / "warm")]) == 0  # every module is loaded by now
    counted = Counter[str]()
    watched = (
        storage_groups.block_memory,
        extract.extract,
        fingerprint.fingerprint,
        verify_plan,
    )
    for function in watched:
        watch(monkeypatch, counted, function)
    assert main([*arguments, str(tmp_path / "out")]) == 0
    changes = CHANGES + (inplace == "on")  # an alias that is chosen is a change of its own
    assert counted["extract"] <= changes
    assert counted["block_memory"] <= changes + 2  # the inside of the hyper-node, the verifier
    assert counted["fingerprint"] == 3  # of two plans, and the verifier's
    assert counted["verify_plan"] == 1
    assert (tmp_path / "warm/net.c").read_bytes() == (tmp_path / "out/net.c").read_bytes()
