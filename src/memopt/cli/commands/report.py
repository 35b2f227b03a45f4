"""`memopt report MODEL|PLAN`: the arena over time, before and after."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from memopt.api.certified import is_proven, optimality_of
from memopt.backends.checked import checked
from memopt.backends.report import table_text, timeline_of
from memopt.cli.arguments import add_planning_arguments, request_of
from memopt.cli.claims import off_chip_claims, off_chip_lines, only_claimed
from memopt.cli.page import write_page
from memopt.cli.summary import summary
from memopt.compile.plan import read_plan
from memopt.compile.report import report_dict
from memopt.compile.stages import estimate, plan, read, report
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.text.usage import STDOUT, UsageError, path_text


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="the arena over time, before and after",
        description="Print peak, bound, proof, arena and the table of operators.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "model", type=path_text, metavar="MODEL|PLAN", help="a model, or .mlir with a plan"
    )
    parser.add_argument("--json", action="store_true", help="the keys of report.json")
    parser.add_argument(
        "--html",
        type=path_text,
        metavar="FILE",
        help="one file with the picture, no network needed; - is stdout",
    )
    parser.add_argument(
        "--certificate",
        type=path_text,
        metavar="FILE",
        help="of a plan that is read: proof that its order is the best, as for memopt verify",
    )
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Text, or JSON, and the picture."""
    if args.json and args.html == STDOUT:
        raise UsageError("--json and --html - cannot both go to stdout")
    path = Path(args.model)
    imported = read(request_of(args, path))
    func = only_function(imported.module)
    checked_plan = checked(func) if plan_of(func) is not None else None
    from_file = checked_plan is not None and checked_plan.plan.placed
    if args.certificate and not from_file:
        raise UsageError("--certificate goes with a plan that is read: an .mlir with offsets")
    if checked_plan is not None and from_file:
        planned = read_plan(imported, checked_plan)
        facts = estimate(planned).facts
        content = report_dict(path.name, planned.before, checked_plan, facts)
    else:
        planned = plan(imported)
        content = report(estimate(planned)).content
    new = timeline_of(planned.known.func, planned.known)
    off_chip = off_chip_claims(func)
    if off_chip is not None:
        content["off_chip"] = off_chip
    if from_file:
        proven = bool(args.certificate) and is_proven(optimality_of([func], Path(args.certificate)))
        content = only_claimed(content, proven)
        new = replace(new, claimed=content["plan"]["claimed"])
    if args.html:
        write_page(args.html, args.words, planned, content, new)
    if args.stats:
        print(imported.seconds.line(), file=sys.stderr)
    if args.json:
        print(json.dumps(content, indent=2))
    else:
        out = sys.stderr if args.html == STDOUT else sys.stdout
        lines = [summary(content), *off_chip_lines(off_chip), "", table_text(new)]
        print("\n".join(lines), file=out)
