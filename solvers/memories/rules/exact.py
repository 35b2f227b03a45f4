"""`exact`: the least traffic under the model, by CP-SAT, begun with what `belady` finds."""

from memopt.solvers.memories.rules import belady
from memopt.solvers.memories.traffic import Gap, Traffic, TrafficProblem, moved_bytes
from memopt.solvers.programs import cp_solver
from memopt.solvers.programs.or_tools import cp_model

WORK = 20.0  # of CP-SAT's deterministic seconds


def solve(problem: TrafficProblem, time_limit: float | None = None, work: float = WORK) -> Traffic:
    """The least traffic, or the best found in `time_limit` seconds (without one: `work`), and the
    bound that is proven."""
    first = belady.solve(problem)
    if not first.moved:
        return Traffic(0, 0, first.kept, "ilp")
    model = cp_model.CpModel()
    keep = [[model.new_bool_var("") for _ in gaps] for gaps in problem.gaps]
    hint: list[tuple[cp_model.IntVar, int]] = []
    terms: list[cp_model.LinearExprT] = []
    held: list[list[tuple[int, cp_model.IntVar]]] = [[] for _ in range(problem.steps)]
    for tensor, gaps, here, known in zip(
        problem.tensors, problem.gaps, keep, first.kept, strict=True
    ):
        hint += zip(here, map(int, known), strict=True)
        terms += [tensor.moved * (1 - k) for k, g in zip(here, gaps, strict=True) if g.read]
        if tensor.born >= 0 and here:
            out = model.new_bool_var("")
            hint.append((out, int(not all(known))))
            for k in here:
                model.add(out + k >= 1)
            terms.append(tensor.moved * out)
        for index, (gap, k) in enumerate(zip(gaps, here, strict=True)):
            shared = index > 0 and gap.first >= 0
            if shared:  # in the step where two gaps meet it takes up its size once
                both = model.new_bool_var("")
                hint.append((both, int(known[index] or known[index - 1])))
                model.add_implication(k, both)
                model.add_implication(here[index - 1], both)
                held[gap.first].append((tensor.size, both))
            for t in _own_steps(gap, shared, index + 1 == len(gaps), problem.steps):
                held[t].append((tensor.size, k))
    for entries, workspace in zip(held, problem.workspace, strict=True):
        _limit(model, entries, problem.on_chip - workspace)
    model.minimize(sum(terms))
    solver = cp_solver.solve(model, cp_solver.Limit(time_limit, work), hint)
    best = first.kept
    if solver.found:
        found_kept = tuple(tuple(bool(solver.value(k)) for k in here) for here in keep)
        if moved_bytes(problem, found_kept) < first.moved:
            best = found_kept
    moved, bound = moved_bytes(problem, best), max(0, solver.bound or 0)
    return Traffic(moved, bound, best, "ilp" if moved == bound else "none")


def _limit(model: cp_model.CpModel, entries: list[tuple[int, cp_model.IntVar]], room: int) -> None:
    """Let what is kept in a step take up no more than `room` bytes."""
    if sum(size for size, _ in entries) > room:
        model.add(sum(size * k for size, k in entries) <= room)


def _own_steps(gap: Gap, shared: bool, is_last: bool, steps: int) -> range:
    """The steps of a gap in which it meets no other; `shared` is its first one."""
    first = gap.first + 1 if shared else max(gap.first, 0)
    return range(first, min(gap.last, steps - 1) + is_last)
