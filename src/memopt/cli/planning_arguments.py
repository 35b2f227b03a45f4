"""The options of `compile` and `report` that say what is read and how it is planned."""

import argparse
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.cli.arguments import add_input_range, add_model_path, add_shape
from memopt.cli.shorthands import parse_fixed, parse_input_ranges, parse_shapes
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
from memopt.compile.options import add_options
from memopt.compile.run_passes import Seconds
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.fixed import check_none_fixed
from memopt.frontends.core.shapes import check_shapes
from memopt.passes.memgraph_input_range import declare_ranges
from memopt.text.usage import UsageError


def add_planning_arguments(parser: argparse.ArgumentParser) -> None:
    """The options themselves."""
    add_options(parser)
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
