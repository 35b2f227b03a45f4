"""Tenants over several banks, moves included, against brute force that shares no code with it."""

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from deep import deep_but
from memory_assignments import least_cost, random_problem, small
from pass_functions import assign_function

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import memory_at, scratch_list
from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.memories import (
    Assignment,
    Bank,
    Height,
    MemoryProblem,
    NoRoomError,
    Tenant,
    Use,
    Visit,
    assign,
    cost_of,
    moment,
)
from memopt.solvers.memories.greedy import first_answer
from memopt.verify.plan import verify_plan

CASES = 5_000


def check(problem: MemoryProblem) -> Assignment | NoRoomError:
    """`assign` against brute force: cost, proof, or what is missing."""
    want = least_cost(problem)
    try:
        answer = assign(problem)
    except NoRoomError as error:
        assert want is None
        assert error.exact
        assert error.missing == missing(problem)
        return error
    answer.verify(problem)
    assert answer.optimal
    assert answer.cost == want
    return answer


def missing(problem: MemoryProblem) -> int:
    """The fewest bytes added to the banks with which there is an assignment."""
    banks = len(problem.banks)
    for total in range(1, 100):
        for grow in product(range(total + 1), repeat=banks):
            if sum(grow) == total and least_cost(problem, grow) is not None:
                return total
    raise AssertionError("no growth is enough")


@pytest.mark.parametrize("moving", deep_but(False, [False, True]))
def test_assignment_equals_brute_force(fuzz: float, moving: bool) -> None:
    random = Random(11 + moving)
    seen = {"moved": 0, "refused": 0, "fits": 0, "better than greedy": 0, "in parts": 0}
    count = max(120, int(CASES * fuzz / 2))
    while count:
        problem = random_problem(random, 4, moving)
        if not small(problem):
            continue
        count -= 1
        answer = check(problem)
        if isinstance(answer, NoRoomError):
            seen["refused"] += 1
            continue
        seen["fits"] += 1
        seen["in parts"] += any(t.in_parts for t in problem.tenants)
        seen["moved"] += any(len(stays) > 1 for stays in answer.visits)
        first = first_answer(problem)
        seen["better than greedy"] += first is None or cost_of(problem, first) > answer.cost
    assert all(n for what, n in seen.items() if moving or what != "moved"), seen


@pytest.mark.deep
def test_without_work_only_the_bound_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut short, or too large to try, the answer is greedy: valid, with a bound that holds."""
    from memopt.solvers import memories

    random = Random(3)
    unproven = 0
    problems = [p for _ in range(400) if small(p := random_problem(random, 4, True))][:60]
    for problem in problems:
        best = least_cost(problem)
        for name, value in (("WORK", 1e-12), ("LARGEST", 0)):
            with monkeypatch.context() as patch:
                patch.setattr(memories, name, value)
                try:
                    answer = assign(problem)
                except NoRoomError as error:
                    assert best is None and error.missing <= missing(problem)
                    continue
                except ProblemError as error:
                    assert "not proven" in str(error) or "too large" in str(error)
                    continue
            answer.verify(problem)
            assert best is not None and answer.lower_bound <= best <= answer.cost
            assert answer.optimal == (answer.proof != "none" and answer.cost == best)
            unproven += answer.proof == "none"
    assert unproven


def test_of_the_first_answers_the_one_that_fits_is_whole_when_time_is_over() -> None:
    """The clock is late from the start; without a limit some other answer is cheaper."""
    random, other = Random(5), 0
    for _ in range(400):
        problem = random_problem(random, 9, False)
        banks = tuple(replace(bank, capacity=2 * bank.capacity) for bank in problem.banks)
        problem = replace(problem, banks=banks)
        visits, all_visits = first_answer(problem, clock.now()), first_answer(problem)
        assert (visits is None) == (all_visits is None)
        if visits is None or all_visits is None:
            continue
        Assignment(visits, cost_of(problem, visits), problem.least, "none").verify(problem)
        assert cost_of(problem, all_visits) <= cost_of(problem, visits)
        other += visits != all_visits
    assert other > 5


def test_what_is_no_assignment_is_caught() -> None:
    """Every rule of `verify` has a case."""
    banks = (Bank("fast", 8, 1), Bank("slow", 16, 2))
    x = Tenant("x", (Height(1, 11, 8),), (Use(-1, 0), Use(0, 8), Use(2, 8)), True, 8)
    y = Tenant("y", (Height(4, 5, 8),), (Use(0, 8),))
    problem = MemoryProblem(banks, (x, y), 3)
    problem.check()
    here, there = (Visit(0, 0, 1, 11),), (Visit(1, 0, 4, 5),)
    Assignment((here, there), 32, 0).verify(problem)
    moved = (Visit(1, 8, 1, 6), Visit(0, 0, 5, 11))
    Assignment((moved, there), 8 * 2 + 8 + 8 * 3 + 16, 0).verify(problem)
    wrong = [
        ((here,), 32, "every tenant needs a visit"),
        ((here, (Visit(0, 0, 4, 5),)), 24, "overlap"),
        ((here, (Visit(0, 8, 4, 5),)), 24, "'fast' overflows: 16 B of 8 B"),
        ((here, there), 31, "the cost is 32"),
        (((Visit(0, 0, 1, 10),), there), 32, "not placed for its whole life"),
        (((Visit(1, 8, 1, 7), Visit(0, 0, 6, 11)), there), 64, "cannot move in moment 6"),
        (((Visit(1, 8, 1, 5), Visit(0, 0, 5, 11)), there), 64, "cannot move in moment 5"),
    ]
    for visits, cost, text in wrong:
        with pytest.raises(ProblemError, match=text):
            Assignment(visits, cost, 0).verify(problem)


SCRATCHED = """func.func @f(%x0: tensor<{size}xi8>) attributes
    {{memgraph.model = #memgraph.model<alignment = {alignment}, io = {io}>}} {{
{body}
  func.return
}}"""


def random_scratches(random: Random) -> tuple[str, list[int], list[list[int]], int, bool]:
    """A chain of operators with several scratches each, as IR and as the numbers in it: bytes of
    the values, bytes of each operator's scratches, alignment, whether the caller has the input."""
    alignment, caller = random.choice((1, 4)), random.random() < 0.5
    count = random.randint(1, 2)
    values = [random.randint(0, 12) for _ in range(count + 1)]
    scratches = [[random.randint(0, 12) for _ in range(random.randint(0, 3))] for _ in range(count)]
    lines = [
        f'  %x{i + 1} = memgraph.opaque "op"(%x{i}) {{memgraph.scratch = ['
        + ", ".join(f"#memgraph.scratch<{s}>" for s in sizes)
        + f"]}} : (tensor<{values[i]}xi8>) -> tensor<{values[i + 1]}xi8>"
        for i, sizes in enumerate(scratches)
    ]
    io = "caller" if caller else "arena"
    text = SCRATCHED.format(size=values[0], alignment=alignment, io=io, body="\n".join(lines))
    return text, values, scratches, alignment, caller


