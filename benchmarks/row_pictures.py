"""The README's pictures of MLPerf Tiny's resnet8, with whole operators and in rows, on one scale.

python benchmarks/row_pictures.py docs/pictures        # as `make docs/pictures`
"""

import os
import subprocess
import sys
from pathlib import Path

from memopt.backends.report import Timeline, timeline_of, timeline_svg
from memopt.compile.driver import new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.text.ir_text import parse_module

SHARED = Path(os.environ.get("MEMOPT_SHARED", "../shared"))
MODEL = SHARED / "models" / "resnet8_int8.tflite"
PLANS = {"whole": "none", "rows": "all"}
WIDTH = 700.0  # px of the plot


def planned(rows: str) -> Timeline:
    """The model for a C target, planned by the command line."""
    passes = f"--model=target=host,inplace=on --rows={rows} --schedule=auto --place=joint".split()
    command = [str(Path(sys.executable).parent / "memopt-opt"), *passes, str(MODEL)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return timeline_of(only_function(parse_module(new_context(), text, "plan.mlir")))


def pictures() -> dict[str, str]:
    """Return each plan as SVG."""
    plans = {name: planned(rows) for name, rows in PLANS.items()}
    top = max(t.arena for t in plans.values())
    return {name: timeline_svg(t, top, WIDTH) for name, t in plans.items()}


if __name__ == "__main__":
    for name, picture in pictures().items():
        (Path(sys.argv[1]) / f"{name}.svg").write_text(picture, encoding="utf-8")
