"""Shorthands of options of both commands: a pipeline as text, shapes as a mapping."""

import re
from collections.abc import Sequence
from decimal import Decimal

from memopt.formats.sizes import parse_size
from memopt.frontends.core.registry import all_frontends
from memopt.frontends.core.shapes import BATCH, Fixed, Shapes
from memopt.passes.memgraph_input_range import parse_range, parse_ranges
from memopt.passes.memgraph_kernels import HOW
from memopt.rewrites import RULES
from memopt.text.usage import UsageError


def pipeline_text(steps: Sequence[tuple[str, str]], time_limit: float | None) -> str:
    """The shorthands as a pipeline text."""
    limit = ""
    if time_limit is not None:  # all of its digits, without an exponent, which pipelines have not
        limit = f"time-limit={Decimal(repr(time_limit)):f}"
    parts: list[str] = []
    for flag, value in steps:
        named = flag in ("schedule", "place", "partition")
        if named and not re.fullmatch(r"[\w-]+", value):  # --schedule in.mlir
            raise UsageError(
                f"--{flag} needs a name after it, such as --{flag}=auto, not {value!r}"
            )
        if flag == "model":
            parts.append("memgraph-model{" + value.replace(",", " ") + "}")
        elif flag == "prepare":
            parts.append(
                "memgraph-prepare{conventions=" + value + "}" if value else "memgraph-prepare"
            )
        elif flag == "rewrite":
            if not re.fullmatch(r"[\w,-]+", value):  # --rewrite in.mlir
                known = ", ".join(RULES)
                raise UsageError(f"--rewrite needs rules after it, of: {known}; not {value!r}")
            parts.append(f"memgraph-rewrite{{{f'rules={value} {limit}'.strip()}}}")
        elif flag == "rows":
            if value not in ("all", "auto", "none"):  # --rows in.mlir
                raise UsageError(
                    f"--rows={value}: all, auto or none; memgraph-expand-rows takes names of "
                    "tensors too"
                )
            parts.append(f"memgraph-expand-rows{{{f'rows={value} {limit}'.strip()}}}")
        elif flag == "fit":
            parts.append(f"memgraph-expand-rows{{{f'fit={_bytes(value)} {limit}'.strip()}}}")
        elif flag == "slide":
            if not re.fullmatch(r"0*[1-9]\d*", value):  # --slide in.mlir
                raise UsageError(f"--slide={value}: a number of rows, from 1 on")
            parts.append("memgraph-expand-rows{stream-input=true}")
            parts.append(f"memgraph-slide{{rows={value}}}")
        elif flag == "optimize":
            if value not in HOW:  # --optimize in.mlir
                raise UsageError(f"--optimize={value}: {', '.join(HOW[:-1])} or {HOW[-1]}")
            parts.append(f"memgraph-kernels{{optimize={value}}}")
        elif flag == "partition":
            parts.append(f"memgraph-partition{{{f'k={value} {limit}'.strip()}}}")
        elif flag == "input_range":
            try:
                parse_range(value)
            except ValueError as error:
                raise UsageError(f"--input-range={error}") from None
            if '"' in value:
                raise UsageError(f"--input-range={value}: no name of an input may have a quote")
            parts.append(f'memgraph-input-range{{of="{value}"}}')
        elif flag == "memory":
            banks = f'banks="{value}"'
            parts.append(f"memgraph-memory{{{' '.join(filter(None, (banks, limit)))}}}")
        elif flag == "fuse" and limit:
            parts.append(f"memgraph-fuse{{{limit}}}")
        elif flag in ("schedule", "place"):
            parts.append(f"memgraph-{flag}{{{' '.join(filter(None, (f'method={value}', limit)))}}}")
        else:
            parts.append("memgraph-" + flag.replace("_", "-"))
    return ",".join(parts)


def _bytes(text: str) -> int:
    """`64K` after --fit. Raises UsageError."""
    try:
        found = parse_size(text)
    except ValueError as error:
        raise UsageError(f"--fit={text}: {error}") from None
    if not found:
        raise UsageError("--fit=0: no arena has no bytes")
    return found


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
            found = tuple(_number(value.strip()) for value in values.split(","))
        except ValueError:
            raise UsageError(f"--fix={text}: {values!r} is not numbers, true or false") from None
        if fixed.setdefault(name, found) != found:
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
        return parse_ranges(texts)
    except ValueError as error:
        raise UsageError(f"--input-range={error}") from None


def shape_help() -> str:
    """The line of `--shape`: which formats leave something to it."""
    open_ = " or ".join(f.suffix for f in all_frontends().values() if f.fixes_shapes)
    return f"fixes symbolic dimensions of an {open_} input; of other files only checked"
