"""What the two integer programs share: where they start, and how answers become schedules."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import (
    InPlace,
    MemoryGraph,
    ProblemError,
    Schedule,
    bits,
    check_order,
    profile,
)
from memopt.solvers.programs.mathopt import Model
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.methods import greedy, rpo
from memopt.solvers.theory.bounds import flow_bound, trivial


class IntegerProgram(Protocol):
    """A model of one graph."""

    @property
    def graph(self) -> MemoryGraph: ...
    @property
    def model(self) -> Model: ...
    @property
    def unit(self) -> int:
        """Bytes of one unit of the objective."""
        ...

    @property
    def variables(self) -> int: ...

    def done(self, operator: int, step: int) -> Any:
        """[operator has run in `step` or before]: 0, 1, or an expression."""
        ...

    def build(self) -> Any:
        """State everything; returns the objective."""
        ...

    def order(self, value: Callable[[Any], int]) -> tuple[int, ...]:
        """The order that the values of a solution stand for."""
        ...

    def hints(self, order: tuple[int, ...]) -> Iterator[tuple[Any, int]]:
        """Every variable's value under a known order, the objective's aside."""
        ...


def begun(program: IntegerProgram, group: int, step: int) -> list[Any]:
    """The group is there from the step on in which one of these is 1: its writers' own, or any."""
    g = program.graph.groups[group]
    return [1] if g.is_input else [program.done(w, step) for w in sorted(set(g.writers))]


def over(program: IntegerProgram, group: int, step: int) -> list[Any]:
    """The group stays up to the step in which all of these are 1: after its users', or never."""
    g = program.graph.groups[group]
    if g.is_output:
        return [0]
    return [program.done(u, step - 1) for u in sorted({*g.writers, *g.readers})]


def others(graph: MemoryGraph, candidate: InPlace) -> Iterator[int]:
    """Who must have run before `candidate` can be used: all other users of its operand."""
    return bits(graph.toucher_masks[candidate.operand] & ~(1 << candidate.operator))


@dataclass(frozen=True)
class Given:
    """A proven lower bound in bytes and an order to start from, if given; `orders` are known."""

    bound: int | None
    warm_start: tuple[int, ...] | None
    orders: tuple[tuple[int, ...], ...]


def given(
    graph: MemoryGraph,
    bound: int | str | None,
    warm_start: tuple[int, ...] | str | None,
    time_limit: float | None = None,
) -> Given:
    """The options `bound` (bytes, or "flow" for T6) and `warm_start` (an order, or a method), what
    they take of `time_limit` seconds each kept to a quarter.

    Raises ProblemError for another word, and for an order that is not one.
    """
    orders = [greedy.order(graph), rpo.order(graph)]
    share = None if time_limit is None else time_limit / 4
    if isinstance(warm_start, str):
        warm_start = schedule(graph, warm_start, share).order
    if warm_start is not None:
        check_order(graph, warm_start)
        orders.append(warm_start)
    if isinstance(bound, str):
        if bound != "flow":
            raise ProblemError(f"bound={bound}: bytes, or flow")
        bound = flow_bound(graph, orders, time_limit=share).value
    return Given(bound, warm_start, tuple(orders))


def optimise(
    program: IntegerProgram, start: Given, time_limit: float | None, seed: int
) -> Schedule:
    """Build, solve and read the program; the peak is recomputed from the order.

    The solver gets what building leaves of `time_limit` seconds; a program that takes more than
    half of them to state is given up.
    """
    deadline = clock.deadline(time_limit)
    graph, model = program.graph, program.model
    # what has been stated has to be written out for the solver, which takes as long once more
    model.state_until(None if deadline is None else clock.deadline(clock.left(deadline, 0.5)))
    try:
        objective = program.build()
    except clock.TimeIsOverError:
        return _without(program, start)
    model.state_until(None)
    if start.bound is not None:
        model.add(objective >= -(-start.bound // program.unit))
    if start.warm_start is not None:
        for variable, value in program.hints(start.warm_start):
            model.add_hint(variable, value)
        known = profile(graph, start.warm_start).peak
        model.add_hint(objective, -(-max(known, trivial(graph), start.bound or 0) // program.unit))
    answer = model.minimize(objective, clock.left(deadline), seed)
    lower = max(trivial(graph), start.bound or 0, (answer.bound or 0) * program.unit)
    orders = list(start.orders)
    if answer.found:
        orders.insert(0, program.order(answer.value))
    best = min(orders, key=lambda o: profile(graph, o).peak)
    peak = profile(graph, best).peak
    proof = "ilp" if answer.optimal else "none"
    return Schedule(best, peak, min(lower, peak), proof, program.variables)


def _without(program: IntegerProgram, start: Given) -> Schedule:
    """The best of the known orders, when there was no time to state the program."""
    graph = program.graph
    best = min(start.orders, key=lambda o: profile(graph, o).peak)
    peak = profile(graph, best).peak
    lower = max(trivial(graph), start.bound or 0)
    return Schedule(best, peak, min(lower, peak), "none", program.variables)
