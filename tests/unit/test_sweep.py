"""`memopt.peak` and `memopt sweep`, and the canonical form that saves equal graphs."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from cells import cell, measure, write_cells

import memopt
from memopt.api import memory_graph
from memopt.cli import main
from memopt.solvers.canonical import canonical, graph_of
from memopt.solvers.fusion import modules
from memopt.solvers.problem import Group, InPlace, MemoryGraph
from memopt.solvers.scheduling import auto
from memopt.usage import UsageError


def shuffled(graph: MemoryGraph, rng: random.Random) -> MemoryGraph:
    """The same problem under other numbers and names."""
    new = list(range(len(graph)))
    rng.shuffle(new)
    old = [new.index(i) for i in range(len(new))]
    groups = list(range(len(graph.groups)))
    rng.shuffle(groups)

    def moved(vs: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(new[v] for v in vs)

    return MemoryGraph(
        tuple(f"n{v}" for v in old),
        tuple(moved(graph.predecessors[v]) for v in old),
        tuple(
            Group(f"h{g}", x.size, moved(x.writers), moved(x.readers), x.is_input, x.is_output)
            for g in groups
            for x in [graph.groups[g]]
        ),
        tuple(graph.workspace[v] for v in old),
        tuple(
            InPlace(new[c.operator], groups.index(c.result), groups.index(c.operand))
            for c in graph.inplace
        ),
        graph.alignment,
    )


def test_equal_graphs_share_a_form_and_a_form_is_the_whole_graph() -> None:
    forms: dict[Any, int] = {}
    same = 0
    for seed in range(60):
        graph = memory_graph(cell(seed))
        other = shuffled(graph, random.Random(seed))
        other.check()
        form = canonical(graph)
        again = graph_of(form)
        again.check()
        assert canonical(again) == form
        assert auto.solve(again).peak == auto.solve(graph).peak == auto.solve(other).peak
        same += form == canonical(other)
        forms[form] = seed
    assert len(forms) == 60  # different cells stay different
    assert same > 50  # ties may cost a second solution, seldom


def test_a_changed_size_or_edge_changes_the_form() -> None:
    graph = memory_graph(cell(1))
    form = canonical(graph)
    for i, group in enumerate(graph.groups):
        groups = list(graph.groups)
        groups[i] = Group(
            group.name, group.size + 16, group.writers, group.readers, group.is_input,
            group.is_output,
        )  # fmt: skip
        changed = MemoryGraph(graph.names, graph.predecessors, tuple(groups), graph.workspace)
        assert canonical(changed) != form


def test_repeated_modules_are_decided_once() -> None:
    from memopt.solvers import fusion

    size, n = 8, 40
    groups = [Group("x", size, readers=(0,), is_input=True)] + [
        Group(f"t{v}", size, (v,), (v + 1,) if v + 1 < n else (), is_output=v + 1 == n)
        for v in range(n)
    ]
    before = tuple((v - 1,) if v else () for v in range(n))
    chain = MemoryGraph(tuple(f"op{v}" for v in range(n)), before, tuple(groups))
    decide: Any = fusion._decide  # pyright: ignore[reportPrivateUsage]
    decide.cache_clear()
    found = modules(chain)
    info = decide.cache_info()
    assert found
    assert info.hits > 2 * info.misses > 0


def test_peak_takes_paths_graphs_and_memory_graphs(tmp_path: Path) -> None:
    (path,) = write_cells(tmp_path, 1, 7)
    found = memopt.peak(path)
    assert found == memopt.peak(str(path)) == memopt.peak(cell(7))
    assert found == memopt.peak(memory_graph(cell(7)))
    assert found == memopt.peak(path, time_limit=60.0)
    assert found.optimal
    assert found.peak == found.lower_bound
    finer = memopt.peak(path, pipeline="memgraph-model{alignment=1}")
    assert finer.peak <= found.peak
    with pytest.raises(UsageError):
        memopt.peak(path, pipeline="memgraph-nonsense")
    with pytest.raises(FileNotFoundError):
        memopt.peak(tmp_path / "none.json")


def test_rows_come_in_order_and_errors_spare_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write_cells(tmp_path, 6, 0)
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    given = [*map(str, paths[:3]), str(broken), *map(str, paths[3:])]
    assert main(["sweep", *given, "--jobs=2", "--json"]) == 1
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert [row["graph"] for row in found] == given
    assert str(broken) in printed.err
    assert "1 of 7 graphs could not be solved" in printed.err
    assert [row["peak"] is None for row in found] == [g == str(broken) for g in given]
    alone = [memopt.peak(p) for p in paths]
    assert [row["peak"] for row in found if row["error"] is None] == [p.peak for p in alone]


def test_text_rows_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(p) for p in write_cells(tmp_path, 2, 3)]
    assert main(["sweep", *paths, "--jobs=1", "--model=alignment=1", "--time-limit=30"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines] == paths
    assert all("optimal, proof = " in line for line in lines)
    assert main(["sweep", *paths, "--jobs=0"]) == 2
    assert main(["sweep", *paths, "--model=nonsense=1"]) == 2


def test_cells_are_proven(tmp_path: Path) -> None:
    found = measure(tmp_path, 40, 1, 100)
    assert (found["optimal"], found["errors"]) == (40, 0)
    assert all(16 <= len(cell(seed)["nodes"]) <= 20 for seed in range(200))
