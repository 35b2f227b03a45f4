"""Random problems of placement, and what is wrong with an answer."""

from itertools import permutations
from random import Random

from memopt.solvers.problems.placement import Buffer, PlacementProblem


def random_problem(random: Random, most: int, fancy: bool = True) -> PlacementProblem:
    """Up to `most` buffers: zero sizes, shared bases, alignments, and fixed offsets that agree."""
    count = random.randint(1, most)
    steps = random.randint(1, 8)
    buffers: list[Buffer] = []
    floor = 0  # fixed buffers lie above one another, so they never collide
    for i in range(count):
        alignment = random.choice((1, 1, 2, 4)) if fancy else 1
        size = random.choice((0, random.randint(1, 12), random.randint(1, 4))) if fancy else 0
        size = -(-(size or random.randint(int(not fancy), 9)) // alignment) * alignment
        lower = random.randrange(steps)
        upper = random.randint(lower + 1, steps)
        bases = [j for j, b in enumerate(buffers) if b.base == j and b.fixed is None]
        base = random.choice(bases) if fancy and bases and random.random() < 0.25 else i
        fixed = None
        if fancy and base == i and random.random() < 0.1:
            fixed = -(-(floor + random.randint(0, 3)) // 4) * 4
            floor = fixed + size
        buffers.append(Buffer(f"b{i}", size, lower, upper, base, fixed, alignment))
    return PlacementProblem(tuple(buffers))


def wrong(problem: PlacementProblem, offsets: tuple[int, ...], arena: int) -> str:
    """Return the faults of an answer, pair by pair and byte by byte."""
    buffers = problem.buffers
    for i, b in enumerate(buffers):
        if offsets[i] < 0 or offsets[i] % b.alignment or offsets[i] + b.size > arena:
            return f"{b.name} at {offsets[i]}"
        if (b.fixed is not None and b.fixed != offsets[i]) or offsets[b.base] + b.at != offsets[i]:
            return f"{b.name} is not where it must be"
        for j in range(i):
            c = buffers[j]
            if c.base == b.base or not b.size or not c.size:
                continue
            in_time = set(range(b.lower, b.upper)) & set(range(c.lower, c.upper))
            mine = set(range(offsets[i], offsets[i] + b.size))
            if in_time and mine & set(range(offsets[j], offsets[j] + c.size)):
                return f"{b.name} and {c.name} overlap"
    return (
        "" if arena == max(o + b.size for o, b in zip(offsets, buffers, strict=True)) else "arena"
    )


def load(problem: PlacementProblem) -> int:
    """Live bytes at the worst step, counted step by step."""
    worst = 0
    for t in range(max(b.upper for b in problem.buffers)):
        live = [b for b in problem.buffers if b.lower <= t < b.upper]
        worst = max(
            worst, sum(max(b.size for b in live if b.base == r) for r in {b.base for b in live})
        )
    return worst


def smallest_arena(problem: PlacementProblem) -> int:
    """The optimum by brute force. In some best placement nothing can sink, so first fit in the
    order of offsets reaches it (fixed ones first): try all orders, every offset upwards."""
    groups = sorted({b.base for b in problem.buffers})
    members = {g: [i for i, b in enumerate(problem.buffers) if b.base == g] for g in groups}
    fixed = {b.base: b.fixed for b in problem.buffers if b.fixed is not None}
    under = max(
        (
            o + problem.buffers[i].at + problem.buffers[i].size
            for g, o in fixed.items()
            for i in members[g]
        ),
        default=0,
    )
    best = 1 << 60
    for order in permutations([g for g in groups if g not in fixed]):
        at, top = dict(fixed), under
        for g in order:
            offset = 0
            while not fits(problem, members, at, g, offset):
                offset += 1
            at[g] = offset
            ends = (problem.buffers[i].at + problem.buffers[i].size for i in members[g])
            top = max(top, *(offset + end for end in ends))
            if top >= best:
                break
        best = min(best, top)
    return best


def fits(
    problem: PlacementProblem, members: dict[int, list[int]], at: dict[int, int], g: int, o: int
) -> bool:
    for i in members[g]:
        b = problem.buffers[i]
        if o % b.alignment:
            return False
        for h, p in at.items():
            for j in members[h]:
                c = problem.buffers[j]
                apart = b.upper <= c.lower or c.upper <= b.lower or not b.size or not c.size
                low, other = o + b.at, p + c.at
                if not apart and low < other + c.size and other < low + b.size:
                    return False
    return True
