"""The integer program: which bank holds each tenant in each of its elements.

Two forms of it. Loads alone: in every moment the bytes of a bank fit its capacity; a relaxation, as
offsets may not exist, small and quickly solved, and its optimum bounds the cost. With offsets: one
for each element, and no two rectangles of moments and bytes over each other (NoOverlap2D); exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from memopt.solvers.problems.memories import MemoryProblem, Tenant, Visit
from memopt.solvers.programs.cp_solver import CpAnswer, Limit, solve
from memopt.solvers.programs.or_tools import cp_model

Literal = cp_model.IntVar
# (lower, upper, bytes, bytes above the offset, tenant, element, is the entry)
Span = tuple[int, int, int, int, int, int, bool]


@dataclass
class Program:
    """The variables: `at[i, e, b]` tenant i's element e is in bank b, `enters[i, e, b]` it is and
    the element before is not, `leaves` the other way round, `offset[i, e]` in units of `unit` bytes
    is `steps[i, e]` times the tenant's alignment, `extra[b]` bytes that bank b has above its
    capacity. `hint` is a solution to start from."""

    problem: MemoryProblem
    model: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    at: dict[tuple[int, int, int], Literal] = field(
        default_factory=dict[tuple[int, int, int], Literal]
    )
    enters: dict[tuple[int, int, int], Literal] = field(
        default_factory=dict[tuple[int, int, int], Literal]
    )
    leaves: dict[tuple[int, int, int], Literal] = field(
        default_factory=dict[tuple[int, int, int], Literal]
    )
    offset: dict[tuple[int, int], Literal] = field(default_factory=dict[tuple[int, int], Literal])
    steps: dict[tuple[int, int], Literal] = field(default_factory=dict[tuple[int, int], Literal])
    extra: list[Literal] = field(default_factory=list[Literal])
    unit: int = 1
    hint: list[tuple[Literal, int]] = field(default_factory=list[tuple[Literal, int]])


def new_program(problem: MemoryProblem, short: bool = False) -> Program:
    """Banks and costs, and the loads. With `short`, capacities may be exceeded (`extra`) and that
    is what is minimised; else the cost."""
    program = Program(problem)
    model = program.model
    banks = range(len(problem.banks))
    if short:
        enough = side_by_side(problem.tenants)
        program.extra = [model.new_int_var(0, enough, f"extra_{b}") for b in banks]
    terms: list[cp_model.LinearExprT] = []
    for i, tenant in enumerate(problem.tenants):
        if not tenant.size:
            continue
        for e in range(len(tenant.elements)):
            here = [model.new_bool_var(f"at_{i}_{e}_{b}") for b in banks]
            model.add_exactly_one(here)
            for b, bank in enumerate(problem.banks):
                program.at[i, e, b] = here[b]
                if not short and tenant.size > bank.capacity:
                    model.add(here[b] == 0)
                terms.append(here[b] * (bank.cost * tenant.bytes_in(e)))
            if e:
                terms += _moves(program, i, e, tenant)
    _add_loads(program)
    model.minimize(sum(program.extra) if short else sum(terms))
    return program


def _moves(program: Program, i: int, e: int, tenant: Tenant) -> list[cp_model.LinearExprT]:
    """`enters` and `leaves` between two elements, with what a move costs."""
    terms: list[cp_model.LinearExprT] = []
    for b, bank in enumerate(program.problem.banks):
        before, here = program.at[i, e - 1, b], program.at[i, e, b]
        enters = program.model.new_bool_var(f"enters_{i}_{e}_{b}")
        leaves = program.model.new_bool_var(f"leaves_{i}_{e}_{b}")
        program.model.add(here - before == enters - leaves)
        program.model.add(enters + before <= 1)
        program.enters[i, e, b], program.leaves[i, e, b] = enters, leaves
        terms.append((enters + leaves) * (bank.cost * tenant.copied))
    return terms


def side_by_side(tenants: Sequence[Tenant]) -> int:
    """Bytes of a bank that holds every tenant at an offset of its own, whatever the alignments."""
    return sum(t.size + t.alignment for t in tenants)


def _spans(program: Program) -> list[Span]:
    """All that can take up room."""
    spans: list[Span] = []
    for i, tenant in enumerate(program.problem.tenants):
        if not tenant.size:
            continue
        if len(tenant.elements) == 1:
            spans += [(h.lower, h.upper, h.bytes, h.at, i, 0, False) for h in tenant.heights]
            continue
        for e, element in enumerate(tenant.elements):
            spans.append((element.lower, element.upper, tenant.size, 0, i, e, False))
            if e:
                spans.append((element.entry, element.entry + 1, tenant.size, 0, i, e, True))
    return spans


def _add_loads(program: Program) -> None:
    """Per bank and moment: the bytes that are there fit. Moments in which less can be there than in
    a neighbour say nothing new."""
    spans = _spans(program)
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for k, span in enumerate(spans):
        starts.setdefault(span[0], []).append(k)
        ends.setdefault(span[1], []).append(k)
    live: set[int] = set()
    grown = False
    for at in sorted({*starts, *ends}):
        leaving = ends.get(at, ())
        if leaving and grown:
            _add_load(program, [spans[k] for k in sorted(live)])
            grown = False
        live.difference_update(leaving)
        if at in starts:
            live.update(starts[at])
            grown = True


def _add_load(program: Program, live: list[Span]) -> None:
    total = sum(span[2] for span in live)
    for b, bank in enumerate(program.problem.banks):
        if total <= bank.capacity:
            continue
        load = sum(
            (program.enters if entry else program.at)[i, e, b] * height
            for _, _, height, _, i, e, entry in live
        )
        extra = program.extra[b] if program.extra else 0
        program.model.add(load <= bank.capacity + extra)


def add_offsets(program: Program) -> None:
    """Offsets for every element, one while it stays, and no overlap in any bank."""
    problem, model = program.problem, program.model
    tenants = problem.tenants
    sizes = [n for t in tenants for _, _, h, at in t.heights if h for n in (h, at)]
    program.unit = unit = gcd(*sizes, *(t.alignment for t in tenants if t.size)) or 1
    highest = max(b.capacity for b in problem.banks) // unit
    if program.extra:
        highest += side_by_side(tenants) // unit
    for i, tenant in enumerate(tenants):
        if not tenant.size:
            continue
        stride = tenant.alignment // unit
        for e in range(len(tenant.elements)):
            steps = model.new_int_var(0, max(0, highest - tenant.size // unit) // stride, "")
            program.steps[i, e] = steps
            program.offset[i, e] = steps if stride == 1 else _scaled(model, steps, stride, highest)
            for b, bank in enumerate(problem.banks):
                extra = program.extra[b] if program.extra else 0
                here, offset = program.at[i, e, b], program.offset[i, e]
                _if(model, unit * offset + tenant.size <= bank.capacity + extra, here)
                if e:
                    stays = (here, program.at[i, e - 1, b])
                    _if(model, offset == program.offset[i, e - 1], *stays)
    for b in range(len(problem.banks)):
        times: list[cp_model.IntervalVar] = []
        places: list[cp_model.IntervalVar] = []
        for low, up, height, above, i, e, entry in _spans(program):
            if not height:
                continue
            present = (program.enters if entry else program.at)[i, e, b]
            times.append(model.new_optional_fixed_size_interval_var(low, up - low, present, ""))
            places.append(
                model.new_optional_fixed_size_interval_var(
                    program.offset[i, e] + above // unit, height // unit, present, ""
                )
            )
        model.add_no_overlap_2d(times, places)


def _if(model: cp_model.CpModel, constraint: Any, *literals: Literal) -> None:
    enforced: Any = model.add(constraint)  # the wheel's types leave `only_enforce_if` open
    enforced.only_enforce_if(list(literals))


def _scaled(model: cp_model.CpModel, steps: Literal, stride: int, most: int) -> Literal:
    scaled = model.new_int_var(0, most, "")
    model.add(scaled == stride * steps)
    return scaled


def hint(program: Program, visits: Sequence[Sequence[Visit]]) -> None:
    """Start from an assignment."""
    given = program.hint
    for i, tenant in enumerate(program.problem.tenants):
        if not tenant.size:
            continue
        before = -1
        for e, element in enumerate(tenant.elements):
            stay = next(v for v in reversed(visits[i]) if v.lower <= element.lower)
            for b in range(len(program.problem.banks)):
                here, was_here = stay.bank == b, before == b
                given.append((program.at[i, e, b], int(here)))
                if e:
                    given.append((program.enters[i, e, b], int(here and not was_here)))
                    given.append((program.leaves[i, e, b], int(was_here and not here)))
            before = stay.bank
            if (i, e) in program.offset:
                given.append((program.steps[i, e], stay.offset // tenant.alignment))
                given.append((program.offset[i, e], stay.offset // program.unit))


@dataclass(frozen=True)
class Solved:
    """Answer of CP-SAT: its status in three flags, the objective's proven bound, and the visits."""

    feasible: bool
    infeasible: bool
    optimal: bool
    value: int
    bound: int
    visits: tuple[tuple[Visit, ...], ...]
    extra: tuple[int, ...]


