"""An order of the operators for which the least is moved off the chip, with a bound for all orders.

    answer = least_traffic_order(problem, predecessors, start=range(problem.steps))
    answer.order, answer.traffic.moved, answer.lower_bound          # bytes

Simulated annealing over orders, with what is kept of each by greedy packing (`packing.py`). A move
takes some operators that run one after the other to another place, as far as what they need and who
needs them let it. Bound: `traffic_bound.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from memopt.solvers import clock
from memopt.solvers.memories.packing import Annealing, Packer, tries_of
from memopt.solvers.memories.traffic import Traffic, TrafficProblem, least_traffic, moved_bytes
from memopt.solvers.memories.traffic_bound import OrdersBound, bound_of_orders

WORK, RUNS = 1_000_000, 3  # operators that a run looks at; each run has another seed
BOUND_SHARE = 0.2  # of the time limit, for the bound
SEVERAL = 0.5  # of the moves take more than one operator, up to `PART` of all
PART = 4


@dataclass(frozen=True)
class TrafficOrder:
    """An order (steps of the problem, as they are to run), its traffic and the kept gaps in that
    order, and what no order and no rule goes below, bytes; `proof` says what proves the bound where
    it is met, as in a plan."""

    order: tuple[int, ...]
    traffic: Traffic
    lower_bound: int
    proof: str


def in_order(problem: TrafficProblem, order: Sequence[int]) -> TrafficProblem:
    """Return the problem with its operators in another order, the tensors listed as they are."""
    step = [0] * len(order)
    for place, v in enumerate(order):
        step[v] = place
    tensors = tuple(
        replace(
            x,
            born=step[x.born] if x.born >= 0 else -1,
            reads=tuple(sorted(step[v] for v in x.reads)),
        )
        for x in problem.tensors
    )
    return replace(problem, tensors=tensors, workspace=tuple(problem.workspace[v] for v in order))


class Moves:
    """Moves between orders that are legal: each operator behind its predecessors."""

    def __init__(self, predecessors: Sequence[Sequence[int]]) -> None:
        self.predecessors = predecessors
        self.successors: list[list[int]] = [[] for _ in predecessors]
        for v, before in enumerate(predecessors):
            for u in before:
                self.successors[u].append(v)

    def __call__(self, order: list[int], random: Random) -> list[int] | None:
        """Return the order with some operators elsewhere; None where these cannot move."""
        count = len(order)
        length = 1
        if count > 2 and random.random() < SEVERAL:
            length = random.randint(2, max(2, count // PART))
        first = random.randrange(count - length + 1)
        taken = order[first : first + length]
        inside = set(taken)
        needed = {u for v in taken for u in self.predecessors[v]} - inside
        needing = {u for v in taken for u in self.successors[v]} - inside
        low, high = first, first
        while low > 0 and order[low - 1] not in needed:
            low -= 1
        while high + length < count and order[high + length] not in needing:
            high += 1
        if low == high:
            return None
        place = random.randint(low, high - 1)
        place += place >= first  # anywhere else
        rest = order[:first] + order[first + length :]
        rest[place:place] = taken
        return rest


def least_traffic_order(
    problem: TrafficProblem,
    predecessors: Sequence[Sequence[int]],
    starts: Sequence[Sequence[int]],
    time_limit: float | None = None,
    work: int = WORK,
) -> TrafficOrder:
    """Return the order found in `time_limit` seconds, or without one in so much `work`: then the
    same on every run.

    `starts` are legal orders, at least one; the answer moves no more than any of them by Belady's
    rule. Raises ProblemError for a malformed problem.
    """
    problem.check()
    deadline = clock.deadline(time_limit)
    best: tuple[tuple[int, ...], Traffic] | None = None

    def offer(order: Sequence[int], traffic: Traffic) -> None:
        nonlocal best
        if best is None or traffic.moved < best[1].moved:
            best = tuple(order), traffic

    for start in starts:
        offer(start, least_traffic(in_order(problem, start)))
    assert best is not None
    lower_bound = OrdersBound(0, "search")  # where nothing is moved nothing is to be proven
    if best[1].moved:
        seconds = clock.left(deadline, BOUND_SHARE)
        lower_bound = bound_of_orders(problem, predecessors, seconds)
    packer, moves = Packer(problem), Moves(predecessors)
    tries = tries_of(problem.steps, work)
    for seed in range(RUNS):
        if best[1].moved <= lower_bound.value or clock.late(deadline):
            break
        annealing = Annealing(packer, list(best[0]), seed, moves)
        annealing.run(tries, deadline)
        ordered = in_order(problem, annealing.best_order)
        stays = Packer(ordered).kept(annealing.best.gaps)
        offer(annealing.best_order, Traffic(moved_bytes(ordered, stays), 0, stays))
        offer(annealing.best_order, least_traffic(ordered))  # packing is greedy
    order, traffic = best
    proof = lower_bound.proof if traffic.moved == lower_bound.value else "none"
    traffic = replace(traffic, lower_bound=lower_bound.value, proof=proof)
    traffic.verify(in_order(problem, order))
    return TrafficOrder(order, traffic, lower_bound.value, proof)
