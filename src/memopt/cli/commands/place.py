"""`memopt place FILE.csv`: offsets for the buffers of a CSV, with what is proven of them.

What is printed was checked by the verifier of the answer, and once more from the rows that are
written.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memopt.api.place_csv import STRATEGIES, Answer, FamilyAnswer, placed, placed_family
from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.formats.dimension import Family, read_family
from memopt.formats.minimalloc import Row, read_rows, write_rows
from memopt.solvers import clock
from memopt.solvers.shared_objects import METHODS as SHARED
from memopt.text.diagnostics import progress, write_output
from memopt.text.format import bytes_of_text, sizes
from memopt.text.usage import STDOUT, UsageError, add_time_limit, path_text


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "place",
        help="offsets for the buffers of a CSV",
        description="Place the buffers of minimalloc's CSV; with what is proven of the arena.",
    )
    parser.add_argument(
        "file",
        type=path_text,
        metavar="FILE.csv",
        help="id,lower,upper,size: live in [lower, upper); size(n<=32): sizes a*n+b for each n",
    )
    parser.add_argument(
        "--capacity", metavar="256K", help="stop as soon as the buffers fit, fail if they do not"
    )
    parser.add_argument(
        "--strategy",
        default="auto",
        metavar="METHOD",
        help="a METHOD of memopt-opt --place, but joint; default: auto",
    )
    add_time_limit(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=path_text,
        metavar="OUT.csv",
        help="the same with an offset column; - is stdout",
    )
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> None:
    """Raises MemoptError where the capacity is not met; then nothing is written."""
    if args.strategy not in STRATEGIES:
        close = nearest(args.strategy, STRATEGIES)
        raise UsageError(f"--strategy={args.strategy}{close}: one of {', '.join(STRATEGIES)}")
    if args.json and args.output == STDOUT:
        raise UsageError("--json and -o - cannot both go to stdout")
    capacity = None if args.capacity is None else bytes_of_text(args.capacity)
    path = Path(args.file)
    began, deadline = clock.now(), clock.deadline(args.time_limit)
    data = path.read_bytes()
    if (family := read_family(data, str(path))) is not None:
        _place_family(args, path, family, capacity, deadline)
        return
    rows = read_rows(data, str(path))
    # the answer is checked and printed too, which takes about as long as reading
    deadline = clock.sooner(deadline, clock.now() - began)
    started = time.perf_counter()
    with progress(f"{args.strategy} {path.name}", deadline):
        answer, placed_rows = placed(rows, args.strategy, clock.left(deadline), capacity, str(path))
    seconds = time.perf_counter() - started
    report = _report(path, rows, args.strategy, answer, capacity, seconds)
    fits = capacity is None or answer.arena <= capacity
    if args.output and fits:
        write_output(args.output, write_rows(placed_rows))
    if args.json:
        print(json.dumps(report, indent=2))
    elif fits:
        print(_text(report), file=sys.stderr if args.output == STDOUT else sys.stdout)
    if not fits:
        raise MemoptError(_shortfall(answer, capacity or 0))


def _place_family(
    args: argparse.Namespace,
    path: Path,
    family: Family,
    capacity: int | None,
    deadline: float | None,
) -> None:
    """Place for every value of a dimension. Raises MemoptError where the largest arena is too
    large; then nothing is written."""
    with progress(f"{args.strategy} {path.name}", deadline):
        answer = placed_family(family, args.strategy, clock.left(deadline), str(path))
    if capacity is not None and max(answer.arena) > capacity:
        text = f"does not fit into {sizes(capacity)}: the best found needs"
        raise MemoptError(f"{text} {sizes(max(answer.arena))} for some {family.name}")
    if args.output:
        write_output(args.output, answer.text)
    report = _family_report(path, family, args.strategy, answer)
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        print(_family_text(report), file=sys.stderr if args.output == STDOUT else sys.stdout)


def _family_report(
    path: Path, family: Family, strategy: str, answer: FamilyAnswer
) -> dict[str, Any]:
    return {
        "file": path.name,
        "strategy": strategy,
        "dimension": {"name": family.name, "most": family.largest},
        "arena": [
            {"n": n, "arena": arena, "lower_bound": bound, "optimal": arena == bound}
            for n, arena, bound in zip(
                (1, family.largest), answer.arena, answer.lower_bound, strict=True
            )
        ],
        "lines": [{"from": n, "arena": family.text(line)} for n, line in answer.lines],
    }


def _family_text(report: dict[str, Any]) -> str:
    name, largest = report["dimension"]["name"], report["dimension"]["most"]
    lines = [f"offsets   for {name} from 1 to {largest:,}, each a line"]
    for end in report["arena"]:
        verdict = "smallest possible" if end["optimal"] else f"bound {sizes(end['lower_bound'])}"
        lines.append(f"arena     {sizes(end['arena'])} at {name} = {end['n']:,}, {verdict}")
    lines += [f"from {line['from']:<4} {line['arena']} B" for line in report["lines"]]
    return "\n".join(lines)


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
