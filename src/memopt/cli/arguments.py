"""Options that several commands have, each defined once, and the shorthands of `memopt-opt`."""

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memopt.compile.options import (
    GROUPS,
    NAME,
    NO_NAME,
    PlanOptions,
    Shorthand,
    check_conflicts,
    described,
    flag_of,
)
from memopt.frontends.core.registry import all_frontends
from memopt.frontends.core.shapes import BATCH, Fixed, Shapes
from memopt.passes.memgraph_input_range import NUMBER, parse_ranges
from memopt.targets.core.target import target_names
from memopt.text.usage import UsageError, path_text

if TYPE_CHECKING:
    from memopt.compile.request import Request

# Passes that memopt-opt has shorthands of and a plan no option, and what their help says.
OTHER_SHORTHANDS = {
    "model": Shorthand(
        "memory model: target, alignment, io, views, inplace, scratch",
        "memgraph-model",
        metavar="KEY=VALUE,...",
    ),
    "prepare": Shorthand(
        "conventions: ReLU merged into its producer, reshapes as views",
        "memgraph-prepare.conventions",
        metavar="frelu,view",
    ),
    "input_range": Shorthand(
        "between which float32 numbers an input is, which constant-channels counts on: for other "
        "inputs the code may compute something else; once for each input",
        "memgraph-input-range.of",
        metavar="NAME=-1:1",
        of=f'(?i:[^"]+=({NUMBER}):({NUMBER}))',
        wrong="--input-range={1}: expected NAME=LOW:HIGH, such as x=-1:1",
    ),
    "extract": Shorthand(
        "the operators between two tensors alone, as a function",
        "memgraph-extract",
        metavar="from=X,to=Y",
        of=r'from=[^\s",={}\\]+,to=[^\s",={}\\]+',
        wrong="--extract={1}: expected from=X,to=Y; more of them, and other names, go through -p",
        quoted=True,
    ),
    "outline": Shorthand("regions that compute tensors as functions", "memgraph-outline"),
    "branches": Shorthand(
        "count the arenas of functions that operators run as their scratch, and plan again",
        "memgraph-branches",
    ),
    "partition": Shorthand(
        "cut into K parts that are scheduled one by one, or auto",
        "memgraph-partition.k",
        metavar="K",
        of=NAME,
        wrong=NO_NAME,
        timed=True,
    ),
    "plan_memrefs": Shorthand(
        "one arena for the allocations of bufferized functions, whose operations keep their order "
        "or are free to move",
        "memgraph-plan-memrefs.order",
        metavar="fixed|free",
        of=NAME,
        wrong=NO_NAME,
        timed=True,
    ),
    "verify_plan": Shorthand("check the plan", "memgraph-verify-plan"),
}


def shorthands() -> Iterator[tuple[str, Shorthand]]:
    """Yield name and description of every shorthand of `memopt-opt`."""
    yield from OTHER_SHORTHANDS.items()
    for name, _, entry in described():
        if (short := entry.shorthand) is not None:
            yield (
                name,
                replace(
                    short,
                    text=short.text or entry.text,
                    runs=short.runs or entry.sets[0],
                    metavar=short.metavar or entry.metavar or "|".join(entry.choices) or None,
                ),
            )


def pipeline_text(steps: Sequence[tuple[str, str]], time_limit: float | None) -> str:
    """Return shorthands and their values as the text of a pipeline. Raises UsageError."""
    # all digits of the limit, without an exponent, which pipelines have not
    limit = "" if time_limit is None else f"time-limit={Decimal(repr(time_limit)):f}"
    return ",".join(shorthand_text(name, word, limit) for name, word in steps)


def shorthand_text(name: str, word: str, limit: str = "") -> str:
    """Return the passes, as text of a pipeline, that a shorthand of `memopt-opt` runs with the
    value `word`; a timed one gets `limit`. Raises UsageError."""
    short, flag = dict(shorthands())[name], name.replace("_", "-")
    if re.fullmatch(short.of, word) is None:
        raise UsageError(short.wrong.format(flag, word))
    for field_name, default, entry in described():
        if field_name == name and default is not True and word:
            value: Any = entry.read(flag, word)
            check_conflicts(PlanOptions(**{name: value}))
            word = str(value)
    if short.quoted:
        word = re.sub("=([^,]+)", r'="\1"', word)
    run, _, key = short.runs.partition(".")
    if key and word:
        quoted = word if re.fullmatch(r"[\w,-]*", word) else f'"{word}"'
        word = f"{key.replace('_', '-')}={quoted}"
    options = " ".join(
        filter(None, (word.replace(",", " ") if not key else word, limit * short.timed))
    )
    return short.before + run + (f"{{{options}}}" if options else "")


