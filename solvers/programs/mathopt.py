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
from importlib import import_module
from math import ceil
from typing import Any, Literal, Protocol, get_args

import numpy as np

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.programs import worker

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
    """Interface by which `ilp.py` and `ilp_olla.py` state their programs; expressions are
    overloaded."""

    def new_bool_var(self, name: str) -> Any: ...
    def new_int_var(self, lower: int, upper: int, name: str) -> Any: ...
    def add(self, constraint: Any) -> None: ...
    def add_exactly_one(self, literals: Iterable[Any]) -> None: ...
    def add_at_most_one(self, literals: Iterable[Any]) -> None: ...
    def add_implication(self, a: Any, b: Any) -> None: ...
    def add_bool_or(self, positive: Iterable[Any], negative: Iterable[Any]) -> None: ...
    def state_until(self, deadline: float | None) -> None:
        """From now on what states the model raises TimeIsOverError after `deadline`."""
        ...

    def add_hint(self, variable: Any, value: int) -> None:
        """A value to start from; hints are used if together they are a solution, with a value for
        every variable."""
        ...

    def minimize(self, objective: Any, time_limit: float | None = None, seed: int = 0) -> Answer:
        """Solve within `time_limit` seconds; `objective` is one integer variable."""
        ...


def check_solver(solver: str) -> None:
    """Raise ProblemError unless it is one of `SOLVERS`."""
    if solver not in SOLVERS:
        raise ProblemError(f"unknown solver {solver!r}: one of {', '.join(SOLVERS)}")


def new_model(solver: str = "cp-sat") -> Model:
    """An empty model for one of `SOLVERS`. Raises ProblemError for any other name."""
    check_solver(solver)
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


class _Stated:
    """Looks at the clock now and then while a model is stated."""

    _deadline: float | None = None
    _stated = 0

    def state_until(self, deadline: float | None) -> None:
        self._deadline = deadline

    def _raise_if_late(self) -> None:
        self._stated += 1
        if not self._stated % 256:
            clock.raise_if_late(self._deadline)


class CpSat(_Stated):
    """CP-SAT, exact."""

    def __init__(self) -> None:
        self._module: Any = import_module("memopt.solvers.programs.cp_solver")  # loads OR-Tools
        self._model: Any = self._module.cp_model.CpModel()
        self._hint: list[tuple[Any, int]] = []

    def new_bool_var(self, name: str) -> Any:
        self._raise_if_late()
        return self._model.new_bool_var(name)

    def new_int_var(self, lower: int, upper: int, name: str) -> Any:
        self._raise_if_late()
        return self._model.new_int_var(lower, upper, name)

    def add(self, constraint: Any) -> None:
        self._raise_if_late()
        self._model.add(constraint)

    def add_exactly_one(self, literals: Iterable[Any]) -> None:
        self._model.add_exactly_one(literals)

    def add_at_most_one(self, literals: Iterable[Any]) -> None:
        self._model.add_at_most_one(literals)

    def add_implication(self, a: Any, b: Any) -> None:
        self._raise_if_late()
        self._model.add_implication(a, b)

    def add_bool_or(self, positive: Iterable[Any], negative: Iterable[Any]) -> None:
        self._raise_if_late()
        self._model.add_bool_or([*positive, *(x.negated() for x in negative)])

    def add_hint(self, variable: Any, value: int) -> None:
        self._hint.append((variable, value))

    def minimize(self, objective: Any, time_limit: float | None = None, seed: int = 0) -> Answer:
        self._model.minimize(objective)
        # programs of short clauses: without linear relaxation, proofs take a third of the time
        limit = self._module.Limit(time_limit)
        solver = self._module.solve(self._model, limit, self._hint, linearization=0, seed=seed)
        return Answer(solver.found, solver.optimal, solver.bound, solver.value)