def scratch_problem(
    values: list[int],
    scratches: list[list[int]],
    alignment: int,
    caller: bool,
    banks: tuple[Bank, ...],
) -> MemoryProblem:
    """The same by hand: every value and every scratch a tenant of its own that never moves."""
    steps = len(scratches)
    tenants: list[Tenant] = []

    def add(lower: int, upper: int, size: int, uses: tuple[Use, ...]) -> None:
        rounded = -(-size // alignment) * alignment
        tenants.append(Tenant("t", (Height(lower, upper, rounded),), uses, alignment=alignment))

    for i, size in enumerate(values):
        if i == 0 and caller:
            continue
        last = min(i, steps - 1)
        touched = [s for s in (i - 1, i) if 0 <= s < steps]
        add(moment(i - 1), moment(last) + 1, size, tuple(Use(s, size) for s in touched))
    for i, sizes in enumerate(scratches):
        for size in sizes:
            add(moment(i), moment(i) + 1, size, (Use(i, 2 * size),))
    return MemoryProblem(banks, tuple(tenants), steps)


def test_several_scratches_of_an_operator_equal_brute_force(fuzz: float) -> None:
    """By the IR: cost, proof and what is missing are those of scratches that lie anywhere."""
    random = Random(29)
    seen = {"refused": 0, "in several memories": 0, "empty": 0}
    for _ in range(max(60, int(CASES * fuzz / 10))):
        text, values, scratches, alignment, caller = random_scratches(random)
        total = sum(values) + sum(map(sum, scratches))
        banks = (
            Bank("a", random.randint(0, total), 1),
            Bank("b", random.randint(0, total), random.randint(1, 4)),
        )
        want = least_cost(scratch_problem(values, scratches, alignment, caller, banks))
        func = next(functions(load_text(new_context(), text, "drawn.mlir")))
        try:
            answer = assign_function(func, banks, spill=False)
        except MemoptError as error:
            assert want is None and "do not fit" in error.text, text
            seen["refused"] += 1
            continue
        verify_plan(func, placed=True)
        assert answer.optimal and answer.cost == want, text
        lists = [scratch_list(op) or () for op in func.body.block.ops]
        seen["in several memories"] += any(
            len({memory_at(s.place) for s in scratch if s.bytes.data}) > 1 for scratch in lists
        )
        seen["empty"] += any(not s.bytes.data for scratch in lists for s in scratch)
    assert all(seen.values()), seen
