"""Tenants over several banks: random problems, and the least cost of all assignments by brute force
that shares no code with the solver."""

from collections.abc import Iterator
from itertools import pairwise, permutations, product
from random import Random

from memopt.solvers.memories import Bank, Height, MemoryProblem, Tenant, Use, moment


def random_problem(random: Random, most: int, moving: bool) -> MemoryProblem:
    """A few tenants; some move, some are shapes, some have no bytes, some are one part of a tensor,
    which is not rounded up."""
    steps = random.randint(1, 6 if moving else 4)
    tenants: list[Tenant] = []
    for i in range(random.randint(1, most)):
        alignment = random.choice((1, 1, 2))
        size = alignment * random.choice((0, 1, 2, 3, 4, 5, 6))
        chosen = sorted(random.sample(range(-1, steps + 1), random.randint(1, min(3, steps + 2))))
        uses = tuple(
            Use(s, random.randint(0, 12) if size and 0 <= s < steps else 0) for s in chosen
        )
        low, up = moment(chosen[0]), moment(chosen[-1]) + 1
        moves = moving and random.random() < 0.8
        heights = [Height(low, up, size)]
        if not moves and size and up - low > 1 and random.random() < 0.5:
            cut = random.randint(low + 1, up - 1)
            if random.random() < 0.5:
                heights = [
                    Height(low, cut, size),
                    Height(cut, up, alignment * random.randint(1, 6)),
                ]
            else:  # parts one behind the other, the first of which dies alone
                above = random.randint(1, size)
                heights = [Height(low, cut, above), Height(low, up, random.randint(1, 3), above)]
        copied = random.randint(1, size) if size else 0
        parts = any(h.at for h in heights)
        if not moves and size > 1 and len(heights) == 1 and random.random() < 0.3:
            heights, parts = [Height(low, up, size - 1)], True
        tenants.append(Tenant(f"t{i}", tuple(heights), uses, moves, copied, alignment, parts))
    banks = tuple(
        Bank(f"m{k}", random.randint(0, 12), random.randint(0, 4))
        for k in range(random.choice((1, 2, 2, 3)))
    )
    return MemoryProblem(banks, tuple(tenants), steps)


def lives(tenant: Tenant, banks: int) -> Iterator[tuple[int, list[tuple[int, int, int]]]]:
    """(traffic and moves as a list per bank folded into a key, stays): every way to live.

    Between two uses a tenant may change right after the first and right before the second.
    """
    if not tenant.movable or len(tenant.uses) == 1:
        for b in range(banks):
            lower = min(h.lower for h in tenant.heights)
            upper = max(h.upper for h in tenant.heights)
            yield 0, [(b, lower, upper)]
        return
    points = [tenant.uses[0].step * 3 + 4]
    changes: list[int] = []
    for a, b in zip(tenant.uses, tenant.uses[1:], strict=False):
        changes += [a.step * 3 + 5, b.step * 3 + 3]
    end = tenant.uses[-1].step * 3 + 5
    for where in product(range(banks), repeat=len(changes) + 1):
        stays = [(where[0], points[0], end)]
        for at, bank in zip(changes, where[1:], strict=True):
            if bank != stays[-1][0]:
                stays[-1] = (stays[-1][0], stays[-1][1], at + 1)
                stays.append((bank, at, end))
        yield len(stays) - 1, stays


def price(problem: MemoryProblem, tenant: Tenant, stays: list[tuple[int, int, int]]) -> int:
    total = 0
    for use in (u for u in tenant.uses if u.bytes):  # one without may be behind its end
        at = use.step * 3 + 4
        total += use.bytes * problem.banks[[b for b, lo, up in stays if lo <= at < up][-1]].cost
    for (a, _, _), (b, _, _) in pairwise(stays):
        total += tenant.copied * (problem.banks[a].cost + problem.banks[b].cost)
    return total


def fits(blocks: list[tuple[int, list[Height]]], capacity: int) -> bool:
    """Whether blocks (alignment, heights) have offsets below `capacity`: first fit in all orders,
    or with parts, above which something may have to be, all offsets."""
    blocks = [b for b in blocks if any(h for _, _, h, _ in b[1])]
    tops = [max(at + h for _, _, h, at in heights) for _, heights in blocks]
    if any(top > capacity for top in tops):
        return False
    times = {t for _, heights in blocks for lo, up, _, _ in heights for t in range(lo, up)}
    for t in times:
        if sum(h for _, hs in blocks for lo, up, h, _ in hs if lo <= t < up) > capacity:
            return False
    if any(at for _, heights in blocks for *_, at in heights):
        return any_offsets(blocks, tops, capacity, [])
    for order in permutations(range(len(blocks))):
        at: dict[int, int] = {}
        for k in order:
            alignment, heights = blocks[k]
            offset = 0
            while offset + tops[k] <= capacity and any(
                overlap(heights, offset, blocks[j][1], o) for j, o in at.items()
            ):
                offset += alignment
            if offset + tops[k] > capacity:
                break
            at[k] = offset
        else:
            return True
    return False


def overlap(a: list[Height], at: int, b: list[Height], there: int) -> bool:
    """Whether two blocks at these offsets share a byte in a moment."""
    return any(
        x.lower < y.upper
        and y.lower < x.upper
        and at + x.at < there + y.at + y.bytes
        and there + y.at < at + x.at + x.bytes
        for x in a
        for y in b
        if x.bytes and y.bytes
    )


def any_offsets(
    blocks: list[tuple[int, list[Height]]], tops: list[int], capacity: int, given: list[int]
) -> bool:
    """Whether the blocks behind those that are `given` offsets have some, too."""
    if len(given) == len(blocks):
        return True
    alignment, heights = blocks[len(given)]
    return any(
        not any(overlap(heights, at, blocks[j][1], o) for j, o in enumerate(given))
        and any_offsets(blocks, tops, capacity, [*given, at])
        for at in range(0, capacity - tops[len(given)] + 1, alignment)
    )


def least_cost(problem: MemoryProblem, grow: tuple[int, ...] = ()) -> int | None:
    """The least cost of all assignments, None if there is none."""
    banks = len(problem.banks)
    ways = [
        sorted(
            ((price(problem, t, stays), stays) for _, stays in lives(t, banks)),
            key=lambda way: way[0],
        )
        for t in problem.tenants
    ]
    capacity = [b.capacity + (grow[k] if grow else 0) for k, b in enumerate(problem.banks)]
    for choice in sorted(product(*ways), key=lambda c: sum(p for p, _ in c)):
        good = True
        for k in range(banks):
            blocks = [
                (t.alignment, [Height(lo, up, t.size)] if len(t.heights) == 1 else list(t.heights))
                for t, (_, stays) in zip(problem.tenants, choice, strict=True)
                for b, lo, up in stays
                if b == k
            ]
            if not fits(blocks, capacity[k]):
                good = False
                break
        if good:
            return sum(p for p, _ in choice)
    return None


def small(problem: MemoryProblem) -> bool:
    """Whether brute force is quick."""
    ways = 1
    for t in problem.tenants:
        ways *= len(problem.banks) ** len(t.elements)
    return ways <= 1_100
