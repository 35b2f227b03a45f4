"""docs/reference/rules.md: every rewrite rule, by when it is applied, as its file says it.

python tests/rule_table.py      # writes the page, which a unit test reads
"""

import sys
from pathlib import Path

from memopt.rewrites import RULES, Rule, rule_of

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/rules.md"

HEAD = """# Rewrite rules

Each rule is a file of `rewrites/`, whose docstring says why it is legal and shows it before and
after. [memgraph-rewrite](passes.md#memgraph-rewrite) applies them. A test makes this page from the
code, and so does `make docs/reference/rules.md`.

**exact**: *bits*, integers stay bit for bit what they were, and floats but for the order in which a
kernel adds; *rounding*, integers may be off by one. **virtual**: it leaves virtual tensors, or
is for their sake; several memories refuse it, and with rows it counts by what it is worth in rows.
"""

COLUMNS = "| rule | what it does | exact | virtual |\n|---|---|---|---|\n"

GROUPS = (
    (
        "safe",
        "Safe",
        "`--rewrite=safe` and `all`: exact to the bit, and proven not to raise the least peak. The "
        "default for C.",
    ),
    (
        "kernels",
        "Forms that kernels have",
        "`--rewrite=all`, and by default for `.onnx`, the exact ones for C.",
    ),
    (
        "search",
        "By search",
        "`--rewrite=all`: where the least peak does not rise, or only where it falls.",
    ),
    ("named", "By name only", "Conventions of published figures, and what `--slide` needs."),
)


def line(name: str, rule: type[Rule]) -> str:
    """Return the row of a rule: its file's first paragraph, and what it says of itself."""
    text = (sys.modules[rule.__module__].__doc__ or "").split("\n\n")[0].replace("\n", " ")
    lower = " Only where the peak falls." if rule.only_lower else ""
    lower += " Of `all` only where RAM is asked for." if rule.slower else ""
    virtual = "yes" if rule.virtual else ""
    return f"| `{name}` | {text}{lower} | {rule.exact} | {virtual} |\n"


def page() -> str:
    """Return the text of docs/reference/rules.md."""
    rules = {name: rule_of(name) for name in RULES}
    text = HEAD
    for applied, title, when in GROUPS:
        rows = [line(name, rule) for name, rule in rules.items() if rule.applied == applied]
        text += f"\n## {title}\n\n{when}\n\n{COLUMNS}{''.join(rows)}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
