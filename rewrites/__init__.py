"""Rewrite rules, one file each: `pad_into_window.py` holds the rule `pad-into-window`.

    apply_rules(module, ("relu-into-producer",))

A file has one class derived from `Rule`, an xDSL rewrite pattern. Its docstring says what is
replaced by what and why that is legal, and shows it as IR, each a module that can be read:

    Before:      what the rule changes, as often as there is something to show
    After:       what becomes of the `Before:` above it, whose type aliases it may use
    Left alone:  what the rule does not touch, one for each condition of its legality

The docstring is the test: every `Before:` must become its `After:`, compute the same on random
inputs as exactly as the rule says, and nothing that is left alone may change
(tests/rewrites/unit/test_rewrites.py). So a rule is one new file and no other. Each condition of a
rule is taken away once: an example must tell (tests/rewrites/property/test_mutants_rewrites.py).
What would make the docstring long stands in `tests/rewrites/unit/left_alone/`.
"""

import re
from abc import ABC, abstractmethod
from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.traits import OpTrait

from memopt.dialects.attributes.rewrites import CHANGED
from memopt.dialects.memgraph.errors import nearest
from memopt.dialects.memgraph.functions import functions
from memopt.modules import fault, load, modules_in, text_of

Exact = Literal["bits", "rounding"]
Applied = Literal["safe", "kernels", "search", "named"]
Kinds = tuple[type[Operation] | type[OpTrait], ...]

EVERY: Kinds = (Operation,)

SOURCE = "memgraph.source"
NAMES = ("memgraph.names", "memgraph.operator")


@dataclass
class Sites:
    """Where rules are applied. `number` says which operation is which, also in a copy of the
    function; only at those `allowed` something is done, None for all; where it was, `found` says.
    `changed` counts operations by rule."""

    number: dict[Operation, int] = field(default_factory=dict[Operation, int])
    allowed: frozenset[int] | None = None
    found: list[int] = field(default_factory=list[int])
    changed: Counter[str] = field(default_factory=Counter[str])

    def takes(self, op: Operation) -> bool:
        number = self.number.get(op, -1)
        if self.allowed is not None and number not in self.allowed:
            return False
        self.found.append(number)
        return True


