"""The page of what an operation answers: complete, and true of its examples."""

import re
from inspect import getmembers, isclass

import pytest
from places import ROOT
from xdsl.traits import OpTrait

from memopt.dialects.operators import operations, traits
from memopt.dialects.operators.base import ComputeOp

PAGE = ROOT / "docs/reference/operator-interface.md"
KINDS = {op.name.removeprefix("memgraph."): op for op in operations() if issubclass(op, ComputeOp)}
ROWS = {
    name: (example, counter)
    for name, example, counter in re.findall(
        r"^\| `(\w+)` \| .* \| ([^|]*) \| ([^|]*) \|$", PAGE.read_text(), re.MULTILINE
    )
}
TRAITS = {name: kind for name, kind in getmembers(traits, isclass) if issubclass(kind, OpTrait)}
del TRAITS["OpTrait"]


def overrides(kind: type[ComputeOp], method: str) -> bool:
    return getattr(kind, method) is not getattr(ComputeOp, method)


METHODS = [
    name
    for name in vars(ComputeOp)
    if not name.startswith("_") and any(overrides(kind, name) for kind in KINDS.values())
]


def test_the_page_has_every_trait_and_every_method() -> None:
    assert list(ROWS) == [*(n for n in ROWS if n in TRAITS), *(n for n in ROWS if n in METHODS)]
    assert set(ROWS) == {*TRAITS, *METHODS}
    assert len(TRAITS) > 15 and len(METHODS) > 15


def named(text: str) -> list[type[ComputeOp]]:
    """Return the operations before the reason."""
    return [KINDS[name] for name in re.findall(r"`(\w+)`", text.partition(":")[0])]


@pytest.mark.parametrize("name", TRAITS)
def test_a_trait_is_had_by_its_examples_alone(name: str) -> None:
    example, counter = (named(text) for text in ROWS[name])
    assert example and all(kind.has_trait(TRAITS[name]) for kind in example)
    assert counter and not any(kind.has_trait(TRAITS[name]) for kind in counter)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_overridden_by_its_examples_alone(name: str) -> None:
    example, counter = (named(text) for text in ROWS[name])
    assert example and all(overrides(kind, name) for kind in example)
    assert (counter or name == "evaluate") and not any(overrides(kind, name) for kind in counter)


def test_an_operation_says_nothing_in_capitals_of_its_kind() -> None:
    """A flag that a trait has replaced would be read by nobody."""
    flags = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper() for name in TRAITS}
    flags |= {"ELEMENTWISE", "IS_VIEW", "IS_SPATIAL", "INTEGERS", "WHOLE", "APPLIES_ACTIVATION"}
    assert not [(n, f) for n, kind in KINDS.items() for f in flags if hasattr(kind, f)]
