"""Random problems with parts, what is wrong with the places of parts, and the least arena of
them."""

from dataclasses import replace
from random import Random

from memopt.solvers.problems.placement import Buffer, PlacementProblem

STEPS = 7  # of random parts


def random_parts(
    random: Random, most: int, fixed: bool = True, shuffled: bool = True
) -> PlacementProblem:
    """Up to `most` bases; about half are in parts that live as they like, of sizes of their own,
    with holes between them, results in place over one part or over two, and alignments; bases
    before their parts unless they are `shuffled`."""
    buffers: list[Buffer] = []

    def add(size: int, base: int, at: int, alignment: int = 1, where: int | None = None) -> None:
        lower = random.randrange(STEPS)
        upper = random.randint(lower + 1, STEPS)
        name = f"b{len(buffers)}"
        buffers.append(Buffer(name, size, lower, upper, base, where, alignment, at))

    placed = False
    for _ in range(random.randint(1, most)):
        base = len(buffers)
        if random.random() < 0.5:
            alignment = random.choice((1, 1, 2))
            size = random.randint(0, 5)
            add(-(-size // alignment) * alignment, base, 0, alignment)
            continue
        where = random.choice((0, 2, 4)) if fixed and not placed and random.random() < 0.1 else None
        placed |= where is not None
        add(0, base, 0, random.choice((1, 1, 2)), where)
        at = 0
        for _ in range(random.randint(1, 3)):
            size = random.randint(1, 3)
            add(size, base, at)
            if random.random() < 0.3:
                add(random.randint(1, size), base, at)
            at += size + random.choice((0, 0, 0, 1))
        if random.random() < 0.2:
            add(at, base, 0)
    order = list(range(len(buffers)))
    if shuffled and random.random() < 0.5:
        random.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    result = [replace(buffers[old], base=place[buffers[old].base]) for old in order]
    return PlacementProblem(tuple(result))


def held(problem: PlacementProblem, base: int, step: int) -> set[int]:
    """Bytes from its offset that a base holds in a step."""
    return {
        b.at + k
        for b in problem.buffers
        if b.base == base and b.lower <= step < b.upper
        for k in range(b.size)
    }


def collide(problem: PlacementProblem, where: dict[int, int]) -> bool:
    """Whether two bases hold one byte in one step: looked at one by one."""
    for step in range(steps_of(problem)):
        taken: set[int] = set()
        for base, offset in where.items():
            mine = {offset + k for k in held(problem, base, step)}
            if taken & mine:
                return True
            taken |= mine
    return False


def wrong(problem: PlacementProblem, offsets: tuple[int, ...], arena: int) -> bool:
    buffers = problem.buffers
    if any(
        o != offsets[b.base] + b.at or o < 0 or o % b.alignment or b.fixed not in (None, o)
        for b, o in zip(buffers, offsets, strict=True)
    ):
        return True
    end = max(o + b.size for b, o in zip(buffers, offsets, strict=True))
    return end != arena or collide(problem, {b: offsets[b] for b in problem.members})


def load(problem: PlacementProblem) -> int:
    steps = range(steps_of(problem))
    return max(sum(len(held(problem, b, t)) for b in problem.members) for t in steps)


def steps_of(problem: PlacementProblem) -> int:
    return max(b.upper for b in problem.buffers)


def smallest_arena(problem: PlacementProblem, at_most: int) -> int:
    """The least arena, every offset of every base tried; `at_most` is one that is known."""
    bases, steps = sorted(problem.members), range(steps_of(problem))
    sizes = {b: max(x.at + x.size for x in problem.buffers if x.base == b) for b in bases}
    outline = {b: [held(problem, b, t) for t in steps] for b in bases}

    def fits(arena: int, left: list[int], taken: list[set[int]]) -> bool:
        if not left:
            return True
        base, *rest = left
        fixed, aligned = problem.buffers[base].fixed, problem.buffers[base].alignment
        for offset in range(arena - sizes[base] + 1) if fixed is None else (fixed,):
            if offset % aligned or offset + sizes[base] > arena:
                continue
            mine = [{offset + k for k in outline[base][t]} for t in steps]
            if any(a & b for a, b in zip(taken, mine, strict=True)):
                continue
            if fits(arena, rest, [a | b for a, b in zip(taken, mine, strict=True)]):
                return True
        return False

    bases.sort(key=lambda b: -sizes[b])
    arenas = range(load(problem), at_most + 1)
    return next(a for a in arenas if fits(a, bases, [set() for _ in steps]))
