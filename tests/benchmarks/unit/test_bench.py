"""`python -m benchmarks schedule`: tables, their Markdown and JSON, what is refused."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import main
from benchmarks.tables import large, limits, papers, passes
from benchmarks.tables.graphs import Case, chosen, figure_1
from benchmarks.tables.schedule import TABLES, liberis_table, random_order
from benchmarks.tables.seconds import seconds
from benchmarks.tables.table import Run, Table, kb
from benchmarks.tables.training import SHAPES
from benchmarks.tables.training import main as write_training

from memopt.cli import COMMANDS
from memopt.solvers.problems.memory_graph import check_order, profile


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Liberis Figure 1 as a JSON graph."""
    net = figure_1()
    tensors = [{"name": g.name, "bytes": g.size, "is_weight": False} for g in net.groups]
    nodes = [
        {
            "name": name,
            "op": "Op",
            "inputs": [net.groups[g].name for g in net.reads[v]],
            "outputs": [net.groups[g].name for g in net.writes[v]],
        }
        for v, name in enumerate(net.names)
    ]
    path = tmp_path / "figure.json"
    data: dict[str, Any] = {
        "name": "figure",
        "source": "Liberis Figure 1",
        "tensors": tensors,
        "nodes": nodes,
        "graph_inputs": ["#0"],
        "graph_outputs": ["#7"],
    }
    path.write_text(json.dumps(data))
    return path


def test_a_file_becomes_the_same_problem(graph: Path) -> None:
    case = Case("figure", "", graph)
    assert profile(case.graph, range(7)).peak == papers.LIBERIS_FIGURE_1[0]
    assert len(case.contracted) < len(case.graph)


