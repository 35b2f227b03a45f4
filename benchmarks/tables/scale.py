"""Thousands of buffers: packings that fill the arena at every step, and the same with holes."""

import time
from collections.abc import Callable
from random import Random

from benchmarks.tables.generator import planted
from benchmarks.tables.table import Table
from memopt.solvers.placement import prove
from memopt.solvers.problems.placement import Buffer, PlacementProblem

SIZES = ((10_000, 200), (100_000, 200), (20_000, 5_000))  # buffers, mean live
QUICK = ((3_000, 100),)
LEFT_OUT = 0.05
METHODS: tuple[str, ...] = ("auto", "greedy-by-size")


def thinned(buffers: tuple[Buffer, ...], share: float, seed: int = 0) -> tuple[Buffer, ...]:
    """`buffers`, each on a base of its own, without a random `share` of them."""
    random = Random(seed)
    remaining = [b for b in buffers if random.random() >= share]
    return tuple(Buffer(b.name, b.size, b.lower, b.upper, i) for i, b in enumerate(remaining))


def scale(tick: Callable[[str], None], quick: bool) -> Table:
    """`auto` without a time limit, in CPU seconds of this process."""
    table = Table(
        "scale",
        "Thousands of buffers: auto",
        (
            "instance",
            "buffers",
            "mean live",
            "arena / bound",
            "CPU seconds",
            "greedy",
            "its CPU seconds",
        ),
        (
            "Planted packings: the load never changes, which is what `planar` packs. Thinned: the"
            f" same without {LEFT_OUT:.0%} of its buffers, for greedy strategies alone; the bound"
            " is the load, which need not be met. `greedy` is arena / bound of greedy-by-size.",
        ),
    )
    for buffers, live in QUICK if quick else SIZES:
        instance = planted(buffers, live)
        every = instance.problem.buffers
        for name, given in (("planted", every), ("thinned", thinned(every, LEFT_OUT))):
            tick(f"scale: {name}, {buffers} buffers, {live} live")
            steps = max(b.upper for b in given)
            lives = sum(b.upper - b.lower for b in given) / steps
            answers: list[float] = []
            for method in METHODS:
                started = time.process_time()
                placed = prove(PlacementProblem(given), method)
                seconds = time.process_time() - started
                ratio = placed.placement.arena / placed.lower_bound
                answers += [round(ratio, 4), round(seconds, 2)]
            table.add(name, len(given), round(lives, 1), *answers)
    return table
