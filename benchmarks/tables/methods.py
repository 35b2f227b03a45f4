"""All methods side by side, and what each technique is worth."""

from typing import Any

from benchmarks.tables.table import Run, Table
from memopt.solvers.problems.memory_graph import ProblemError
from memopt.solvers.scheduling import METHODS
from memopt.solvers.scheduling.integer import ALONE


def methods(run: Run) -> Table:
    """Every method on every graph, contracted; auto and search on the graph as it is as well."""
    table = Table(
        "methods",
        "All methods",
        (
            "graph",
            "contracted",
            "operators",
            "method",
            "peak B",
            "bound B",
            "proof",
            "optimal",
            "variables",
            "states",
            "seconds",
        ),
        (f"Each within {run.time_limit:g} s. Alignment 1, no in-place execution.",),
    )
    for case in run.cases:
        for contracted, graph, names in (
            (True, case.contracted, METHODS),
            (False, case.graph, ("auto", "search", "greedy", "rpo", "fwd-rpo", "source")),
        ):
            for method in names:
                try:
                    solved, seconds = run.timed(case.title, graph, method)
                except ProblemError as error:  # a file whose own order is none
                    refused = f"refused: {error}"
                    row = (case.title, contracted, len(graph), method, None, None, refused)
                    table.add(*row, False, None, None, None)
                    continue
                program = method.startswith("ilp")
                table.add(
                    case.title,
                    contracted,
                    len(graph),
                    method,
                    solved.peak,
                    solved.lower_bound,
                    solved.proof,
                    solved.optimal,
                    solved.states if program else None,
                    None if program else solved.states,
                    seconds,
                )
    return table


NO_T1 = {"commits": False}

# name, method, options, contracted first
ABLATION: tuple[tuple[str, str, dict[str, Any], bool], ...] = (
    ("auto, all on", "auto", {}, False),
    ("auto, no contraction", "auto", {"fuse": False}, False),
    ("auto, segment chains and merging (T2, T4)", "auto", {"segments": True}, False),
    ("auto, splits (T5)", "auto", {"splits": True}, False),
    ("auto, no min-cut bound (T6)", "auto", {"flow": False}, False),
    ("auto, no local search", "auto", {"local": False}, False),
    ("search", "search", {}, True),
    ("search, no contraction", "search", {}, False),
    ("search, no min-cut bound (T6)", "search", {"bound": 0}, True),
    ("search, from the start alone", "search", {"backward": False}, True),
    ("search, no commits (T1)", "search", {"commits": False}, True),
    ("search, no kill-moves", "search", {"kill_moves": False}, True),
    ("search, no dominance", "search", {"dominance": False}, True),
    ("search, no commits, from the start alone", "search", NO_T1 | {"backward": False}, True),
    ("search, neither commits nor kill-moves", "search", NO_T1 | {"kill_moves": False}, True),
    ("ilp", "ilp", ALONE, True),
    ("ilp, bound and warm start", "ilp", {"bound": "flow", "warm_start": "auto"}, True),
    ("ilp, no pruning", "ilp", ALONE | {"pruning": False}, True),
    ("ilp-olla", "ilp-olla", {}, True),
    ("ilp-olla, ASAP and ALAP alone", "ilp-olla", {"precedence": False}, True),
    ("ilp-olla, no control edges", "ilp-olla", {"control": False}, True),
)


def ablation(run: Run) -> Table:
    """Measure each technique switched off alone."""
    table = Table(
        "ablation",
        "What each technique is worth",
        ("graph", "what", "peak B", "bound B", "proof", "states or variables", "seconds"),
        (f"Each within {run.time_limit:g} s. search and the programs: contracted, if not said.",),
    )
    for case in run.cases:
        for name, method, options, contracted in ABLATION:
            graph = case.contracted if contracted else case.graph
            solved, seconds = run.timed(f"{case.title} {name}", graph, method, **options)
            table.add(
                case.title,
                name,
                solved.peak,
                solved.lower_bound,
                solved.proof,
                solved.states,
                seconds,
            )
    return table
