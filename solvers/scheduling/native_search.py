"""The search of `best_first.py` in the native library: the same states in the same order.

    search = search_of(graph, floor, ceiling, switches)     # in Python where there is no library

The library goes on for a slice of work at a time, which may end within a state: of thousands of
branches one takes seconds. Between two slices the clock is read, and Ctrl-C heard.
"""

from array import array
from ctypes import CDLL

from memopt.solvers import clock
from memopt.solvers.native.library import LARGEST, Stream, clamped, library, numbers_of
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling import best_first
from memopt.solvers.scheduling.best_first import Search, Switches

SLICE = 5_000_000  # words looked at between two looks at the clock, some 10 ms
NUMBERS = 7  # that `advance` answers


class NativeSearch(Search):
    """`Search` with what it knows in the memory of `library`, which `forget` frees.

    What the library refuses, as sums overflow there, goes on in Python.
    """

    library: CDLL
    handle: int | None = None
    refused: bool = False
    put_aside: int = 0
    paused: bool = False  # within the last state
    tables: Stream | None = None  # the part of the problem that `again` does not change

    @property
    def waiting(self) -> int:
        return super().waiting if self.handle is None else self.put_aside

    def again(self, floor: int, ceiling: int) -> Search:
        search = NativeSearch(self.graph, floor, ceiling, self.switches, self.kills)
        search.library, search.refused, search.tables = self.library, self.refused, self.tables
        return search

    def forget(self) -> None:
        super().forget()
        if self.handle is not None:
            self.library.memopt_downsets_destroy(self.handle)
            self.handle, self.put_aside, self.paused = None, 0, False

    def __del__(self) -> None:
        self.forget()

    def run(
        self, states: int | None = None, deadline: float | None = None, memory: int | None = None
    ) -> None:
        if self.exhausted or clock.late(deadline):
            return
        if self.handle is None and not self.refused:
            self.handle = self._create()
            self.refused = self.handle is None
        if self.refused:
            super().run(states, deadline, memory)
            return
        self.put_aside = self.put_aside or 1
        end = None if states is None else self.states + states
        while not self.exhausted and (self.paused or self.states != end):
            is_full = memory is not None and self.memory > memory and not self.paused
            if is_full or clock.late(deadline):
                return
            self._advance(LARGEST if end is None else end - self.states, clamped(memory))

    def problem(self) -> "array[int]":
        """Return the problem as `downsets.cpp` reads it. Raises OverflowError."""
        self.tables = self.tables or _tables(self)
        header, on = Stream(), self.switches
        header.add(len(self.graph), self.walker.start, self.lower_bound)
        header.add(self.graph.unread_inputs, self.memory, best_first.CHAIN)
        header.add(self.by_kills, on.commits, on.dominance)
        return header.values + self.tables.values

    def _create(self) -> int | None:
        try:
            values = self.problem()
        except OverflowError:
            return None
        return self.library.memopt_downsets_create(numbers_of(values), len(values), self.weight)

    def _advance(self, states: int, memory: int) -> None:
        outcome = array("q", bytes(8 * NUMBERS))
        floor, ceiling = clamped(self.floor), clamped(self.ceiling)
        if self.library.memopt_downsets_advance(
            self.handle, states, SLICE, memory, floor, ceiling, numbers_of(outcome)
        ):
            raise MemoryError
        self.states, self.put_aside, self.memory, self.lower_bound, *flags = outcome
        self.exhausted, self.paused, is_found = map(bool, flags)
        if is_found:
            order = array("q", bytes(8 * len(self.graph)))
            self.library.memopt_downsets_order(self.handle, numbers_of(order))
            self.order = tuple(order)


def _tables(search: Search) -> Stream:
    """Return the operators and events of the problem as `downsets.cpp` reads them."""
    graph, stream = search.graph, Stream()
    groups, sizes = graph.groups, graph.sizes
    for v in range(len(graph)):
        stream.add(graph.extra[v])
        fresh = [(sizes[g], groups[g].writers) for g in graph.writes[v] if not groups[g].is_input]
        freed = [(sizes[g], graph.touchers[g]) for g in graph.touches[v] if not groups[g].is_output]
        overwritten = [(sizes[c.result], graph.touchers[c.operand]) for c in graph.candidates[v]]
        for parts in (fresh, freed, overwritten):
            stream.add(len(parts))
            for size, operators in parts:
                stream.add(size)
                stream.add_list(operators)
        stream.add_list(graph.predecessors[v])
    events, candidates, blockers = search.kills.tables if search.by_kills else ((), (), [])
    stream.add(len(events))
    for need in events:
        stream.add_mask(need, len(graph))
    stream.add(len(candidates))
    for need, last in candidates:
        stream.add_mask(need, len(graph))
        stream.add(last)
    for others in blockers:
        stream.add_list(others)
    return stream


def search_of(graph: MemoryGraph, floor: int, ceiling: int, switches: Switches) -> Search:
    """Return the search in the library, in Python where there is none."""
    native = library()
    if native is None:
        return Search(graph, floor, ceiling, switches)
    search = NativeSearch(graph, floor, ceiling, switches)
    search.library = native
    return search
