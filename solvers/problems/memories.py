"""Several memories: what has to lie where, for how long, and what it costs to read and write it.

    fast, slow = Bank("dtcm", 64, 1), Bank("sram", 256, 2)
    x = Tenant("x", (Height(1, 6, 32),), (Use(-1, 0), Use(0, 32)))
    MemoryProblem((fast, slow), (x,), steps=1)

Time is counted in moments, three per step t (-1 is before the first operator, `steps` after the
last): 3t + 3 moves right before it, 3t + 4 the operator, 3t + 5 moves right after it. A tenant that
moves does so right after or right before an operator that uses it, from one bank to another; the
moves of one moment happen all at once, so source and destination both exist then. Bytes throughout.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import Buffer, Placement, PlacementProblem, check_sum


def moment(step: int) -> int:
    """The moment in which the operator of `step` runs."""
    return 3 * step + 4


def step_of(at: int) -> int:
    """The step that a moment belongs to."""
    return at // 3 - 1


@dataclass(frozen=True)
class Bank:
    """A memory: `capacity` in bytes, `cost` of every byte read or written there."""

    name: str
    capacity: int
    cost: int


@dataclass(frozen=True)
class Use:
    """`bytes` read and written in `step`; -1 stands for the caller's filling, `steps` for the
    caller's reading, neither of which is counted."""

    step: int
    bytes: int


@dataclass(frozen=True)
class Element:
    """A stretch in which a tenant stays where it is: moments [lower, upper), and, if it came from
    another bank, already in moment `entry`. `use` is the index of the use in it, -1 for none."""

    lower: int
    upper: int
    entry: int
    use: int


class Height(NamedTuple):
    """`bytes` of a tenant during moments [lower, upper), `at` bytes from its offset."""

    lower: int
    upper: int
    bytes: int
    at: int = 0


@dataclass(frozen=True)
class Tenant:
    """A buffer, or several that share a base and so lie in one bank.

    No two of its `heights` share a byte in a moment, and the first is at its offset. Its bytes are
    rounded up to `alignment`, but for parts of a tensor (`unrounded`); those of what takes its
    place to their own. `movable` tenants (one height) may change the bank; each move reads and
    writes `copied` bytes.
    """

    name: str
    heights: tuple[Height, ...]
    uses: tuple[Use, ...]
    movable: bool = False
    copied: int = 0
    alignment: int = 1
    unrounded: bool = False

    def __post_init__(self) -> None:
        if len(self.heights) == 1:  # as of most, of which it is known at once
            ((lower, upper, size, at),) = self.heights
            known = {"lower": lower, "upper": upper, "size": size + at, "in_parts": bool(at)}
            self.__dict__.update(known)

    def check(self) -> None:
        """Raise ProblemError for a live range, sizes or traffic that make no sense."""
        steps = [u.step for u in self.uses]
        if not self.heights or not steps or any(a >= b for a, b in pairwise(steps)):
            raise ProblemError(f"{self.name!r}: no live range, or uses out of order")
        if any(low >= up or h < 0 or at < 0 for low, up, h, at in self.heights):
            raise ProblemError(f"{self.name!r}: bad live range or size")
        if self.heights[0].at:
            raise ProblemError(f"{self.name!r}: nothing at its offset")
        if self.heights[0].bytes % self.alignment and not self.unrounded:
            raise ProblemError(f"{self.name!r}: bytes are not rounded up to {self.alignment}")
        if not self.size and (self.traffic or self.copied):
            raise ProblemError(f"{self.name!r}: no bytes, but traffic")
        ends = self.lower, self.upper
        if self.movable and (
            len(self.heights) > 1 or ends != (moment(steps[0]), moment(steps[-1]) + 1)
        ):
            raise ProblemError(f"{self.name!r}: what moves lives from its first to its last use")

    @cached_property
    def size(self) -> int:
        """Bytes from its offset to the end of the highest of its heights."""
        return max([h.at + h.bytes for h in self.heights], default=0)

    @cached_property
    def lower(self) -> int:
        return min([h.lower for h in self.heights])

    @cached_property
    def upper(self) -> int:
        return max([h.upper for h in self.heights])

    @cached_property
    def in_parts(self) -> bool:
        """Return whether some part of it lies above its offset, and dies alone."""
        return any(h.at for h in self.heights)

    @cached_property
    def traffic(self) -> int:
        """Bytes read and written by operators."""
        return sum(u.bytes for u in self.uses)

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """Uses and, between them, gaps; one for all if it never moves."""
        if not self.movable or len(self.uses) == 1:
            return (Element(self.lower, self.upper, -1, -1),)
        elements: list[Element] = []
        for j, use in enumerate(self.uses):
            at, last = moment(use.step), j == len(self.uses) - 1
            elements.append(Element(at, at + (1 if last else 2), at - 1 if j else -1, j))
            if not last:
                elements.append(Element(at + 2, moment(self.uses[j + 1].step), at + 1, -1))
        return tuple(elements)

    def bytes_in(self, element: int) -> int:
        """Bytes that operators read and write while the tenant is in `elements[element]`."""
        e = self.elements[element]
        if len(self.elements) == 1:
            return self.traffic
        return self.uses[e.use].bytes if e.use >= 0 else 0


