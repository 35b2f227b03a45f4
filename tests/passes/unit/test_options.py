"""The options of a plan: one description makes flags, keywords and the page."""

import argparse
import inspect
from dataclasses import fields, replace
from typing import Any

import pytest
from scripts import loaded

import memopt
from memopt.cli.arguments import add_options, options_of
from memopt.compile.options import (
    CONFLICTS,
    PlanOptions,
    check_conflicts,
    described,
    flag_of,
)
from memopt.text.usage import UsageError

GIVEN = {  # one word that each option takes, and what it means
    "ram": ("64K", 65536),
    "fit": ("64K", 65536),
    "kept": ("8K", 8192),
    "align_io": ("32", 32),
    "slide": ("2", 2),
    "time_limit": ("1.5", 1.5),
}


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser()
    add_options(found)
    return found


def test_an_empty_command_line_is_the_default() -> None:
    assert options_of(parser().parse_args([])) == PlanOptions()


@pytest.mark.parametrize("name", [f.name for f in fields(PlanOptions) if f.name != "target"])
def test_every_flag_is_the_keyword_of_its_name(name: str) -> None:
    default, entry = next((d, e) for n, d, e in described() if n == name)
    flag = flag_of(name, default)
    if isinstance(default, bool):
        words, value = [flag], not default
    else:
        word, value = GIVEN.get(name) or ((entry.choices or ("w",))[0],) * 2
        words = [f"{flag}={word}"]
    options = options_of(parser().parse_args(words))
    changes: dict[str, Any] = {name: value}
    assert options == replace(PlanOptions(), **changes)
    assert inspect.signature(memopt.plan).parameters[name].default == default


def test_what_contradicts_itself_is_refused_by_name() -> None:
    """Every row of the table holds of some options, and says what is wrong with them."""
    tried = [
        PlanOptions(optimize="ram", target="tflm"),
        PlanOptions(align_io=24),
        PlanOptions(align_io=32, io="caller"),
        PlanOptions(align_io=32, target="tflm"),
        PlanOptions(ram=1, memory="a:1"),
        PlanOptions(ram="persistent:1,tensors:1"),
        PlanOptions(fit=0),
        PlanOptions(fit=1, memory="a:1"),
        PlanOptions(fit=1, rows="all"),
        PlanOptions(kept=1),
        PlanOptions(kept=0, slide=1),
        PlanOptions(slide=1, rows="none"),
        PlanOptions(slide=1, fit=1),
        PlanOptions(slide=1, memory="a:1"),
    ]
    for options, (holds, why) in zip(tried, CONFLICTS, strict=True):
        assert holds(options)
        with pytest.raises(UsageError) as refused:
            check_conflicts(options)
        assert str(refused.value) == why.format(o=options)
    check_conflicts(PlanOptions())


def test_an_unknown_keyword_is_refused_with_the_nearest() -> None:
    wrong: dict[str, Any] = {"rowz": "all"}
    with pytest.raises(TypeError, match=r"plan\(\) has no option 'rowz' \(did you mean rows\?\)"):
        memopt.plan("net.tflite", **wrong)


def test_the_page_is_that_of_the_code() -> None:
    table = loaded("option_table")
    assert table.PAGE.read_text() == table.page(), "stale: make docs/reference/options.md"
