"""`memopt place FILE.csv`: offsets for the buffers of a CSV, with what is proven of them.

What is printed was checked by the verifier of the answer, and once more from the rows that are
written.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import lcm
from pathlib import Path
from typing import Any

from memopt.diagnostics import write_output
from memopt.dialects.errors import MemoptError
from memopt.driver import progress
from memopt.formats.minimalloc import LARGEST, Row, read_rows, write_rows
from memopt.solvers.placement import METHODS, prove
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.solvers.shared_objects import METHODS as SHARED
from memopt.solvers.shared_objects import share
from memopt.usage import STDOUT, UsageError
from memopt.verify.buffers import spans, verify_rows

STRATEGIES: tuple[str, ...] = (*METHODS, *SHARED)


@dataclass(frozen=True)
class Answer:
    """Offsets per row; bytes throughout. No answer of the kind is below `lower_bound`, and no arena
    at all below `floor`: shared objects need more than one arena does."""

    offsets: tuple[int, ...]
    arena: int
    lower_bound: int
    floor: int


def problem_of(rows: Sequence[Row]) -> tuple[PlacementProblem, tuple[int, ...]]:
    """The placement problem, and for every row the buffer that has its offset.

    A row with gaps is several buffers that share one base.
    """
    buffers: list[Buffer] = []
    first: list[int] = []
    for row in rows:
        base = len(buffers)
        first.append(base)
        for lower, upper, size in list(spans(row)) or [(row.lower, row.upper, 0)]:
            buffers.append(Buffer(row.name, size, lower, upper, base, row.offset, row.alignment))
    return PlacementProblem(tuple(buffers)), tuple(first)


def solve(
    rows: Sequence[Row], strategy: str, time_limit: float | None, capacity: int | None = None
) -> Answer:
    """Place the rows by a placement strategy, or by shared objects laid one behind the other.

    Raises ProblemError, and UsageError for an unknown strategy.
    """
    problem, first = problem_of(rows)
    if strategy in SHARED:
        return _shared(problem, first, strategy, time_limit)
    if strategy not in METHODS:
        raise UsageError(f"--strategy={strategy}: one of {', '.join(STRATEGIES)}")
    # nobody waits for a compiler here, so there is more work than --place=auto does
    more = {"nodes": exact_nodes()} if strategy == "auto" and time_limit is None else {}
    found = prove(problem, strategy, time_limit, capacity, **more)
    offsets = tuple(found.placement.offsets[i] for i in first)
    bound = found.lower_bound
    return Answer(offsets, found.placement.arena, bound, bound)


def exact_nodes() -> int:
    """What `--strategy=exact` may look at without a time limit."""
    from memopt.solvers.placement.methods.exact import NODES

    return NODES


def _shared(
    problem: PlacementProblem, first: Sequence[int], strategy: Any, time_limit: float | None
) -> Answer:
    """The objects one behind the other, each aligned for all buffers; the last ends the arena."""
    sharing = share(problem, strategy, time_limit)
    step = lcm(*(b.alignment for b in problem.buffers))
    starts = list(accumulate((-(-s // step) * step for s in sharing.sizes), initial=0))
    offsets = tuple(starts[max(0, sharing.objects[i])] for i in first)
    end = starts[-2] + sharing.sizes[-1] if sharing.sizes else 0
    return Answer(offsets, end, sharing.lower_bound, problem.load)


def place_file(args: argparse.Namespace) -> None:
    """The command. Raises MemoptError where the capacity is not met; then nothing is written."""
    from memopt.cli import bytes_of_text

    if args.strategy not in STRATEGIES:
        raise UsageError(f"--strategy={args.strategy}: one of {', '.join(STRATEGIES)}")
    if args.json and args.output == STDOUT:
        raise UsageError("--json and -o - cannot both go to stdout")
    capacity = bytes_of_text(args.capacity) if args.capacity else None
    path = Path(args.file)
    rows = read_rows(path.read_bytes(), str(path))
    started = time.perf_counter()
    with progress(f"{args.strategy} {path.name}"):
        answer = solve(rows, args.strategy, args.time_limit, capacity)
    seconds = time.perf_counter() - started
    if answer.arena > LARGEST:  # as an offset nobody could read it back
        raise MemoptError(f"the arena of {answer.arena} B is too large", str(path))
    placed = [replace(r, offset=o) for r, o in zip(rows, answer.offsets, strict=True)]
    arena = verify_rows(placed)
    if arena > answer.arena:
        raise MemoptError(f"the rows end at {arena} B, the strategy said {answer.arena} B")
    report = _report(path, rows, args.strategy, answer, capacity, seconds)
    fits = capacity is None or answer.arena <= capacity
    if args.output and fits:
        write_output(args.output, write_rows(placed))
    if args.json:
        print(json.dumps(report, indent=2))
    elif fits:
        print(_text(report), file=sys.stderr if args.output == STDOUT else sys.stdout)
    if not fits:
        raise MemoptError(_shortfall(answer, capacity or 0))


def _report(
    path: Path,
    rows: Sequence[Row],
    strategy: str,
    answer: Answer,
    capacity: int | None,
    seconds: float,
) -> dict[str, Any]:
    return {
        "file": path.name,
        "buffers": len(rows),
        "strategy": strategy,
        "arena": answer.arena,
        "lower_bound": answer.lower_bound,
        "optimal": answer.arena == answer.lower_bound,
        "capacity": capacity,
        "fits": None if capacity is None else answer.arena <= capacity,
        "infeasible": None if capacity is None else answer.floor > capacity,
        "seconds": round(seconds, 6),
    }


def _text(report: dict[str, Any]) -> str:
    from memopt.target_facts import sizes

    arena, bound, capacity = report["arena"], report["lower_bound"], report["capacity"]
    if report["optimal"]:
        shared = report["strategy"] in SHARED
        verdict = "smallest possible" + (" for shared objects" if shared else "")
    else:  # then the bound is not 0: what has bytes has a load
        verdict = f"{(arena - bound) / bound:.2%} above the bound"
    lines = [
        f"buffers   {report['buffers']:,}, by {report['strategy']} in {report['seconds']:.3f} s",
        f"arena     {sizes(arena)}, {verdict}",
        f"bound     {sizes(bound)}",
    ]
    if capacity is not None:
        lines.append(f"capacity  {sizes(capacity)}, {capacity - arena:,} B are left")
    return "\n".join(lines)


def _shortfall(answer: Answer, capacity: int) -> str:
    from memopt.target_facts import sizes

    text = f"does not fit into {sizes(capacity)}: "
    if answer.floor > capacity:
        return text + f"proven, at least {sizes(answer.floor)} are needed"
    if answer.lower_bound > capacity:
        return text + (
            f"shared objects need at least {sizes(answer.lower_bound)}, proven; one arena may do "
            "with less"
        )
    return text + (
        f"the best found needs {sizes(answer.arena)}; at least {sizes(answer.lower_bound)} are "
        "needed, so this is not proven"
    )


def verify_placed(path: Path, args: argparse.Namespace) -> None:
    """`memopt verify FILE.csv`: no two buffers that are live together overlap."""
    from memopt.target_facts import sizes

    if args.certificate:
        raise UsageError("--certificate: a .csv has no order of operators to prove")
    rows = read_rows(path.read_bytes(), str(path))
    arena = verify_rows(rows)
    if args.json:
        print(json.dumps({"buffers": len(rows), "arena": arena}, indent=2))
    else:
        print(f"{path.name}: offsets of {len(rows):,} buffers are correct: arena {sizes(arena)}")
