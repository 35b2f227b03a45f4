"""Options of a sweep: answers that are shared by a file, plans, flash."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cells import cell, write_cells
from renumbered import shuffled

import memopt
from memopt.api import answers, peaks, sweep_rows
from memopt.api.answers import MARK, Answers
from memopt.api.peaks import memory_graph
from memopt.api.sweep_rows import Task
from memopt.cli import main
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule, profile
from memopt.solvers.scheduling.methods import auto
from memopt.solvers.theory.canonical import canonical_order, graph_of


def hard(seed: int) -> MemoryGraph:
    """A graph that the heuristics leave open."""
    graphs = (memory_graph(cell(number)) for number in range(seed, 1_000))
    return next(graph for graph in graphs if auto.met(graph) is None)


def test_answers_are_shared_by_a_file_also_under_a_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Share those of graphs under other names and numbers, too; what was cut short is none for who
    has more time."""
    path, searched = tmp_path / "answers", list[float | None]()
    before = peaks.schedule

    def schedule(graph: MemoryGraph, method: str, time_limit: float | None, **more: Any) -> Any:
        searched.append(time_limit)
        return before(graph, method, time_limit, **more)

    monkeypatch.setattr(peaks, "schedule", schedule)
    graph = hard(0)
    other = shuffled(graph, random.Random(1))
    first = peaks.answer_of(graph, 60.0, Answers(path))
    assert searched == [60.0] and first.optimal
    for limit in (None, 1.0, 600.0):
        again = peaks.answer_of(other, limit, Answers(path))
        assert (again.peak, again.proof) == (first.peak, first.proof)
        assert profile(other, again.order).peak == again.peak
    assert searched == [60.0]
    form, places = canonical_order(graph)
    new = {v: i for i, v in enumerate(places)}
    order = tuple(new[v] for v in auto.heuristics(graph)[0])
    cut = Schedule(order, profile(graph_of(form), order).peak, 1, "none")
    Answers(path).put(form, 5.0, cut)  # of a process that knew nothing of the first
    proven = Answers(path).get(form, None)
    assert proven is not None and proven.peak == first.peak
    path = tmp_path / "cut"
    Answers(path).put(form, 5.0, cut)
    Answers(path).put(form, 2.0, cut)
    assert Answers(path).get(form, 5.0) == Answers(path).get(form, 1.0) == cut
    assert Answers(path).get(form, 6.0) is Answers(path).get(form, None) is None
    peaks.answer_of(graph, 6.0, Answers(path))
    assert searched == [60.0, 6.0]
    assert Answers(path).get(form, None) is not None


