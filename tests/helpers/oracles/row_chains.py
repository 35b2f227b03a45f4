"""Graphs of operators in rows, one behind the other."""

import random
from collections.abc import Sequence

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph


def counts_of_rows(rng: random.Random) -> list[int]:
    """Draw the rows of up to six operators, the stride of some of which is two."""
    counts = [12]
    for _ in range(rng.randint(1, 5)):
        counts.append(counts[-1] // rng.choice((1, 1, 2)) if counts[-1] >= 6 else counts[-1])
    return counts


def rows_of_a_chain(rng: random.Random, counts: Sequence[int]) -> tuple[MemoryGraph, list[int]]:
    """Draw operators of so many rows and windows of three, some with a sum of what stands further
    before, in place; return their graph, operator by operator, and the first step of each and
    behind the last."""
    sizes = [rng.choice((1, 2, 4, 8, 24)) for _ in counts]
    starts = [sum(counts[:k]) for k in range(len(counts) + 1)]
    reads: list[list[int]] = []
    inplace: list[InPlace] = []
    for k, count in enumerate(counts):
        stride = counts[k - 1] // count if k else 1
        skip = next((j for j in range(k - 2, -1, -1) if counts[j] == count), None)
        is_sum = skip is not None and rng.random() < 0.3
        for r in range(count):
            window = range(max(0, stride * r - 1), min(counts[k - 1], stride * r + 2)) if k else ()
            reads.append([starts[k - 1] + q for q in window])
            if is_sum and skip is not None:
                reads[-1].append(starts[skip] + r)
                if sizes[skip] >= sizes[k]:
                    inplace.append(InPlace(len(reads) - 1, len(reads) - 1, starts[skip] + r))
    groups = [
        Group(
            str(v),
            sizes[k],
            (v,),
            tuple(r for r, read in enumerate(reads) if v in read),
            is_output=k == len(counts) - 1,
        )
        for k in range(len(counts))
        for v in range(starts[k], starts[k + 1])
    ]
    before = [(*read, *([] if v in starts else [v - 1])) for v, read in enumerate(reads)]
    names = tuple(map(str, range(len(reads))))
    graph = MemoryGraph(names, tuple(before), tuple(groups), inplace=tuple(inplace))
    graph.check()
    return graph, starts