def parse_shapes(texts: Sequence[str], batch: int | None = None) -> Shapes:
    """`NAME=1x3x224x224` as a mapping, with the size of batches. Raises UsageError."""
    shapes: dict[str, tuple[int, ...]] = {}
    if batch is not None:
        if batch < 1:
            raise UsageError(f"--batch={batch}: at least 1")
        shapes[BATCH] = (batch,)
    for text in texts:
        match = re.fullmatch(r"(.+)=(\d{1,18}(?:x\d{1,18})*)", text)
        if match is None:
            raise UsageError(f"--shape={text}: expected NAME=1x3x224x224")
        name, shape = match.group(1), tuple(map(int, match.group(2).split("x")))
        if shapes.setdefault(name, shape) != shape:
            raise UsageError(f"--shape={text}: {name!r} has another shape already")
    return shapes


def parse_fixed(texts: Sequence[str]) -> Fixed:
    """`NAME=16000` or `NAME=1,1,0` as a mapping. Raises UsageError."""
    fixed: dict[str, tuple[int | float, ...]] = {}
    for text in texts:
        name, equals, values = text.rpartition("=")
        if not name or not equals:
            raise UsageError(f"--fix={text}: expected NAME=VALUE or NAME=VALUE,VALUE,...")
        try:
            numbers = tuple(_number(value.strip()) for value in values.split(","))
        except ValueError:
            raise UsageError(f"--fix={text}: {values!r} is not numbers, true or false") from None
        if fixed.setdefault(name, numbers) != numbers:
            raise UsageError(f"--fix={text}: {name!r} is fixed already")
    return fixed


def _number(text: str) -> int | float:
    """Raises ValueError."""
    if text in ("true", "false"):
        return int(text == "true")
    try:
        return int(text)
    except ValueError:
        return float(text)


def parse_input_ranges(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """`NAME=-1:1` as a mapping. Raises UsageError."""
    try:
        return parse_ranges(texts) if texts else {}
    except ValueError as error:
        raise UsageError(f"--input-range={error}") from None


def shape_help() -> str:
    """The line of `--shape`: which formats leave something to it."""
    open_ = " or ".join(f.suffix for f in all_frontends().values() if f.fixes_shapes)
    return f"fixes symbolic dimensions of an {open_} input; of other files only checked"


def add_input_range(parser: Any) -> None:
    """`--input-range`, which `memopt.cli.arguments.parse_input_ranges` reads."""
    entry = OTHER_SHORTHANDS["input_range"]
    parser.add_argument(
        "--input-range", action="append", default=[], metavar=entry.metavar, help=entry.text
    )


def add_shape(parser: Any) -> None:
    """`--shape` and `--batch`, which `memopt.cli.arguments.parse_shapes` reads, and `--fix`, which
    `parse_fixed` does."""
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=1x3x224x224", help=shape_help()
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
    entries = list(described())
    for title in GROUPS:
        group = parser.add_argument_group(title)
        for name, default, entry in entries:
            if entry.group != title or name == "target":
                continue
            flag = flag_of(name, default)
            if isinstance(default, bool):
                group.add_argument(flag, action="store_true", help=entry.help)
            elif entry.many:
                group.add_argument(flag, action="append", metavar=entry.metavar, help=entry.help)
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
        value: Any = getattr(args, flag.replace("-", "_"))
        if default is True:
            value = not value
        if entry.many and value is not None:
            value = ",".join(value)
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


def request_of(args: argparse.Namespace, path: Path, **more: Any) -> "Request":
    """Return what a command line asks for of the model at `path`. Raises UsageError."""
    from memopt.compile.request import Reading, Request  # which memopt-opt has not

    reading = Reading(
        shapes=parse_shapes(args.shape, args.batch),
        fixed=parse_fixed(args.fix),
        ranges=parse_input_ranges(args.input_range),
        model_path=args.model_path,
        custom=Path(args.custom) if args.custom else None,
    )
    return Request(path=path, options=options_of(args), reading=reading, **more)
