"""Notes for people: what a pass does that its IR does not show, a line on stderr for a function."""

import sys


def note(function: str, text: str) -> None:
    """Print `note: @main: text` on stderr, of the function of that name."""
    print(f"note: @{function}: {text}", file=sys.stderr)
