"""The papers' figures as tables, and the allocator that OLLA's are compared with."""

import json
from pathlib import Path

import pytest
from benchmarks.__main__ import main
from benchmarks.figures.caching_allocator import MIB, Reserved, reserved

from memopt.solvers.problems.placement import Buffer, PlacementProblem


def problem(*buffers: tuple[float, int, int]) -> PlacementProblem:
    """Buffers of (MiB, first step, one after the last)."""
    numbered = enumerate(buffers)
    return PlacementProblem(
        tuple(Buffer(str(i), int(size * MIB), a, b, i) for i, (size, a, b) in numbered)
    )


def of(segments: float, live_then: float, highest: float) -> Reserved:
    return Reserved(int(segments * MIB), int(live_then * MIB), int(highest * MIB))


def test_small_tensors_share_a_segment_and_large_ones_have_their_own() -> None:
    assert reserved(problem((0.5, 0, 1), (0.5, 0, 1)), ()) == of(2, 1, 1)
    assert reserved(problem((1.5, 0, 1), (9, 0, 1)), ()) == of(20, 10.5, 10.5)
    assert reserved(problem((13, 0, 1)), (MIB, 3 * MIB)) == of(2 + 20, 4, 17)
    assert reserved(problem((13, 0, 1)), (MIB, 9 * MIB)) == of(2 + 20 + 14, 23, 23)


def test_what_is_freed_is_used_again_where_it_fits() -> None:
    """5 MiB between 8 and 7 do not hold 6; blocks that are free together hold what none did."""
    gap = problem((8, 0, 3), (5, 0, 1), (6, 1, 2), (7, 0, 2))
    assert reserved(gap, ()) == of(40, 21, 21)
    joined = problem((8, 0, 1), (8, 0, 1), (9.5, 2, 3), (9.5, 2, 3))
    assert reserved(joined, ()) == of(20, 16, 19)


def test_the_last_segment_may_come_late() -> None:
    late = problem((30, 0, 1), (0.5, 1, 2))
    assert reserved(late, ()) == of(32, 0.5, 30)


def test_ollas_figures_of_a_kept_capture(tmp_path: Path) -> None:
    out = tmp_path / "olla.json"
    assert main(["olla", "--graphs", "resnet18_b1_sgd", "--json", str(out)]) == 0
    tables = {t["table"]: t["rows"] for t in json.loads(out.read_text())["tables"]}
    assert list(tables) == [f"olla-{n}" for n in range(7, 14)]
    step, mean = tables["olla-7"]
    assert step["best order B"] == 31_147_584 and mean["OLLA*"] == "22.5"
    assert tables["olla-8"][0]["plan's fragmentation %"] == 0
    assert tables["olla-10"] == tables["olla-12"] == []


def test_names_that_nothing_has_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["olla", "--graphs", "lenet:1"]) == 2
    assert "NETWORK:BATCH" in capsys.readouterr().err
    assert main(["serenity", "--graphs", "Cell"]) == 2
    assert "SwiftNet Cell A" in capsys.readouterr().err


def test_serenitys_figures_of_cell_a(shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "serenity.json"
    assert main(["serenity", "--graphs", "SwiftNet Cell A", "--json", str(out)]) == 0
    tables = {t["table"]: t["rows"] for t in json.loads(out.read_text())["tables"]}
    (row,) = tables["serenity-15"]
    assert [row[f"{name} arena B"] for name in ("order", "rewritten")] == [275_968, 200_704]
    assert row["TFLite arena B"] == 401_408
    assert tables["serenity-12"][-2]["rewritten"] == 200.704
    assert len(tables["serenity-13"]) == 2 and len(tables["serenity-10"]) == 2