class Rule(RewritePattern, ABC):
    """A rewrite rule.

    `exact`: "bits", integers stay bit for bit what they were, and floats but for the order in which
    a kernel adds; "rounding", integers may be off by one.
    `needs`: classes or traits of operations; in a function that has none of them the rule does
    nothing and is not asked. EVERY for a rule that may begin anywhere.
    `applied`: by `--rewrite=safe` and `all`, if it is exact to the bit and proven not to raise the
    least peak (safe); by `all`, if it gives operators a form that kernels have (kernels), whatever
    that costs, or where the least peak does not rise (search); or only by its name.
    `virtual`: whether it leaves nothing but virtual tensors, or is for their sake: they are
    not put into several memories, and with operators in rows are worth what they are in rows.
    `claims`: whether it says in the IR what it knows of channels that it leaves out.
    `keeps_claims`: whether what is said of channels stays true; a rule of which that is not so is
    not applied where something is said.
    `only_lower`: whether, applied by search, it is worth it only where the least peak falls.
    `slower`: whether what it leaves takes clearly more cycles: of a set of rules it is applied only
    where bytes are worth them.
    `reading`: whether the rule is part of reading a file, so that what it leaves is what stands in
    the file.
    """

    exact: ClassVar[Exact]
    needs: ClassVar[Kinds]
    applied: ClassVar[Applied] = "named"
    virtual: ClassVar[bool] = False
    claims: ClassVar[bool] = False
    keeps_claims: ClassVar[bool] = True
    only_lower: ClassVar[bool] = False
    slower: ClassVar[bool] = False

    def __init__(
        self, reading: bool = False, channel_multiple: int = 1, sites: Sites | None = None
    ):
        self.reading = reading
        self.channel_multiple = channel_multiple
        self.sites = sites or Sites()

    def takes(self, op: Operation) -> bool:
        """Return whether the rule, which is legal here, is to be applied: called last, by rules
        that are applied by search."""
        return self.sites.takes(op)

    def derived(self, made: Operation, op: Operation) -> None:
        """Say that an operation was made of `op`: rules may do to it what they may to `op`."""
        if op in self.sites.number:
            self.sites.number[made] = self.sites.number[op]

    def replaced(self, op: Operation, made: Operation, rewriter: PatternRewriter) -> None:
        """Let readers of an operation read another one, which is called as it was, and erase it."""
        self.derived(made, op)
        made.attributes |= {k: v for k, v in op.attributes.items() if k in NAMES}
        for old, new in zip(op.results, made.results, strict=True):
            old.replace_all_uses_with(new)
        rewriter.erase(op)
        self.changed(made, rewriter)

    def changed(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Say that the rule made another operation of `op`: it is no longer the one that stands in
        the file, so that a writer which copies operators from there refuses it."""
        if not self.reading and SOURCE in op.attributes:
            op.attributes[CHANGED] = op.attributes.pop(SOURCE)
        self.sites.changed[type(self).__module__.rpartition(".")[2].replace("_", "-")] += 1
        rewriter.notify_op_modified(op)


class FunctionRule(Rule, ABC):
    """A rule that looks at all of a function at once. `waits`: whether it is applied where others
    have nothing left to do, for it takes away what they look for."""

    waits: ClassVar[bool] = False

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """No operation by itself tells whether the rule is legal."""

    @abstractmethod
    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        """Rewrite the function and return whether anything changed, after which nothing is left to
        do.

        Raises MemoptError, for instance where constants cannot be read.
        """


RULES = modules_in(__name__)
"""Name -> module of every rule."""


@cache
def rule_of(name: str) -> type[Rule]:
    """The rule of that name. Raises ValueError that lists them, MemoptError for a broken plugin."""
    for c in vars(load(_module_of(name))).values():
        if isinstance(c, type) and Rule in c.__mro__ and c.__module__ == RULES[name]:
            return c
    raise fault(RULES[name], "has no class derived from Rule")


def _module_of(name: str) -> str:
    if name not in RULES:
        raise ValueError(f"{name!r} is no rule; there are: {', '.join(RULES)}")
    return RULES[name]


@dataclass(frozen=True)
class Facts:
    """Constants of the class of a rule, see Rule; `of_function`: it is a FunctionRule.
    `needs` are names of classes, None where only the class itself knows them."""

    exact: Exact
    applied: Applied
    virtual: bool
    claims: bool
    keeps_claims: bool
    only_lower: bool
    slower: bool
    waits: bool
    of_function: bool
    needs: frozenset[str] | None = None

    def may_be_met(self, names: frozenset[str]) -> bool:
        """Return whether operations of classes, bases and traits of these names may be any of those
        that the rule needs."""
        return self.needs is None or not self.needs.isdisjoint(names)


_FACT = re.compile(
    r"^    (\w+)(?:: ClassVar\[\w+\])? = (\"\w+\"|True|False)(?:  #.*)?$", re.MULTILINE
)
_BASE = re.compile(r"^class \w+\((?:\w+, )?(Function)?Rule\):$", re.MULTILINE)
_NEEDS = re.compile(r"^    needs = \(((?:\w*[a-z]\w*,? ?)+)\)$", re.MULTILINE)
_FACTS = tuple(each.name for each in fields(Facts) if each.name not in ("of_function", "needs"))


@cache
def facts_of(name: str) -> Facts:
    """Return the facts of a rule. Of ours they are read from the file, which has a line for each
    that is not the default, so that the rule is not loaded where it has nothing to do. Raises as
    `rule_of` does."""
    text = text_of(_module_of(name))
    bases = [] if text is None else _BASE.findall(text)
    if text is None or len(bases) != 1:
        rule = rule_of(name)
        is_whole, said, needs = FunctionRule in rule.__mro__, _constants(rule), None
    else:
        is_whole, named = bool(bases[0]), _NEEDS.search(text)
        lines = {fact: literal_eval(value) for fact, value in _FACT.findall(text)}
        said = _constants(FunctionRule) | {f: v for f, v in lines.items() if f in _FACTS}
        needs = None if named is None else frozenset(re.findall(r"\w+", named[1]))
    return Facts(**said, of_function=is_whole, needs=needs)


def _constants(rule: type[Rule]) -> dict[str, Any]:
    return {fact: getattr(rule, fact, False) for fact in _FACTS}


def erase_unread(
    values: Iterable[SSAValue],
    erase: Callable[[Operation], None],
    goes: Callable[[Operation], bool] = lambda op: True,
) -> None:
    """Erase what makes values that nobody reads, and what only that read, as far as it `goes`."""
    waiting = list(values)
    while waiting:
        op = waiting.pop().owner
        if isinstance(op, Block) or op.parent is None or not goes(op):
            continue
        if not any(result.uses for result in op.results):
            waiting += op.operands
            erase(op)


NO_RULES, SAFE, KERNELS, SEARCH, ALL = "none", "safe", "kernels", "search", "all"
SETS = (NO_RULES, SAFE, ALL)


def named_rules(wanted: Sequence[str]) -> tuple[str, ...]:
    """The rules of `none`, `safe` or `all`, which stand alone, or those that are named."""
    if len(wanted) != 1 or wanted[0] not in SETS:
        return tuple(wanted)
    taken = {NO_RULES: (), SAFE: (SAFE,), ALL: (SAFE, KERNELS, SEARCH)}[wanted[0]]
    return tuple(name for name in RULES if taken and facts_of(name).applied in taken)


def unknown_rule(wanted: Sequence[str]) -> str | None:
    """The first that is no rule, in words with those that there are; None if all are."""
    for rule in named_rules(wanted):
        if rule not in RULES:
            known = (*SETS, *RULES) if len(wanted) == 1 else RULES
            return f"{rule!r}{nearest(rule, known)} is not one of: {', '.join(known)}"
    return None


def apply_rules(
    root: ModuleOp | FuncOp,
    names: Sequence[str],
    reading: bool = False,
    channel_multiple: int = 1,
    sites: Sites | None = None,
) -> bool:
    """Apply rules wherever they are legal, in block order, until none is. Of several that fit one
    operation the first is applied; those of whole functions come after the others. Channels of
    tensors that get narrower are a multiple of `channel_multiple`. Returns whether anything
    changed; raises ValueError for a name that is none. `sites` says where rules that are applied by
    search may be applied, and gets to know what was done."""
    patterns = [name for name in names if not facts_of(name).of_function]
    function_rules = [name for name in names if facts_of(name).of_function]
    funcs = [root] if isinstance(root, FuncOp) else list(functions(root))
    changed, rules = False, dict[str, Any]()

    def rule(name: str) -> Any:
        if name not in rules:
            rules[name] = rule_of(name)(reading, channel_multiple, sites)
        return rules[name]

    def met(given: Iterable[str], kinds: set[type[Operation]]) -> list[Any]:
        called = names_of(kinds)
        loaded = [rule(name) for name in given if facts_of(name).may_be_met(called)]
        return [one for one in loaded if is_met(one, kinds)]

    while True:
        kinds = kinds_in(root)
        first = _FirstThatFits(met(patterns, kinds), lambda: [rule(name) for name in patterns])
        again = bool(first.asked) and PatternRewriteWalker(first).rewrite_region(root.regions[0])
        kinds = kinds_in(root) if again else kinds
        for func in funcs:
            rewriter = PatternRewriter(func)
            for name in function_rules:
                for one in met((name,), kinds):
                    if one.rewrite_function(func, rewriter):
                        again, kinds = True, kinds_in(root)
        changed = changed or again
        if not again or not function_rules or not patterns:
            return changed


@dataclass
class _FirstThatFits(RewritePattern):
    """The first of the rules `asked` that fits an operation, once one did of `every` rule, for
    there may be other operations then. Dead operators stay: they still run."""

    asked: Sequence[Rule]
    every: Callable[[], Sequence[Rule]]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        for rule in self.asked:
            rule.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                self.asked = self.every()
                return


def kinds_in(root: Operation) -> set[type[Operation]]:
    """Return the classes of the operations inside `root`."""
    return {type(op) for op in root.walk()}


def names_of(kinds: Iterable[type[Operation]]) -> frozenset[str]:
    """Return the names of these classes of operations, of their bases and of their traits."""
    classes = {c for kind in kinds for c in (kind, *map(type, kind.traits))}
    return frozenset(base.__name__ for c in classes for base in c.__mro__)


def is_met(rule: Rule | type[Rule], kinds: Iterable[type[Operation]]) -> bool:
    """Return whether operations of these classes are any of those that the rule needs."""
    return any(
        issubclass(kind, need) if issubclass(need, Operation) else kind.has_trait(need)
        for need in rule.needs
        for kind in kinds
    )
