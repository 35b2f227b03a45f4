"""One way to state an integer program, two solvers behind it.

    model = new_model("highs")                  # or "cp-sat"
    x, mem = model.new_bool_var("x"), model.new_int_var(0, 9, "mem")
    model.add(3 * x + 2 <= mem)
    answer = model.minimize(mem, time_limit=10)  # answer.value(x) -> 0

The words are those of CP-SAT's own model. HiGHS is reached through OR-Tools' MathOpt: `highspy` and
`ortools` cannot be imported in one process. Both run on one thread with a fixed seed, so the same
model gives the same answer unless the time limit strikes.

CP-SAT computes in integers, HiGHS in floating point with a tolerance of 1e-6 per variable; so a
bound from HiGHS counts as proven only where the objective's range is at most `EXACT`, and what it
says is optimal must be recomputed from the values (which `ilp.py` and `ilp_olla.py` do).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from math import ceil
from typing import Any, Literal, Protocol, get_args

from memopt.solvers.errors import ProblemError

Solver = Literal["cp-sat", "highs"]
SOLVERS: tuple[str, ...] = get_args(Solver)

# the largest objective at which HiGHS' tolerance stays below one unit
EXACT = 1_000_000


@dataclass(frozen=True)
class Answer:
    """`bound` is a proven lower bound of the objective, or None; `value` reads a variable.

    `found` says that there are values, `optimal` that they are proven optimal.
    """

    found: bool
    optimal: bool
    bound: int | None
    value: Callable[[Any], int]


class Model(Protocol):
    """What `ilp.py` and `ilp_olla.py` state their programs with; expressions are overloaded."""

    def new_bool_var(self, name: str) -> Any: ...
    def new_int_var(self, lower: int, upper: int, name: str) -> Any: ...
    def add(self, constraint: Any) -> None: ...
    def add_exactly_one(self, literals: Iterable[Any]) -> None: ...
    def add_at_most_one(self, literals: Iterable[Any]) -> None: ...
    def add_implication(self, a: Any, b: Any) -> None: ...
    def add_bool_or(self, positive: Iterable[Any], negative: Iterable[Any]) -> None: ...
    def add_hint(self, variable: Any, value: int) -> None: ...
    def minimize(self, objective: Any, time_limit: float | None = None, seed: int = 0) -> Answer:
        """Solve within `time_limit` seconds; `objective` is one integer variable."""
        ...


def new_model(solver: str = "cp-sat") -> Model:
    """An empty model for one of `SOLVERS`. Raises ProblemError for any other name."""
    if solver not in SOLVERS:
        raise ProblemError(f"unknown solver {solver!r}: one of {', '.join(SOLVERS)}")
    return CpSat() if solver == "cp-sat" else Highs()


def add_clause(model: Model, positive: Iterable[Any], negative: Iterable[Any]) -> None:
    """At least one of `positive` is 1 or of `negative` is 0; each a variable, or plain 0 or 1."""
    yes, no = list(positive), list(negative)
    if any(isinstance(x, int) and x == 1 for x in yes):
        return
    if any(isinstance(x, int) and x == 0 for x in no):
        return
    model.add_bool_or(
        [x for x in yes if not isinstance(x, int)], [x for x in no if not isinstance(x, int)]
    )


class CpSat:
    """CP-SAT, exact."""

    def __init__(self) -> None:
        self._module: Any = import_module("ortools.sat.python.cp_model")
        self._model: Any = self._module.CpModel()

    def new_bool_var(self, name: str) -> Any:
        return self._model.new_bool_var(name)

    def new_int_var(self, lower: int, upper: int, name: str) -> Any:
        return self._model.new_int_var(lower, upper, name)

    def add(self, constraint: Any) -> None:
        self._model.add(constraint)

    def add_exactly_one(self, literals: Iterable[Any]) -> None:
        self._model.add_exactly_one(literals)

    def add_at_most_one(self, literals: Iterable[Any]) -> None:
        self._model.add_at_most_one(literals)

    def add_implication(self, a: Any, b: Any) -> None:
        self._model.add_implication(a, b)

    def add_bool_or(self, positive: Iterable[Any], negative: Iterable[Any]) -> None:
        self._model.add_bool_or([*positive, *(x.negated() for x in negative)])

    def add_hint(self, variable: Any, value: int) -> None:
        self._model.add_hint(variable, value)

    def minimize(self, objective: Any, time_limit: float | None = None, seed: int = 0) -> Answer:
        self._model.minimize(objective)
        solver: Any = self._module.CpSolver()
        solver.parameters.num_workers = 1
        # programs of short clauses: without linear relaxation, proofs take a third of the time
        solver.parameters.linearization_level = 0
        solver.parameters.random_seed = seed
        if time_limit is not None:
            solver.parameters.max_time_in_seconds = time_limit
        status = solver.solve(self._model)
        optimal = status == self._module.OPTIMAL
        found = optimal or status == self._module.FEASIBLE
        bound = ceil(solver.best_objective_bound - 1e-6)
        known = found or status == self._module.UNKNOWN
        return Answer(found, optimal, bound if known else None, lambda x: int(solver.value(x)))


class Highs:
    """HiGHS through MathOpt."""

    def __init__(self) -> None:
        self._module: Any = import_module("ortools.math_opt.python.mathopt")
        self._model: Any = self._module.Model()
        self._hints: dict[Any, float] = {}

    def new_bool_var(self, name: str) -> Any:
        return self._model.add_binary_variable(name=name)

    def new_int_var(self, lower: int, upper: int, name: str) -> Any:
        return self._model.add_integer_variable(lb=lower, ub=upper, name=name)

    def add(self, constraint: Any) -> None:
        if isinstance(constraint, bool):  # between two constants
            if not constraint:
                self._model.add_linear_constraint(lb=1.0, ub=0.0, expr=0.0)
        else:
            self._model.add_linear_constraint(constraint)

    def add_exactly_one(self, literals: Iterable[Any]) -> None:
        self._model.add_linear_constraint(lb=1.0, ub=1.0, expr=self._module.fast_sum(literals))

    def add_at_most_one(self, literals: Iterable[Any]) -> None:
        self._model.add_linear_constraint(ub=1.0, expr=self._module.fast_sum(literals))

    def add_implication(self, a: Any, b: Any) -> None:
        self._model.add_linear_constraint(a <= b)

    def add_bool_or(self, positive: Iterable[Any], negative: Iterable[Any]) -> None:
        fast_sum, no = self._module.fast_sum, list(negative)
        self.add(fast_sum(positive) - fast_sum(no) >= 1 - len(no))

    def add_hint(self, variable: Any, value: int) -> None:
        self._hints[variable] = float(value)

    def minimize(self, objective: Any, time_limit: float | None = None, seed: int = 0) -> Answer:
        opt = self._module
        self._model.minimize(objective)
        parameters = opt.SolveParameters(
            time_limit=None if time_limit is None else timedelta(seconds=time_limit),
            random_seed=seed,
            relative_gap_tolerance=0.0,
            absolute_gap_tolerance=0.5,  # objectives are whole numbers
        )
        parameters.highs.string_options["parallel"] = "off"
        hints = [opt.SolutionHint(variable_values=self._hints)] if self._hints else []
        result = opt.solve(
            self._model,
            opt.SolverType.HIGHS,
            params=parameters,
            model_params=opt.ModelSolveParameters(solution_hints=hints),
        )
        found = bool(result.has_primal_feasible_solution())
        exact = objective.upper_bound <= EXACT
        optimal = found and exact and result.termination.reason == opt.TerminationReason.OPTIMAL
        bound = float(result.termination.objective_bounds.dual_bound)
        proven = exact and abs(bound) <= EXACT
        values: dict[Any, float] = result.variable_values() if found else {}
        return Answer(
            found, optimal, ceil(bound - 1e-3) if proven else None, lambda x: round(values[x])
        )
