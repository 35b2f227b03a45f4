"""`--ram` with what is measured: a board gets a faster plan where only a bound was in its way."""

import json
from pathlib import Path
from typing import Any

import pytest
from deep import deep_but

from memopt.cli import main
from memopt.compile import c
from memopt.compile.plan import Built
from memopt.compile.target_facts import empty_facts
from memopt.passes.memgraph_kernels import held_back

LEAST, NATURAL = 3_866, 4_122  # bytes of dscnn's arena: of its rows, and with all fast kernels
SLOW, FAST = 704, 492  # bytes of stack


class Boards:
    """In place of a compiler and an emulator: less stack and fewer cycles with faster kernels."""

    def __init__(self, slow: int = SLOW, cycles: int | None = 1_000) -> None:
        self.slow, self.cycles, self.arenas = slow, cycles, list[int]()

    def facts(self, built: Built) -> dict[str, Any]:
        known = built.planned.known
        held, arena = held_back(known.func), known.plan.arena
        self.arenas.append(arena)
        stack = self.slow if held > 10 else FAST
        ran = {"instructions": 100 + held, "cycles_estimated": self.cycles, "cycles_range": [1, 9]}
        if self.cycles is not None:
            ran["cycles_estimated"] = self.cycles * (1 + held)
        whole = {"arena": arena, "stack": stack, "static_ram": 8, "ram": arena + stack + 8}
        return {**empty_facts(built.planned.options.target), **whole, **ran}


def compiled(
    monkeypatch: pytest.MonkeyPatch, board: Boards, shared: Path, out: Path, *flags: str
) -> int:
    """The exit code of `memopt compile` for such a board."""
    monkeypatch.setattr(c, "facts_of", board.facts)
    model = shared / "models" / "dscnn_kws_int8.tflite"
    return main(["compile", str(model), "--target=cortex-m4", "-o", str(out), *flags])


def arena(out: Path) -> int:
    report = json.loads((out / "report.json").read_text())
    assert report["plan"]["arena"] == report["target"]["arena"]
    return report["target"]["arena"]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("rows", "cycles"),
    deep_but(
        ([], 1_000), [(r, c) for r in ([], ["--rows=all"]) for c in (1_000, None)], several=True
    ),
)
def test_a_plan_that_fits_as_measured_is_not_given_up_for_a_bound(
    cycles: int | None,
    rows: list[str],
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where no cycles are known instructions say which is faster."""
    board = Boards(cycles=cycles)
    ram = NATURAL + FAST + 8
    assert compiled(monkeypatch, board, shared, tmp_path / "o", *rows, f"--ram={ram}") == 0
    assert board.arenas == [LEAST, NATURAL]
    assert arena(tmp_path / "o") == NATURAL


@pytest.mark.deep
def test_a_byte_less_gets_what_is_left_beside_the_stack(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = Boards()
    ram = NATURAL + FAST + 8 - 1
    assert compiled(monkeypatch, board, shared, tmp_path / "o", f"--ram={ram}") == 0
    assert LEAST < arena(tmp_path / "o") < NATURAL
    assert board.arenas == [LEAST, NATURAL, arena(tmp_path / "o")]


@pytest.mark.deep
def test_less_stack_may_be_what_a_board_lacks(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of the fewest bytes need more with their stack than others do."""
    board = Boards(slow=1_000)
    ram = NATURAL + FAST + 8
    assert ram < LEAST + 1_000 + 8
    assert compiled(monkeypatch, board, shared, tmp_path / "o", f"--ram={ram}") == 0
    assert arena(tmp_path / "o") == NATURAL


@pytest.mark.deep
@pytest.mark.parametrize(
    ("flags", "planned"),
    [
        (["--ram=6K"], [NATURAL]),  # nothing is held back
        (["--ram=4622", "--optimize=ram"], [LEAST]),
        (["--ram=4621", "--rows=all"], [LEAST, NATURAL]),  # which no other rows are better than
        ([], [NATURAL]),
    ],
)
def test_what_cannot_be_better_is_not_planned(
    flags: list[str],
    planned: list[int],
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board = Boards()
    assert compiled(monkeypatch, board, shared, tmp_path / "o", *flags) == 0
    assert board.arenas == planned


def test_what_is_not_faster_as_measured_is_not_taken(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part in a hundred is what an emulator may count in another way."""
    board = Boards()
    figures = board.facts

    def facts(built: Built) -> dict[str, Any]:
        found = figures(built)
        return found | {"cycles_estimated": 1_000 - len(board.arenas)}

    monkeypatch.setattr(board, "facts", facts)
    assert compiled(monkeypatch, board, shared, tmp_path / "o", "--ram=4622") == 0
    assert board.arenas == [LEAST, NATURAL]
    assert arena(tmp_path / "o") == LEAST


def test_without_figures_nothing_is_tried(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = Boards(cycles=None)
    figures = board.facts

    def facts(built: Built) -> dict[str, Any]:
        return figures(built) | {"instructions": None}

    monkeypatch.setattr(board, "facts", facts)
    assert compiled(monkeypatch, board, shared, tmp_path / "o", "--ram=4622") == 0
    assert board.arenas == [LEAST]


@pytest.mark.deep
def test_what_has_too_little_in_any_way_is_refused(
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ram = LEAST + FAST
    assert compiled(monkeypatch, Boards(), shared, tmp_path / "o", f"--ram={ram}") == 1
    assert f"arena {LEAST:,} B, stack {SLOW} B" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
