"""Every condition of every rewrite rule is needed: without it some example of the rule tells.

A condition is what `and` and `or` join, an `if`, what a comprehension sieves by, `all` and `any`.
Each is taken away in a copy of the rule's file: it is true then where it asks for something, and
false where it rejects. The examples are those of the rule's docstring and of
`tests/rewrites/unit/left_alone/` (`tests/helpers/rule_examples.py`). What none of them tells is
listed with the reason in `equivalent_conditions.py`.

What a rule that is applied by search asks last (`self.takes`) is no condition of its legality.
"""

import ast
import re
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from equivalent_conditions import EQUIVALENT
from rule_examples import examples, parsed, plain, source_of
from xdsl.dialects.builtin import ModuleOp

from memopt.modules import load
from memopt.rewrites import RULES, apply_rules, rule_of

EVERY = 6  # of the conditions in a normal run; all in `make fuzz`
SECONDS = 1  # of CPU, until a mutant hangs

JUMPS = (ast.Return, ast.Continue, ast.Break, ast.Raise)
LONGEST = 60  # characters of a condition's text, as it stands in the list


def conditions(tree: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """What can be taken away, and the value that does so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp):
            if not isinstance(node.values[-1], ast.Constant | ast.Tuple):  # not: value or default
                yield from ((value, isinstance(node.op, ast.And)) for value in node.values)
        elif isinstance(node, ast.If):
            jumps = len(node.body) == 1 and isinstance(node.body[0], JUMPS)
            if not node.orelse:
                yield node.test, not jumps
        elif isinstance(node, ast.comprehension):
            yield from ((test, True) for test in node.ifs)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("all", "any"):
            yield node, ast.unparse(node.func) == "all"


def joined(node: ast.expr, value: bool) -> bool:
    """Whether parts are taken away one by one: without all of them there is more to tell."""
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) == value


def mutants(tree: ast.Module) -> list[tuple[str, ast.expr, bool]]:
    """(function: condition, the condition, what stands in its place)"""
    found: dict[tuple[int, bool], tuple[str, ast.expr, bool]] = {}
    for function in ast.walk(tree):  # inner ones after those that they stand in
        if isinstance(function, ast.FunctionDef):
            for node, value in conditions(function):
                text = ast.unparse(node)
                if not joined(node, value) and "self.takes(" not in text:
                    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
                    found[id(node), value] = f"{function.name}: {text}", node, value
    return list(found.values())


class Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self._new if node is self._old else self.generic_visit(node)


def compiled(rule: str, tree: ast.Module) -> Any:
    return compile(tree, str(source_of(rule)), "exec")


@cache
def sharing(rule: str) -> list[str]:
    """The rules that import from this one, also through another."""
    found = [rule]
    for one in found:
        line = re.compile(rf"^from {re.escape(RULES[one])} import", re.MULTILINE)
        read = (r for r in RULES if line.search(source_of(r).read_text(encoding="utf-8")))
        found += [r for r in read if r not in found]
    return found[1:]


@cache
def as_it_is(rule: str) -> Any:
    return compiled(rule, ast.parse(source_of(rule).read_text(encoding="utf-8")))


@contextmanager
def in_its_place(rule: str, code: Any) -> Generator[None]:
    """Let a rule be what is compiled, also for those that share it."""
    codes = {rule: code} | {other: as_it_is(other) for other in sharing(rule)}
    old = {name: import_module(RULES[name]) for name in codes}
    try:
        for name, text in codes.items():
            new = sys.modules[RULES[name]] = ModuleType(RULES[name])
            new.__package__, new.__spec__ = old[name].__package__, old[name].__spec__
            exec(text, new.__dict__)
        forget()
        yield
    finally:
        sys.modules.update({RULES[name]: module for name, module in old.items()})
        forget()


def forget() -> None:
    """Forget which modules the rules are in."""
    load.cache_clear()
    rule_of.cache_clear()


@contextmanager
def seconds_of_cpu(most: float) -> Generator[None]:
    """Raises TimeoutError, in what is inside, after that time of this process; once more where that
    is lost, as in a destructor."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, most, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@cache
def known(rule: str) -> list[tuple[ModuleOp, bool, str]]:
    """(module, whether the rule changes it, what becomes of it); what is left alone first."""
    found = [
        (parsed(e.before), e.after is not None, plain(parsed(e.after or e.before)))
        for e in examples(rule)
    ]
    return sorted(found, key=lambda case: case[1])


def is_told(rule: str) -> bool:
    """Whether an example of a rule, or of those that share it, is not what it was."""
    return any(map(is_another, (rule, *sharing(rule))))


def is_another(rule: str) -> bool:
    """Whether an example is not what it was; a traceback tells."""
    try:
        for before, changes, after in known(rule):
            module = before.clone()
            if apply_rules(module, (rule,)) != changes:
                return True
            module.verify()
            if plain(module) != after or (changes and apply_rules(module, (rule,))):
                return True
    except Exception:
        return True
    return False


def alive(rule: str, every: int = 1, first: int = 0) -> set[str]:
    """The conditions that no example needs, of each `every`-th from the `first` one on."""
    tree = ast.parse(source_of(rule).read_text(encoding="utf-8"))
    found = set[str]()
    for name, node, value in mutants(tree)[first::every]:
        constant = ast.copy_location(ast.Constant(value), node)
        Swap(node, constant).visit(tree)
        code = compiled(rule, tree)
        Swap(constant, node).visit(tree)
        with seconds_of_cpu(SECONDS), in_its_place(rule, code):
            if not is_told(rule):
                found.add(name)
    return found


@pytest.mark.deep
@pytest.mark.parametrize("rule", RULES)
def test_every_condition_of_a_rule_is_told(rule: str, fuzz: float) -> None:
    assert not is_told(rule)
    listed = set(EQUIVALENT.get(rule, {}))
    if fuzz >= 1:
        assert alive(rule) == listed
    else:
        assert alive(rule, EVERY, first=len(rule) % EVERY) <= listed


def test_what_is_listed_is_a_condition() -> None:
    """So that an entry goes with its condition, and every one says why."""
    for rule, reasons in EQUIVALENT.items():
        names = {name for name, *_ in mutants(ast.parse(source_of(rule).read_text()))}
        assert set(reasons) <= names, rule
        assert all(reasons.values())
