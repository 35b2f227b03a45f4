"""Options that several commands have, each defined once; what each is for there is its help."""

import argparse
from pathlib import Path
from typing import Any

from memopt.cli.shorthands import (
    OTHER_SHORTHANDS,
    parse_fixed,
    parse_input_ranges,
    parse_shapes,
    shape_help,
)
from memopt.compile.options import GROUPS, PlanOptions, described, flag_of
from memopt.compile.request import Reading, Request
from memopt.targets.core.registry import target_names
from memopt.text.usage import path_text


def add_input_range(parser: Any) -> None:
    """`--input-range`, which `memopt.cli.shorthands.parse_input_ranges` reads."""
    entry = OTHER_SHORTHANDS["input_range"]
    parser.add_argument(
        "--input-range", action="append", default=[], metavar=entry.metavar, help=entry.text
    )


def add_time_limit(parser: Any, text: str | None = None) -> None:
    """`--time-limit`, which `memopt.text.usage.check_time_limit` looks at."""
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help=text)


def add_shape(parser: Any) -> None:
    """`--shape` and `--batch`, which `memopt.cli.shorthands.parse_shapes` reads, and `--fix`, which
    `parse_fixed` does."""
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1x3x224x224",
        help=shape_help(),
    )
    parser.add_argument(
        "--batch", type=int, metavar="N", help="first dimension of all inputs that leave it open"
    )
    parser.add_argument(
        "--fix",
        action="append",
        default=[],
        metavar="NAME=VALUE,...",
        help="an input of an .onnx file that is a constant in use: its elements in their order, or "
        "one for all of them",
    )


def add_model_path(parser: Any, text: str) -> None:
    """`--model-path`, for `memopt.compile.driver.set_model_path`."""
    parser.add_argument("--model-path", type=path_text, metavar="FILE", help=text)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the flags of all options."""
    parser.add_argument(
        "--target",
        choices=target_names("c", "tflite"),
        default=PlanOptions.target,
        help="default: host",
    )
    for title in GROUPS:
        group = parser.add_argument_group(title)
        for name, default, entry in described():
            if entry.group != title or name == "target":
                continue
            flag = flag_of(name, default)
            if isinstance(default, bool):
                group.add_argument(flag, action="store_true", help=entry.help)
            elif entry.choices:
                group.add_argument(flag, choices=entry.choices, help=entry.help)
            else:
                kind = float if entry.parse is float else str
                group.add_argument(
                    flag, default=default, type=kind, metavar=entry.metavar, help=entry.help
                )


def options_of(args: argparse.Namespace) -> PlanOptions:
    """Return the options of a command line. Raises UsageError."""
    values: dict[str, Any] = {}
    for name, default, entry in described():
        flag = flag_of(name, default)[2:]
        value = getattr(args, flag.replace("-", "_"))
        if default is True:
            value = not value
        values[name] = entry.read(flag, value) if isinstance(value, str) else value
    return PlanOptions(**values)


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
    return Request(path=path, options=options_of(args), reading=reading, **more)
