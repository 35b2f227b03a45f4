"""A million corrupted certificates: none with a false claim is accepted, none is a traceback."""

import random
from collections.abc import Callable

from exhaustive import optimum
from forgeries import corrupt, graph_of, true_certificates

from memopt.solvers.checker import RejectedError, check
from memopt.solvers.problems.memory_graph import profile

CORRUPTIONS = 1_000_000


def test_no_corruption_proves_what_is_false(
    fuzz: float, record_property: Callable[[str, object], None]
) -> None:
    """Where one is accepted, brute force on its graph says that its claim is true."""
    count = max(2_000, int(CORRUPTIONS * fuzz * fuzz))
    pool = list(true_certificates("forgery", 400))
    reasons = set[str]()
    accepted = tight = 0
    for i in range(count):
        rng = random.Random(i)
        text, _ = rng.choice(pool)
        found = corrupt(rng, text)
        try:
            check(found)
        except RejectedError as error:
            reasons.add(str(error).split(":")[0])
            continue
        accepted += 1
        graph = graph_of(found)
        best = optimum(graph)
        assert found["lower_bound"] <= best, (i, best, found)
        assert found["peak"] == profile(graph, found["order"]).peak >= best, (i, found)
        tight += found["lower_bound"] == best
    record_property("brute force", ("corrupted certificates", count, accepted))
    assert accepted > count / 100 and tight > count / 200
    assert len(reasons) > 10
