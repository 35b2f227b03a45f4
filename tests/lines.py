"""Count the lines of each room against its budget: `python tests/lines.py`, as `make lines` does.

A room's lines are those of its files in git that are Python or C, templates included. The budgets
stand in pyproject.toml under `[tool.memopt.lines]`; a change that needs more raises one there.
"""

import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = (".py", ".c", ".h", ".cpp", ".hpp", ".S", ".ld", ".in")


def count_lines(root: Path) -> Counter[str]:
    """Return the lines of each top-level folder's files that git knows of."""
    listed = subprocess.run(
        ("git", "ls-files", "-z"), cwd=root, capture_output=True, text=True, check=True
    )
    counts = Counter[str]()
    for name in listed.stdout.split("\0"):
        room, _, rest = name.partition("/")
        path = root / name
        if rest and name.endswith(KINDS) and path.is_file() and not path.is_symlink():
            counts[room] += len(path.read_text(encoding="utf-8").splitlines())
    return counts


def faults(counts: Counter[str], budgets: dict[str, int]) -> list[str]:
    """Return a sentence for each room that is above its budget, or no longer there."""
    found = [f"{room} has no files, but a budget" for room in budgets if not counts[room]]
    return found + [
        f"{room} has {counts[room]:,} lines, {counts[room] - budget:,} above its budget"
        for room, budget in budgets.items()
        if counts[room] > budget
    ]


def main() -> int:
    """Print the table; return the exit code, 1 if a room is too large."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    budgets: dict[str, int] = project["tool"]["memopt"]["lines"]
    counts = count_lines(ROOT)
    for room, budget in budgets.items():
        print(f"{room:12}{counts[room]:>8,} of {budget:>7,}")
    print(f"{'product':12}{sum(counts[r] for r in budgets):>8,} of {sum(budgets.values()):>7,}")
    wrong = faults(counts, budgets)
    for fault in wrong:
        print(f"{fault} (pyproject.toml, tool.memopt.lines)", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
