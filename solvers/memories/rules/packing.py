"""`packing`: keep the gaps that save most for the bytes and steps that they take, and search for
better weights of the tensors by simulated annealing; never worse than `belady`.
"""

from memopt.solvers import clock
from memopt.solvers.memories.packing import Annealing, Packer, tries_of
from memopt.solvers.memories.rules import belady
from memopt.solvers.memories.traffic import Traffic, TrafficProblem, moved_bytes

WORK = 400_000  # operators looked at


def solve(problem: TrafficProblem, time_limit: float | None = None) -> Traffic:
    """Return the best packing found in `time_limit` seconds (without one: `WORK`)."""
    first = belady.solve(problem)
    if not first.moved:
        return first
    packer = Packer(problem)
    annealing = Annealing(packer, list(range(problem.steps)))
    annealing.run(tries_of(problem.steps, WORK), clock.deadline(time_limit))
    stays = packer.kept(annealing.best.gaps)
    moved = moved_bytes(problem, stays)
    return Traffic(moved, 0, stays) if moved < first.moved else first
