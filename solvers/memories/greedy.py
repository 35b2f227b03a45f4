"""A first answer in no time: what is read and written most per byte and moment goes first, into
the cheapest bank where it fits. Nothing moves. It is where the exact method starts, and the answer
where that runs out of time.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from memopt.solvers import clock
from memopt.solvers.placement.address_space import address_spaces
from memopt.solvers.placement.slots import completed
from memopt.solvers.problems.memories import MemoryProblem, Tenant, Visit, cost_of
from memopt.solvers.problems.placement import Item, Piece

AT_ONCE = 2_000  # tenants that are placed whatever the time is
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
    """The cheapest of a few greedy assignments that fit, None if none does. After `deadline` those
    that are there, and what it has interrupted, with the rest of the tenants in slots."""
    items = [_item(i, t) for i, t in enumerate(problem.tenants)]
    answers: list[tuple[tuple[Visit, ...], ...]] = []
    for key in ORDERS:
        if answers and clock.late(deadline):
            break
        filled = _fill(problem, items, key, deadline)
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
    problem: MemoryProblem, items: Sequence[Item], key: Key, deadline: float | None
) -> tuple[tuple[Visit, ...], ...] | None:
    banks = sorted(range(len(problem.banks)), key=lambda b: (problem.banks[b].cost, b))
    spaces = address_spaces(items, len(problem.banks))
    bank_of: dict[int, int] = {}
    order = sorted(range(len(problem.tenants)), key=lambda i: (*key(problem.tenants[i]), i))
    for count, i in enumerate(order):
        if count >= AT_ONCE and clock.late(deadline):
            break
        item = items[i]
        for b in banks:
            offset = spaces[b].first_fit(item) if item.size else 0
            if offset + item.size <= problem.banks[b].capacity:
                break
        else:
            return None
        bank_of[i] = b
        spaces[b].put(item, offset)
    offsets = [
        spaces[bank_of[i]].offsets[i] if i in bank_of else -1 for i in range(len(problem.tenants))
    ]
    if len(bank_of) < len(items) and not _in_slots(problem, items, banks, bank_of, offsets):
        return None
    return tuple([(Visit(bank_of[i.index], offsets[i.index], i.lower, i.upper),) for i in items])


def _in_slots(
    problem: MemoryProblem,
    items: Sequence[Item],
    banks: Sequence[int],
    bank_of: dict[int, int],
    offsets: list[int],
) -> bool:
    """Put all that has no bank yet into the first one that has the slots for it; False if none
    has."""
    for bank in banks:
        members = [i for i in items if bank_of.get(i.index, bank) == bank]
        renumbered = [replace(item, index=k) for k, item in enumerate(members)]
        slots = completed(renumbered, [offsets[i.index] for i in members])
        top = max(offset + item.size for offset, item in zip(slots, members, strict=True))
        if top <= problem.banks[bank].capacity:
            for item, offset in zip(members, slots, strict=True):
                bank_of[item.index], offsets[item.index] = bank, offset
            return True
    return False
