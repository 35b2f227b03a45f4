"""Options of a plan side by side: arena, RAM, flash, cycles of each, and the command that gives it.

for trial in trials(request): point(request, trial)
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memopt.compile.figures import figures_of
from memopt.compile.options import PlanOptions, described, flag_of
from memopt.compile.request import Reading, Request
from memopt.compile.stages import check, compiled, read
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.shapes import BATCH
from memopt.passes.plan.words import BALANCED, RAM, SPEED
from memopt.text.usage import UsageError

Trial = dict[str, Any]
WHOLE: Trial = {"rows": "none"}
FASTER: tuple[Trial, ...] = ({"optimize": RAM}, {"optimize": BALANCED}, {"optimize": SPEED})
OTHERS: tuple[Trial, ...] = ({"rewrite": "all"}, {"stream_input": True}, {"int8_io": True})


@dataclass(frozen=True)
class Point:
    """A plan by some options: its figures by their names, None where they are not known, and the
    command that makes it; `refused` says why there is none."""

    command: str
    figures: dict[str, int | None]
    refused: str = ""

    def entry(self) -> dict[str, Any]:
        """Return the point as JSON has it."""
        keys = ("arena", "ram", "flash", "cycles", "instructions", "calls")
        figures = {key: self.figures.get(key) for key in keys}
        return {**figures, "work": self.figures.get("macs"), "command": self.command}


def trials(request: Request) -> list[Trial]:
    """Return the options that are tried beside those of the request, which stay: for RAM and for
    speed, in rows and whole, and what changes the network or its inputs, alone and together."""
    faster: Sequence[Trial] = FASTER
    tried: list[Trial] = [*faster, *(one | WHOLE for one in faster)]
    if request.options.runs_file:
        faster, tried = ({},), [{}]
    tried += [faster[0] | one for one in OTHERS]
    tried.append({key: value for one in (faster[0], *OTHERS) for key, value in one.items()})
    given = _given(request.options)
    free = [{key: value for key, value in one.items() if key not in given} for one in tried]
    return [one for number, one in enumerate(free) if one not in free[:number]]


def point(request: Request, trial: Trial) -> Point:
    """Return the plan of a request by a trial's options, measured."""
    options = replace(request.options, **trial)
    command = command_of(request, options)
    try:
        tried = replace(request, options=options, is_built=True)
        check(tried)
        content = compiled(read(tried), is_advised=False).content
    except (MemoptError, UsageError) as error:
        return Point(command, {}, str(error).removeprefix("error: "))
    return Point(command, figures_of(content))


def command_of(request: Request, options: PlanOptions) -> str:
    """Return the command that compiles a model by these options."""
    flags = [
        flag_of(name, default) if isinstance(value, bool) else f"{flag_of(name, default)}={value}"
        for name, default, value in _chosen(options)
    ]
    words = [request.path.name, f"--target={options.target}", *_reading(request.reading), *flags]
    return f"memopt compile {shlex.join(words)} -o DIR"


def _reading(reading: Reading) -> Iterator[str]:
    """Yield the flags of how a file is read."""
    for name, shape in reading.shapes.items():
        sizes = "x".join(map(str, shape))
        yield f"--batch={sizes}" if name == BATCH else f"--shape={name}={sizes}"
    for name, values in reading.fixed.items():
        yield f"--fix={name}={','.join(map(str, values))}"
    for name, (low, high) in reading.ranges.items():
        yield f"--input-range={name}={low}:{high}"
    for flag, path in (("--model-path", reading.model_path), ("--custom", reading.custom)):
        if path is not None:
            yield f"{flag}={path}"


def _chosen(options: PlanOptions) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, default and value of each option that has another value."""
    for name, default, _ in described():
        value = getattr(options, name)
        if name != "target" and value != default:
            yield name, default, value


def _given(options: PlanOptions) -> Trial:
    return {name: value for name, _, value in _chosen(options)}


def distinct(points: Sequence[Point]) -> list[Point]:
    """Return the points without those whose figures an earlier one has."""
    seen: list[dict[str, int | None]] = []
    different: list[Point] = []
    for one in points:
        if one.figures and one.figures not in seen:
            seen.append(one.figures)
            different.append(one)
    return different


def front(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other beats: none has less of a figure, and no more of the
    others."""
    return [p for p in points if p.figures and not any(_beats(q, p) for q in points)]


def _beats(one: Point, other: Point) -> bool:
    keys = ("ram" if other.figures.get("ram") is not None else "arena", "flash", "cycles")
    if not one.figures or one is other:
        return False
    pairs = [(one.figures[key], other.figures[key]) for key in keys]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return all(a <= b for a, b in known) and any(a < b for a, b in known)
