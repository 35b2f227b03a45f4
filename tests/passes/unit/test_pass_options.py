"""What `--list-passes` says of the options, and how a pipeline text may be spaced."""

from dataclasses import fields

import pytest

from memopt.compile.driver import UsageError, build_pipeline, tidy
from memopt.passes.plan.option import texts
from memopt.plugin import PASSES


@pytest.mark.parametrize("name", PASSES)
def test_every_option_has_a_line_of_text(name: str) -> None:
    made = PASSES[name]()
    lines = texts(made)
    assert set(lines) == {f.name for f in fields(made) if f.name != "name"}
    for text in lines.values():
        assert text and text == text.strip() and "\n" not in text and not text.endswith(".")


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("a,b", "a,b"),
        (" a , b ", "a,b"),
        ("builtin.module(a, b{x = 1   y=2})", "a,b{x=1 y=2}"),
        ("\n builtin.module (a)\n", "a"),
        ('a{f="builtin.module( x , y )" , b=1}', 'a{f="builtin.module( x , y )",b=1}'),
        (r'a{f="x \" , y" g=1}', r'a{f="x \" , y" g=1}'),
        ("builtin.module()", ""),
    ],
)
def test_spaces_and_the_anchor_say_nothing(written: str, plain: str) -> None:
    assert tidy(written) == plain


def test_nested_anchors_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="cannot read the pipeline 'func"):
        build_pipeline("func.func(cse)")
