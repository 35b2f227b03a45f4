"""The one way to CP-SAT: parameters, hint, worker process and answer, for every method that has a
program.

    model = cp_model.CpModel(); ...
    answer = solve(model, Limit(seconds=None, work=2.0), hint=[(x, 3), (y, 0)])
    answer.found, answer.bound, answer.value(x)

One thread and a fixed seed, so the same model gives the same answer unless seconds are limited.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Any

from ortools.sat.python import cp_model_helper

from memopt.solvers import clock
from memopt.solvers.programs import worker
from memopt.solvers.programs.hints import fulfils
from memopt.solvers.programs.limit import Limit
from memopt.solvers.programs.or_tools import cp_model

helper: Any = cp_model_helper  # its types leave most open
Hint = Iterable[tuple[Any, int]]


@dataclass(frozen=True)
class CpAnswer:
    """Answer of CP-SAT.

    `status` is its own word, UNKNOWN also where the process died or was late; `bound` is proven for
    the objective, or None.
    """

    status: str
    bound: int | None = None
    response: Any = None

    @property
    def optimal(self) -> bool:
        return self.status == "OPTIMAL"

    @property
    def infeasible(self) -> bool:
        return self.status == "INFEASIBLE"

    @property
    def found(self) -> bool:
        """Return whether there are values."""
        return self.status in ("OPTIMAL", "FEASIBLE")

    @property
    def objective(self) -> int:
        """The objective of a `found` answer."""
        return round(float(self.response.objective_value))

    @property
    def work(self) -> float:
        """CP-SAT's deterministic time, without that of most of its presolve; 0 where the process
        died."""
        return 0.0 if self.response is None else float(self.response.deterministic_time)

    def value(self, expression: Any) -> int:
        """A variable or expression under a `found` answer."""
        return int(helper.ResponseHelper.value(self.response, expression))


def solve(
    model: cp_model.CpModel,
    limit: Limit,
    hint: Hint = (),
    linearization: int | None = None,
    probing: int | None = None,
    seed: int = 0,
    told: Callable[[float, float], None] | None = None,
) -> CpAnswer:
    """Solve `model` in the worker process.

    A `hint` is used if it is a solution: a value for every variable, constants aside. `told` is
    called with the objective and the bound of each answer on the way. `linearization` and `probing`
    are CP-SAT's levels of linear relaxation and of probing in presolve, by default its own.
    """
    deadline = clock.deadline(limit.seconds)
    try:
        start_from(model, hint, deadline)
        clock.raise_if_late(deadline)
    except clock.TimeIsOverError:
        return CpAnswer("UNKNOWN")
    parameters = helper.SatParameters()
    parameters.num_workers = 1
    parameters.random_seed = seed
    # joining what must not overlap takes it longer than solving, counts as no work, and finds next
    # to nothing in steps that are cut of one list
    parameters.merge_no_overlap_work_limit = 0.0
    if linearization is not None:
        parameters.linearization_level = linearization
    if probing is not None:
        parameters.cp_model_probing_level = probing
    if limit.work is not None and (limit.always or limit.seconds is None):
        parameters.max_deterministic_time = limit.work
    program = (str(model.proto), str(parameters))
    text = worker.ask("cp-sat", program, clock.left(deadline), told)
    if text is None:
        return CpAnswer("UNKNOWN")
    response = helper.CpSolverResponse()
    if not response.parse_text_format(text):
        raise ValueError("the answer does not arrive as it was sent")
    status, bound = str(response.status.name), float(response.best_objective_bound)
    known = isfinite(bound) and status in ("OPTIMAL", "FEASIBLE", "UNKNOWN")
    return CpAnswer(status, ceil(bound - 1e-6) if known else None, response)


def start_from(model: cp_model.CpModel, hint: Hint, deadline: float | None = None) -> bool:
    """Hint at an assignment if it is a solution; whether it is. Raises TimeIsOverError at the
    deadline."""
    given = {int(variable.index): int(value) for variable, value in hint}
    program: Any = model.proto
    if not given:
        return False
    values: list[int] = []
    for index, variable in enumerate(program.variables):
        domain = list(variable.domain)
        if index not in given and len(domain) == 2 and domain[0] == domain[1]:
            given[index] = domain[0]
        if index not in given:
            return False
        values.append(given[index])
    if not fulfils(program, values, deadline):
        return False
    variables: Any = program.solution_hint.vars
    variables.extend(list(range(len(values))))
    program.solution_hint.values.extend(values)
    return True
