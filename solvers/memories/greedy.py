"""A first answer in no time: what is read and written most per byte and moment goes first, into
the cheapest bank where it fits. Nothing moves. It is where the exact method starts, and the answer
where that runs out of time.
"""

from bisect import insort
from collections.abc import Callable

from memopt.solvers.problems.memories import MemoryProblem, Tenant, Visit, cost_of

Key = Callable[[Tenant], tuple[float, ...]]


def _dense(t: Tenant) -> tuple[float, ...]:
    area = sum((up - low) * h for low, up, h in t.heights)
    return (-t.traffic / max(area, 1), -t.size, t.lower)


ORDERS: tuple[Key, ...] = (
    _dense,
    lambda t: (-t.size, -t.traffic, t.lower),
    lambda t: (-t.traffic, -t.size, t.lower),
)


def first_answer(problem: MemoryProblem) -> tuple[tuple[Visit, ...], ...] | None:
    """The cheapest of a few greedy assignments that fit, None if none does."""
    found = [f for key in ORDERS if (f := _fill(problem, key)) is not None]
    return min(found, key=lambda visits: cost_of(problem, visits), default=None)


def _fill(problem: MemoryProblem, key: Key) -> tuple[tuple[Visit, ...], ...] | None:
    banks = sorted(range(len(problem.banks)), key=lambda b: (problem.banks[b].cost, b))
    taken: list[list[tuple[int, Tenant]]] = [[] for _ in problem.banks]  # by offset
    visits: list[tuple[Visit, ...]] = [()] * len(problem.tenants)
    for i in sorted(range(len(problem.tenants)), key=lambda i: (*key(problem.tenants[i]), i)):
        tenant = problem.tenants[i]
        for b in banks:
            offset = _lowest(taken[b], tenant)
            if offset + tenant.size <= problem.banks[b].capacity:
                break
        else:
            return None
        visits[i] = (Visit(b, offset, tenant.lower, tenant.upper),)
        if tenant.size:
            insort(taken[b], (offset, tenant), key=lambda entry: entry[0])
    return tuple(visits)


def _lowest(taken: list[tuple[int, Tenant]], tenant: Tenant) -> int:
    """The lowest aligned offset at which the tenant meets nobody; heights taken as the largest."""
    offset = 0
    if not tenant.size:
        return 0
    for at, other in taken:
        if at >= offset + tenant.size:
            break
        if other.lower < tenant.upper and tenant.lower < other.upper:
            end = at + other.size
            if end > offset:
                offset = -(-end // tenant.alignment) * tenant.alignment
    return offset
