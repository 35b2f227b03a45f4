"""Rows that the search of rules hands to the choice of rows, against rows that are cut again."""

from typing import Any

import numpy as np
import pytest
from virtual_networks import text_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from memopt.compile.driver import load_text, new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.rows import numbers
from memopt.passes.rows.numbers import handed_over

NETWORKS = 40
HANDED = 0  # a network whose rows are handed over
RULES = ("channel-wise", "gather", "slice-by-readers", "function-by-readers")


def rewritten(seed: int) -> ModuleOp:
    """Return a network whose rules counted the peak of rows."""
    module = load_text(new_context(), text_of(np.random.default_rng([seed, 38]), True, 1), "n.mlir")
    MemgraphModelPass("generic", alignment=4, inplace="on").apply(Context(), module)
    MemgraphRewritePass(RULES, rows=True).apply(Context(), module)
    return module


def test_rows_that_are_handed_over_are_those_that_would_be_cut(fuzz: float) -> None:
    handed = 0
    count = max(3, int(NETWORKS * fuzz))
    for seed in range(count):
        again = rewritten(seed)
        handed += handed_over(only_function(again)) is not None
        taken = rewritten(seed)
        for module in (taken, again):
            MemgraphExpandRowsPass(("auto",)).apply(Context(), module)
        assert str(taken) == str(again), seed
    assert handed > count // 4


def test_rows_of_a_function_that_has_changed_are_cut_again() -> None:
    """Neither another function of the same text, nor one that is planned by another model, nor the
    same one a second time has rows that were handed over."""
    module = rewritten(HANDED)
    assert handed_over(only_function(module)) is not None
    assert handed_over(only_function(module)) is None
    assert handed_over(only_function(rewritten(HANDED).clone())) is None
    module = rewritten(HANDED)
    MemgraphModelPass("generic", alignment=8, inplace="on").apply(Context(), module)
    assert handed_over(only_function(module)) is None


class Raced(list[Any]):
    """A list of which another thread takes the last element after it was looked at."""

    def __len__(self) -> int:
        return 1


def test_rows_that_another_thread_takes_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    module = rewritten(HANDED)
    monkeypatch.setattr(numbers, "_handed", Raced())
    assert handed_over(only_function(module)) is None


def test_nothing_is_kept_behind_a_plan() -> None:
    """Also where it ends in an error: there is no such target."""
    module, options = rewritten(HANDED), SettledOptions(rows="auto", target="none")
    with pytest.raises(PassFailedException):
        plan_module(new_context(), module.clone(), options, Seconds())
    assert handed_over(only_function(module)) is None
