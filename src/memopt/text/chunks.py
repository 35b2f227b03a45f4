"""One input file as pieces, and what happens to each: parse, run, emit."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from memopt.compile.driver import (
    IR,
    Options,
    checked_among,
    load_model,
    load_text,
    new_context,
    run_pipeline,
    set_model_path,
    unknown_kind,
)
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.shapes import Fixed, Shapes, check_none_fixed, check_shapes
from memopt.outputs import Wanted, emit
from memopt.solvers import clock
from memopt.text.usage import staying

if TYPE_CHECKING:
    from memopt.passes.plan.planned import Planned

SEPARATOR = re.compile(r"^// -----[ \t]*\r?$", re.MULTILINE)  # a line of its own


@dataclass(frozen=True)
class Job:
    """Request to one run of `memopt-opt`."""

    name: str
    is_model: bool
    passes: tuple[ModulePass, ...]
    options: Options
    target: str
    folder: Path | None  # of the output; None is stdout
    shapes: Shapes
    fixed: Fixed
    model_path: str | None
    generic: bool
    allow_unregistered: bool
    explain: bool = False  # the peak, on stderr
    model_name: str = "model"  # of the functions in C


def read_chunks(job: Job, split: bool) -> list[tuple[str | None, int]]:
    """(text, lines before it) of each piece; a model file is one piece without text."""
    if job.is_model:
        return [(None, 0)]
    if job.name != "stdin" and Path(job.name).suffix != IR:
        raise MemoptError(unknown_kind(), job.name)
    if job.name == "stdin" and sys.stdin is None:
        raise MemoptError("is closed; name a file", "stdin")
    data = sys.stdin.buffer.read() if job.name == "stdin" else Path(job.name).read_bytes()
    text = data.decode("utf-8")
    if not split:
        return [(text, 0)]
    pieces: list[tuple[str | None, int]] = []
    line = 0
    for piece in SEPARATOR.split(text):
        pieces.append((piece, line))
        line += piece.count("\n")
    return pieces


def run_chunk(job: Job, text: str | None, line_offset: int) -> str | bytes:
    """Parse one piece, run the pipeline, and give the target's text or bytes."""
    started = clock.now()
    context = new_context(job.allow_unregistered)
    with staying():
        if text is None:
            module = load_model(Path(job.name), job.shapes, job.fixed)
        else:
            module = load_text(context, text, job.name, line_offset)
    if text is not None:
        check_shapes(module, job.shapes)
        check_none_fixed(job.fixed)
    if job.model_path is not None:
        set_model_path(module, job.model_path)
    known: dict[FuncOp, Planned] = {}
    claimed = run_pipeline(context, module, job.passes, job.options, started, known)
    if job.explain:
        from memopt.cli.explain import explain

        print(explain(module, claimed), file=sys.stderr)
    checked = checked_among(known)
    known.clear()  # which takes as much memory as the module itself
    wanted = Wanted(job.folder, job.generic, job.model_name, bool(claimed), checked)
    return emit(module, job.target, wanted)
