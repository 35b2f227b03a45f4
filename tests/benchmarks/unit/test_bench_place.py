"""`python -m benchmarks place`: tables, instances by name, peers, refusals."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.__main__ import main
from benchmarks.tables import peers
from benchmarks.tables.generator import main as generate
from benchmarks.tables.place import TABLES, PlaceRun, instances, pisarchyk, strategies, summary

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.minimalloc import Gap, Row, read_rows
from memopt.solvers.placement import METHODS
from memopt.verify.buffers import verify_rows

ROWS = (Row("x", 0, 1, 4), Row("a", 0, 2, 12), Row("b", 1, 3, 16), Row("c", 2, 4, 20))

# what the real one is called with, and what it leaves: here every buffer above the one before it
PEER = """#!{python}
import sys
given = dict(a[2:].split("=", 1) for a in sys.argv[1:])
lines = open(given["input"]).read().split()
rows = [line.split(",") for line in lines[1:]]
offset, out = 0, [lines[0] + ",offset"]
for row in rows:
    out.append(",".join([*row, str(offset)]))
    offset += int(row[3])
if offset <= int(given["capacity"]):
    open(given["output"], "w").write("\\n".join(out) + "\\n")
"""


@pytest.fixture
def peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "minimalloc"
    path.write_text(PEER.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("MINIMALLOC", str(path))
    return path


def run(rows: tuple[Row, ...] = ROWS) -> PlaceRun:
    return PlaceRun([("holes", rows)], 5.0, True, lambda _: None)


def test_every_strategy_on_one_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINIMALLOC", raising=False)
    table = strategies(run())
    rows = {row[3].split(",")[0]: row for row in table.rows}
    assert set(METHODS) <= set(rows)
    assert rows["auto"][4:7] == (36, 1.0, True)
    assert rows["tflite"][4:7] == (52, round(52 / 36, 4), False)
    assert rows["planar"][4] is None and "refused: planar: " in rows["planar"][3]
    short = {row[0]: row for row in summary(table).rows}
    assert short["exact"][1:5] == (1, 1, 1.0, 1.0)
    assert not [name for name in short if name.startswith("planar")]


def test_minimalloc_is_run_and_its_answer_checked(peer: Path) -> None:
    placed = peers.placed_by_minimalloc(ROWS, 60, 20.0)
    assert placed is not None and verify_rows(placed) == 52
    assert peers.placed_by_minimalloc(ROWS, 36, 20.0) is None
    assert [r[4] for r in strategies(run()).rows if r[3] == "minimalloc"] == [None]


def test_peers_that_fail_or_take_too_long(peer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peer.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    assert peers.placed_by_minimalloc(ROWS, 60, 0.2) is None
    peer.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('out of luck')\n")
    with pytest.raises(MemoptError, match="ended with 1: out of luck"):
        peers.placed_by_minimalloc(ROWS, 60, 20.0)
    failed = [r for r in strategies(run()).rows if r[3].startswith("minimalloc")]
    assert failed[0][3] == "minimalloc, failed: minimalloc ended with 1: out of luck"
    monkeypatch.setenv("MINIMALLOC", str(peer.parent / "nowhere"))
    with pytest.raises(MemoptError, match="no such file"):
        peers.minimalloc()


def test_vela_is_asked_for_nothing_that_it_does_not_know() -> None:
    with pytest.raises(MemoptError, match="neither gaps nor fixed offsets"):
        peers.placed_by_vela((Row("a", 0, 9, 8, gaps=(Gap(1, 2),)),), 1.0)


@pytest.mark.skipif(not peers.vela_is_there(), reason="needs the extra peers")
def test_vela() -> None:
    placed = peers.placed_by_vela(ROWS, 60.0)
    assert placed is not None and verify_rows(placed) >= 36


def test_pisarchyk_table_2_is_reproduced(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on all five by auto; Lee's greedy and the bound to the paper's digits."""
    monkeypatch.setenv("MEMOPT_SHARED", str(shared))
    rows = {row[0]: row[1:] for row in pisarchyk(run()).rows}
    assert rows["auto"][::2] == rows["Lower bound"][::2]
    assert rows["Greedy (Lee)"][::2] == rows["Greedy (Lee)"][1::2]
    assert rows["Greedy by size"][::2] == pytest.approx(rows["Greedy by size"][1::2], abs=0.0011)


def test_whole_plans_and_thousands_of_buffers(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quick tables: a model and a graph with its known optimum; full arenas, thinned ones."""
    monkeypatch.setenv("MEMOPT_SHARED", str(shared))
    model = shared / "models" / "resnet8_int8.tflite"
    monkeypatch.setattr("benchmarks.tables.plans.models", lambda: [model])
    patient = replace(run(), time_limit=600.0)  # on any machine
    rows = {row[0]: row for row in TABLES["plans"](patient).rows}
    assert {name.split(" ")[0] for name in rows} == {"resnet8_int8", "hrnet_w18_small_v1"}
    assert rows["resnet8_int8"][2:4] == (49152, 49152)
    assert all(row[5] == row[6] and row[8] is True for row in rows.values())
    full, thinned = TABLES["scale"](run()).rows
    assert full[0] == "planted" and full[3] == 1.0 < full[5]
    assert thinned[0] == "thinned" and thinned[1] < full[1] and thinned[3] >= 1.0


@pytest.mark.deep
def test_the_command_on_files_and_names(
    tmp_path: Path,
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MEMOPT_SHARED", str(shared))
    monkeypatch.setattr(sys, "argv", ["generator", "--buffers", "60", "--live", "10"])
    generate()
    path, out = tmp_path / "mine.csv", tmp_path / "out.json"
    path.write_text(capsys.readouterr().out)
    assert verify_rows([r for r in read_rows(path.read_bytes(), "x") if r.offset]) == 0
    names = [str(path), "mobilenet_v1", "planted-60-10-3"]
    command = ["place", "--tables", "strategies", "--time-limit", "0.5", "--json"]
    assert main([*command, str(out), "--graphs", *names]) == 0
    written = json.loads(out.read_text())
    assert written["graphs"] == ["mine", "mobilenet_v1", "planted-60-10-3"]
    assert [t["table"] for t in written["tables"]] == ["strategies", "summary"]
    best = {r["instance"]: r["optimal"] for r in written["tables"][0]["rows"] if r["optimal"]}
    assert best == dict.fromkeys(written["graphs"], True)
    assert "[1/1] strategies: mine: auto" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--tables", "zhong-2"], 2, "unknown table 'zhong-2': one of strategies, pisarchyk"),
        (["--time-limit", "0"], 2, "more than 0"),
        (["--graphs", "nothing"], 1, "nothing: neither a file, nor in"),
        (["--graphs", "planted-10-10-1"], 1, "planted-10-10-1: 10 buffers, 10 live at a time"),
    ],
)
def test_refusals(
    arguments: list[str], code: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["place", *arguments]) == code
    assert text in capsys.readouterr().err


def test_missing_instances_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOPT_SHARED", str(tmp_path))
    with pytest.raises(MemoptError, match="set MEMOPT_SHARED"):
        instances(())
    assert {"strategies", "pisarchyk", "scale"} <= set(TABLES)
