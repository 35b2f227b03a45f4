"""docs/reference/rules.md is what the rules say."""

from places import ROOT
from scripts import loaded

from memopt.rewrites import RULES


def test_the_page_of_rules_is_that_of_the_code() -> None:
    table = loaded("rule_table")
    text = (ROOT / "docs/reference/rules.md").read_text()
    assert text == table.page(), "stale: make docs/reference/rules.md"
    assert all(text.count(f"| `{name}` |") == 1 for name in RULES)