def run(program: Program, seconds: float | None, work: float, always: bool = False) -> Solved:
    """Solve on one thread: for `seconds`, or without a limit in time for `work`, CP-SAT's
    deterministic measure of about a second each, so that the answer is the same everywhere; with
    `always` for no more than that in the seconds either."""
    solver = solve(program.model, Limit(seconds, work, always), program.hint)
    return Solved(
        solver.found,
        solver.infeasible,
        solver.optimal,
        solver.objective if solver.found else 0,
        max(0, solver.bound or 0),
        _visits(program, solver) if solver.found else (),
        tuple(solver.value(x) for x in program.extra) if solver.found else (),
    )


def _visits(program: Program, solver: CpAnswer) -> tuple[tuple[Visit, ...], ...]:
    visits: list[tuple[Visit, ...]] = []
    banks = range(len(program.problem.banks))
    for i, tenant in enumerate(program.problem.tenants):
        if not tenant.size:
            visits.append((Visit(0, 0, tenant.lower, tenant.upper),))
            continue
        stays: list[Visit] = []
        for e, element in enumerate(tenant.elements):
            bank = next(b for b in banks if solver.value(program.at[i, e, b]))
            offset = solver.value(program.offset[i, e]) * program.unit if program.offset else 0
            if stays and stays[-1].bank == bank:
                stays[-1] = Visit(bank, stays[-1].offset, stays[-1].lower, element.upper)
            else:
                lower = element.entry if stays else element.lower
                stays.append(Visit(bank, offset, lower, element.upper))
        visits.append(tuple(stays))
    return tuple(visits)
