"""Check of hints for CP-SAT: an assignment given as a hint must be a solution of the program.

CP-SAT completes and repairs hints on its way through presolve; where that goes wrong, a check fails
in it and the process aborts. So a hint names all variables and is held against every constraint
here. A kind of constraint that is not known here is never fulfilled.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from memopt.solvers import clock


def fulfils(program: Any, values: Sequence[int], deadline: float | None = None) -> bool:
    """Return whether `values`, one per variable of the CpModelProto, are a solution. Raises
    TimeIsOverError at the deadline."""
    if len(values) != len(program.variables):
        return False
    domains = (list(v.domain) for v in program.variables)
    if not all(_within(x, d) for x, d in zip(values, domains, strict=True)):
        return False
    check = _Check(list(program.constraints), values, deadline)
    return all(map(check.holds, check.constraints))


def _within(value: int, domain: Sequence[int]) -> bool:
    """`domain` lists the first and last number of each stretch."""
    return any(a <= value <= b for a, b in zip(domain[::2], domain[1::2], strict=True))


class _Check:
    """The constraints of a program under an assignment."""

    def __init__(
        self, constraints: list[Any], values: Sequence[int], deadline: float | None
    ) -> None:
        self.constraints = constraints
        self.values = values
        self.deadline = deadline

    def true(self, literal: int) -> bool:
        return bool(self.values[literal]) if literal >= 0 else not self.values[-literal - 1]

    def linear(self, expression: Any) -> int:
        return self.sum(expression.vars, expression.coeffs) + int(expression.offset)

    def sum(self, variables: Sequence[int], coefficients: Sequence[int]) -> int:
        return sum(a * self.values[v] for v, a in zip(variables, coefficients, strict=True))

    def holds(self, c: Any) -> bool:
        """Return whether a constraint holds, or not all its enforcing literals are true. Raises
        TimeIsOverError."""
        clock.raise_if_late(self.deadline)
        if not all(map(self.true, c.enforcement_literal)):
            return True
        if c.has_linear():
            return _within(self.sum(c.linear.vars, c.linear.coeffs), list(c.linear.domain))
        if c.has_bool_or():
            return any(map(self.true, c.bool_or.literals))
        if c.has_bool_and():
            return all(map(self.true, c.bool_and.literals))
        if c.has_at_most_one():
            return sum(map(self.true, c.at_most_one.literals)) <= 1
        if c.has_exactly_one():
            return sum(map(self.true, c.exactly_one.literals)) == 1
        return self._arranged(c)

    def _arranged(self, c: Any) -> bool:
        if c.has_interval():
            i = c.interval
            start, size, end = map(self.linear, (i.start, i.size, i.end))
            return size >= 0 and start + size == end
        if c.has_no_overlap():
            return not _overlap(self._spans(c.no_overlap.intervals))
        if c.has_no_overlap_2d():
            return self._apart(c.no_overlap_2d)
        return False

    def _span(self, index: int) -> tuple[int, int] | None:
        """Start and end of an interval, None if it is not there."""
        c = self.constraints[index]
        if not all(map(self.true, c.enforcement_literal)):
            return None
        return self.linear(c.interval.start), self.linear(c.interval.end)

    def _spans(self, intervals: Iterable[int]) -> list[tuple[int, int]]:
        return [s for i in intervals if (s := self._span(i)) is not None]

    def _apart(self, c: Any) -> bool:
        """No two rectangles share a point; each pair that shares a moment is looked at."""
        sides = zip(map(self._span, c.x_intervals), map(self._span, c.y_intervals), strict=True)
        boxes = sorted((x, y) for x, y in sides if x is not None and y is not None)
        for i, (x, y) in enumerate(boxes):
            clock.raise_if_late(self.deadline)
            for other_x, other_y in boxes[i + 1 :]:
                if other_x[0] >= x[1]:
                    break
                if x[0] < other_x[1] and y[0] < other_y[1] and other_y[0] < y[1]:
                    return False
        return True


def _overlap(spans: list[tuple[int, int]]) -> bool:
    ordered = sorted(s for s in spans if s[0] < s[1])
    return any(a[1] > b[0] for a, b in pairwise(ordered))
