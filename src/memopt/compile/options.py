"""The options of a plan, each described once.

    options = PlanOptions(target="cortex-m4", rows="all")
    check_conflicts(options)                  # what contradicts itself

`memopt compile`, `memopt report`, the shorthands of `memopt-opt`, the keywords of `memopt.plan` and
docs/reference/options.md are made of it. A new option is a field here that says which options of
passes it sets.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from memopt.dialects.attributes.model import LINES
from memopt.formats.sizes import parse_size
from memopt.modules import modules_in
from memopt.passes.plan.words import ALL, AUTO, HOW
from memopt.solvers.methods import SCHEDULES, SHARED_OBJECTS, STRATEGIES
from memopt.targets.core.target import target_names
from memopt.text.usage import UsageError

RULES = modules_in("memopt.rewrites")  # by name, none of which is loaded for that
BUDGET = "budget"
ROWS = "rows and streams"
REWRITING = "rewriting and kernels"
SEARCH = "search"
BORDER = "inputs and outputs"
GROUPS = (BUDGET, ROWS, REWRITING, BORDER, SEARCH)
C_TARGETS = "C targets"
NAME = r"[\w-]+"
NO_NAME = "--{0} needs a name after it, such as --{0}=auto, not {1!r}"  # --schedule in.mlir


@dataclass(frozen=True)
class Shorthand:
    """An option of `memopt-opt` that runs a pass, `NAME{options}` or `NAME.OPTION`, which gets the
    value; `before` are passes that run first. A value is of the form `of`, else `wrong` is said.
    `timed` ones get the seconds of --time-limit; of `quoted` ones each value is text."""

    text: str
    runs: str = ""
    metavar: str | None = None
    of: str = ".*"
    wrong: str = ""
    before: str = ""
    timed: bool = False
    quoted: bool = False


@dataclass(frozen=True)
class Option:
    """A field of `PlanOptions` for people: its `group`, its `text`, what its value is called, what
    it may be (`choices` few, `names` many), how a word of the command line is read, whether it may
    be given again (`many`, joined with commas), and of which targets it is. `sets` are the options
    of passes that take its value, `memgraph-place.method`; `shorthand` is how `memopt-opt` has
    it."""

    group: str
    text: str
    metavar: str | None = None
    choices: Sequence[str] = ()
    names: Callable[[], Sequence[str]] | None = None
    parse: Callable[[str], object] | None = None
    targets: str = ""
    many: bool = False
    sets: Sequence[str] = ()
    shorthand: Shorthand | None = None

    @property
    def help(self) -> str:
        """Return the text with the targets behind it."""
        return f"{self.text} ({self.targets})" if self.targets else self.text

    def read(self, name: str, word: str) -> object:
        """Return the value that a word of the command line stands for. Raises UsageError."""
        if self.parse is None:
            return word
        try:
            return self.parse(word)
        except ValueError as error:
            raise UsageError(f"--{name}={word}: {error}") from None


def option(default: Any, group: str, text: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(group, text, **more)})


def _ram(text: str) -> int | str:
    """Return the bytes of --ram, or the text of two arenas. Raises ValueError."""
    if ":" not in text:
        return parse_size(text)
    _arenas(text)
    return text


def _arenas(text: str) -> tuple[int, int]:
    """Return the bytes of two arenas, of structures and of tensors. Raises ValueError."""
    parts = [each.partition(":") for each in text.split(",")]
    sizes = {name: size for name, _, size in parts}
    if sorted(name for name, _, _ in parts) != ["persistent", "tensors"]:
        raise ValueError("two arenas are persistent:8K,tensors:20K")
    return parse_size(sizes["persistent"]), parse_size(sizes["tensors"])


def _slide(text: str) -> int:
    """Return the rows of --slide. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise ValueError("a number of rows, from 1 on")
    return int(text)


