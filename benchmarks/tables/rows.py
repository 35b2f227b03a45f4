"""`python -m benchmarks rows`: what rows save on the shared models, beside what others publish.

Plans only, each verified: of whole operators, of rows, and of rows of an input that is received row
by row. Aligned as `memopt compile` does it for C: whole tensors and sums to 4 bytes, rows as their
elements are; results over dying operands.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.tables.graphs import shared_folder
from benchmarks.tables.planned import peak_text, planned_by
from benchmarks.tables.table import Table
from memopt.compile.pipelines import ROWS_ALIGNMENT
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.plan import ORDER

MODELS = (
    "dscnn_kws_int8",
    "resnet8_int8",
    "resnet8_float",
    "person_detect_int8",
    "mobilenet_vww96_int8",
    "mobilenet_vww96_float",
    "mcunet_vww_int8",
    "mcunet_vww_int8 --int8-io",
    "streaming_wakeword_int8",
    "tinymaix_mnist_resnet_int8",
)
QUICK = ("dscnn_kws_int8", "resnet8_int8")
# RAM in bytes as published, for the same networks; the sources are in the table's notes
PUBLISHED: dict[str, str] = {
    "resnet8_int8": "HALE 36,560, or 21,104 at 54 % speed; DMO 33,296",
    "mobilenet_vww96_int8": "X-CUBE-AI 41,152; Plumerai 40,960 at most; DMO 36,864",
    "mcunet_vww_int8 --int8-io": "msf-CNN 12,000 at 1.96 times the work, input not counted",
}
NOTES = (
    "Bytes; calls are operators and rows of the plan. What is not proven to be the least has >.",
    "*: X-CUBE-AI 8.1 (ST's model zoo, input and scratch included), Plumerai's inference engine"
    " (one figure for four models), Bosch HALE, msf-CNN, and DMO (diagonal memory optimisation),"
    " as published; none was run here.",
)
WHOLE, INT8_IO = "none", " --int8-io"


def chosen(names: Sequence[str], quick: bool) -> list[tuple[str, Path]]:
    """(name, file) of shared models, or of files. Raises MemoptError."""
    models: list[tuple[str, Path]] = []
    for name in names or (QUICK if quick else MODELS):
        path = Path(name.removesuffix(INT8_IO))
        if not path.exists():
            path = shared_folder() / "models" / f"{path}.tflite"
        if not path.exists():
            raise MemoptError(f"no {path}: set MEMOPT_SHARED, or name files with --graphs")
        models.append((path.stem + INT8_IO * name.endswith(INT8_IO), path))
    return models


def rows(
    models: Sequence[tuple[str, Path]], time_limit: float, tick: Callable[[str], None]
) -> Table:
    """Return one row per model; `time_limit` in seconds for each order and each placement."""
    table = Table(
        "rows",
        "Whole operators, rows, rows of a streamed input",
        ("model", "whole", "peak", "arena", "calls", "CPU s", "streamed", "arena of it", "others*"),
        NOTES,
    )
    for name, path in models:
        tick(name)
        border = name.endswith(INT8_IO)
        uncut, _ = planned(path, WHOLE, time_limit, border)
        started = time.process_time()
        cut, calls = planned(path, "auto", time_limit, border)
        seconds = round(time.process_time() - started, 1)
        try:
            streamed, _ = planned(path, "auto stream-input=true", time_limit, border)
            ends = peak_text(streamed), _arena(streamed)
        except MemoptError as error:
            ends = ("-", error.text)
        table.add(
            name,
            _arena(uncut),
            peak_text(cut),
            _arena(cut),
            calls,
            seconds,
            *ends,
            PUBLISHED.get(name, "-"),
        )
    return table


def planned(path: Path, rows: str, time_limit: float, int8_io: bool) -> tuple[PlanAttr, int]:
    """The plan of a model, verified, and its steps. Raises MemoptError."""
    limit = f"time-limit={time_limit:g}"
    passes = (
        *(("memgraph-int8-io",) if int8_io else ()),
        *(("memgraph-rewrite{rules=pad-into-window}",) if rows != WHOLE else ()),
        f"memgraph-model{{target=host alignment={ROWS_ALIGNMENT} inplace=on}}",
        f"memgraph-expand-rows{{rows={rows} {limit if rows != WHOLE else ''}}}",
        f"memgraph-schedule{{{limit}}}",
        f"memgraph-place{{method=joint {limit}}}",
        "memgraph-verify-plan{placed=true}",
    )
    func, plan = planned_by(path, passes)
    return plan, sum(ORDER in op.attributes for op in body_of(func).ops)


def _arena(plan: PlanAttr) -> str:
    return f"{plan.arena:,}{'' if plan.arena == plan.arena_lower_bound.data else ' >'}"
