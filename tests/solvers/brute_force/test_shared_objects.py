"""Shared objects against brute force, and every strategy against a look at every pair and step."""

from random import Random

import pytest

from memopt.solvers.problems.placement import Buffer, Item, PlacementProblem
from memopt.solvers.shared_objects import METHODS, objects, profiles, share
from memopt.solvers.shared_objects.methods import shared_objects_exact as exact
from memopt.solvers.shared_objects.methods import shared_objects_improved as improved
from memopt.solvers.shared_objects.sharing import Sharing, shared_items, total
from memopt.solvers.shared_objects.ties import TIES

PROVEN: tuple[str, ...] = ("shared-objects", "shared-objects-exact")
CASES = 1_000
PLAIN: tuple[str, ...] = tuple(m for m in METHODS if m not in PROVEN)


def random_problem(random: Random, most: int, least: int = 0) -> PlacementProblem:
    """Ties, empty buffers, shared bases (with gaps between their lives), alignments."""
    steps = random.randint(1, 12)
    longest = random.choice((3, 3, steps))
    alignment, ties = random.choice((1, 1, 4)), random.random() < 0.3
    buffers: list[Buffer] = []
    for i in range(random.randint(least, most)):
        size = random.choice((0, 4, 8, 8)) if ties else random.randint(1, 20)
        size = -(-size // alignment) * alignment
        lower = random.randrange(steps)
        upper = random.randint(lower + 1, min(lower + longest, steps))
        bases = [j for j, b in enumerate(buffers) if b.base == j]
        base = random.choice(bases) if bases and random.random() < 0.2 else i
        buffers.append(Buffer(f"b{i}", size, lower, upper, base, None, alignment))
    return PlacementProblem(tuple(buffers))


def test_free_objects_are_found_alike_one_by_one_and_all_at_once(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes are looked at one by one up to `LOOKS`, then all objects are."""
    random = Random(17)
    for _ in range(max(60, int(CASES * fuzz))):
        problem = random_problem(random, 40, 10)
        for method in ("shared-objects-greedy", "shared-objects-by-size"):
            answers = set[tuple[int, ...]]()
            for looks in (0, 1, 3, 64):
                monkeypatch.setattr(objects, "LOOKS", looks)
                answers.add(tuple(share(problem, method).objects))
            assert len(answers) == 1


def held(problem: PlacementProblem, base: int) -> set[int]:
    """The steps in which a base has bytes."""
    return {
        t for b in problem.buffers if b.base == base and b.size for t in range(b.lower, b.upper)
    }


def size_of(problem: PlacementProblem, base: int) -> int:
    return max(b.size for b in problem.buffers if b.base == base)


def wrong(problem: PlacementProblem, answer: Sharing) -> str:
    """What is wrong with an answer, pair by pair and step by step; empty if nothing is."""
    where: dict[int, set[int]] = {}
    for b, k in zip(problem.buffers, answer.objects, strict=True):
        if held(problem, b.base):
            where.setdefault(b.base, set()).add(k)
    if any(len(objects) != 1 for objects in where.values()):
        return "a base in two objects"
    of = {base: objects.pop() for base, objects in where.items()}
    for a in of:
        for b in of:
            if a < b and of[a] == of[b] and held(problem, a) & held(problem, b):
                return f"{a} and {b} in object {of[a]}"
    needed = [
        max(size_of(problem, base) for base in of if of[base] == k)
        for k in range(len(answer.sizes))
    ]
    return "" if tuple(needed) == answer.sizes else f"sizes {needed}"


def smallest_sum(problem: PlacementProblem) -> int:
    """The optimum by brute force: every partition of the bases into groups that never meet."""
    bases = [i for i, b in enumerate(problem.buffers) if b.base == i and held(problem, i)]
    life = {b: held(problem, b) for b in bases}
    size = {b: size_of(problem, b) for b in bases}

    def least(rest: list[int], objects: list[tuple[int, set[int]]]) -> int:
        if not rest:
            return sum(bytes_k for bytes_k, _ in objects)
        b, after = rest[0], rest[1:]
        found = least(after, [*objects, (size[b], life[b])])
        for k, (bytes_k, taken) in enumerate(objects):
            if not taken & life[b]:
                grown = (max(bytes_k, size[b]), taken | life[b])
                found = min(found, least(after, [*objects[:k], grown, *objects[k + 1 :]]))
        return found

    return least(bases, [])


def positional_maxima(problem: PlacementProblem) -> list[int]:
    """Step by step, from the definition."""
    bases = sorted({b.base for b in problem.buffers})
    life = {b: held(problem, b) for b in bases}
    maxima: list[int] = []
    for t in {t for steps in life.values() for t in steps}:
        sizes = sorted((size_of(problem, b) for b in bases if t in life[b]), reverse=True)
        maxima += [0] * (len(sizes) - len(maxima))
        maxima = [max(m, *sizes[k : k + 1], 0) for k, m in enumerate(maxima)]
    return maxima


def test_exact_equals_brute_force(fuzz: float) -> None:
    """1,000 problems of 5 to 9 buffers: the optimum, and a bound that proves it."""
    random = Random(5)
    hard = 0
    for case in range(max(50, int(CASES * fuzz))):
        problem = random_problem(random, 9, 5)
        optimum = smallest_sum(problem)
        for method in PROVEN:
            answer = share(problem, method)
            assert answer.total == answer.lower_bound == optimum, (case, method)
            assert not wrong(problem, answer), (case, method)
        hard += optimum > sum(positional_maxima(problem))
    assert hard  # or nothing was proven by search


def test_the_search_finds_the_optimum_from_anywhere(fuzz: float) -> None:
    """From the worst start, one object each, and with the bound 0."""
    random = Random(6)
    for case in range(max(30, int(500 * fuzz))):
        problem = random_problem(random, 8)
        items = shared_items(problem)
        if items:
            objects, bound = exact.improve(items, range(len(items)), 0)
            assert total(items, objects) == bound == smallest_sum(problem), case


def test_every_strategy_is_valid(fuzz: float) -> None:
    random = Random(8)
    for case in range(max(100, int(4_000 * fuzz))):
        problem = random_problem(random, 16)
        floor = sum(positional_maxima(problem))
        assert sum(profiles.positional_maxima(shared_items(problem))) == floor, case
        for method in PLAIN:
            answer = share(problem, method)
            assert not wrong(problem, answer), (case, method)
            assert answer.lower_bound == floor <= answer.total


def test_a_bound_for_every_step(fuzz: float) -> None:
    """Positional maxima by definition, and the order in which the broadest steps meet buffers."""
    random = Random(9)
    for case in range(max(100, int(2_000 * fuzz))):
        problem = random_problem(random, 12, 1)
        items = shared_items(problem)
        assert profiles.positional_maxima(items) == positional_maxima(problem), case
        sizes = [i.size for stage in improved.stages(items) for i in stage]
        assert sorted(sizes, reverse=True) == sorted((i.size for i in items), reverse=True)
        assert all(
            min(i.size for i in a) > max(i.size for i in b)
            for a, b in zip(improved.stages(items), improved.stages(items)[1:], strict=False)
        )


def printed_breadth(problem: PlacementProblem, ties: str) -> int:
    """Algorithm 1 as printed: every operator in turn, objects as plain lists."""
    items = shared_items(problem)
    life = {i.index: {t for p in i.pieces for t in range(p.lower, p.upper)} for i in items}
    steps = sorted({t for i in items for t in life[i.index]})

    def first(i: Item) -> tuple[int, int]:
        lived = len(life[i.index])
        by_age = {"longest": (-lived, i.index), "shortest": (lived, -i.index)}
        return by_age.get(ties, (0, -i.index if ties == "latest" else i.index))

    def profile(t: int) -> list[int]:
        live = [i for i in items if t in life[i.index]]
        return [i.index for i in sorted(live, key=lambda i: (-i.size, *first(i)))]

    size = {i.index: i.size for i in items}
    objects: list[tuple[int, list[int]]] = []
    done: set[int] = set()
    step = -1 if ties == "latest" else 1
    for t in sorted(steps, key=lambda t: (-sum(size[i] for i in profile(t)), t * step)):
        for i in profile(t):
            if i in done:
                continue
            done.add(i)
            chosen: int | None = None
            for k, (bytes_k, members) in enumerate(objects):
                is_better = True
                if chosen is not None:
                    bytes_best = objects[chosen][0]
                    if bytes_best < size[i]:
                        is_better = bytes_k > bytes_best
                    else:
                        is_better = size[i] <= bytes_k < bytes_best
                if is_better and not any(life[i] & life[m] for m in members):
                    chosen = k
            if chosen is None:
                objects.append((size[i], [i]))
            else:
                bytes_k, members = objects[chosen]
                objects[chosen] = (max(bytes_k, size[i]), [*members, i])
    return sum(bytes_k for bytes_k, _ in objects)


def test_breadth_is_algorithm_1(fuzz: float) -> None:
    """On buffers of one stretch each; gaps are not the paper's."""
    random = Random(10)
    compared = 0
    for case in range(max(200, int(3_000 * fuzz))):
        problem = random_problem(random, 14)
        if any(b.base != i for i, b in enumerate(problem.buffers)):
            continue
        compared += 1
        method, least = "shared-objects-by-breadth", problem.load * len(problem.buffers)
        for ties in TIES:
            by_order = share(problem, method, ties=ties).total
            assert by_order == printed_breadth(problem, ties), (case, ties)
            least = min(least, by_order)
        assert share(problem, method).total == least, case
    assert compared > 10


def test_the_best_of_several_orders_is_never_worse(fuzz: float) -> None:
    random = Random(12)
    better = 0
    for _ in range(max(100, int(4_000 * fuzz))):
        problem = random_problem(random, 16)
        for method in ("shared-objects-by-size", "shared-objects-by-breadth"):
            totals = [share(problem, method, ties=order).total for order in TIES]
            assert share(problem, method).total == min(totals)
            better += min(totals) < totals[0]
    assert better


def test_equal_problems_have_equal_answers(fuzz: float) -> None:
    random = Random(11)
    for _ in range(max(5, int(100 * fuzz))):
        problem = random_problem(random, 20)
        for method in METHODS:
            assert share(problem, method) == share(PlacementProblem(problem.buffers), method)


@pytest.mark.parametrize("part", ["conflict", "base", "size", "missing"])
def test_the_verifier_refuses(part: str, fuzz: float) -> None:
    """A random change to a right answer is refused, or leaves a right answer."""
    random = Random(part)
    refused = 0
    for case in range(max(200, int(2_000 * fuzz))):
        problem = random_problem(random, 8, 2)
        answer = share(problem, "shared-objects-by-size")
        objects, sizes = list(answer.objects), list(answer.sizes)
        i = random.randrange(len(objects))
        if part == "size" and sizes:
            sizes[random.randrange(len(sizes))] += random.choice((-1, 1))
        elif part == "missing":
            objects[i] = random.choice((-1, len(sizes), len(sizes) + 3))
        elif part == "base":
            objects[i] = random.randrange(len(sizes) + 1) if sizes else 0
        elif sizes:
            target = random.randrange(len(sizes))
            base = problem.buffers[i].base
            for j, b in enumerate(problem.buffers):
                if b.base == base:
                    objects[j] = target
            members = [b.size for b, k in zip(problem.buffers, objects, strict=True) if k == target]
            sizes[target] = max(members)
        changed = Sharing(tuple(objects), tuple(sizes), 0)
        try:
            changed.verify(problem)
        except ValueError:
            refused += 1
            continue
        stripped = [
            k if held(problem, b.base) else -1
            for b, k in zip(problem.buffers, objects, strict=True)
        ]
        assert not wrong(problem, Sharing(tuple(stripped), tuple(sizes), 0)), (case, part)
    assert refused > 10
