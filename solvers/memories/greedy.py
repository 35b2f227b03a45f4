"""A first answer in no time: what is read and written most per byte and moment goes first, into
the cheapest bank where it fits. Nothing moves. It is where the exact method starts, and the answer
where that runs out of time.
"""

from collections.abc import Callable, Sequence

from memopt.solvers import clock
from memopt.solvers.placement.address_space import address_space
from memopt.solvers.problems.memories import MemoryProblem, Tenant, Visit, cost_of
from memopt.solvers.problems.placement import Item, Piece

Key = Callable[[Tenant], tuple[float, ...]]


def _dense(t: Tenant) -> tuple[float, ...]:
    area = sum((up - low) * h for low, up, h, _ in t.heights)
    return (-t.traffic / max(area, 1), -t.size, t.lower)


ORDERS: tuple[Key, ...] = (
    _dense,
    lambda t: (-t.size, -t.traffic, t.lower),
    lambda t: (-t.traffic, -t.size, t.lower),
)


def first_answer(
    problem: MemoryProblem, deadline: float | None = None
) -> tuple[tuple[Visit, ...], ...] | None:
    """The cheapest of a few greedy assignments that fit, None if none does. None is begun after
    `deadline` where another one fits."""
    items = [_item(i, t) for i, t in enumerate(problem.tenants)]
    answers: list[tuple[tuple[Visit, ...], ...]] = []
    for key in ORDERS:
        if answers and clock.late(deadline):
            break
        filled = _fill(problem, items, key)
        if filled is not None:
            answers.append(filled)
            if cost_of(problem, filled) == problem.least:
                break
    return min(answers, key=lambda visits: cost_of(problem, visits), default=None)


def _item(index: int, tenant: Tenant) -> Item:
    """The tenant for a placement; its heights taken as the largest, but for parts."""
    size, lower, upper = tenant.size, tenant.lower, tenant.upper
    pieces = (Piece(lower, upper, size, index),) if size else ()
    if tenant.in_parts:
        pieces = tuple(Piece(low, up, h, index, at) for low, up, h, at in tenant.heights if h)
    return Item(index, (index,), pieces, lower, upper, size, tenant.alignment, None)


def _fill(
    problem: MemoryProblem, items: Sequence[Item], key: Key
) -> tuple[tuple[Visit, ...], ...] | None:
    banks = sorted(range(len(problem.banks)), key=lambda b: (problem.banks[b].cost, b))
    spaces = [address_space(items) for _ in problem.banks]
    bank_of: dict[int, int] = {}
    order = sorted(range(len(problem.tenants)), key=lambda i: (*key(problem.tenants[i]), i))
    for i in order:
        item = items[i]
        for b in banks:
            offset = spaces[b].first_fit(item) if item.size else 0
            if offset + item.size <= problem.banks[b].capacity:
                break
        else:
            return None
        bank_of[i] = b
        spaces[b].put(item, offset)
    banks = [bank_of[i.index] for i in items]
    offsets = [spaces[b].offsets[i.index] for b, i in zip(banks, items, strict=True)]
    places = zip(banks, offsets, items, strict=True)
    return tuple([(Visit(b, at, i.lower, i.upper),) for b, at, i in places])