@dataclass(frozen=True)
class MemoryProblem:
    """Tenants to be given banks and offsets; `steps` operators run."""

    banks: tuple[Bank, ...]
    tenants: tuple[Tenant, ...]
    steps: int

    def check(self) -> None:
        """Raise ProblemError for banks and tenants that make no sense."""
        names = [b.name for b in self.banks]
        if not names or len(set(names)) != len(names):
            raise ProblemError("memories need different names, and there must be one")
        for b in self.banks:
            if b.capacity < 0 or b.cost < 0:
                raise ProblemError(f"memory {b.name!r}: negative capacity or cost")
        for t in self.tenants:
            t.check()
        dearest = max(b.cost for b in self.banks)
        check_sum((t.name, t.size + t.alignment) for t in self.tenants)
        check_sum(
            (t.name, (t.traffic + 4 * len(t.uses) * t.copied) * dearest) for t in self.tenants
        )

    @cached_property
    def least(self) -> int:
        """A cost that no assignment is below: everything in the cheapest memory."""
        cheapest = min(b.cost for b in self.banks)
        return sum(t.traffic for t in self.tenants) * cheapest


class NoRoomError(ProblemError):
    """No assignment exists. `missing` bytes are the fewest that would have to be added to the
    memories, all in all; `exact` says that as many are enough, else it may take more. `step` is the
    fullest, `alone` that it by itself needs as many; `tenants` are those live there, with bytes."""

    def __init__(
        self, missing: int, exact: bool, step: int, alone: bool, tenants: tuple[Tenant, ...]
    ) -> None:
        self.missing, self.exact, self.step = missing, exact, step
        self.alone, self.tenants = alone, tenants
        least = "" if exact else "at least "
        super().__init__(f"{least}{missing} B are missing in step {step}")


@dataclass(frozen=True)
class Visit:
    """A tenant in bank number `bank` at `offset` during moments [lower, upper)."""

    bank: int
    offset: int
    lower: int
    upper: int


@dataclass(frozen=True)
class Assignment:
    """For every tenant its visits, in order of time; more than one if it moves.

    `cost` is what they cost, `lower_bound` what none is below, `proof` "ilp" if that was shown
    (then the cost is least), else "none".
    """

    visits: tuple[tuple[Visit, ...], ...]
    cost: int
    lower_bound: int
    proof: str = "none"

    @property
    def optimal(self) -> bool:
        return self.proof != "none" and self.cost == self.lower_bound

    def arenas(self, problem: MemoryProblem) -> tuple[int, ...]:
        """Bytes used of each bank."""
        ends = [0] * len(problem.banks)
        for tenant, visits in zip(problem.tenants, self.visits, strict=True):
            for v in visits:
                ends[v.bank] = max(ends[v.bank], v.offset + tenant.size if tenant.size else 0)
        return tuple(ends)

    def verify(self, problem: MemoryProblem) -> None:
        """Raise ProblemError unless every tenant is somewhere all its life, no two share a byte,
        no bank overflows, and the cost is as stated."""
        if len(self.visits) != len(problem.tenants):
            raise ProblemError("every tenant needs a visit")
        for tenant, visits in zip(problem.tenants, self.visits, strict=True):
            _check_visits(tenant, visits)
        packed = bank_problems(problem, self.visits)
        for bank, (buffers, owners) in zip(problem.banks, packed, strict=True):
            placement = _placement(buffers, owners)
            placement.verify(buffers)
            if placement.arena > bank.capacity:
                raise ProblemError(
                    f"memory {bank.name!r} overflows: {placement.arena} B of {bank.capacity} B"
                )
        cost = cost_of(problem, self.visits)
        if cost != self.cost or self.lower_bound > cost:
            raise ProblemError(f"the cost is {cost}, stated {self.cost} >= {self.lower_bound}")


