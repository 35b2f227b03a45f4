"""Options that several commands have, each defined once; what each is for there is its help."""

from typing import Any

from memopt.cli.shorthands import shape_help
from memopt.text.usage import path_text

MEMORY = (
    "dtcm:64K,sram:320K",
    "instead of --place: several memories, the fastest first, NAME:BYTES@COST",
)
"""Metavar and help of `--memory`."""


INPUT_RANGE = (
    "NAME=-1:1",
    "between which float32 numbers an input is, which constant-channels counts on: for other "
    "inputs the code may compute something else; once for each input",
)
"""Metavar and help of `--input-range`."""


def add_input_range(parser: Any) -> None:
    """`--input-range`, which `memopt.cli.shorthands.parse_input_ranges` reads."""
    metavar, text = INPUT_RANGE
    parser.add_argument("--input-range", action="append", default=[], metavar=metavar, help=text)


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
