"""Two searches of one graph, from its start and from its end, that share what they prove.

Each end (`best_first.py`) proves lower bounds and commits by T1; from the end of the graph that is
the same search in the graph backwards (`reversal.py`), where its steps are the same. What one end
proves raises the other's floor, so that it commits to more. The end with fewer states put aside is
the one to go on with: on real networks they differ by up to seventy times, and which is the
smaller cannot be told before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling.best_first import ALL_ON, Search, Switches
from memopt.solvers.theory.reversal import backward, forward_order, reversible

# States that one end takes before it is asked again which end is next.
TURN = 256
NATIVE = "memopt.solvers.scheduling.native_search"  # loaded when something is searched


@dataclass(frozen=True)
class BothEnds:
    """The searches from the start and, if there is one, from the end, over the same bounds."""

    ends: tuple[Search, ...]
    tells: bool = False  # what it knows (clock.tell)

    @staticmethod
    def of(graph: MemoryGraph, floor: int, ceiling: int, switches: Switches = ALL_ON) -> "BothEnds":
        """`floor` in bytes must be proven; `graph` is numbered topologically."""
        native: Any = import_module(NATIVE)
        start: Callable[..., Search] = native.search_of  # in Python where there is no library
        forward = start(graph, floor, ceiling, switches)
        if switches.backward and reversible(graph):
            mirrored = backward(graph)
            if mirrored.level(0) <= max(floor, forward.lower_bound):  # else it may count too much
                return BothEnds((forward, start(mirrored, floor, ceiling, switches)))
        return BothEnds((forward,))

    def again(self, floor: int, ceiling: int) -> "BothEnds":
        """New searches between other bounds."""
        return BothEnds(tuple(end.again(floor, ceiling) for end in self.ends))  # tells nothing

    @property
    def states(self) -> int:
        return sum(end.states for end in self.ends)

    @property
    def memory(self) -> int:
        """Bytes, about."""
        return sum(end.memory for end in self.ends)

    @property
    def lower_bound(self) -> int:
        return max(end.lower_bound for end in self.ends)

    @property
    def exhausted(self) -> bool:
        return any(end.exhausted for end in self.ends)

    @property
    def order(self) -> tuple[int, ...] | None:
        """The order found, in the numbers of the graph from its start."""
        first, *rest = self.ends
        if first.order is not None:
            return first.order
        return next((forward_order(end.order) for end in rest if end.order is not None), None)

    @property
    def ceiling(self) -> int:
        return self.ends[0].ceiling

    def forget(self) -> None:
        """Free what is known; the bound stays."""
        for end in self.ends:
            end.forget()

    def lower_ceiling(self, peak: int) -> None:
        """Only orders below `peak` bytes are still looked for."""
        for end in self.ends:
            end.ceiling = peak

    def run(self, states: int | None, deadline: float | None, max_bytes: int) -> None:
        """Search until it is over, `states` more are taken, or time or memory is spent."""
        last = None if states is None else self.states + states
        while not self.exhausted:
            end = min(self.ends, key=lambda end: (end.states > 0, end.waiting))
            turn = TURN if last is None else min(TURN, last - self.states)
            before = end.states
            if self.tells:
                clock.tell(self.ceiling, self.lower_bound)
            end.run(turn, deadline, max_bytes - (self.memory - end.memory))
            if end.states - before < TURN and not end.exhausted:
                return
            for other in self.ends:
                other.raise_floor(end.lower_bound)
