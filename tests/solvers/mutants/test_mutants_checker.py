"""Every comparison and every condition of the certificate checker is needed.

Each is changed in a copy of the file: a comparison to its neighbour and its opposite, `and` to `or`
and to each side alone, `not` left out, an `if` to always and never, a `need` to nothing. Some
certificate tells the copy from the file: accepted where it is rejected, or the other way round.
"""

import ast
import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forgeries import corrupt, true_certificates
from malformed import MALFORMED
from vectors import HONEST, texts

from memopt.solvers import checker
from memopt.solvers.checker import RejectedError, check, parse, schema

RANDOM = 1_200  # certificates, true ones and corrupted ones

# What no certificate tells from the file, and why.
EQUIVALENT = {
    # what it sieves out contains another need, so `least` leaves it out as well: it saves time
    "for e, inner in self.events if not any((b & todo for b in inner))"
    " =>  for e, inner in self.events",
}

SOURCE = Path(checker.__file__).read_text(encoding="utf-8")
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for other in COMPARISONS[type(op)]:
                changed = copy.deepcopy(node)
                changed.ops[i] = other()
                yield changed
    elif isinstance(node, ast.BoolOp):
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield changed
        for i in range(len(node.values)):
            changed = copy.deepcopy(node)
            del changed.values[i]
            yield changed if len(changed.values) > 1 else changed.values[0]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.comprehension):
        for i in range(len(node.ifs)):
            changed = copy.deepcopy(node)
            del changed.ifs[i]
            yield changed
    elif isinstance(node, ast.If):
        for value in (True, False):
            changed = copy.deepcopy(node)
            changed.test = ast.Constant(value)
            yield changed
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "need":
        changed = copy.deepcopy(node)
        changed.args[0] = ast.Constant(True)
        yield changed


class Change(ast.NodeTransformer):
    """Puts the `choice`-th variant in the place of the `index`-th node of a walk."""

    def __init__(self, tree: ast.Module, index: int, choice: int) -> None:
        self._node = list(ast.walk(tree))[index]
        self._other = list(variants(self._node))[choice]

    def visit(self, node: ast.AST) -> Any:
        return self._other if node is self._node else self.generic_visit(node)


def stripped() -> ast.Module:
    """The checker without what runs it alone."""
    tree = ast.parse(SOURCE)
    tree.body = [n for n in tree.body if not isinstance(n, ast.If)]
    return tree


def mutants() -> list[tuple[str, int, int]]:
    """(line and text, index, choice) of every change."""
    return [
        (f"{vars(node).get('lineno', '')}: {ast.unparse(node)} => {ast.unparse(other)}", i, k)
        for i, node in enumerate(ast.walk(stripped()))
        for k, other in enumerate(variants(node))
    ]


def judge_of(tree: ast.Module) -> Callable[[str], bool]:
    """Whether the checker that `tree` is accepts a text; anything but RejectedError is raised."""
    inside: dict[str, Any] = {"__name__": "mutant"}
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), inside)

    def accepts(text: str) -> bool:
        try:
            inside["check"](inside["parse"](text))
        except inside["RejectedError"]:
            return False
        return True

    return accepts


def corpus() -> list[tuple[str, bool]]:
    """(certificate, whether it is accepted): those made by hand first."""
    accepts = judge_of(stripped())
    pool = [text for text, _ in true_certificates("mutants", RANDOM // 10)]
    generators = map(random.Random, range(RANDOM))
    forged = (json.dumps(corrupt(rng, rng.choice(pool))) for rng in generators)
    return [(text, accepts(text)) for text in dict.fromkeys([*texts(), *pool, *forged])]


def is_told(accepts: Callable[[str], bool], text: str, accepted: bool) -> bool:
    """Whether the judgement differs; a traceback does."""
    try:
        return accepts(text) != accepted
    except Exception:
        return True


@pytest.mark.deep
def test_every_change_of_a_condition_is_caught(fuzz: float) -> None:
    """All of them in `make fuzz`, every third otherwise."""
    known, every = corpus(), mutants()
    assert len(every) > 200
    assert sum(accepted for _, accepted in known) > len(known) / 10
    alive = set[str]()
    for name, index, choice in every[:: 1 if fuzz >= 1 else 3]:
        tree = stripped()
        accepts = judge_of(Change(tree, index, choice).visit(tree))
        if not any(is_told(accepts, text, accepted) for text, accepted in known):
            alive.add(name.partition(":")[2].strip())
    assert alive <= EQUIVALENT
    assert fuzz < 1 or alive == EQUIVALENT


@pytest.mark.parametrize("name", MALFORMED)
def test_exactly_one_form(name: str) -> None:
    found = parse(HONEST.read_text(encoding="utf-8"))
    schema(found)
    MALFORMED[name](found)
    for judge in (schema, check):
        with pytest.raises(RejectedError, match="malformed"):
            judge(json.loads(json.dumps(found)))
