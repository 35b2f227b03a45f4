"""`memopt place` without a capacity finds what it finds when one is given, by the command line.

Work is counted in nodes, of which there are few here: the answers are the same on every machine.
"""

import json
import random
from pathlib import Path

import pytest
from benchmarks.tables.generator import planted
from deep import deep_but

from memopt.cli import main
from memopt.formats.minimalloc import Row, write_rows
from memopt.solvers.placement import prove
from memopt.solvers.placement.capacities import lowered
from memopt.solvers.placement.methods import exact
from memopt.solvers.problems.placement import Buffer, Placement, PlacementProblem, Proven

KIB = 1024


def shrunk(path: Path, buffers: int, live: int, seed: int, least: float) -> None:
    """A packing of KiB without holes, whose buffers were then made smaller at random."""
    whole, rng = planted(buffers, live, 1024, seed), random.Random(seed)
    path.write_text(
        write_rows(
            [
                Row(b.name, b.lower, b.upper, KIB * max(1, int(b.size * rng.uniform(least, 1))))
                for b in whole.problem.buffers
            ]
        )
    )


@pytest.mark.parametrize(
    ("strategy", "case"),
    deep_but(
        ("exact", (200, 40, 0, 0.6)),
        [
            ("auto", (200, 40, 0, 0.6)),
            ("exact", (200, 40, 0, 0.6)),
            ("exact", (300, 50, 0, 0.9)),
        ],
        several=True,
    ),
)
def test_no_capacity_is_met_that_was_not_found(
    strategy: str,
    case: tuple[int, int, int, float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fuzz: float,
) -> None:
    monkeypatch.setattr(exact, "NODES", 3_000)
    monkeypatch.setattr(exact, "ATTEMPT", 1_000)  # less than that, as it is
    path = tmp_path / "shrunk.csv"
    shrunk(path, *case)
    place = ["place", str(path), f"--strategy={strategy}", "--json"]
    assert main(place) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lower_bound"] < found["arena"] and found["arena"] % KIB == 0
    for less in (1, 4) if fuzz >= 1 else (1,):
        capacity = found["arena"] - less * KIB
        assert main([*place, f"--capacity={capacity}"]) == 1, capacity
        assert json.loads(capsys.readouterr().out)["arena"] > capacity


def test_each_capacity_is_asked_for_from_the_best_answer_down() -> None:
    problem = PlacementProblem(tuple(Buffer(str(i), 8, i, i + 2, i) for i in range(9)))
    items = problem.items
    asked: list[tuple[int, int]] = []

    def ask(known: Placement, capacity: int, nodes: int) -> Proven:
        asked.append((capacity, nodes))
        arena = 64 if capacity == 72 and nodes == 160 else known.arena
        return Proven(Placement(known.offsets, arena), 24 if nodes == 160 else 56)

    answer = lowered(items, Proven(Placement((0,) * 9, 80), 16), 160, ask)
    assert (answer.placement.arena, answer.lower_bound) == (64, 56)
    below = [(72, 10), (64, 10), (72, 40), (64, 40), (72, 160)]
    assert asked == [*below, (56, 160)]  # 48 and below is proven to be too little


def test_what_is_proven_is_not_asked_again() -> None:
    problem = PlacementProblem(tuple(Buffer(str(i), 8, i, i + 2, i) for i in range(9)))
    answer = prove(problem, "exact")
    assert answer.placement.arena == answer.lower_bound == 16
