"""Orders of buffers that a greedy strategy takes for equally large, which the paper leaves open.

    settled(items, "best", "longest", strategy)    # the best of the answers by each order

The figures of Pisarchyk & Lee's Table 1 are reached by one order here and by another there, and
none is the best on every network: so all are tried, beginning with the strategy's usual one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.sharing import total

Key = tuple[int, ...]
TIES: Final[Mapping[str, Callable[[Item], Key]]] = {
    "longest": lambda i: (i.lower - i.upper, i.index),
    "earliest": lambda i: (i.index,),
    "latest": lambda i: (-i.index,),
    "shortest": lambda i: (i.upper - i.lower, -i.index),
}
BEST = "best"
SEVERAL = 5_000  # items up to which several orders are tried


def settled(
    items: Sequence[Item],
    ties: str,
    usual: str,
    strategy: Callable[[Sequence[Item], str], list[int]],
) -> list[int]:
    """Return the object of every item by `strategy` with ties settled as `ties` says, or the best
    of the answers by each order of `TIES`, of equal ones that by the `usual` order; that alone
    above `SEVERAL` items. Raises ProblemError for an order that there is not."""
    if ties not in (BEST, *TIES):
        raise ProblemError(f"ties={ties}: one of {', '.join((BEST, *TIES))}")
    others = [name for name in TIES if name != usual] if len(items) <= SEVERAL else []
    orders = [usual, *others] if ties == BEST else [ties]
    answers = [strategy(items, order) for order in orders]
    return min(answers, key=lambda objects: total(items, objects))
