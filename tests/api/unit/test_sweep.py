"""`memopt.peak` and `memopt sweep`, and the canonical form that saves equal graphs."""

import json
import random
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from threading import Semaphore
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from cells import cell, measure, write_cells
from renumbered import shuffled

import memopt
from memopt.api import dask, sweep_rows
from memopt.api.peaks import memory_graph, work_of_source
from memopt.api.plain_graphs import plain_graph
from memopt.api.sweep_rows import Row, Task
from memopt.backends.report.pareto import Point, front_of, pareto_svg
from memopt.backends.report.wording import short
from memopt.cli import main
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.plan.extract import extract
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, profile
from memopt.solvers.scheduling.methods import auto
from memopt.solvers.theory.canonical import canonical, graph_of
from memopt.solvers.theory.fusion import modules
from memopt.text.usage import UsageError


def test_equal_graphs_share_a_form_and_a_form_is_the_whole_graph(fuzz: float) -> None:
    forms: dict[Any, int] = {}
    same = 0
    count = max(20, int(60 * fuzz))
    for seed in range(count):
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
    assert len(forms) == count  # different cells stay different
    assert same > 5 * count // 6  # ties may cost a second solution, seldom


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
    from memopt.solvers.theory import fusion

    size, n = 8, 40  # diamonds one after the other: a, then b and c of a, then d of both
    joints = (0, 3)  # of four
    readers: list[tuple[int, ...]] = [(v // 4 * 4 + 3,) for v in range(n)]
    for v in range(n):
        if v % 4 in joints:
            readers[v] = (v + 1, v + 2) if v % 4 == 0 else (v + 1,) if v + 1 < n else ()
    groups = [Group("x", size, readers=(0,), is_input=True)] + [
        Group(f"t{v}", size, (v,), its, is_output=not its) for v, its in enumerate(readers)
    ]
    before = tuple(tuple(w for w in range(n) if v in readers[w]) for v in range(n))
    chain = MemoryGraph(tuple(f"op{v}" for v in range(n)), before, tuple(groups))
    decide: Any = fusion.decide
    decide.cache_clear()
    found = modules(chain)
    info = decide.cache_info()
    assert found
    assert info.hits > 2 * info.misses > 0


def test_peak_takes_paths_graphs_and_memory_graphs(tmp_path: Path) -> None:
    (path,) = write_cells(tmp_path, 1, 7)
    found = memopt.peak(path)
    assert found == memopt.peak(str(path)) == memopt.peak(cell(7))
    same = memopt.peak(memory_graph(cell(7)))
    assert (found[:3], found.indices) == (same[:3], same.indices)  # only the names are others
    assert found == memopt.peak(path, time_limit=60.0)
    assert found.optimal
    assert found.peak == found.lower_bound
    finer = memopt.peak(path, pipeline="memgraph-model{alignment=1}")
    assert finer.peak <= found.peak
    with pytest.raises(UsageError):
        memopt.peak(path, pipeline="memgraph-nonsense")
    with pytest.raises(FileNotFoundError):
        memopt.peak(tmp_path / "none.json")


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_a_peak_has_that_peak_in_the_numbers_of_who_asks(seed: int) -> None:
    graph = memory_graph(cell(seed))
    for asked in (graph, shuffled(graph, random.Random(seed))):
        found = memopt.peak(asked)
        assert profile(asked, found.indices).peak == found.peak == found.lower_bound
        assert found.order == tuple(asked.names[i] for i in found.indices)
    names = [node["name"] for node in cell(seed)["nodes"]]
    assert sorted(memopt.peak(cell(seed)).order) == sorted(names)


def test_folders_are_opened_sorted_and_below(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    write_cells(tmp_path / "b" / "c", 1, 5)
    write_cells(tmp_path / "b", 1, 6)
    (tmp_path / "b" / "notes.txt").write_text("no graph")
    (single,) = write_cells(tmp_path, 1, 7)
    wanted = [str(p) for p in (tmp_path / "b/c/cell00005.json", tmp_path / "b/cell00006.json")]
    assert main(["sweep", str(tmp_path / "b"), str(single), "--jobs=1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["graph"] for row in found] == [*wanted, str(single)]
    again = list(memopt.sweep([tmp_path / "b", single], jobs=1))
    assert [(r.graph, r.peak) for r in again] == [(r["graph"], r["peak"]) for r in found]
    assert [r.graph for r in memopt.sweep(tmp_path / "b", jobs=1)] == wanted
    (tmp_path / "empty").mkdir()
    assert main(["sweep", str(tmp_path / "empty"), "--jobs=1"]) == 1
    assert "there is no .hlo, .json, .onnx, .tflite or .mlir in it" in capsys.readouterr().err


class Counting(Executor):
    """An executor of somebody else's: it runs a task at once, and says nothing of its workers."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.submitted += 1
        return sweep_rows.Here().submit(fn, *args, **kwargs)


@pytest.mark.deep
def test_any_executor_gives_the_same_rows_in_order() -> None:
    graphs: list[Any] = [cell(seed) for seed in range(5)]
    graphs += [memory_graph(cell(5)), memopt.load(cell(6)), b"{", memopt.load(cell(7)).module]
    alone = [replace(r, seconds=0.0) for r in memopt.sweep(graphs, jobs=1)]
    assert [r.graph for r in alone][:2] == ["graph 0", "graph 1"]
    assert [r.error is None for r in alone] == [i != 7 for i in range(9)]
    assert all(sorted(r.order) == sorted(set(r.order)) for r in alone)
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(1, get_context("spawn")) as one:
        for executor in (threads, one, Counting()):
            rows = [replace(r, seconds=0.0) for r in memopt.sweep(graphs, executor=executor)]
            assert rows == alone
        assert threads.submit(int).result() == 0  # it is left open


def test_a_graph_that_takes_long_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is done once all others are; of those two are handed out at a time."""
    others = Semaphore(0)

    def solved(tasks: list[Task]) -> list[Row | None]:
        for task in tasks:
            if task.name != "0":
                others.release()
            else:
                assert all(others.acquire(timeout=60) for _ in range(19))
        return [Row(task.name, 1, 1, "flow", True, 0.0) for task in tasks]

    monkeypatch.setattr(sweep_rows, "solve_each", solved)
    monkeypatch.setattr(sweep_rows, "AHEAD", 1)
    for small in (False, True):  # which the library leaves
        pipeline = "" if small else "memgraph-model{alignment=1}"
        tasks = [Task({}, pipeline, name=f"{i}") for i in range(20)]
        for in_order in (True, False):
            with ThreadPoolExecutor(2) as threads:
                rows = list(sweep_rows.rows(tasks, 1, threads, in_order))
            names = [row.graph for row in rows]
            assert sorted(names, key=int) == [f"{i}" for i in range(20)]
            assert (names[0] == "0") == in_order


def test_an_endless_generator_gives_rows_and_what_nobody_waits_for_is_not_begun() -> None:
    def endless() -> Iterator[dict[str, Any]]:
        while True:
            yield cell(0)

    executor = Counting()
    rows = memopt.sweep(endless(), executor=executor)
    assert next(iter(rows)).peak == memopt.peak(cell(0)).peak
    assert executor.submitted == 1


def test_wrong_arguments_of_a_sweep_are_told_at_once() -> None:
    with pytest.raises(ValueError, match="jobs=0"):
        memopt.sweep([], jobs=0)
    with pytest.raises(ValueError, match="without executor"):
        memopt.sweep([], jobs=1, executor=Counting())
    with pytest.raises(TypeError, match="int has no submit"):
        memopt.sweep([], executor=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not int"):
        memopt.sweep(5)  # type: ignore[arg-type]
    assert list(memopt.sweep([])) == []
    rows = list(memopt.sweep(["none.tflite", 5], jobs=1))  # type: ignore[list-item]
    assert "No such file" in str(rows[0].error) and "a graph is a path" in str(rows[1].error)


@pytest.mark.deep
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


# -- JSON graphs without IR -----------------------------------------------------------------------


def odd_cell(seed: int) -> dict[str, Any]:
    """A cell with what JSON graphs may have besides: weights, workspace, attributes, what nobody
    reads, operands twice, another order of the nodes."""
    rng = random.Random(seed)
    graph = cell(seed)
    graph["tensors"].append({"name": "w", "bytes": 64, "is_weight": True})
    for node in graph["nodes"]:
        if rng.random() < 0.3:
            node["inputs"] = [*node["inputs"], "w", node["inputs"][0]]
        if rng.random() < 0.3:
            node["workspace"] = rng.choice((0, 5, [16, 3]))
        if rng.random() < 0.5:
            node["attrs"] = {"macs": rng.randint(0, 999), "text": "a"}
        if rng.random() < 0.01:
            node["attrs"] = {"list": [1]}
        if rng.random() < 0.01:
            node["inputs"] = ["w"]
        if rng.random() < 0.01:
            del node["name"]
    if rng.random() < 0.5:
        graph["graph_outputs"] = [*graph["graph_outputs"], graph["nodes"][2]["outputs"][0]]
    if rng.random() < 0.3:
        rng.shuffle(graph["nodes"])
    return graph


def test_json_graphs_are_read_without_ir_as_with_it(shared: Path) -> None:
    """All that says how a graph is solved; what is odd is left to the way through IR."""
    graphs: list[Any] = [cell(seed) for seed in range(20)] + [odd_cell(s) for s in range(160)]
    graphs += sorted((shared / "graphs").rglob("*.json"), key=lambda p: p.stat().st_size)[1:8]
    plain = 0
    for graph in graphs:
        found = plain_graph(graph)
        if found is None:
            continue
        plain += 1
        model = memopt.load(graph)
        func = only_function(model.module)
        want = extract(func).graph
        assert replace(found.graph, names=want.names) == want
        assert found.graph.names == model.operators
        assert found.work == work_of_source(graph, func)
    assert 60 < plain < len(graphs)


def test_what_is_wrong_with_a_json_graph_is_told_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    for text in ("{", "[]", json.dumps(cell(0) | {"graph_outputs": []})):
        path.write_text(text)
        assert plain_graph(path) is None
        with pytest.raises(memopt.MemoptError, match=str(path)):
            memopt.peak(path)
    assert plain_graph(b"nonsense") is plain_graph(5) is None


# -- the table ------------------------------------------------------------------------------------


def solved_tasks(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """What is solved from now on in this process."""
    tasks: list[Task] = []

    def watch(name: str) -> None:
        before = getattr(sweep_rows, name)

        def solve(given: list[Task]) -> list[Row | None]:
            rows: list[Row | None] = before(given)
            tasks.extend(t for t, row in zip(given, rows, strict=True) if row is not None)
            return rows

        monkeypatch.setattr(sweep_rows, name, solve)

    watch("solve_small")
    watch("solve_each")
    return tasks


def test_a_sweep_goes_on_from_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is there and as it was is not solved again; cut lines, errors and changes are."""
    paths = [str(p) for p in write_cells(tmp_path, 6, 0)]
    broken, table, plot = tmp_path / "a,b.json", tmp_path / "rows.csv", tmp_path / "front.svg"
    broken.write_text("{")
    given = ["sweep", *paths, str(broken), "--jobs=1", "--csv", str(table), "--plot", str(plot)]
    tasks = solved_tasks(monkeypatch)

    def labels() -> list[str]:
        found = sorted(task.label for task in tasks)
        tasks.clear()
        return found

    assert main(given) == 1
    assert labels() == sorted([*paths, str(broken)])
    lines = table.read_text().splitlines(keepends=True)
    assert len(lines) == 8
    table.write_text("".join(lines[:4]) + lines[4][:20])  # killed while it wrote a row
    Path(paths[1]).write_text(json.dumps(cell(77)))
    broken.write_text(json.dumps(cell(78)))
    assert main(given) == 0
    assert labels() == sorted([paths[1], *paths[3:], str(broken)])
    capsys.readouterr()
    assert main([*given, "--json"]) == 0
    assert not labels()
    rows = json.loads(capsys.readouterr().out)
    assert [r["graph"] for r in rows] == [*paths, str(broken)]
    assert [r["peak"] for r in rows] == [memopt.peak(p).peak for p in [*paths, str(broken)]]
    assert main([*given, "--time-limit=30"]) == 0
    assert len(labels()) == 7  # another question
    assert "<title>0 graphs, 0 proven" in plot.read_text()  # cells say nothing of multiplications
    for text in ("lower,upper\n1,2\n", lines[0] + "a,b\n"):
        table.write_text(text)
        assert main(given) == 1
        assert "of a sweep" in capsys.readouterr().err


def test_the_plot_has_the_front(tmp_path: Path) -> None:
    paths: list[str] = []
    for seed in range(8):
        graph = cell(seed)
        for node in graph["nodes"]:
            node["attrs"] = {"macs": 100 + 37 * seed % 64}
        paths.append(str(tmp_path / f"{seed}.json"))
        Path(paths[-1]).write_text(json.dumps(graph))
    plot = tmp_path / "front.svg"
    assert main(["sweep", *paths, "--jobs=1", "--plot", str(plot)]) == 0
    text = plot.read_text()
    circles = [c for c in ElementTree.fromstring(text).iter() if c.tag.endswith("circle")]
    assert len(circles) == 8 and all("proven" in (c.get("class") or "") for c in circles)
    rows = memopt.sweep(paths, jobs=1)
    points = [Point(r.graph, r.macs or 0, r.peak or 0, r.optimal) for r in rows]
    beaten = {
        p.name
        for p in points
        for q in points
        if (q.macs, q.peak) != (p.macs, p.peak) and q.macs <= p.macs and q.peak <= p.peak
    }
    assert {p.name for p in front_of(points)} == {p.name for p in points} - beaten
    assert f"{len(front_of(points))} on the front" in text
    best = {c[0].text for c in circles if "best" in (c.get("class") or "")}
    assert {p.name for p in front_of(points)} == {(t or "").partition(": ")[0] for t in best}
    names = [t.text for t in ElementTree.fromstring(text).iter() if t.get("class") == "name"]
    assert names and {n for n in names if n} <= {short(p.name, 24) for p in front_of(points)}
    assert front_of([]) == [] and "<circle" not in pareto_svg([])


def test_rows_as_they_are_done_are_the_same_rows() -> None:
    tasks = [Task(cell(seed), name=f"{seed}") for seed in range(20)]
    with ThreadPoolExecutor(3) as threads:
        found = list(sweep_rows.rows(tasks, 1, threads, in_order=False))
    assert {r.graph: r.peak for r in found} == {r.graph: r.peak for r in sweep_rows.rows(tasks, 1)}
    assert len(found) == 20


class FakeClient:
    """Of Dask's client, what a sweep asks of it; its workers are threads."""

    closed = asked = 0

    def __init__(self, address: str, **_: object) -> None:
        if "nobody" in address:
            raise OSError("timed out")

    def get_executor(self, pure: bool, retries: int) -> Executor:
        assert not pure and retries
        return ThreadPoolExecutor(2)

    def nthreads(self) -> dict[str, int]:
        FakeClient.asked += 1
        return {"tcp://b:1": 1, "tcp://c:1": 1}

    def close(self) -> None:
        FakeClient.closed += 1


def test_the_workers_of_a_cluster_get_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a double of Dask's client; test_dask.py has the real one."""
    paths = [str(p) for p in write_cells(tmp_path, 12, 0)]
    missing = str(tmp_path / "none.json")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["sweep", *paths, "--dask=tcp://a:1"]) == 2
    assert "pip install 'memopt[dask]'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=FakeClient))
    assert main(["sweep", *paths, "--dask=tcp://nobody:1"]) == 1
    assert "tcp://nobody:1: error: no Dask scheduler answers: timed out" in capsys.readouterr().err
    tasks = solved_tasks(monkeypatch)
    monkeypatch.setattr(dask, "RECOUNT", 1e9)
    assert main(["sweep", *paths, missing, "--dask=tcp://a:1", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [r["graph"] for r in rows] == [*paths, missing]
    assert [r["peak"] for r in rows] == [*(memopt.peak(p).peak for p in paths), None]
    assert sorted([type(task.graph) for task in tasks], key=str) == [*[bytes] * 12, str]
    assert FakeClient.closed == 1
    assert FakeClient.asked == 1  # not for each chunk
