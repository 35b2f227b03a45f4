"""The options of a plan, each described once.

    options = PlanOptions(target="cortex-m4", rows="all")
    add_options(parser)                       # the flags, in groups, with their help
    options_of(parser.parse_args(), "host")   # what a command line says
    check_conflicts(options)                  # what contradicts itself

`memopt compile`, `memopt report`, the keywords of `memopt.plan` and
docs/reference/options.md are made of it. A new option is a field here, and what a pass makes of it.
"""

import argparse
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from memopt.formats.sizes import parse_size
from memopt.passes.memgraph_expand_rows import ALL, AUTO
from memopt.passes.memgraph_kernels import HOW
from memopt.passes.memgraph_place import METHODS as PLACEMENTS
from memopt.rewrites import RULES
from memopt.solvers.scheduling import METHODS as SCHEDULES
from memopt.targets.core.registry import target_names
from memopt.text.usage import UsageError

BUDGET = "budget"
ROWS = "rows and streams"
REWRITING = "rewriting and kernels"
SEARCH = "search"
BORDER = "inputs and outputs"
GROUPS = (BUDGET, ROWS, REWRITING, BORDER, SEARCH)
C_TARGETS = "C targets"


@dataclass(frozen=True)
class Option:
    """A field of `PlanOptions` for people: its `group`, its `text`, what its value is called, what
    it may be (`choices` few, `names` many), how a word of the command line is read, and of which
    targets it is."""

    group: str
    text: str
    metavar: str | None = None
    choices: Sequence[str] = ()
    names: Callable[[], Sequence[str]] | None = None
    parse: Callable[[str], object] | None = None
    targets: str = ""

    @property
    def help(self) -> str:
        """Return the text with the targets behind it."""
        return f"{self.text} ({self.targets})" if self.targets else self.text


def option(default: Any, group: str, text: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(group, text, **more)})


def _bytes(text: str) -> int:
    """Return `256K` as bytes. Raises UsageError."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _slide(text: str) -> int:
    """Return the rows of --slide. Raises UsageError."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise UsageError(f"--slide={text}: a number of rows, from 1 on")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Sizes are bytes, times are seconds; None is the default, which may depend on the model."""

    target: str = option(
        "host", SEARCH, "the device, or tflm", names=lambda: target_names("c", "tflite")
    )
    memory: str | None = option(
        None,
        BUDGET,
        "instead of --place: several memories, the fastest first, NAME:BYTES@COST",
        metavar="dtcm:64K,sram:320K",
    )
    fit: int | None = option(
        None,
        BUDGET,
        "the cheapest plan with an arena of so many bytes: whole operators if they fit, else as "
        "few rows as are found",
        metavar="64K",
        parse=_bytes,
        targets=C_TARGETS,
    )
    rows: str | None = option(
        None,
        ROWS,
        "cut operators into rows: all, of the least arena (auto), or those that make the named "
        "tensors (default: auto; none, whole operators, beside --memory or a --schedule or "
        "--place other than auto)",
        metavar="all|auto|none|NAMES",
        targets=C_TARGETS,
    )
    stream_input: bool = option(
        False,
        ROWS,
        "the caller hands over the input row by row, so it is never there as a whole (with rows)",
        targets=C_TARGETS,
    )
    slide: int | None = option(
        None,
        ROWS,
        "the input is a window of a stream that slides by N rows: the caller pushes the new ones, "
        "and rows of the window before are kept and not computed again (all operators in rows)",
        metavar="N",
        parse=_slide,
        targets=C_TARGETS,
    )
    kept: int | None = option(
        None,
        ROWS,
        "of a window that slides at most so many bytes stay for the next; what does not is "
        "computed again (with --slide)",
        metavar="8K",
        parse=_bytes,
        targets=C_TARGETS,
    )
    rewrite: str | None = option(
        None,
        REWRITING,
        "rewrite rules: safe, those that keep every bit and never raise the least peak (default "
        "for C targets, of .onnx with those that kernels need); all; none (default for tflm); or "
        f"names, of {', '.join(RULES)}",
        metavar="safe|all|none|RULES",
    )
    optimize: str | None = option(
        None,
        REWRITING,
        "what kernels that take scratch to be faster may cost: no RAM (ram), 6%% of it "
        "(balanced, default), or any (speed)",
        choices=HOW,
        targets=C_TARGETS,
    )
    cmsis_nn: bool = option(
        False,
        REWRITING,
        "whole int8 operators call CMSIS-NN where the build has it (-DMEMOPT_CMSIS_NN=ON), and "
        "its scratch is planned",
        targets=C_TARGETS,
    )
    int8_io: bool = option(
        False,
        BORDER,
        "take and return the stored integers instead of the real numbers that are quantized first "
        "and dequantized last",
        targets=C_TARGETS,
    )
    nhwc_io: bool = option(
        False,
        BORDER,
        "take and return images channels last where the file has them channels first (with "
        "--rewrite=channels-last or all)",
        targets=C_TARGETS,
    )
    io: str | None = option(
        None, BORDER, "where inputs and outputs live", choices=("arena", "kept", "caller")
    )
    inplace: str | None = option(
        None,
        SEARCH,
        "results over dying operands (default: on)",
        choices=("on", "off"),
        targets=C_TARGETS,
    )
    schedule: str = option(
        "auto",
        SEARCH,
        "auto (default), ilp, source (the file's order), ...: memopt-opt --help has all",
        metavar="METHOD",
        names=lambda: SCHEDULES,
    )
    place: str = option(
        "joint",
        SEARCH,
        "joint (default), auto, exact, shared-objects, ...: memopt-opt --help has all",
        metavar="METHOD",
        names=lambda: PLACEMENTS,
    )
    fuse: bool = option(True, SEARCH, "schedule operator by operator")
    time_limit: float | None = option(
        None,
        SEARCH,
        "for the whole command, with reading and writing",
        metavar="SECONDS",
        parse=float,
    )

    @property
    def is_compiled(self) -> bool:
        """Return whether the target runs C that we write."""
        return self.target in target_names("c")

    @property
    def runs_file(self) -> bool:
        """Return whether the target is a runtime that reads a model's file itself, and runs its
        operators whole."""
        return self.target in target_names("tflite")


