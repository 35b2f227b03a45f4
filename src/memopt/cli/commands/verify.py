"""`memopt verify PLAN`: check a plan or placed buffers, trusting nothing."""

import argparse
import json
from pathlib import Path
from typing import Any

from memopt.analysis.weights import Weights
from memopt.api.certified import is_proven, optimality_of
from memopt.cli.arguments import add_model_path
from memopt.cli.claims import channel_claims, off_chip_claims, off_chip_lines, optimality_line
from memopt.compile.driver import IR, check_module, load_text, new_context, set_model_path
from memopt.dialects.attributes.plan import FAMILIES
from memopt.dialects.memgraph.errors import MemoptError, printable
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import said_optimal
from memopt.formats.dimension import read_family
from memopt.formats.minimalloc import read_rows
from memopt.frontends.core.registry import frontend_of, with_plans
from memopt.text.format import sizes
from memopt.text.usage import UsageError, path_text
from memopt.verify.buffers import verify_family, verify_rows
from memopt.verify.plan import verify_plan


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "verify",
        help="check a plan, trusting nothing",
        description="Re-derive order, live ranges, overlaps, peak and arena of a plan, or the"
        " overlaps and the arena of placed buffers.",
    )
    parser.add_argument(
        "plan", type=path_text, metavar="PLAN", help=f"{with_plans(IR)} with a plan, placed .csv"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--certificate",
        type=path_text,
        metavar="FILE",
        help="proof that no order is better, as memgraph-schedule{certificate=FILE} writes it",
    )
    add_model_path(parser, "where the weights of an .mlir are")


def run(args: argparse.Namespace) -> None:
    """Every function of the plan, or the plan inside a .tflite."""
    path = Path(args.plan)
    if path.suffix == ".csv":
        _verify_buffers(path, args)
        return
    frontend = frontend_of(path.suffix)
    if frontend is not None and frontend.planned:
        module = frontend.read_planned(path.read_bytes(), str(path))
    elif path.suffix == IR:
        module = load_text(new_context(True), path.read_text(encoding="utf-8"), str(path))
        if args.model_path:
            set_model_path(module, args.model_path)
        check_module(module)
    else:
        raise MemoptError(f"a plan is an {with_plans(IR, '.csv')} file")
    planned_functions = list(functions(module))
    if not planned_functions:
        raise MemoptError("there is no function to verify")
    optimality = ""
    if args.certificate:
        optimality = optimality_of(planned_functions, Path(args.certificate))
    rows: list[dict[str, Any]] = []
    weights = Weights.of(module)
    for func in planned_functions:
        verified = verify_plan(func)
        channels = channel_claims(func, weights)
        off_chip = off_chip_claims(func)
        rows.append(
            ({} if off_chip is None else {"off_chip": off_chip})
            | ({} if channels is None else {"channels": channels})
            | {
                "function": func.sym_name.data,
                "peak": verified.peak,
                "arena": verified.arena,
                "lower_bound": verified.plan.lower_bound.data,
                "proof": verified.plan.proof.data,
                "family": verified.plan.family.data,
                "optimality": optimality
                or optimality_line(verified.plan.proof.data, verified.plan.optimal),
                "optimal": is_proven(optimality)
                or said_optimal(verified.plan.optimal, claimed=True),
            }
        )
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    for row, func in zip(rows, planned_functions, strict=True):
        arena = row["arena"]
        placed = f"arena {sizes(arena)}" if arena is not None else "no offsets"
        name = printable(func.sym_name.data)
        print(f"@{name}: plan is correct: peak {sizes(row['peak'])}, {placed}")
        said = row["optimality"]
        if row["optimal"] is not False:  # proven or claimed
            said += f" {FAMILIES[row['family']]}"
        print("\n".join([f"optimality: {said}", *off_chip_lines(row.get("off_chip"))]))
        if "channels" in row:
            print(f"channels: {row['channels']}")


def _verify_buffers(path: Path, args: argparse.Namespace) -> None:
    """No two buffers that are live together overlap."""
    if args.certificate:
        raise UsageError("--certificate: a .csv has no order of operators to prove")
    data = path.read_bytes()
    if (family := read_family(data, str(path))) is not None:
        arenas = verify_family(family)
        if args.json:
            print(json.dumps({"dimension": family.name, "arena": arenas}, indent=2))
        else:
            ends = f"{sizes(arenas[0])} to {sizes(arenas[1])}"
            text = f"offsets are correct for every {family.name} up to {family.largest:,}"
            print(f"{path.name}: {text}: arena {ends}")
        return
    rows = read_rows(data, str(path))
    arena = verify_rows(rows)
    if args.json:
        print(json.dumps({"buffers": len(rows), "arena": arena}, indent=2))
    else:
        print(f"{path.name}: offsets of {len(rows):,} buffers are correct: arena {sizes(arena)}")
