"""docs/reference/options.md: every option of a plan, and every shorthand of memopt-opt.

python tests/option_table.py      # writes the page, which a unit test reads
"""

from pathlib import Path

from memopt.cli.arguments import shorthands
from memopt.compile.options import GROUPS, described, flag_of
from memopt.rewrites import RULES
from memopt.solvers.placement import METHODS as STRATEGIES
from memopt.solvers.scheduling import METHODS as SCHEDULES
from memopt.solvers.shared_objects import METHODS as SHARED

# Lists that a new file makes longer, and what the page says in their place.
LISTS = {
    ", ".join(RULES): "the [rules](rules.md)",
    ", ".join(SCHEDULES): "the methods of `memopt-opt --list-passes`",
    ", ".join(STRATEGIES): "its strategies",
    ", ".join(SHARED): "its ways to share them",
}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "options.md"


def _row(flag: str, value: str, *others: str) -> str:
    """Return a row of a table: the flag with its value, and other cells."""
    cells = (f"`{flag}={value}`" if value else f"`{flag}`", *others)
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def page() -> str:
    """Return the page of options: each by its flag and its keyword, and each shorthand."""
    lines = [
        "# Options of a plan",
        "",
        "Of `memopt compile` and `memopt report` by their flags, of `memopt.plan` and",
        "`memopt.compile` by keywords (sizes in bytes, times in seconds). Made from",
        "`src/memopt/compile/options.py`.",
    ]
    for title in GROUPS:
        lines += ["", f"## {title.capitalize()}", "", "| flag | keyword | |", "|---|---|---|"]
        for name, default, entry in described():
            if entry.group == title:
                value = entry.metavar or "|".join(entry.choices)
                text = entry.help.replace("%%", "%")
                lines.append(_row(flag_of(name, default), value, f"`{name}`", text))
    lines += ["", "## Shorthands of memopt-opt", "", "| flag | pass | |", "|---|---|---|"]
    for name, short in shorthands():
        flag, runs = f"--{name.replace('_', '-')}", short.runs.replace("_", "-")
        lines.append(_row(flag, short.metavar or "", f"`{runs}`", short.text))
    text = "\n".join(lines) + "\n"
    for names, instead in LISTS.items():
        text = text.replace(names, instead)
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
