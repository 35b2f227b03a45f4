"""The options of `compile` and `report` that say what is read and how it is planned."""

import argparse
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.cli.arguments import MEMORY, add_input_range, add_model_path, add_shape, add_time_limit
from memopt.cli.shorthands import parse_fixed, parse_input_ranges, parse_shapes
from memopt.cli.texts import bytes_of_text
from memopt.compile.claims import check_claims
from memopt.compile.custom_ops import declare_customs, read_customs
from memopt.compile.driver import (
    IR,
    check_module,
    is_model,
    load_model,
    load_text,
    new_context,
    set_model_path,
    unknown_kind,
)
from memopt.compile.plan_request import PlanRequest
from memopt.compile.planning import Seconds
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.fixed import check_none_fixed
from memopt.frontends.core.shapes import check_shapes
from memopt.passes.memgraph_input_range import declare_ranges
from memopt.passes.memgraph_kernels import HOW
from memopt.rewrites import RULES
from memopt.text.usage import UsageError


def add_planning_arguments(parser: argparse.ArgumentParser) -> None:
    """The options themselves."""
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
    parser.add_argument("--memory", metavar=MEMORY[0], help=MEMORY[1])
    parser.add_argument("--no-fuse", action="store_true", help="schedule operator by operator")
    add_time_limit(parser, "for the whole command, with reading and writing")
    parser.add_argument(
        "--io", choices=("arena", "kept", "caller"), help="where inputs and outputs live"
    )
    parser.add_argument(
        "--inplace",
        choices=("on", "off"),
        help="results over dying operands (C targets; default: on)",
    )
    parser.add_argument(
        "--rows",
        metavar="all|auto|none|NAMES",
        help="cut operators into rows: all, of the least arena (auto), or those that make the "
        "named tensors (C targets; default: auto; "
        "none, whole operators, beside --memory or a --schedule or --place other than auto)",
    )
    parser.add_argument(
        "--fit",
        metavar="64K",
        help="the cheapest plan with an arena of so many bytes: whole operators if they fit, else "
        "as few rows as are found (C targets)",
    )
    parser.add_argument(
        "--stream-input",
        action="store_true",
        help="the caller hands over the input row by row, so it is never there as a whole (with "
        "rows; C targets)",
    )
    parser.add_argument(
        "--slide",
        metavar="N",
        help="the input is a window of a stream that slides by N rows: the caller pushes the new "
        "ones, and rows of the window before are kept and not computed again (all operators in "
        "rows; C targets)",
    )
    parser.add_argument(
        "--kept",
        metavar="8K",
        help="of a window that slides at most so many bytes stay for the next; what does not is "
        "computed again (with --slide)",
    )
    parser.add_argument(
        "--optimize",
        choices=HOW,
        help="what kernels that take scratch to be faster may cost: no RAM (ram), 6%% of it "
        "(balanced, default), or any (speed) (C targets)",
    )
    parser.add_argument(
        "--cmsis-nn",
        action="store_true",
        help="whole int8 operators call CMSIS-NN where the build has it "
        "(-DMEMOPT_CMSIS_NN=ON), and its scratch is planned (C targets)",
    )
    parser.add_argument(
        "--int8-io",
        action="store_true",
        help="take and return the stored integers instead of the real numbers that are quantized "
        "first and dequantized last (C targets)",
    )
    parser.add_argument(
        "--nhwc-io",
        action="store_true",
        help="take and return images channels last where the file has them channels first (with "
        "--rewrite=channels-last or all, C targets)",
    )
    parser.add_argument(
        "--rewrite",
        metavar="safe|all|none|RULES",
        help="rewrite rules: safe, those that keep every bit and never raise the least peak "
        "(default for C targets, of .onnx with those that kernels need); all; none (default for "
        f"tflm); or names, of {', '.join(RULES)}",
    )
    parser.add_argument(
        "--stats", choices=("json",), help="the seconds of each stage as a line of JSON, to stderr"
    )
    add_input_range(parser)
    add_shape(parser)
    add_model_path(parser, "where the weights of an .mlir are")
    parser.add_argument(
        "--custom",
        metavar="FILE.json",
        help='custom operators that you write yourself, {"name": {"scratch": BYTES, "state": '
        "BYTES}}: the C project calls memopt_custom_name (C targets)",
    )


def read_model(args: argparse.Namespace, path: Path, seconds: Seconds) -> tuple[Context, ModuleOp]:
    """The model or IR that the command line names, verified. Raises MemoptError, OSError."""
    context = new_context(True)
    found: list[ModuleOp] = []

    def read() -> None:
        shapes, ranges = parse_shapes(args.shape, args.batch), parse_input_ranges(args.input_range)
        fixed = parse_fixed(args.fix)
        if is_model(path):
            found.append(load_model(path, shapes, fixed))
        elif path.suffix == IR:
            found.append(load_text(context, path.read_text(encoding="utf-8"), str(path)))
            check_shapes(found[0], shapes)
            check_none_fixed(fixed)
        else:
            raise MemoptError(unknown_kind())
        if args.model_path:
            set_model_path(found[0], args.model_path)
        declare_ranges(found[0], ranges)
        if args.custom and getattr(args, "target", "") == "tflm":
            raise UsageError("--custom is of C targets; TensorFlow Lite Micro asks its kernels")
        if args.custom:
            declare_customs(found[0], read_customs(Path(args.custom)))
        check_module(found[0])
        check_claims(found[0])

    seconds.run("import", read)
    return context, found[0]


def request_of(args: argparse.Namespace, target: str) -> PlanRequest:
    """Return the options of the command line. Raises UsageError."""
    return PlanRequest(
        target,
        schedule=args.schedule,
        place=args.place,
        time_limit=args.time_limit,
        fuse=not args.no_fuse,
        io=args.io,
        inplace=args.inplace,
        memory=args.memory,
        rows=args.rows,
        fit=None if args.fit is None else bytes_of_text(args.fit),
        stream_input=args.stream_input,
        int8_io=args.int8_io,
        nhwc_io=args.nhwc_io,
        slide=None if args.slide is None else _slide(args.slide),
        kept=None if args.kept is None else bytes_of_text(args.kept),
        rewrite=args.rewrite,
        optimize=args.optimize,
        cmsis_nn=args.cmsis_nn,
    )


def _slide(text: str) -> int:
    """Return the rows of --slide. Raises UsageError."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise UsageError(f"--slide={text}: a number of rows, from 1 on")
    return int(text)
