"""`memopt`: compile a model for a device, report on it, verify a plan.

memopt compile net.tflite --target=tflm -o out/
memopt report net.onnx --html report.html
memopt verify plan.mlir
memopt place buffers.csv --capacity=1M -o placed.csv
memopt bench schedule --quick
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from memopt.targets.core.registry import target_names
from memopt.usage import Parser, UsageError, check_time_limit, folder_text, path_text

EPILOG = """examples:
  memopt compile net.tflite --target=tflm -o out/       the same file, planned
  memopt compile net.tflite --target=cortex-m4 --ram=256K -o fw/
  memopt compile net.tflite --target=cortex-m7 --memory=dtcm:64K,sram:320K -o fw/
  memopt report net.tflite --html report.html           the arena over time, before and after
  memopt place buffers.csv --capacity=1M -o placed.csv  minimalloc's format
  memopt verify placed.csv                              or a plan: .mlir, planned .tflite
  memopt bench place --quick                            every strategy, and peers, in one table

memopt COMMAND --help says more. memopt-opt runs single passes and prints the IR.
Sizes: K = 1024, M = 1024 x 1024. Exit codes: 0 done, 1 wrong input, 2 wrong command line."""


def bytes_of_text(text: str) -> int:
    """`256K` as bytes. Raises UsageError."""
    from memopt.formats.sizes import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _planning_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--schedule",
        default="auto",
        metavar="METHOD",
        help="auto (default), ilp, source (the file's order), ...: memopt-opt --help has all",
    )
    parser.add_argument(
        "--place",
        default="joint",
        metavar="METHOD",
        help="joint (default), auto, exact, shared-objects, ...: memopt-opt --help has all",
    )
    parser.add_argument(
        "--memory",
        metavar="dtcm:64K,sram:320K",
        help="instead of --place: several memories, the fastest first, NAME:BYTES@COST",
    )
    parser.add_argument("--no-fuse", action="store_true", help="schedule operator by operator")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="for each solver")
    parser.add_argument(
        "--io", choices=("arena", "kept", "caller"), help="where inputs and outputs live"
    )
    parser.add_argument(
        "--inplace", choices=("on", "off"), help="results over dying operands (C targets)"
    )
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1x3x224x224",
        help="fixes symbolic dimensions of an ONNX input; of other files only checked",
    )
    parser.add_argument(
        "--model-path", type=path_text, metavar="FILE", help="where the weights of an .mlir are"
    )


def build_parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(
        prog="memopt",
        description="Fits neural networks into microcontrollers, and proves it.",
        epilog=EPILOG,
        formatter_class=raw,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    compile_ = commands.add_parser(
        "compile",
        help="plan a model and write code or a planned .tflite",
        description="Plan a model; leave report.json and the planned .tflite or a C project.",
        formatter_class=raw,
    )
    compile_.add_argument("model", type=path_text, help=".tflite, .onnx, .json, or .mlir")
    targets = target_names("c", "tflite")
    compile_.add_argument("--target", choices=targets, default="host", help="default: host")
    compile_.add_argument("--ram", metavar="256K", help="fail if the arena does not fit")
    compile_.add_argument(
        "-o",
        "--output",
        required=True,
        type=folder_text,
        metavar="DIR",
        help="new, empty, or made by memopt: only what it wrote there is replaced",
    )
    compile_.add_argument(
        "--force", action="store_true", help="overwrite what you edited of memopt's files in DIR"
    )
    _planning_arguments(compile_)
    report = commands.add_parser(
        "report",
        help="the arena over time, before and after",
        description="Print peak, bound, proof, arena and the table of operators.",
        formatter_class=raw,
    )
    report.add_argument(
        "model", type=path_text, metavar="MODEL|PLAN", help="a model, or .mlir with a plan"
    )
    report.add_argument("--json", action="store_true", help="the keys of report.json")
    report.add_argument(
        "--html",
        type=path_text,
        metavar="FILE",
        help="one file with the picture, no network needed; - is stdout",
    )
    report.add_argument("--target", choices=targets, help="default: tflm for .tflite, else host")
    _planning_arguments(report)
    verify = commands.add_parser(
        "verify",
        help="check a plan, trusting nothing",
        description="Re-derive order, live ranges, overlaps, peak and arena of a plan, or the"
        " overlaps and the arena of placed buffers.",
    )
    verify.add_argument(
        "plan",
        type=path_text,
        metavar="PLAN",
        help=".mlir with a plan, planned .tflite, placed .csv",
    )
    verify.add_argument("--json", action="store_true")
    verify.add_argument(
        "--certificate",
        type=path_text,
        metavar="FILE",
        help="proof that no order is better, as memgraph-schedule{certificate=FILE} writes it",
    )
    place = commands.add_parser(
        "place",
        help="offsets for the buffers of a CSV",
        description="Place the buffers of minimalloc's CSV; with what is proven of the arena.",
    )
    place.add_argument(
        "file",
        type=path_text,
        metavar="FILE.csv",
        help="id,lower,upper,size: live in [lower, upper)",
    )
    place.add_argument(
        "--capacity", metavar="256K", help="stop as soon as the buffers fit, fail if they do not"
    )
    place.add_argument(
        "--strategy",
        default="auto",
        metavar="METHOD",
        help="a METHOD of memopt-opt --place, but joint; default: auto",
    )
    place.add_argument("--time-limit", type=float, metavar="SECONDS")
    place.add_argument(
        "-o",
        "--output",
        type=path_text,
        metavar="OUT.csv",
        help="the same with an offset column; - is stdout",
    )
    place.add_argument("--json", action="store_true")
    from memopt.bench import add_arguments

    add_arguments(commands)
    sweep = commands.add_parser(
        "sweep",
        help="peak, bound and proof of many graphs",
        description="The least peak of each graph, on all cores, in the order given.",
    )
    sweep.add_argument(
        "graphs",
        nargs="+",
        type=path_text,
        metavar="GRAPH",
        help=".json, .onnx, .tflite, .mlir, or a folder of them",
    )
    sweep.add_argument("--jobs", type=int, metavar="N", help="processes; default: one per core")
    sweep.add_argument("--json", action="store_true", help="one list instead of a table")
    sweep.add_argument(
        "--model", dest="memory_model", metavar="KEY=VALUE,...", help="as of memopt-opt"
    )
    sweep.add_argument("--prepare", metavar="frelu,view", help="as of memopt-opt")
    sweep.add_argument("--time-limit", type=float, metavar="SECONDS", help="for each graph")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 wrong input, 2 wrong usage."""
    parser = build_parser()
    args = parser.parse_args(arguments)
    if args.version:
        from importlib.metadata import version

        print(f"memopt {version('memopt')} (xdsl {version('xdsl')})")
        return 0
    if args.command is None:
        parser.print_help(sys.stderr)
        return 2
    from memopt import commands
    from memopt.diagnostics import diagnose

    name = next((str(vars(args)[k]) for k in ("model", "plan", "file") if vars(args).get(k)), "")
    try:
        check_time_limit(getattr(args, "time_limit", None))
        if args.command == "bench":
            from memopt.bench import bench

            bench(args)
            return 0
        if args.command == "sweep":
            from memopt.sweep import sweep

            sweep(args)
            return 0
        if args.command == "place":
            from memopt.place import place_file

            place_file(args)
            return 0
        action = {
            "compile": commands.compile_model,
            "report": commands.report_model,
            "verify": commands.verify_file,
        }[args.command]
        action(args)
        return 0
    except UsageError as error:
        print(f"memopt: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("memopt: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("MEMOPT_DEBUG"):
            raise
        print(diagnose(error, name), file=sys.stderr)
        return 1


def stem_of(path: Path) -> str:
    """A file name that is also an identifier in C."""
    return re.sub(r"\W", "_", path.stem) or "model"


if __name__ == "__main__":
    sys.exit(main())
