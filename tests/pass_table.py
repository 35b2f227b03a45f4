"""docs/reference/passes.md: its table of passes, and a section for each pass that has none.

python tests/pass_table.py      # writes the page, which a unit test reads
"""

import re
import sys
from dataclasses import fields
from pathlib import Path

from xdsl.passes import ModulePass, get_pass_option_infos

from memopt.cli.arguments import shorthands
from memopt.compile.driver import spelled
from memopt.passes.plan.option import METHOD
from memopt.plugin import PASSES

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/passes.md"
HEAD = "| pass | shorthand | options |\n|---|---|---|\n"


def flags_of(name: str) -> str:
    """Return the shorthands that run a pass."""
    flags: list[str] = []
    for flag, short in shorthands():
        if short.runs.partition(".")[0] == name:
            value = f"={short.metavar}" if short.metavar else ""
            flags.append(f"`--{flag.replace('_', '-')}{value}`".replace("|", "\\|"))
    return " ".join(flags)


def row(name: str, made: type[ModulePass]) -> str:
    """Return the row of a pass: options of its methods are listed where they are declared."""
    of_methods = {field.name for field in fields(made) if METHOD in field.metadata}
    options = [o.name for o in get_pass_option_infos(made) if o.name not in of_methods]
    names = " ".join(f"`{spelled(option)}`" for option in options)
    return f"| `{name}` | {flags_of(name)} | {names} |\n"


def section(name: str, made: type[ModulePass]) -> str:
    """Return a section from the docstrings of a pass and of its file."""
    what = re.sub(r"\n\s+", "\n", (made.__doc__ or "").strip())
    example = (sys.modules[made.__module__].__doc__ or "").partition("\n\n")[2].strip()
    return f"\n## {name}\n\n{what}\n" + (f"\n```\n{example}\n```\n" if example else "")


def page(text: str) -> str:
    """Return the page with its table, and the sections that were missing, from the code."""
    passes = {name: factory() for name, factory in PASSES.items()}
    for name in sorted(passes.keys() - set(re.findall(r"^## (\S+)$", text, re.MULTILINE))):
        text += section(name, passes[name])
    listed = re.findall(r"^## (memgraph-\S+)$", text, re.MULTILINE)
    before, _, rest = text.partition(HEAD)
    table = "".join(row(name, passes[name]) for name in listed)
    return before + HEAD + table + "\n" + rest.partition("\n\n")[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
