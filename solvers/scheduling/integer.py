"""Common parts of the two integer programs: their starts, and schedules out of their answers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import (
    InPlace,
    MemoryGraph,
    ProblemError,
    Proof,
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


def others(graph: MemoryGraph, candidate: InPlace) -> Iterable[int]:
    """Return the operators that must have run before `candidate` can be used: all other users of
    its operand."""
    return bits(graph.toucher_masks[candidate.operand] & ~(1 << candidate.operator))


NONE = "none"  # of an option
STATES = 50_000  # of auto's search for an order to start from, without a time limit: two seconds
# options for the program as the papers state it
ALONE: dict[str, Any] = {"bound": NONE, "warm_start": NONE}


@dataclass(frozen=True)
class Given:
    """A proven lower bound in bytes and an order to start from, if given; `orders` are known.

    `proof` is what the bound rests on, "none" for one that the caller gave."""

    bound: int | None
    warm_start: tuple[int, ...] | None
    orders: tuple[tuple[int, ...], ...]
    proof: Proof = "none"

    def is_met(self, graph: MemoryGraph) -> bool:
        """Return whether a known order meets the bound, and that was shown here."""
        return self.proof != "none" and self.best(graph).optimal

    def best(self, graph: MemoryGraph, states: int = 0) -> Schedule:
        """Return the best known order, proven where it meets a bound that was shown here."""
        return self.answer(graph, self.orders, self.bound or 0, "none", states)

    def answer(
        self,
        graph: MemoryGraph,
        orders: Sequence[tuple[int, ...]],
        lower_bound: int,
        proof: Proof,
        states: int,
    ) -> Schedule:
        """Return the first of the best `orders`, with the bound and what that rests on."""
        order = min(orders, key=lambda o: profile(graph, o).peak)
        peak = profile(graph, order).peak
        if proof == "none" and peak == self.bound:
            proof = self.proof
        return Schedule(order, peak, min(peak, max(trivial(graph), lower_bound)), proof, states)


def given(
    graph: MemoryGraph,
    bound: int | str | None,
    warm_start: tuple[int, ...] | str | None,
    time_limit: float | None = None,
) -> Given:
    """Return the bound and the orders that the options `bound` and `warm_start` stand for.

    `bound` is bytes, "flow" for T6, or "none"; `warm_start` an order, a method, or "none". Each
    takes at most a quarter of `time_limit` seconds. Raises ProblemError for another word, and for
    an order that is not one.
    """
    orders = [greedy.order(graph), rpo.order(graph)]
    share = None if time_limit is None else time_limit / 4
    if isinstance(warm_start, str):
        more = {"max_states": STATES} if warm_start == "auto" and share is None else {}
        schedule_found = None if warm_start == NONE else schedule(graph, warm_start, share, **more)
        warm_start = schedule_found.order if schedule_found else None
    if warm_start is not None:
        check_order(graph, warm_start)
        orders.append(warm_start)
    if not isinstance(bound, str):
        return Given(bound, warm_start, tuple(orders))
    if bound == NONE:
        return Given(None, warm_start, tuple(orders))
    if bound != "flow":
        raise ProblemError(f"bound={bound}: bytes, flow, or none")
    flow = flow_bound(graph, orders, time_limit=share)
    return Given(flow.value, warm_start, tuple(orders), flow.proof)


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
        return start.best(graph, program.variables)
    model.state_until(None)
    if start.bound is not None:
        model.add(objective >= -(-start.bound // program.unit))
    if start.warm_start is not None:
        for variable, value in program.hints(start.warm_start):
            model.add_hint(variable, value)
        known = profile(graph, start.warm_start).peak
        model.add_hint(objective, -(-max(known, trivial(graph), start.bound or 0) // program.unit))
    answer = model.minimize(objective, clock.left(deadline), seed)
    lower = max(start.bound or 0, (answer.bound or 0) * program.unit)
    orders = [program.order(answer.value)] if answer.found else []
    proof = "ilp" if answer.optimal else "none"
    return start.answer(graph, [*orders, *start.orders], lower, proof, program.variables)
