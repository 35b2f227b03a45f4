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
from memopt.api import memory_graph, peaks
from memopt.api.answers import Answers
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
    """Of graphs under other names and numbers, too; what was cut short is none for who has more
    time."""
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
    Answers(path).put(form, 5.0, cut)
    assert Answers(path).get(form, 5.0) == Answers(path).get(form, 1.0) == cut
    assert Answers(path).get(form, 6.0) is Answers(path).get(form, None) is None
    peaks.answer_of(graph, 6.0, Answers(path))
    assert searched == [60.0, 6.0]


def test_what_is_no_cache_is_refused_by_name(tmp_path: Path) -> None:
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


def test_weights_are_compared_with_flash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that operators read; in every way that a graph is solved, and in a table that is read
    again."""
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
