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

from abc import ABC, abstractmethod
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

from memopt.dialects.functions import functions

Exact = Literal["bits", "rounding"]
Applied = Literal["safe", "all", "named"]

SOURCE = "memgraph.source"


class Rule(RewritePattern, ABC):
    """A rewrite rule.

    `exact`: "bits", integers stay bit for bit what they were, and floats but for the order in which
    a kernel adds; "rounding", integers may be off by one.
    `applied`: by `--rewrite=safe` and `all`, if it is exact to the bit and proven not to raise the
    least peak (safe); by `all`; or only by its name.
    `reading`: whether the rule is part of reading a file, so that what it leaves is what stands in
    the file.
    """

    exact: ClassVar[Exact]
    applied: ClassVar[Applied] = "named"

    def __init__(self, reading: bool = False, channel_multiple: int = 1):
        self.reading = reading
        self.channel_multiple = channel_multiple

    def changed(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Say that the rule made another operation of `op`: it is no longer the one that stands in
        the file, so that a writer which copies operators from there refuses it."""
        if not self.reading:
            op.attributes.pop(SOURCE, None)
        rewriter.notify_op_modified(op)


class FunctionRule(Rule, ABC):
    """A rule that looks at all of a function at once."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """No operation by itself tells whether the rule is legal."""

    @abstractmethod
    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        """Whether anything changed, after which nothing is left to do. Raises MemoptError, for
        instance where constants cannot be read."""


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


NONE, SAFE, ALL = "none", "safe", "all"
SETS = (NONE, SAFE, ALL)


def named_rules(wanted: Sequence[str]) -> tuple[str, ...]:
    """The rules of `none`, `safe` or `all`, which stand alone, or those that are named."""
    if len(wanted) != 1 or wanted[0] not in SETS:
        return tuple(wanted)
    taken = {NONE: (), SAFE: (SAFE,), ALL: (SAFE, ALL)}[wanted[0]]
    return tuple(name for name in RULES if taken and rule_of(name).applied in taken)


def apply_rules(
    root: ModuleOp | FuncOp,
    names: Sequence[str],
    reading: bool = False,
    channel_multiple: int = 1,
) -> bool:
    """Apply rules wherever they are legal, in block order, until none is. Of several that fit one
    operation the first is applied; those of whole functions come after the others. Channels of
    tensors that get narrower are a multiple of `channel_multiple`. Returns whether anything
    changed; raises ValueError for a name that is none."""
    rules = [rule_of(name)(reading, channel_multiple) for name in names]
    patterns: list[RewritePattern] = [r for r in rules if not isinstance(r, FunctionRule)]
    first = GreedyRewritePatternApplier(patterns, dce_enabled=False)  # a dead operator still runs
    whole = [r for r in rules if isinstance(r, FunctionRule)]
    found = [root] if isinstance(root, FuncOp) else list(functions(root))
    changed = False
    while True:
        again = bool(patterns) and PatternRewriteWalker(first).rewrite_region(root.regions[0])
        for func in found:
            rewriter = PatternRewriter(func)
            for rule in whole:
                again = rule.rewrite_function(func, rewriter) or again
        changed = changed or again
        if not again or not whole or not patterns:
            return changed
