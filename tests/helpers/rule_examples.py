"""Examples of rewrite rules: the IR of their docstrings, and what else they leave alone."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from places import TESTS
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from memopt.compile.driver import new_context
from memopt.rewrites import RULES
from memopt.text.ir_text import module_text, parse_module

BLOCK = re.compile(r"^(Before|After|Left alone):\n((?:    .*\n|\n)+)", re.MULTILINE)
LEFT_ALONE = TESTS / "rewrites" / "unit" / "left_alone"
BETWEEN = "// ----\n"


@dataclass(frozen=True)
class Example:
    """IR that a rule sees: `after` is None where it leaves `before` alone."""

    rule: str
    number: int
    before: str
    after: str | None

    def __str__(self) -> str:
        return f"{self.rule}-{'alone' if self.after is None else 'before'}{self.number}"


def examples(rule: str) -> Iterator[Example]:
    """Return the examples of the docstring, then those of `tests/rewrites/unit/left_alone/`."""
    found = list(shown(rule))
    yield from found
    behind = 1 + max((e.number for e in found), default=-1)
    for number, text in enumerate(left_alone(rule), behind):
        yield Example(rule, number, text, None)


def source_of(rule: str) -> Path:
    spec = find_spec(RULES[rule])
    assert spec is not None and spec.origin is not None
    return Path(spec.origin)


def shown(rule: str) -> Iterator[Example]:
    """The blocks of a rule's docstring. Every `Before` has its `After` right behind it."""
    text = ast.get_docstring(ast.parse(source_of(rule).read_text()), clean=False)
    blocks = BLOCK.findall((text or "") + "\n")
    assert len(blocks) == (text or "").count("func.func"), f"{rule}: a block of another name"
    waiting = None
    for number, (kind, body) in enumerate(blocks):
        assert (kind == "After") == (waiting is not None), f"{rule}: block {number}, {kind}"
        if kind == "After":
            assert waiting is not None
            types = "".join(re.findall(r"^ *!\w+ = .*\n", waiting, re.MULTILINE))
            yield Example(rule, number - 1, waiting, types + body)
        elif kind == "Left alone":
            yield Example(rule, number, body, None)
        waiting = body if kind == "Before" else None
    assert waiting is None, f"{rule}: a Before without its After"


def left_alone(rule: str) -> list[str]:
    """What a rule leaves alone besides: one condition each, and first a comment that says why."""
    path = LEFT_ALONE / f"{rule}.txt"
    found = path.read_text().split(BETWEEN) if path.exists() else []
    assert all(text.lstrip().startswith("//") for text in found), f"{path}: a block without why"
    return found


def parsed(text: str) -> ModuleOp:
    module = parse_module(new_context(), text, "example.mlir")
    module.verify()
    return module


def plain(module: ModuleOp) -> str:
    """The module's text without the names of its values."""
    copy = module.clone()
    for op in copy.walk():
        values: list[SSAValue] = [
            *op.results,
            *(a for r in op.regions for b in r.blocks for a in b.args),
        ]
        for value in values:
            value.name_hint = None
    return module_text(copy)
