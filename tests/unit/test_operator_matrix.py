"""docs/reference/operators.md is what the registries say."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_operators_is_that_of_the_code() -> None:
    spec = importlib.util.spec_from_file_location("matrix", ROOT / "tests/operator_matrix.py")
    assert spec is not None and spec.loader is not None
    matrix = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(matrix)
    text = (ROOT / "docs/reference/operators.md").read_text()
    assert text == matrix.page(), "stale: make docs/reference/operators.md"
