"""How a mutant is judged: a solver that lacks one condition must differ from brute force soon."""

import random
from collections.abc import Callable

# draws one problem; whether the answer on it is not the optimum (or there is none)
Differs = Callable[[random.Random], bool]


def first_difference(differs: Differs, graphs: int) -> int | None:
    """The number of the first of so many random problems with a difference; None if there is none.

    The problems are the same for every mutant. Each is drawn from a generator of its own, so that
    what a mutant draws on the way does not matter.
    """
    return next((i for i in range(graphs) if differs(random.Random(i))), None)


def is_caught(differs: Differs, mutate: Callable[[], object], graphs: int) -> bool:
    """Whether there is no difference on the first problems as it is, and one after `mutate()`."""
    assert first_difference(differs, min(graphs, 200)) is None
    mutate()
    return first_difference(differs, graphs) is not None
