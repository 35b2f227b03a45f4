"""docs/reference/operators.md is what the registries say."""

import pytest
from places import ROOT
from scripts import loaded


@pytest.mark.deep
def test_the_page_of_operators_is_that_of_the_code() -> None:
    matrix = loaded("operator_matrix")
    text = (ROOT / "docs/reference/operators.md").read_text()
    assert text == matrix.page(), "stale: make docs/reference/operators.md"
