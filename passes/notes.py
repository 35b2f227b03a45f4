"""Notes for people: what a pass does that its IR does not show, a line on stderr for a function."""

import sys

from xdsl.dialects.func import FuncOp


def note(func: FuncOp, text: str) -> None:
    """Print `note: @main: text` on stderr."""
    print(f"note: @{func.sym_name.data}: {text}", file=sys.stderr)
