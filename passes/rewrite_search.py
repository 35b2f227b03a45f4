"""Rules that may raise the least peak, each applied where it does not.

With all of a rule's sites the function is ordered, and if its peak rose, with halves of them, and
halves of those that are in the way. So a site goes if it alone, beside those that were taken before
it, raises the peak; what is taken never does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.dialects.functions import body_of
from memopt.dialects.plan import drop_plan
from memopt.dialects.rewrite_attributes import RewrittenAttr
from memopt.passes.extract import extract
from memopt.rewrites import Sites, apply_rules, rule_of
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.scheduling import schedule

Change = Callable[[frozenset[int], Sequence[int]], frozenset[int]]


@dataclass
class _Search:
    """The sites of one rule in a function; `best` is the schedule with those taken so far."""

    func: FuncOp
    rule: str
    deadline: float | None
    best: Schedule

    def changed(
        self, taken: frozenset[int], change: Change, sites: Sequence[int]
    ) -> frozenset[int]:
        """The sites taken, changed by all of those asked for with which the peak does not rise:
        with more of them taken (`union`), or fewer (`difference`)."""
        if not sites or clock.late(self.deadline):
            return taken
        trial = change(taken, sites)
        found = ordered(self.func, self.deadline, self.rule, trial)
        if found.peak <= self.best.peak:
            self.best = found
            return trial
        if len(sites) == 1:
            return taken
        half = len(sites) // 2
        taken = self.changed(taken, change, sites[:half])
        return self.changed(taken, change, sites[half:])


def apply_by_search(func: FuncOp, rule: str, time_limit: float | None) -> RewrittenAttr | None:
    """Apply a rule wherever it is legal and the peak of whole operators, of the least that is found
    within `time_limit` seconds, does not rise with it. What it did, None where it is not legal.
    """
    deadline = clock.deadline(time_limit)
    legal = applied(copy_of(func), rule, None)
    if not legal:
        return None
    before = ordered(func, deadline, rule)
    search = _Search(func, rule, deadline, before)
    taken = search.changed(frozenset(), frozenset[int].union, legal)
    if rule_of(rule).only_lower:
        taken = search.changed(taken, frozenset[int].difference, sorted(taken))
    done = applied(func, rule, taken)
    peaks = before.peak, search.best.peak
    proven = all(s.proof != "none" and s.peak == s.lower_bound for s in (before, search.best))
    return RewrittenAttr(rule, len(done), len(legal) - len(done), peak=peaks, proven=proven)


def copy_of(func: FuncOp) -> FuncOp:
    copy = func.clone()
    ModuleOp([copy])  # a rewriter works inside one
    return copy


def applied(func: FuncOp, rule: str, allowed: frozenset[int] | None) -> list[int]:
    """Apply a rule at the operations of these numbers in the block, None for all; at which it was
    legal."""
    numbers = {op: i for i, op in enumerate(body_of(func).ops)}
    sites = Sites(numbers, allowed)
    apply_rules(func, (rule,), sites=sites)
    return sorted(set(sites.found))


def ordered(
    func: FuncOp, deadline: float | None, rule: str, sites: frozenset[int] = frozenset()
) -> Schedule:
    """The order of least peak that is found until then of a function with the rule applied at these
    sites, of which nothing changes."""
    copy = copy_of(func)
    drop_plan(copy)
    applied(copy, rule, sites)
    return schedule(extract(copy).graph, "auto", clock.left(deadline))
