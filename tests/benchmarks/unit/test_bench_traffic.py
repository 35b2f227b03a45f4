"""The table of traffic, of a small graph in SwiftNet's place."""

import json
from pathlib import Path

import pytest
from benchmarks.tables import traffic
from benchmarks.tables.graphs import Case

KIB = 1024
SIZES = {"x": 48, "a": 48, "b": 48, "c": 16, "d": 16, "y": 8}
NODES = (("A", "x", "a"), ("B", "x", "b"), ("C", "a", "c"), ("D", "b", "d"), ("E", "cd", "y"))


def test_less_on_the_chip_moves_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = {
        "name": "branches",
        "tensors": [
            {"name": n, "bytes": size * KIB, "is_weight": False} for n, size in SIZES.items()
        ],
        "nodes": [
            {"name": name, "op": name, "inputs": list(inputs), "outputs": [output]}
            for name, inputs, output in NODES
        ],
        "graph_inputs": ["x"],
        "graph_outputs": ["y"],
    }
    path = tmp_path / "branches.json"
    path.write_text(json.dumps(graph))
    monkeypatch.setattr(traffic, "swiftnet", lambda: Case("branches", "", path))
    said: list[str] = []
    rows = traffic.off_chip(said.append, 60.0).rows
    assert [row[0] for row in rows] == list(traffic.ON_CHIP) and len(said) == len(rows)
    for column in (1, 2, 5, 6):
        moved = [row[column] for row in rows]
        assert moved == sorted(moved, reverse=True)  # of a smaller memory no less
        assert moved[0] > moved[-1] == 0  # nothing, where the peak fits
    assert all(row[1] >= row[5] and row[2] >= row[6] for row in rows)
    assert {row[7] for row in rows} == {"ilp"}
    assert all(row[10] <= row[9] <= min(row[5:7]) for row in rows)


def test_without_the_model_the_table_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "swiftnet", lambda: None)
    table = traffic.off_chip(lambda _: None, None)
    assert not table.rows and any("set MEMOPT_SHARED" in note for note in table.notes)


def test_accesses_are_those_of_the_plan(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick table: of a model without strided windows of one pixel every byte is touched."""
    with monkeypatch.context() as patch:
        patch.setattr(traffic, "plugin_fault", lambda: "cc not found")
        table = traffic.accesses(lambda _: None, True)
        assert not table.rows and any("cc not found" in note for note in table.notes)
    if fault := traffic.plugin_fault():
        pytest.skip(fault)
    rows = traffic.accesses(lambda _: None, True).rows
    assert len(rows) == 2 and all(row[4] == row[5] <= row[6] + row[7] for row in rows)
    assert any(row[5] for row in rows)
