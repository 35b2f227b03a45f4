"""Exhaustive search over the ideals of small problems, as theory.md section 1 has it."""

from collections.abc import Iterable, Iterator, Sequence

from memopt.solvers.problems.memory_graph import MemoryGraph

HIGH = 1 << 60  # more than any step


class Bytes:
    """Levels and costs of one problem; what does not depend on the ideal is looked up once."""

    def __init__(self, graph: MemoryGraph) -> None:
        self.full = (1 << len(graph)) - 1
        self._begun, never = self.full + 1, 2 * (self.full + 1)  # in every ideal, in none
        self._groups = [
            (
                size,
                self._begun if g.is_input else _mask(g.writers),
                _mask((*g.writers, *g.readers)) | (never if g.is_output else 0),
            )
            for g, size in zip(graph.groups, graph.sizes, strict=True)
            if size
        ]
        self._operators = [
            (
                graph.predecessor_masks[v],
                graph.extra[v],
                [
                    (graph.sizes[g], _mask(graph.groups[g].writers))
                    for g in graph.writes[v]
                    if not graph.groups[g].is_input
                ],
                [
                    (graph.sizes[c.result], _mask((*operand.writers, *operand.readers)))
                    for c in graph.candidates[v]
                    for operand in (graph.groups[c.operand],)
                ],
            )
            for v in range(len(graph))
        ]
        self.at_start = sum(size for size, begins, _ in self._groups if begins == self._begun)

    def level(self, done: int) -> int:
        """t(D); the level of {} counts the inputs that nobody touches as well."""
        return self.touched(done) if done else self.at_start

    def touched(self, done: int) -> int:
        """t(D) without the inputs that nobody touches."""
        there = done | self._begun
        return sum(s for s, begins, users in self._groups if begins & there and users & ~done)

    def cost(self, done: int, operator: int) -> int:
        """c(D, v) in bytes."""
        _, cost, made, candidates = self._operators[operator]
        for size, writers in made:
            if not writers & done:
                cost += size
        for saved, users in candidates:
            if not users & ~(done | 1 << operator):
                return cost - saved
        return cost

    def ready(self, done: int) -> Iterator[int]:
        """Operators that can run at the ideal `done`."""
        for v, (before, *_) in enumerate(self._operators):
            if not done >> v & 1 and not before & ~done:
                yield v

    def waves(self, best: dict[int, int], end: int) -> Iterator[dict[int, int]]:
        """Ideal -> least peak of a way to it from those in `best`, one operator more at a time.

        All within the ideal `end`. What the caller takes out of a wave is not gone through.
        """
        while best:
            yield best
            following: dict[int, int] = {}
            for done, peak in best.items():
                level = self.level(done)
                for v in self.ready(done):
                    child, here = done | 1 << v, max(peak, level + self.cost(done, v))
                    if not child & ~end and following.get(child, HIGH) > here:
                        following[child] = here
            best = following


def _mask(operators: Iterable[int]) -> int:
    mask = 0
    for v in operators:
        mask |= 1 << v
    return mask


def optimum(graph: MemoryGraph) -> int:
    """The least peak over all orders, in bytes. KeyError if there is none."""
    return optimum_through(graph, ())


def optimum_through(graph: MemoryGraph, passed: Sequence[int]) -> int:
    """The least peak over the orders that pass all the ideals `passed`, each within the next."""
    of = Bytes(graph)
    wave: dict[int, int] = {}
    for wave in of.waves({0: of.at_start}, of.full):
        for done in [d for d in wave if any(d & p not in (d, p) for p in passed)] if passed else ():
            del wave[done]
        if of.full in wave:
            break
    return wave[of.full]


def hill_between(graph: MemoryGraph, low: int, high: int) -> int:
    """The least largest step on the way from one ideal to a larger one; 0 if they are the same."""
    *_, last = Bytes(graph).waves({low: 0}, high)
    return last[high]


def least_steps(graph: MemoryGraph) -> list[int]:
    """Per operator the least step over the ideals at which it is ready, as T6 defines it.

    An input that nobody touches is left out: it exists in the first step alone.
    """
    of = Bytes(graph)
    least = [HIGH] * len(graph)
    for wave in of.waves({0: 0}, of.full):
        for done in wave:
            level = of.touched(done)
            for v in of.ready(done):
                least[v] = min(least[v], level + of.cost(done, v))
    return least
