"""Zhong's Table VI: the peak and the time under different numbers of parts."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from memopt.solvers.partitioning import partition
from memopt.solvers.partitioning.parts import BALANCE, price
from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.scheduling.partitioned import solve_parts
from memopt.solvers.theory.fusion import contract, expand, modules

KINDS: dict[str, tuple[str, ...]] = {"multilevel": ("balance",), "naive": ()}  # options of each


@dataclass(frozen=True)
class Row:
    """One partition of one graph, scheduled. Bytes and seconds.

    `operators` is the size of each part (contracted operators where `fuse` is on), `cuts` the sum
    of the levels at the cuts, `solved` how many parts went to the scheduling method, and `exact`
    whether no order within the partition has a lower peak.
    """

    k: int
    partition: str
    operators: tuple[int, ...]
    cuts: int
    peak: int
    solved: int
    exact: bool
    partition_seconds: float
    schedule_seconds: float


def table(
    graph: MemoryGraph,
    ks: Iterable[int] = range(1, 7),
    method: str = "auto",
    time_limit: float | None = None,
    fuse: bool = True,
    balance: float = BALANCE,
    **options: Any,
) -> Iterator[Row]:
    """Two rows per number of parts, our partition and the naive one; yielded as they are made.

    As in Zhong's Algorithm 2 modules are contracted first (`fuse`), and `method` takes the parts
    that can hold the peak; `time_limit` is for each row's schedule.
    """
    small, inner = contract(graph, modules(graph) if fuse else [])
    for k in ks:
        for kind, known in KINDS.items():
            started = time.perf_counter()
            parts = partition(small, k, kind, **dict.fromkeys(known, balance))
            between = time.perf_counter()
            answer = solve_parts(small, parts, method, time_limit, **options)
            ended = time.perf_counter()
            yield Row(
                k,
                kind,
                parts.sizes,
                price(small, parts),
                profile(graph, expand(answer.order, inner)).peak,
                len(answer.solved),
                answer.exact,
                between - started,
                ended - between,
            )
