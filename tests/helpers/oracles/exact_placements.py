"""Problems of placement with their least arena."""

from collections.abc import Iterator
from random import Random

from random_placements import load, random_problem

from memopt.solvers.problems.placement import PlacementProblem


def smallest_arena(problem: PlacementProblem, enough: int) -> int:
    """The optimum by trying all orders of non-decreasing first fits, step by step and byte by byte.

    An arena of `enough` bytes is known to be optimal.
    """
    buffers = problem.buffers
    bases = sorted({b.base for b in buffers})
    spans = {
        base: {
            t: max(b.size for b in buffers if b.base == base and b.lower <= t < b.upper)
            for b in buffers
            if b.base == base
            for t in range(b.lower, b.upper)
        }
        for base in bases
    }
    stride = {g: [b.alignment for b in buffers if b.base == g] for g in bases}
    fixed = {b.base: b.fixed for b in buffers if b.fixed is not None}
    best = 1 << 60

    def top_of(g: int, at: int) -> int:
        return at + max(spans[g].values())

    def free(g: int, at: int, placed: dict[int, int]) -> bool:
        return not any(at % s for s in stride[g]) and not any(
            at < o + spans[h][t] and o < at + size
            for h, o in placed.items()
            for t, size in spans[g].items()
            if spans[h].get(t) and size
        )

    def go(left: list[int], placed: dict[int, int], level: int, top: int) -> None:
        nonlocal best
        if top >= best or best == enough:
            return
        if not left:
            best = top
            return
        for g in left:
            at = 0
            while not free(g, at, placed):
                at += 1
            if at >= level:
                rest = [h for h in left if h != g]
                go(rest, {**placed, g: at}, at, max(top, top_of(g, at)))

    top = max((top_of(g, o) for g, o in fixed.items()), default=0)
    moving = [g for g in bases if g not in fixed]
    go([g for g in moving if any(spans[g].values())], fixed, 0, top)
    return best


def cases(seed: int, count: int) -> Iterator[tuple[PlacementProblem, int]]:
    """Problems of five to nine buffers with their optimum; every other one is rectangles only."""
    random = Random(seed)
    made = 0
    while made < count:
        problem = random_problem(random, 9, fancy=made % 2 == 0)
        if len(problem.buffers) < 5:
            continue
        fixed = [b.fixed + b.size for b in problem.buffers if b.fixed is not None]
        yield problem, smallest_arena(problem, max([load(problem), *fixed]))
        made += 1