@pytest.mark.parametrize("place", range(9))
def test_processes_that_make_a_cache_together_do_not_hinder_each_other(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another comes between any two steps of the first: it makes the cache, or has to wait."""
    path, connect, steps = tmp_path / "answers", sqlite3.connect, 0

    class First(sqlite3.Connection):
        def execute(self, sql: str, /, *given: Any) -> sqlite3.Cursor:
            nonlocal steps
            if steps == place:
                with monkeypatch.context() as patch:
                    patch.setattr(sqlite3, "connect", connect)
                    try:
                        Answers(path).close()
                    except memopt.MemoptError as error:
                        assert "locked" in str(error)
            steps += 1
            return super().execute(sql, *given)

    def connect_first(path: Path, **words: Any) -> sqlite3.Connection:
        return connect(path, factory=First, **words)

    monkeypatch.setattr(answers, "BUSY", 0.0)  # that one stands still here
    monkeypatch.setattr(sqlite3, "connect", connect_first)
    Answers(path).close()
    assert steps > 2
    with closing(connect(path)) as file:
        assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def written(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for statement in statements:
            file.execute(statement)


def test_a_cache_that_fails_costs_answers_and_no_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever another program writes into it while the sweep runs."""
    path, graph = tmp_path / "answers", hard(0)
    form, _ = canonical_order(graph)
    wanted = peaks.answer_of(graph, None, Answers(path))
    count = len(graph)
    for change in (
        "operators = NULL", "operators = 7", "operators = 'a b'", "operators = '0 1'",
        f"operators = '{'0 ' * count}'", f"operators = '{' '.join(map(str, range(count, 0, -1)))}'",
        "peak = peak + 16", "peak = NULL", "lower_bound = 'x'", "seconds = 'x'", "states = x'00'",
    ):  # fmt: skip
        written(path, f"UPDATE answers SET {change}")
        cache = Answers(path)
        assert cache.get(form, None) is cache.get(form, None) is None, change
        assert capsys.readouterr().err.count(f"{path}: warning: answers are missing") == 1
        assert peaks.answer_of(graph, None, Answers(path)).peak == wanted.peak
        assert Answers(path).get(form, None) is not None, change
        capsys.readouterr()
    cache = Answers(path)
    written(path, "DROP TABLE answers")
    for _ in range(2):
        assert cache.get(form, None) is None
        peaks.answer_of(graph, None, cache)
        vars(cache)["_known"].clear()
    assert capsys.readouterr().err.count("no such table") == 1
    path.write_bytes(b"no database, but a text that is longer than a header")
    for _ in range(2):
        assert memopt.peak(graph).peak == peaks.peak_and_work(graph, cache=str(path))[0].peak
    assert f"{path}: warning: no cache of a sweep" in capsys.readouterr().err
    (row,) = sweep_rows.rows([Task(graph, cache=str(tmp_path / "none" / "answers"))], 1)
    assert row.error is None and row.peak == wanted.peak


def test_a_cache_that_nobody_may_write_has_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, graph, connect = tmp_path / "answers", hard(0), sqlite3.connect
    form, _ = canonical_order(graph)
    wanted = peaks.answer_of(graph, None, Answers(path))

    def read_only(path: Path, **words: Any) -> sqlite3.Connection:
        return connect(f"file:{path}?mode=ro", uri=True, **words)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    cache = Answers(path)
    assert (known := cache.get(form, None)) is not None and known.peak == wanted.peak
    cache.put(form, None, wanted)
    assert "attempt to write a readonly database" in capsys.readouterr().err


def test_what_is_no_cache_is_refused_by_name(tmp_path: Path) -> None:
    """A database of others too, also one without tables; an empty file becomes a cache."""
    (graph,) = write_cells(tmp_path, 1, 0)
    for name, content in (("text", b"no database, but a text that is longer"), ("other", None)):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        else:
            with closing(sqlite3.connect(path)) as other:
                other.execute("CREATE TABLE mine (x)")
        with pytest.raises(memopt.MemoptError, match=f"{name}: error: .*no cache of a sweep"):
            memopt.sweep([graph], cache=path)
    for name, statements in (
        ("marked", ["PRAGMA application_id=1234"]),
        ("numbered", ["PRAGMA user_version=7"]),
        ("columns", [f"PRAGMA application_id={MARK}", "CREATE TABLE answers (mine)"]),
    ):
        written(path := tmp_path / name, *statements)
        before = path.read_bytes()
        with pytest.raises(memopt.MemoptError, match="no cache of a sweep"):
            memopt.sweep([graph], cache=path)
        assert path.read_bytes() == before
    (tmp_path / "empty").touch()
    memopt.sweep([graph], cache=tmp_path / "empty")
    assert (tmp_path / "empty").stat().st_size
    with pytest.raises(memopt.MemoptError, match="no cache of a sweep: unable to open"):
        memopt.sweep([graph], cache=tmp_path / "none" / "answers")


def test_a_sweep_of_plans_has_their_arenas(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(p) for p in write_cells(tmp_path, 2, 0)]
    rows = list(memopt.sweep(paths, jobs=1, target="tflm", rewrite="none"))
    for path, row in zip(paths, rows, strict=True):
        plan = memopt.plan(path, target="tflm", rewrite="none")
        assert (row.peak, row.arena, row.proof) == (plan.peak, plan.arena, plan.proof)
        assert row.order == plan.order
    with pytest.raises(ValueError, match=r"cortex-m99.*one of"):
        memopt.sweep(paths, target="cortex-m99")
    with pytest.raises(ValueError, match="goes without rows"):
        memopt.sweep(paths, rows="all", cache=tmp_path / "answers")
    assert main(["sweep", *paths, "--jobs=1", "--target=tflm", "--as-done"]) == 0
    assert f"arena {rows[0].arena:,} B" in capsys.readouterr().out
    assert main(["sweep", *paths, "--rows=all", "--cache", str(tmp_path / "answers")]) == 2
    for option in ("--rows", "--target", "--rewrite"):
        assert main(["sweep", *paths, f"{option}="]) == 2
        assert f"{option}='' says nothing" in capsys.readouterr().err
    assert main(["sweep", *paths, "--dask=tcp://a:1", "--cache", str(tmp_path / "answers")]) == 2
    assert "--cache is a file of this machine" in capsys.readouterr().err


def test_weights_are_compared_with_flash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Count those that operators read; in every way that a graph is solved, and in a table that is
    read again."""
    graph, table = cell(0), tmp_path / "rows.csv"
    graph["tensors"] += [{"name": f"w{i}", "bytes": 100, "is_weight": True} for i in range(3)]
    graph["nodes"][0]["inputs"].append("w0")
    graph["nodes"][1]["inputs"] += ["w1", "w0"]
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph))
    words: dict[str, Any]
    for words in ({}, {"pipeline": "memgraph-model{alignment=16}"}, {"target": "tflm"}):
        for flash, fits in ((None, None), (199, False), (200, True)):
            (row,) = memopt.sweep([path], jobs=1, flash=flash, **words)
            assert (row.weights, row.fits) == (200, fits)
    for flash, said in (("199", "weights 200 B do not fit"), ("200", "")):
        assert main(["sweep", str(path), "--jobs=1", "--csv", str(table), "--flash", flash]) == 0
        assert said in capsys.readouterr().out
    with pytest.raises(ValueError, match="flash=-1"):
        memopt.sweep([path], flash=-1)
