"""Rewrite rules, one file each: `pad_into_window.py` holds the rule `pad-into-window`.

    apply_rules(module, ("relu-into-producer",))

A file has one class derived from `Rule`, an xDSL rewrite pattern. Its docstring says what is
replaced by what and why that is legal, and shows it as IR, each a module that can be read:

    Before:      what the rule changes, as often as there is something to show
    After:       what becomes of the `Before:` above it, whose type aliases it may use
    Left alone:  what the rule does not touch, one for each condition of its legality

The docstring is the test: every `Before:` must become its `After:`, compute the same on random
inputs as exactly as the rule says, and nothing that is left alone may change
(tests/unit/test_rewrites.py). So a rule is one new file and no other.
"""

from abc import ABC
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar, Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)

Exact = Literal["bits", "rounding"]

SOURCE = "memgraph.source"


class Rule(RewritePattern, ABC):
    """A rewrite rule.

    `exact`: "bits", integers stay bit for bit what they were, and floats but for the order in which
    a kernel adds; "rounding", integers may be off by one.
    `reading`: whether the rule is part of reading a file, so that what it leaves is what stands in
    the file.
    """

    exact: ClassVar[Exact]

    def __init__(self, reading: bool = False):
        self.reading = reading

    def changed(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Say that the rule made another operation of `op`: it is no longer the one that stands in
        the file, so that a writer which copies operators from there refuses it."""
        if not self.reading:
            op.attributes.pop(SOURCE, None)
        rewriter.notify_op_modified(op)


RULES: dict[str, str] = {
    info.name.replace("_", "-"): f"{__name__}.{info.name}" for info in iter_modules(__path__)
}
"""Name -> module of every rule."""


def rule_of(name: str) -> type[Rule]:
    """The rule of that name. Raises ValueError that lists them."""
    if name not in RULES:
        raise ValueError(f"{name!r} is no rule; there are: {', '.join(RULES)}")
    found = vars(import_module(RULES[name])).values()
    return next(
        c
        for c in found
        if isinstance(c, type) and issubclass(c, Rule) and c.__module__ == RULES[name]
    )


def apply_rules(root: ModuleOp | FuncOp, names: Sequence[str], reading: bool = False) -> bool:
    """Apply rules wherever they are legal, in block order, until none is. Of several that fit one
    operation the first is applied. Returns whether anything changed; raises ValueError for a name
    that is none."""
    rules: list[RewritePattern] = [rule_of(name)(reading) for name in names]
    first = GreedyRewritePatternApplier(rules, dce_enabled=False)  # a dead operator still runs
    return PatternRewriteWalker(first).rewrite_region(root.regions[0])
