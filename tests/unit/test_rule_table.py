"""docs/reference/rules.md is what the rules say."""

import importlib.util
from pathlib import Path

from memopt.rewrites import RULES

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_rules_is_that_of_the_code() -> None:
    spec = importlib.util.spec_from_file_location("rule_table", ROOT / "tests/rule_table.py")
    assert spec is not None and spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    text = (ROOT / "docs/reference/rules.md").read_text()
    assert text == table.page(), "stale: make docs/reference/rules.md"
    assert all(text.count(f"| `{name}` |") == 1 for name in RULES)