def _check_visits(tenant: Tenant, visits: Sequence[Visit]) -> None:
    if not visits or (visits[0].lower, visits[-1].upper) != (tenant.lower, tenant.upper):
        raise ProblemError(f"{tenant.name!r} is not placed for its whole life")
    if len(visits) == 1:
        return
    entries = {e.entry for e in tenant.elements}
    for a, b in pairwise(visits):
        if b.lower not in entries or a.upper != b.lower + 1 or a.bank == b.bank:
            raise ProblemError(f"{tenant.name!r} cannot move in moment {b.lower}")


def heights_of(tenant: Tenant, visit: Visit) -> Sequence[Height]:
    """The tenant's heights during one visit."""
    if len(tenant.heights) == 1:
        return (Height(visit.lower, visit.upper, tenant.size),)
    return tenant.heights


def bank_problems(
    problem: MemoryProblem, visits: Sequence[Sequence[Visit]]
) -> list[tuple[PlacementProblem, list[Visit]]]:
    """The placement problem of each bank, and the visit of each of its buffers: one per height."""
    buffers: list[list[Buffer]] = [[] for _ in problem.banks]
    owners: list[list[Visit]] = [[] for _ in problem.banks]
    for tenant, stays in zip(problem.tenants, visits, strict=True):
        for visit in stays:
            bank_buffers = buffers[visit.bank]
            base = len(bank_buffers)
            for low, up, height, at in heights_of(tenant, visit):
                aligned = 1 if at else tenant.alignment
                bank_buffers.append(Buffer(tenant.name, height, low, up, base, None, aligned, at))
                owners[visit.bank].append(visit)
    return [(PlacementProblem(tuple(b)), o) for b, o in zip(buffers, owners, strict=True)]


def _placement(packed: PlacementProblem, owners: Sequence[Visit]) -> Placement:
    offsets = tuple([v.offset + b.at for v, b in zip(owners, packed.buffers, strict=True)])
    ends = [o + b.size for o, b in zip(offsets, packed.buffers, strict=True)]
    return Placement(offsets, max(ends, default=0))


def visit_of(visits: Sequence[Visit], at: int) -> Visit:
    """Return where the tenant is when an operator runs in moment `at`."""
    return next(v for v in visits if v.lower <= at < v.upper)


def moved_bytes(problem: MemoryProblem, visits: Sequence[Sequence[Visit]]) -> tuple[int, ...]:
    """Bytes read and written in each bank: by operators, and by moves."""
    moved = [0] * len(problem.banks)
    for tenant, stays in zip(problem.tenants, visits, strict=True):
        if len(stays) == 1:
            moved[stays[0].bank] += tenant.traffic
            continue
        for use in tenant.uses:
            moved[visit_of(stays, moment(use.step)).bank] += use.bytes
        for a, b in pairwise(stays):
            moved[a.bank] += tenant.copied
            moved[b.bank] += tenant.copied
    return tuple(moved)


def cost_of(problem: MemoryProblem, visits: Sequence[Sequence[Visit]]) -> int:
    """Return the cost of the traffic: bytes times the cost of their bank."""
    moved = moved_bytes(problem, visits)
    return sum(m * b.cost for m, b in zip(moved, problem.banks, strict=True))