def _placements() -> Sequence[str]:
    from memopt.passes.memgraph_place import METHODS  # with solvers, for who gives one

    return METHODS


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Sizes are bytes, times are seconds; None is the default, which may depend on the model."""

    target: str = option(
        "host",
        SEARCH,
        "the device, or tflm",
        names=lambda: target_names("c", "tflite"),
        sets=("memgraph-model.target",),
    )
    memory: str | None = option(
        None,
        BUDGET,
        "instead of --place: several memories, the fastest first, NAME:BYTES@COST",
        metavar="dtcm:64K,sram:320K",
        sets=("memgraph-memory.banks",),
        shorthand=Shorthand("", timed=True),
    )
    ram: int | str | None = option(
        None,
        BUDGET,
        "what the board has for arena, stack and static RAM: fitted to it as by --fit, unless "
        "--rows says how or --place asks for shared objects; fails if it is not enough; of TFLM's "
        "two arenas persistent:8K,tensors:20K",
        metavar="256K",
        parse=_ram,
    )
    fit: int | None = option(
        None,
        BUDGET,
        "the cheapest plan with an arena of so many bytes: whole operators if they fit, else as "
        "few rows as are found",
        metavar="64K",
        parse=parse_size,
        targets=C_TARGETS,
        sets=("memgraph-expand-rows.fit", "memgraph-kernels.at_most"),
        shorthand=Shorthand(
            "operators in rows, as few as have an arena of so many bytes", timed=True
        ),
    )
    align_io: int | None = option(
        None,
        BUDGET,
        "inputs and outputs in the arena begin at multiples of so many bytes and share no line of "
        "a cache of that size with other buffers: 8, 16, 32 or 64",
        metavar="32",
        parse=int,
        targets=C_TARGETS,
        sets=("memgraph-model.align_io",),
    )
    rows: str | None = option(
        None,
        ROWS,
        "cut operators into rows: all, of the least arena (auto), or those that make the named "
        "tensors (default: auto; none, whole operators, beside --memory or a --schedule or "
        "--place other than auto)",
        metavar="all|auto|none|NAMES",
        targets=C_TARGETS,
        shorthand=Shorthand(
            "operators in rows: all, or as few as keep the peak of all",
            "memgraph-expand-rows.rows",
            metavar="all|auto|none",
            of="all|auto|none",
            wrong="--rows={1}: all, auto or none; memgraph-expand-rows takes names of tensors too",
            timed=True,
        ),
    )
    stream_input: bool = option(
        False,
        ROWS,
        "the caller hands over the input row by row, so it is never there as a whole (with rows)",
        targets=C_TARGETS,
        sets=("memgraph-expand-rows.stream_input",),
    )
    slide: int | None = option(
        None,
        ROWS,
        "the input is a window of a stream that slides by N rows: the caller pushes the new ones, "
        "and rows of the window before are kept and not computed again (all operators in rows)",
        metavar="N",
        parse=_slide,
        targets=C_TARGETS,
        sets=("memgraph-slide.rows",),
        shorthand=Shorthand(
            "operators in rows, of a window that slides by N: rows of the one before are kept",
            before="memgraph-expand-rows{stream-input=true},",
        ),
    )
    kept: int | None = option(
        None,
        ROWS,
        "of a window that slides at most so many bytes stay for the next; what does not is "
        "computed again (with --slide)",
        metavar="8K",
        parse=parse_size,
        targets=C_TARGETS,
        sets=("memgraph-slide.kept",),
    )
    rewrite: str | None = option(
        None,
        REWRITING,
        "rewrite rules: safe, those that keep every bit and never raise the least peak (default "
        "for C targets, of .onnx with those that kernels need); all, of which those that cost "
        "cycles by --optimize=ram or --memory, or where --fit, or --ram with as much stack as "
        "there may be, is missed without; none (default for tflm); or names, of "
        f"{', '.join(RULES)}",
        metavar="safe|all|none|RULES",
        shorthand=Shorthand(
            f"rewrite rules, where they are legal: {', '.join(RULES)}; or none",
            "memgraph-rewrite.rules",
            metavar="RULE,RULE",
            of=r"[\w,-]+",
            wrong=f"--rewrite needs rules after it, of: {', '.join(RULES)}; not {{1!r}}",
            timed=True,
        ),
    )
    optimize: str | None = option(
        None,
        REWRITING,
        "what kernels that take scratch to be faster may cost: no RAM (ram, with which "
        "--rewrite=all spends cycles for bytes), 6%% of it (balanced, default), or any (speed)",
        choices=HOW,
        targets=C_TARGETS,
        sets=("memgraph-kernels.optimize",),
        shorthand=Shorthand(
            "kernels that take scratch to be faster: where there is room for it, where a sixteenth "
            "more makes room, or all; the last two drop places that are no longer the best",
            of="|".join(HOW),
            wrong=f"--optimize={{1}}: {', '.join(HOW[:-1])} or {HOW[-1]}",
        ),
    )
    cmsis_nn: bool = option(
        False,
        REWRITING,
        "whole int8 operators call CMSIS-NN where the build has it (-DMEMOPT_CMSIS_NN=ON), and "
        "its scratch is planned",
        targets=C_TARGETS,
    )
    state: str | None = option(
        None,
        BORDER,
        "the output becomes that input of the next run, zeros before the first: it stays in static "
        "RAM, and is no input and no output; once for each pair",
        metavar="INPUT:OUTPUT",
        many=True,
        targets=C_TARGETS,
        sets=("memgraph-tie-state.of",),
        shorthand=Shorthand(
            "", of='[^",]+:[^",]+', wrong="--state={1}: expected INPUT:OUTPUT, such as h:h_next"
        ),
    )
    int8_io: bool = option(
        False,
        BORDER,
        "take and return the stored integers instead of the real numbers that are quantized first "
        "and dequantized last",
        targets=C_TARGETS,
        shorthand=Shorthand("stored integers at the border", "memgraph-int8-io"),
    )
    nhwc_io: bool = option(
        False,
        BORDER,
        "take and return images channels last where the file has them channels first (with "
        "--rewrite=channels-last or all)",
        targets=C_TARGETS,
        shorthand=Shorthand("images channels last at the border", "memgraph-nhwc-io"),
    )
    io: str | None = option(
        None,
        BORDER,
        "where inputs and outputs live",
        choices=("arena", "kept", "caller"),
        sets=("memgraph-model.io",),
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
        names=lambda: tuple(SCHEDULES),
        sets=("memgraph-schedule.method",),
        shorthand=Shorthand(", ".join(SCHEDULES), of=NAME, wrong=NO_NAME, timed=True),
    )
    place: str = option(
        "joint",
        SEARCH,
        "joint (default), auto, exact, shared-objects, ...: memopt-opt --help has all",
        metavar="METHOD",
        names=_placements,
        sets=("memgraph-place.method",),
        shorthand=Shorthand(
            f"joint (another order where that makes the arena smaller), {', '.join(STRATEGIES)}; "
            f"or several objects instead of an arena: {', '.join(SHARED_OBJECTS)}",
            of=NAME,
            wrong=NO_NAME,
            timed=True,
        ),
    )
    fuse: bool = option(
        True,
        SEARCH,
        "schedule operator by operator",
        shorthand=Shorthand("contract modules where that is safe", "memgraph-fuse", timed=True),
    )
    time_limit: float | None = option(
        None,
        SEARCH,
        "for the whole command, with reading and writing",
        metavar="SECONDS",
        parse=float,
        sets=tuple(
            f"memgraph-{name}.time_limit" for name in ("fuse", "schedule", "place", "memory")
        ),
    )

    @property
    def ram_bytes(self) -> int | None:
        """Return the bytes of RAM, if they are given and not those of two arenas."""
        return self.ram if isinstance(self.ram, int) else None

    @property
    def arenas(self) -> tuple[int, int] | None:
        """Return the bytes of an interpreter's two arenas, of structures and of tensors, if they
        are given."""
        return _arenas(self.ram) if isinstance(self.ram, str) else None

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


# What contradicts itself, and why. The first that holds is said.
CONFLICTS: tuple[tuple[Callable[[PlanOptions], bool], str], ...] = (
    (
        lambda o: o.optimize is not None and o.runs_file,
        "--optimize is of C targets; TensorFlow Lite Micro has kernels of its own",
    ),
    (
        lambda o: o.align_io not in (None, *LINES),
        f"--align-io={{o.align_io}} is not one of: {', '.join(map(str, LINES))}",
    ),
    (
        lambda o: o.align_io is not None and o.io == "caller",
        "--align-io is of inputs and outputs in the arena, and with --io=caller they are elsewhere",
    ),
    (
        lambda o: o.align_io is not None and o.runs_file,
        "--align-io is of C targets; TensorFlow Lite Micro places tensors at multiples of 16",
    ),
    (
        lambda o: o.ram is not None and o.memory is not None,
        "--ram is one memory, --memory says all of them; give one of the two",
    ),
    (
        lambda o: isinstance(o.ram, str) and not o.runs_file,
        "--ram of two arenas is of --target=tflm; --memory has those of C targets",
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