def described() -> Iterator[tuple[str, Any, Option]]:
    """Yield name, default and description of every option."""
    for each in dataclasses.fields(PlanOptions):
        if "option" in each.metadata:
            yield each.name, each.default, each.metadata["option"]


def flag_of(name: str, default: Any) -> str:
    """Return the flag of an option: one that is on by default has one that turns it off."""
    return ("--no-" if default is True else "--") + name.replace("_", "-")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the flags of all options but --target, which commands have themselves."""
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


def options_of(args: argparse.Namespace, target: str) -> PlanOptions:
    """Return the options of a command line. Raises UsageError."""
    values: dict[str, Any] = {"target": target}
    for name, default, entry in described():
        if name == "target":
            continue
        value = getattr(args, flag_of(name, default)[2:].replace("-", "_"))
        if default is True:
            value = not value
        if isinstance(value, str) and entry.parse is not None:
            value = entry.parse(value)
        values[name] = value
    return PlanOptions(**values)


# What contradicts itself, and why. The first that holds is said.
CONFLICTS: tuple[tuple[Callable[[PlanOptions], bool], str], ...] = (
    (
        lambda o: o.optimize is not None and o.runs_file,
        "--optimize is of C targets; TensorFlow Lite Micro has kernels of its own",
    ),
    (lambda o: o.fit is not None and o.fit < 1, "--fit={o.fit}: no arena has no bytes"),
    (
        lambda o: o.fit is not None and o.memory is not None,
        "--fit is one arena, --memory says all of them; give one of the two",
    ),
    (
        lambda o: o.fit is not None and o.rows not in (None, AUTO),
        "--fit chooses the rows, --rows={o.rows} others; give one of the two",
    ),
    (
        lambda o: o.kept is not None and o.slide is None,
        "--kept is of a window that slides: --slide=N says by how much",
    ),
    (lambda o: o.kept is not None and o.kept < 1, "--kept={o.kept}: no window is kept in that"),
    (
        lambda o: o.slide is not None and o.rows not in (None, ALL),
        "--slide cuts every operator that has rows, not --rows={o.rows}",
    ),
    (
        lambda o: o.slide is not None and o.fit is not None,
        "--slide: --fit is of whole windows; --ram says what there is",
    ),
    (
        lambda o: o.slide is not None and o.memory is not None,
        "--slide: --memory has no place for what stays from window to window",
    ),
)


def check_conflicts(options: PlanOptions) -> None:
    """Raise UsageError for options that contradict each other."""
    for holds, why in CONFLICTS:
        if holds(options):
            raise UsageError(why.format(o=options))


def page() -> str:
    """Return the page of options: each by its flag and its keyword."""
    lines = [
        "# Options of a plan",
        "",
        "Of `memopt compile` and `memopt report` by their flags, of `memopt.plan` and",
        "`memopt.compile` by keywords (sizes in bytes, times in seconds). Made from",
        "`src/memopt/compile/options.py`.",
    ]
    for title in GROUPS:
        lines += ["", f"## {title.capitalize()}", "", "| flag | keyword | |", "|---|---|---|"]
        for name, default, entry in described():
            if entry.group == title:
                value = entry.metavar or "|".join(entry.choices)
                flag = flag_of(name, default) + (f"={value}" if value else "")
                cells = (f"`{flag}`", f"`{name}`", entry.help.replace("%%", "%"))
                row = " | ".join(cell.replace("|", "\\|") for cell in cells)
                lines.append(f"| {row} |")
    return "\n".join(lines) + "\n"
