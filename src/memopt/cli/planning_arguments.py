"""The options of `compile` and `report` that say what is read and how it is planned."""

import argparse
from pathlib import Path
from typing import Any

from memopt.cli.arguments import add_input_range, add_model_path, add_shape
from memopt.cli.shorthands import parse_fixed, parse_input_ranges, parse_shapes
from memopt.compile.options import add_options, options_of
from memopt.compile.request import Reading, Request


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


def request_of(args: argparse.Namespace, path: Path, **more: Any) -> Request:
    """Return what a command line asks for of the model at `path`. Raises UsageError."""
    reading = Reading(
        shapes=parse_shapes(args.shape, args.batch),
        fixed=parse_fixed(args.fix),
        ranges=parse_input_ranges(args.input_range),
        model_path=args.model_path,
        custom=Path(args.custom) if args.custom else None,
    )
    return Request(path=path, options=options_of(args, args.target), reading=reading, **more)
