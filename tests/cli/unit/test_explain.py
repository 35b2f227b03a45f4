"""`--explain-peak`: the peak's tensors, the cut, and the tensor that matters most."""

import json
from pathlib import Path

import pytest
from cells import cell

from memopt.api.peaks import memory_graph
from memopt.cli.explain import best_to_shrink, bound_of, peak_of, without
from memopt.cli.opt import main
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, topological_order
from memopt.solvers.theory.bounds import flow_bound

CHAIN = MemoryGraph(
    ("a", "b", "c"),
    ((), (0,), (0, 1)),
    (
        Group("x", 10, readers=(0,), is_input=True),
        Group("t", 8, writers=(0,), readers=(1, 2)),
        Group("u", 6, writers=(1,), readers=(2,)),
        Group("y", 9, writers=(2,), is_output=True),
    ),
)


def test_the_peak_lists_what_is_live() -> None:
    top = peak_of(CHAIN)
    assert (top.operator, top.total) == (2, 23)
    assert [CHAIN.groups[g].name for g in top.groups] == ["y", "t", "u"]


def test_the_bound_is_the_cut_of_one_operator() -> None:
    tight = bound_of(CHAIN)
    assert (tight.operator, tight.total, tight.done) == (2, 23, 0b11)


def test_sensitivity_is_the_bound_without_the_tensor() -> None:
    tight = bound_of(CHAIN)
    found = best_to_shrink(CHAIN, tight)
    assert found is not None
    every = {g: flow_bound(without(CHAIN, g), [(0, 1, 2)]).value for g in range(len(CHAIN.groups))}
    assert found.bound == min(every.values()) == every[found.group] == 15
    assert CHAIN.groups[found.group].name == "t"
    assert found.all_seen


def test_sensitivity_on_random_cells() -> None:
    for seed in range(25):
        graph = memory_graph(cell(seed))
        tight = bound_of(graph)
        order = topological_order(graph)
        assert tight.total == flow_bound(graph, [order]).value
        found = best_to_shrink(graph, tight)
        least = min(
            flow_bound(without(graph, g), [order]).value
            for g in range(len(graph.groups))
            if graph.sizes[g]
        )
        assert (tight.total if found is None else found.bound) == least


def test_without_time_it_says_so() -> None:
    found = best_to_shrink(CHAIN, bound_of(CHAIN), seconds=-1)
    assert found is None or not found.all_seen


def test_in_place_and_workspace_and_unread_inputs() -> None:
    graph = MemoryGraph(
        ("relu",),
        ((),),
        (
            Group("x", 10, readers=(0,), is_input=True),
            Group("y", 10, writers=(0,), is_output=True),
            Group("unread", 3, is_input=True),
        ),
        (5,),
        (InPlace(0, 1, 0),),
    )
    top, tight = peak_of(graph), bound_of(graph)
    assert (top.total, top.workspace, top.saved) == (18, 5, 10)
    assert tight.operator == 0
    assert without(graph, 0).inplace == ()
    without(graph, 0).check()


def test_the_flag_prints_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.json"
    path.write_text(
        json.dumps(
            {
                "name": "g",
                "tensors": [{"name": n, "bytes": b} for n, b in (("x", 32), ("t", 64), ("y", 16))],
                "nodes": [
                    {"name": "wide", "op": "Conv", "inputs": ["x"], "outputs": ["t"]},
                    {"name": "thin", "op": "Conv", "inputs": ["t"], "outputs": ["y"]},
                ],
                "graph_inputs": ["x"],
                "graph_outputs": ["y"],
            }
        )
    )
    assert main(["--schedule=auto", "--explain-peak", str(path)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("func.func") or "module" in printed.out
    lines = printed.err.splitlines()
    assert lines[0].startswith("@main: peak 96 B in step 0 of 0 .. 1")
    assert "so no order is better: proof = flow" in printed.err
    assert lines[-1].startswith('shrink "t" (64 B): without it the bound is 32 B;')


def test_rows_are_told_by_tensor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three rows of 16 B of the input, two of %y, one of 4 B: a line each, and the same total."""
    net = tmp_path / "rows.mlir"
    net.write_text("""
    !t = tensor<1x3x4x4xi8, #memgraph.encoding<nhwc>>
    func.func @rows(%x: !t {memgraph.name = "camera"})
        -> tensor<1x3x1x4xi8, #memgraph.encoding<nhwc>> {
      %y = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> {memgraph.names = ["largest"]}
          : (!t) -> !t
      %z = memgraph.average_pool_2d %y window<[1, 4]> {memgraph.names = ["average"]}
          : (!t) -> tensor<1x3x1x4xi8, #memgraph.encoding<nhwc>>
      func.return %z : tensor<1x3x1x4xi8, #memgraph.encoding<nhwc>>
    }""")
    passes = "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows,memgraph-schedule"
    assert main([str(net), "-p", passes, "--explain-peak", "-o", str(tmp_path / "out")]) == 0
    said = [line.split("  ") for line in capsys.readouterr().err.splitlines()]
    told = [(line[-2].strip(), line[-1]) for line in said[1:] if len(line) > 2 and "B" in line[-2]]
    assert told[:3] == [("48 B", "camera[0..2]"), ("16 B", "largest[0]"), ("4 B", "average[0]")]


def test_names_move_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name from a model is shown as everywhere: no control character, quotes escaped."""
    source = tmp_path / "net.mlir"
    source.write_text(
        "func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {\n"
        '  %0 = memgraph.opaque "A"(%x) {memgraph.names = ["a\\0A\\1B[31m\\"b"]}'
        " : (tensor<4xi8>) -> tensor<4xi8>\n  func.return %0 : tensor<4xi8>\n}\n"
    )
    assert main([str(source), "--explain-peak", "-o", str(tmp_path / "out.mlir")]) == 0
    said = capsys.readouterr().err
    assert all(line.isprintable() for line in said.splitlines())
    assert 'a?[31m"b' in said.replace("??", "?") and '(a??[31m\\"b)"; live there:' in said
