"""`memopt report MODEL|PLAN`: the arena over time, before and after."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from memopt.api.certified import is_proven, optimality_of
from memopt.backends.checked import checked
from memopt.backends.report import report_html, table_text, timeline_of
from memopt.cli.claims import off_chip_claims, off_chip_lines, only_claimed
from memopt.cli.planning_arguments import add_planning_arguments, read_model
from memopt.cli.summary import summary
from memopt.compile.advice import Advice, Advised, advice_of
from memopt.compile.compare import plan_task, task_of
from memopt.compile.driver import model_files
from memopt.compile.options import options_of
from memopt.compile.report import report_dict
from memopt.compile.run_passes import Seconds, as_it_was, whole_peak
from memopt.compile.target_facts import facts_without_a_build
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.frontends.core.registry import frontend_of
from memopt.targets.core.registry import target_names
from memopt.text.diagnostics import write_output
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
    parser.add_argument(
        "--target", choices=target_names("c", "tflite"), default="host", help="default: host"
    )
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Text, or JSON, and the picture."""
    if args.json and args.html == STDOUT:
        raise UsageError("--json and --html - cannot both go to stdout")
    path, seconds = Path(args.model), Seconds()
    context, module = read_model(args, path, seconds)
    func, frontend = only_function(module), frontend_of(path.suffix)
    request = options_of(args, args.target)
    found = checked(func) if plan_of(func) is not None else None
    whole, task = None, None
    from_file = found is not None and found.plan.placed
    if args.certificate and not from_file:
        raise UsageError("--certificate goes with a plan that is read: an .mlir with offsets")
    if found is not None and from_file:
        before, after, known = as_it_was(context, module, False), module, found
    else:
        task = task_of(context, module, request, frontend, seconds)
        before, after, known = plan_task(context, task, seconds)
        if known.plan.family.data == "rows":
            whole = whole_peak(context, task.ready, task.options, seconds)
    facts = facts_without_a_build(after, args.target, known.plan.arena)
    advice: tuple[Advice, ...] = ()
    if task is not None:
        arena, ram = known.plan.arena, facts["ram"]
        advised = Advised(context, module, frontend, request, task, arena, ram)
        advice = advice_of(advised, seconds)
    entries = [one.entry() for one in advice]
    report = report_dict(path.name, before, known, facts, whole, entries)
    old, new = timeline_of(only_function(before)), timeline_of(known.func, known)
    off_chip = off_chip_claims(func)
    if off_chip is not None:
        report["off_chip"] = off_chip
    if from_file:
        proven = bool(args.certificate) and is_proven(optimality_of([func], Path(args.certificate)))
        report = only_claimed(report, proven)
        new = replace(new, claimed=report["plan"]["claimed"])
    if args.html:
        write_output(args.html, report_html(path.name, old, new), (path, *model_files(after)))
    if args.stats:
        print(seconds.line(), file=sys.stderr)
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        out = sys.stderr if args.html == STDOUT else sys.stdout
        lines = [summary(report), *off_chip_lines(off_chip), "", table_text(new)]
        print("\n".join(lines), file=out)