@pytest.mark.deep
def test_every_table_of_a_small_graph(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMOPT_SHARED", str(tmp_path / "nowhere"))
    out, text = tmp_path / "out.json", tmp_path / "out.md"
    command = ["schedule", "--quick", "--graphs", str(graph), "--json", str(out)]
    assert main([*command, "--markdown", str(text)]) == 0
    shown = capsys.readouterr()
    assert shown.out == "" and "[1/13] zhong-2: " in shown.err
    tables = {t["table"]: t["rows"] for t in json.loads(out.read_text())["tables"]}
    assert list(tables) == list(TABLES)
    assert all(tables.values())
    assert {row["peak B"] for row in tables["methods"] if row["optimal"]} == {4960}
    assert {row["method"] for row in tables["methods"] if row["optimal"]} >= {
        "auto",
        "search",
        "dp",
        "liberis",
        "ilp",
        "ilp-olla",
    }
    assert {row["peak B"] for row in tables["ablation"]} == {4960}
    (row,) = tables["zhong-4"]
    assert row["contracted pruned V"] <= row["pruned V"] < row["V"]
    assert row["HiGHS proves"] and row["ilp proves"]
    first, *sums = tables["seconds"]
    assert (first["peak B"], first["operators"], first["optimal"]) == (4960, 7, True)
    assert 0 < first["CPU seconds"] <= first["most CPU seconds"] == sums[-1]["most CPU seconds"]
    assert [(s["graph"], s["operators"]) for s in sums] == [
        ("sum where an optimum is listed", 0),
        ("sum", 7),
    ]
    (row,) = tables["training"]
    assert row["bound B"] <= row["peak B"] <= row["source B"] and row["gap %"] >= 0
    assert row["resident MB"] > 10
    markdown = text.read_text()
    assert markdown.count("## ") == len(TABLES)
    lines = [line for line in markdown.splitlines() if line.startswith("| Figure 1 |")]
    assert len(lines) == 1 and "5,216" in lines[0]


@pytest.mark.deep
def test_the_same_answer_as_the_pass_in_the_papers_units(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KB of 1,024 B: issue 3's figures, by the pass that `seconds` measures."""
    monkeypatch.setenv("MEMOPT_SHARED", str(shared))
    names = ("hrnet_w18_small_v1", "hrnet_w18_small_v2_s1p32", "hrnet_w32_s1p32", "darts_imagenet")
    table = seconds(Run(chosen([*names, "randwire_s0:frelu,view"]), 60.0, 1, lambda _: None))
    rows = table.rows[: len(names) + 1]
    assert [round(kb(row[2]), 1) for row in rows] == [6368, 6396, 6592, 1764, 4538.6]
    assert all(row[2] == row[3] == row[4] and row[6] for row in rows)
    assert [row[1] for row in table.rows[-2:]] == [sum(row[1] for row in rows)] * 2


def test_training_graphs_as_files(tmp_path: Path) -> None:
    assert write_training([str(tmp_path), "--operators", "60", "--seeds", "2"]) == 0
    paths = sorted(tmp_path.iterdir())
    assert len(paths) == 2 * len(SHAPES)
    made = Case("chain1", "", tmp_path / "train_chain1.json").graph
    assert 50 <= len(made) <= 120


def test_liberis_quotes_what_it_measures_on_figure_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMOPT_SHARED", str(tmp_path))
    ((name, default, best, source, found, proof, *_),) = liberis_table(
        Run([], 5.0, 1, lambda _: None)
    ).rows
    assert (name, default, best) == ("Figure 1", source, found)
    assert proof == "search"


def test_liberis_swiftnet_in_kilobytes(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOPT_SHARED", str(shared))
    rows = liberis_table(Run([], 5.0, 1, lambda _: None)).rows
    _, default, best, source, *_ = rows[1]
    assert (round(source / 1000), round(rows[1][8] / 1000)) == (default, best) == (351, 301)


def test_random_orders_are_legal_and_repeat() -> None:
    import random

    graph = figure_1()
    orders = [random_order(random.Random(seed), graph) for seed in range(20)]
    for order in orders:
        check_order(graph, order)
    assert len(set(orders)) > 1
    assert orders[3] == random_order(random.Random(3), graph)


def test_tables_print_what_they_hold() -> None:
    table = Table("t", "A title", ("name", "quoted*", "x"), ("A note.",))
    table.add("a", None, 1234567)
    table.add("b", 0.5, 2)
    assert table.markdown() == (
        "## A title\n\nA note.\n\n"
        "| name | quoted* |         x |\n"
        "| ---- | ------: | --------: |\n"
        "| a    |       - | 1,234,567 |\n"
        "| b    |   0.500 |         2 |\n"
    )
    with pytest.raises(ValueError, match="2 values, 3 columns"):
        table.add("c", 1)
    assert kb(6520832) == 6368


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--tables", "zhong-8"], 2, "unknown table 'zhong-8'"),
        (["--time-limit", "0"], 2, "more than 0"),
        (["--graphs", "no_such_graph"], 1, "no_such_graph"),
    ],
)
def test_refusals(
    arguments: list[str],
    code: int,
    text: str,
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MEMOPT_SHARED", str(shared))
    assert main(["schedule", *arguments]) == code
    assert text in capsys.readouterr().err


def test_missing_graphs_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMOPT_SHARED", str(tmp_path))
    assert main(["schedule", "--tables", "zhong-2"]) == 1
    assert "set MEMOPT_SHARED, or name files with --graphs" in capsys.readouterr().err


def test_quoted_rows_belong_to_graphs_that_are_listed(shared: Path) -> None:
    rows = json.loads((shared / "graphs" / "optima.json").read_text())
    known = {(r["graph"], r["prepare"]) for r in rows}
    assert set(papers.ZHONG) <= known
    for table in (papers.TABLE_2, papers.TABLE_3, papers.TABLE_4, papers.TABLE_5, papers.TABLE_6):
        assert set(table) <= set(papers.ZHONG.values())


def test_rows_prints_what_rows_save(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rows", "--time-limit=600", "--graphs", "streaming_wakeword_int8"]) == 0
    (row,) = [r for r in capsys.readouterr().out.splitlines() if r.startswith("| streaming")]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[1:4] == ["6,656", "3,712", "3,712"] and cells[4] == "111" and cells[6] == "3,712"


def test_rewrite_prints_what_rules_save(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rewrite", "--time-limit=600", "--quick"]) == 0
    rows = [r for r in capsys.readouterr().out.splitlines() if "_int8" in r]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    assert [c[:4] for c in cells] == [
        ["resnet8_int8", "49,152", "49,152", "32,768"],
        ["streaming_wakeword_int8", "6,656", "6,656", "6,144"],
    ]
    assert [c[5] for c in cells] == ["residual-epilogue 1 of 5", "depthwise-in-place 1 of 4"]


@pytest.mark.parametrize("what", ["rows", "rewrite"])
def test_a_model_that_is_not_there(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([what, "--graphs", "nowhere.tflite"]) == 1
    assert "nowhere.tflite" in capsys.readouterr().err


def test_limits_makes_its_own_problems(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["limits", "--graphs", "mine.json"]) == 2
    assert "takes no --graphs" in capsys.readouterr().err
    assert main(["limits", "--tables", "zhong-2"]) == 2
    assert "unknown table 'zhong-2'" in capsys.readouterr().err


@pytest.mark.deep
def test_limits_prints_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check the printed table of three small rows, not how long they took."""
    few = (
        ("--schedule=auto", "butterfly", 3),
        ("place --strategy=planar", "buffers", 30),
        ("compile", "network", 1),
    )

    def rows(quick: bool) -> tuple[limits.Row, ...]:
        return few if quick else ()

    monkeypatch.setattr(limits, "rows", rows)
    assert main(["limits", "--quick", "--time-limit=60"]) == 0
    out = capsys.readouterr().out
    assert "Commands within 60 s" in out and out.count("| yes") == 3
    assert "| butterfly 3 |" in out and "| buffers 30 " in out and "| network 1 " in out
    assert out.count("| yes, refused") == 1
    monkeypatch.setattr(limits, "OVER", 0.0)
    monkeypatch.setattr(limits, "MORE", 0.0)
    assert main(["limits", "--quick", "--time-limit=60"]) == 1
    streams = capsys.readouterr()
    assert streams.out.count("| no") == 3
    assert "3 limits were not kept: --schedule=auto of butterfly 3; place" in streams.err


def test_limits_has_each_method_with_a_graph_of_each_size() -> None:
    """Check that forty graphs of 100 to 20,000 operators all have a row."""
    rows = list(limits.rows(False))
    graphs = {(family, size) for _, family, size in rows if family in limits.GRAPHS}
    assert len(graphs) == 40
    for command in limits.commands():
        sizes = [(family, size) for row, family, size in rows if row == command]
        assert [limits.GRAPHS[f].index(size) for f, size in sizes[:4]] == [0, 1, 2, 3]
        assert sizes[4:] in ([], [limits.HARDEST])
    hardest = {row for row, *problem in rows if tuple(problem) == limits.HARDEST}
    assert hardest >= {f"--place={m}" for m in ("auto", "cp-sat", "exact", "joint", "tflm")}
    few = list(limits.rows(True))
    assert 10 < len(few) < 20


@pytest.mark.deep
def test_passes_prints_a_column_per_family(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["passes", "--graphs", "mine.json"]) == 2
    assert "takes no --graphs" in capsys.readouterr().err
    monkeypatch.setattr(passes, "SIZES", (("layers", 2_000, 2), ("rows", 25, 1)))
    monkeypatch.setattr(passes.gc, "collect", int)  # all that the tests hold: seconds, each time
    assert main(["passes", "--quick"]) == 0
    out = capsys.readouterr().out
    assert "layers 2" in out and "rows 1" in out
    refused = [line for line in out.splitlines() if line.rstrip(" |").endswith(" -")]
    assert refused[0].startswith("| -t minimalloc-csv")
    assert all("shared-objects" in line for line in refused[1:]) and len(refused) == 4
    assert all(f"| {stage}" in out for stage in passes.STAGES)


def test_large_problems_are_what_they_say() -> None:
    net = large.butterfly(3)
    assert (len(net["nodes"]), len(net["graph_inputs"]), len(net["graph_outputs"])) == (24, 8, 8)
    assert len(large.chains(7)["nodes"]) == 7 * large.LENGTH + 1
    assert len(large.layers(7)["nodes"]) == 7 * large.LENGTH
    assert large.chains(7) == large.chains(7) != large.chains(7, seed=1)
    operators = {
        *((large.straight, 30, 30), (large.attention, 2, 28), (large.hourglass, 5, 9)),
        *((large.nested, 4, 12), (large.drawn, 40, 41), (large.wide, 5, 26)),
    }
    for make, size, count in operators:
        assert len(make(size)["nodes"]) == count, make.__name__
    rows = large.buffers(50)
    assert len(rows) == 50 and all(r.upper > r.lower and r.size % 512 == 0 for r in rows)


def test_it_is_of_the_checkout_and_no_command_of_users() -> None:
    assert find_spec("memopt.benchmarks") is None
    assert "bench" not in COMMANDS