def fulfils(program: Any, values: list[float]) -> bool:
    """Return whether whole `values`, one per variable, are a solution of the ModelProto."""
    x = np.array(values)
    variables, rows = program.variables, program.linear_constraints
    matrix = program.linear_constraint_matrix
    row = np.searchsorted(np.array(rows.ids, np.int64), np.array(matrix.row_ids, np.int64))
    column = np.searchsorted(np.array(variables.ids, np.int64), np.array(matrix.column_ids))
    terms = np.array(matrix.coefficients) * x[column]
    sums = np.bincount(row, terms, len(rows.ids))
    return bool(
        np.all(x == np.round(x))
        and np.all(np.array(variables.lower_bounds) <= x)
        and np.all(x <= np.array(variables.upper_bounds))
        and np.all(np.array(rows.lower_bounds) <= sums)
        and np.all(sums <= np.array(rows.upper_bounds))
    )


class Highs(_Stated):
    """HiGHS through MathOpt."""

    def __init__(self) -> None:
        self._module: Any = import_module("ortools.math_opt.python.mathopt")
        self._model: Any = self._module.Model()
        self._hint: dict[Any, float] = {}

    def new_bool_var(self, name: str) -> Any:
        self._raise_if_late()
        return self._model.add_binary_variable(name=name)

    def new_int_var(self, lower: int, upper: int, name: str) -> Any:
        self._raise_if_late()
        return self._model.add_integer_variable(lb=lower, ub=upper, name=name)

    def add(self, constraint: Any) -> None:
        self._raise_if_late()
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
        self._raise_if_late()
        self._model.add_linear_constraint(a <= b)

    def add_bool_or(self, positive: Iterable[Any], negative: Iterable[Any]) -> None:
        self._raise_if_late()
        fast_sum, no = self._module.fast_sum, list(negative)
        self.add(fast_sum(positive) - fast_sum(no) >= 1 - len(no))

    def add_hint(self, variable: Any, value: int) -> None:
        self._hint[variable] = float(value)

    def _values(self) -> list[float]:
        return [self._hint[v] for v in self._model.variables()]

    def minimize(self, objective: Any, time_limit: float | None = None, seed: int = 0) -> Answer:
        opt = self._module
        deadline = clock.deadline(time_limit)
        self._model.minimize(objective)
        parameters = opt.SolveParameters(
            random_seed=seed,
            relative_gap_tolerance=0.0,
            absolute_gap_tolerance=0.5,  # objectives are whole numbers
        )
        parameters.highs.string_options["parallel"] = "off"
        program = self._model.export_model()
        hints: list[Any] = []
        if len(self._hint) == len(program.variables.ids) and fulfils(program, self._values()):
            hints.append(opt.SolutionHint(variable_values=self._hint))
        extras = opt.ModelSolveParameters(solution_hints=hints)
        serialised = (
            program.SerializeToString(),
            opt.SolverType.HIGHS.value,
            parameters.to_proto().SerializeToString(),
            extras.to_proto().SerializeToString(),
        )
        answer = worker.ask("mathopt", serialised, clock.left(deadline))
        if answer is None:
            return Answer(False, False, None, dict[Any, int]().__getitem__)
        proto = import_module("ortools.math_opt.result_pb2").SolveResultProto.FromString(answer)
        parse: Any = import_module("ortools.math_opt.python.result").parse_solve_result
        result: Any = parse(proto, self._model, validate=False)
        is_feasible = bool(result.has_primal_feasible_solution())
        exact = objective.upper_bound <= EXACT
        optimal = (
            is_feasible and exact and result.termination.reason == opt.TerminationReason.OPTIMAL
        )
        bound = float(result.termination.objective_bounds.dual_bound)
        proven = exact and abs(bound) <= EXACT
        values: dict[Any, float] = result.variable_values() if is_feasible else {}
        return Answer(
            is_feasible, optimal, ceil(bound - 1e-3) if proven else None, lambda x: round(values[x])
        )
