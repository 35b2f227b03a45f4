"""The README's table: the least peaks of models, and what the default takes on a Cortex-M4.

python benchmarks/readme_table.py MODEL.tflite ...
"""

import sys
from pathlib import Path

import memopt

HEAD = (
    "| bytes of activations | whole | in rows | the default on a Cortex-M4 "
    "| input pushed row by row |\n"
    "|---|---:|---:|---:|---:|"
)
ROWS = ("rows=none", "rows=all", "stream-input=true")


def row(model: Path) -> str:
    """Return the line of a model: bytes, with a `>` behind what is not proven to be the least."""
    cells: list[str] = []
    for rows in ROWS:
        passes = (
            f"memgraph-model{{target=host inplace=on alignment=1}},memgraph-expand-rows{{{rows}}}"
        )
        best = memopt.peak(model, pipeline=passes)
        cells.append(f"{best.peak:,}" if best.optimal else f"{best.peak:,} >")
    cells.insert(2, f"{memopt.plan(model, target='cortex-m4').arena:,}")
    return f"| {model.stem} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print(HEAD)
    for path in sys.argv[1:]:
        try:
            print(row(Path(path)), flush=True)
        except (OSError, memopt.MemoptError) as error:
            sys.exit(str(error))
