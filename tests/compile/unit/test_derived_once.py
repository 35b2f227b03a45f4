"""What is derived of a function is derived once and handed on: commands count it."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memopt.analysis import storage_groups
from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.compile import plan as plan_stage
from memopt.dialects.memgraph import fingerprint
from memopt.passes.plan import extract
from memopt.solvers.problems import memory_graph
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
# the file as it was; as imported, with a hyper-node; what is flat, in another order or place again
# is derived of the second
EXTRACTS = 3


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
    # one plan: rows=auto chooses among several, and advice plans others
    arguments = ["compile", str(path), f"--inplace={inplace}", "--rows=none", "-o"]

    def no_advice(*given: object) -> tuple[()]:
        return ()

    monkeypatch.setattr(plan_stage, "advice_of", no_advice)
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
    assert counted["extract"] == EXTRACTS
    assert counted["block_memory"] == EXTRACTS + 1  # the inside of the hyper-node
    assert counted["fingerprint"] == 3  # of two plans, and the verifier's
    assert counted["verify_plan"] == 1
    assert (tmp_path / "warm/net.c").read_bytes() == (tmp_path / "out/net.c").read_bytes()


def test_memopt_opt_hands_on_what_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, planned = tmp_path / "net.mlir", tmp_path / "planned.mlir"
    source.write_text(MODEL)
    passes = ["--fuse", "--schedule=auto", "--place=auto"]
    assert opt([*passes, str(source), "-o", str(planned)]) == 0  # every module is loaded by now
    counted = Counter[str]()
    watched = extract.extract, fingerprint.fingerprint, verify_plan
    for function in watched:
        watch(monkeypatch, counted, function)
    assert opt([*passes, str(source), "-o", str(tmp_path / "again.mlir")]) == 0
    # as imported, with a hyper-node; the plan is not read again to place it
    assert counted == Counter(extract=2, fingerprint=1)
    one_by_one = source
    for step in passes:
        following = tmp_path / f"{step.strip('-').replace('=', '-')}.mlir"
        assert opt([step, str(one_by_one), "-o", str(following)]) == 0
        one_by_one = following
    assert one_by_one.read_text() == planned.read_text() == (tmp_path / "again.mlir").read_text()


def test_what_was_assumed_is_not_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "net.mlir"
    source.write_text(MODEL)
    passes = "memgraph-schedule{assume-pure=true},memgraph-place"
    assert opt(["-p", passes, str(source)]) == 0
    counted = Counter[str]()
    watch(monkeypatch, counted, verify_plan)
    assert opt(["-p", passes, str(source)]) == 0
    assert counted["verify_plan"] == 1  # placing reads the plan again
    capsys.readouterr()


def test_an_order_of_hyper_nodes_is_profiled_once_flat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they are compared with what is inside; the plan's facts are those."""
    source, seen = tmp_path / "net.mlir", list[tuple[memory_graph.Group, ...]]()
    source.write_text(MODEL)
    followed = memory_graph.follow

    def follow(graph: memory_graph.MemoryGraph, order: Sequence[int]) -> memory_graph.Profile:
        seen.append(graph.groups)
        return followed(graph, order)

    passes = ["--fuse", "--schedule=source", str(source), "-o", str(tmp_path / "planned.mlir")]
    assert opt(passes) == 0  # by now it is known what the nodes are, as of any network like this
    monkeypatch.setattr(memory_graph, "follow", follow)
    assert opt(passes) == 0
    assert len(seen) == len({id(groups) for groups in seen}) == 3  # as nodes, each inside, flat
