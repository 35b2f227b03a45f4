"""Fewest bytes that moves of buffers copy so that all of them fit into an arena.

`exact` searches arrangements by the bytes copied so far (Dijkstra). A solution in which every stay
is pushed down until it touches another one or the bottom is as good, for no order of addresses
changes; so places are sums of sizes, multiples of their greatest common divisor, and all of these
are tried. `slide` decides step by step: what is made goes into holes, and where it does not fit,
the blocks of fewest bytes between two holes slide together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from heapq import heappop, heappush, merge
from math import gcd
from typing import NamedTuple

from memopt.solvers import clock
from memopt.solvers.problems.compaction import Block, Compaction, CompactionProblem, Move
from memopt.solvers.problems.memory_graph import round_up

PLACES = 48  # units of the arena up to which the search runs
STATES = 4_000  # arrangements after which it gives up
EDGES = 100_000  # ways from one to another after which it does
RULES = ("hint", "smallest", "lowest", "ends")
Places = tuple[tuple[int, int], ...]  # (block, offset), ascending by block
State = tuple[int, int, Places]  # step, how many of its fresh blocks lie, where everything lies


class _Edge(NamedTuple):
    """How the search came to an arrangement: by a move, or by placing a fresh block."""

    source: State
    move: Move | None
    placed: Places = ()


def compact(
    problem: CompactionProblem, hint: Sequence[int], needed: bool, time_limit: float | None = None
) -> Compaction | None:
    """Return moves that copy few bytes, verified, with a bound; None if none were found.

    `hint` are places of the blocks in a larger arena; `needed`: without a move they are proven not
    to fit.
    """
    deadline = clock.deadline(time_limit)
    first = clock.deadline(clock.left(deadline, 0.5))
    answer = exact(problem, first) or slide(problem, hint, deadline)
    if answer is None:
        return None
    least = min((b.size for b in problem.blocks if b.movable), default=0) if needed else 0
    answer = replace(answer, lower_bound=max(least, answer.lower_bound))
    answer.verify(problem)
    return answer


def exact(problem: CompactionProblem, deadline: float | None = None) -> Compaction | None:
    """Return the moves that copy the fewest bytes; None where no moves help, and for problems that
    are too large."""
    unit = reduce(gcd, (n for b in problem.blocks for n in (b.size, b.alignment)), 0) or 1
    if problem.arena > unit * PLACES:
        return None
    start: State = (0, 0, ())
    waiting: list[tuple[int, int, int, State]] = [(0, 0, 0, start)]  # bytes, then the latest first
    costs: dict[State, int] = {start: 0}
    came, done = dict[State, _Edge](), set[State]()
    edges = 0
    while waiting and len(done) < STATES:
        cost, _, _, state = heappop(waiting)
        if state in done:
            continue
        done.add(state)
        if state[0] == problem.steps:
            return _traced(problem, state, came, cost)
        for after, edge in _next(problem, state, unit):
            edges += 1
            if edges > EDGES or clock.late(deadline):
                return None
            total = cost + (problem.blocks[edge.move.block].size if edge.move else 0)
            if total < costs.get(after, total + 1):
                costs[after], came[after] = total, edge
                heappush(waiting, (total, -after[0], -after[1], after))
    return None


def _next(problem: CompactionProblem, state: State, unit: int) -> Iterator[tuple[State, _Edge]]:
    """Yield arrangements after one more move, while nothing of the step is made, and those after
    its next block is made; after the last one, of what lives across its end."""
    step, count, places = state
    blocks, fresh = problem.blocks, problem.fresh[step]
    for k, offset in places if step and not count else ():
        others = [(j, at) for j, at in places if j != k]
        for at in _free(problem, k, others, unit) if blocks[k].movable else ():
            if at != offset:
                after = tuple(sorted((*others, (k, at))))
                yield (step, 0, after), _Edge(state, Move(step, k, at))
    for block in fresh[count : count + 1]:
        for at in _free(problem, block, places, unit):
            lying = tuple(sorted((*places, (block, at))))
            yield (step, count + 1, lying), _Edge(state, None, ((block, at),))
    if count == len(fresh):
        lasting = tuple([(k, at) for k, at in places if blocks[k].upper > step + 1])
        yield (step + 1, 0, lasting), _Edge(state, None)


def _free(
    problem: CompactionProblem, k: int, others: Sequence[tuple[int, int]], unit: int
) -> Iterator[int]:
    """Yield the places where a block lies over none of the others."""
    size = problem.blocks[k].size
    for at in range(0, problem.arena - size + 1, max(unit, problem.blocks[k].alignment)):
        if all(at >= o + problem.blocks[j].size or o >= at + size for j, o in others):
            yield at


def _traced(
    problem: CompactionProblem, state: State, came: Mapping[State, _Edge], cost: int
) -> Compaction:
    offsets, moves = [0] * len(problem.blocks), list[Move]()
    while state in came:
        edge = came[state]
        moves += [edge.move] if edge.move else []
        for k, at in edge.placed:
            offsets[k] = at
        state = edge.source
    return Compaction(tuple(offsets), tuple(reversed(moves)), cost)


def slide(
    problem: CompactionProblem, hint: Sequence[int] = (), deadline: float | None = None
) -> Compaction | None:
    """Return the best of a few answers that are found step by step, None if there is none."""
    rules = RULES if hint else RULES[1:]
    answers = (_step_by_step(problem, hint, rule, deadline) for rule in rules)
    return min(filter(None, answers), key=lambda a: a.moved(problem), default=None)


def _step_by_step(
    problem: CompactionProblem, hint: Sequence[int], rule: str, deadline: float | None
) -> Compaction | None:
    blocks = problem.blocks
    offsets, moves = [0] * len(blocks), list[Move]()
    at: dict[int, int] = {}
    for step in range(problem.steps):
        at = {k: place for k, place in at.items() if blocks[k].upper > step}
        fresh = sorted(problem.fresh[step], key=lambda k: -blocks[k].size)
        for slid in _slides(problem, at) if step else ({},):
            if clock.late(deadline):
                return None
            placed = _into_holes(problem, {**at, **slid}, fresh, rule, hint)
            if placed is not None:
                break
        else:
            return None
        moves += [Move(step, k, place) for k, place in slid.items()]
        for k in fresh:
            offsets[k] = placed[k]
        at = placed
    return Compaction(tuple(offsets), tuple(moves), 0)


def _slides(problem: CompactionProblem, at: Mapping[int, int]) -> Iterator[dict[int, int]]:
    """Yield sets of moves by which neighbours slide together, up or down, each in the order in
    which none overwrites another, or one goes into a hole elsewhere; first none, then by bytes."""
    yield {}
    blocks = problem.blocks
    order = sorted(at, key=lambda k: (at[k], k))
    ascending = [_elsewhere(problem, at, sorted(order, key=lambda k: blocks[k].size))]
    for first in range(len(order)):
        bottom = _end(problem, at, order[first - 1]) if first else 0
        ascending.append(_together(problem, at, order[first:], bottom, up=False))
        top = at[order[first + 1]] if first + 1 < len(order) else problem.arena
        ascending.append(_together(problem, at, order[first::-1], top, up=True))
    seen = set[Places]()
    for moves in merge(*ascending, key=lambda moves: sum(blocks[k].size for k in moves)):
        key = tuple(moves.items())
        if key not in seen:
            seen.add(key)
            yield moves


def _elsewhere(
    problem: CompactionProblem, at: Mapping[int, int], order: Sequence[int]
) -> Iterator[dict[int, int]]:
    for k in order:
        if problem.blocks[k].movable:
            for low, _ in _holes(problem, {j: at[j] for j in at if j != k}, k):
                if low != at[k]:
                    yield {k: low}


def _together(
    problem: CompactionProblem, at: Mapping[int, int], order: Sequence[int], limit: int, up: bool
) -> Iterator[dict[int, int]]:
    """Yield the moves of more and more blocks of `order`, each to the one before, the first one to
    `limit`."""
    moves = dict[int, int]()
    for k in order:
        block = problem.blocks[k]
        place = at[k]
        if block.movable:
            place = _below(limit, block) if up else round_up(limit, block.alignment)
        limit = place if up else place + block.size
        if place != at[k]:
            moves[k] = place
            yield dict(moves)


def _below(limit: int, block: Block) -> int:
    """Return the highest place of a block that ends at `limit`, or under it."""
    room = limit - block.size
    return room - room % block.alignment


def _end(problem: CompactionProblem, at: Mapping[int, int], k: int) -> int:
    return at[k] + problem.blocks[k].size


def _into_holes(
    problem: CompactionProblem,
    at: Mapping[int, int],
    fresh: Sequence[int],
    rule: str,
    hint: Sequence[int],
) -> dict[int, int] | None:
    """Return where everything lies with the `fresh` blocks in holes, None if one finds none."""
    placed = dict(at)
    for k in fresh:
        block = problem.blocks[k]
        holes = _holes(problem, placed, k)
        if not holes:
            return None
        lowest = rule in ("lowest", "ends")
        placed[k] = (holes[0] if lowest else min(holes, key=_width))[0]
        if rule == "ends" and block.upper - block.lower <= 2:  # short-lived ones at the other end
            placed[k] = _below(holes[-1][1], block)
        if rule == "hint" and any(a <= hint[k] and hint[k] + block.size <= b for a, b in holes):
            placed[k] = hint[k]
    return placed


def _holes(problem: CompactionProblem, at: Mapping[int, int], k: int) -> list[tuple[int, int]]:
    """Return the stretches between what lies there that have room for block k, where it may begin,
    ascending."""
    block = problem.blocks[k]
    bounds = sorted((place, _end(problem, at, j)) for j, place in at.items())
    starts = [0, *(end for _, end in bounds)]
    stops = [*(start for start, _ in bounds), problem.arena]
    return [
        (low, stop)
        for start, stop in zip(starts, stops, strict=True)
        if (low := round_up(start, block.alignment)) + block.size <= stop
    ]


def _width(hole: tuple[int, int]) -> int:
    return hole[1] - hole[0]
