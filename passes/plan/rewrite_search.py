"""Rules that may raise the least peak, each applied where it does not.

One rule after the other: with all of its sites the function is ordered, and if its peak rose, with
halves of them, and halves of those that are in the way. So a site goes if it alone, beside those
that were taken before it, raises the peak; what is taken never does. Of a function that came with
very many rows, where a trial takes seconds, all sites of a rule are taken or none without a time
limit. Those that cost something and that the peak does not need are looked for by halves always.

Some rules lower the peak only together: where several parts of a tensor are computed one by one,
nothing is won before all that reads them does so. So all rules at all sites are tried once, too,
and kept if no rule after the other gets as low.

What a rule adds up part by part it may add in any order. Reals are rounded, so their order is part
of what is computed: it is the one that was found, and the operands get it.

Where operators will be cut into rows, the peak that counts may be that of all of them in rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.attributes.rewrites import RewrittenAttr
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.plan import drop_plan, inlined_by
from memopt.dialects.operators.accumulation import AccumulateOp
from memopt.passes.plan.extract import extract, grouped
from memopt.passes.plan.scratch import ask_scratch, forget_scratch
from memopt.passes.rows.expand import computing
from memopt.passes.rows.numbers import CutCopy, cut_copy, hand_over, text_of
from memopt.rewrites import Sites, apply_rules, facts_of
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.scheduling import schedule
from memopt.targets.core.kernels import can_inline
from memopt.targets.core.planned_for import target_of

Allowed = Mapping[str, frozenset[int] | None]
"""Of each rule in their order the operations, by their number in the block, at which it may be
applied, and those made of them; None for all."""

Asked = dict[frozenset[tuple[str, int]] | str, tuple[int, Schedule]]
"""Rules and the operations at which they were applied, and the text of a function to be cut into
rows -> the `most` asked for, and the schedule."""

Change = Callable[[frozenset[int], Sequence[int]], frozenset[int]]
ADD: Change = frozenset[int].union
DROP: Change = frozenset[int].difference

WORK = 40_000
"""Operators, of one order after the other, that are tried without a time limit."""

STATES = 6_000  # of the search for one order of rows, which what is found hardly ever takes,
FIRST = 200_000  # and for that of the function as it came, with which all others compare

MANY = 1_000  # rows, of which an order takes so long to improve
HALVED = 10_000  # operators, with more of which halves are not taken without a time limit
TOLERANCE = 0.02  # of the bound, above which an order of many rows is searched for a better one


@dataclass
class _Search:
    """The sites that are taken of each rule in a function, with which `best` is its schedule; what
    the rules found so far did, and the work that is left without a time limit. `rows`: the peak is
    that of rows. `most`: what a peak may be that has not risen. `asked`: what is known of sites.
    `adds_halves`: whether halves of sites are taken, too, which the first `best` says."""

    func: FuncOp
    deadline: float | None
    best: Schedule
    rows: bool
    most: int
    asked: Asked
    copies: "_Copies"
    work: int = WORK
    taken: dict[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    did: list[RewrittenAttr] = field(default_factory=list[RewrittenAttr])
    adds_halves: bool = field(init=False)

    def __post_init__(self) -> None:
        self.adds_halves = self.deadline is not None or len(self.best.order) <= HALVED

    def add(self, rule: str) -> None:
        """Take the sites of one more rule with which the peak does not rise."""
        legal = runnable(self.func, {**self.taken, rule: None})[rule]
        if not legal:
            return
        before, limit = self.best, self.most
        self.taken[rule] = frozenset()
        self.change(rule, ADD, sorted(legal))
        only_lower = facts_of(rule).only_lower
        if only_lower and self.best.peak == before.peak:  # nothing is won with any of them
            self.best, self.most, self.taken[rule] = before, limit, frozenset()
        elif only_lower:
            self.change(rule, DROP, sorted(self.taken[rule]))
        done = applied(copy_of(self.func), self.taken)[rule]
        self.did.append(summary(rule, done, legal, before, self.best))

    def change(self, rule: str, change: Change, sites: Sequence[int], whole: bool = False) -> None:
        """Change the sites taken of a rule by all of those asked for with which the peak does not
        rise: ADD them, or DROP them; with `whole`, by all of them or none."""
        spent = self.deadline is None and self.work <= 0
        if not sites or spent or clock.late(self.deadline):
            return
        self.work -= len(self.best.order)
        trial = {**self.taken, rule: change(self.taken[rule], sites)}
        try:
            candidate = self.candidate(trial)
        except clock.TimeIsOverError:
            return
        if candidate.peak <= self.most:
            self.best, self.most, self.taken = candidate, candidate.peak, trial
        elif len(sites) > 1 and not whole and (self.adds_halves or change == DROP):
            half = len(sites) // 2
            self.change(rule, change, sites[:half])
            self.change(rule, change, sites[half:])

    def candidate(self, trial: Mapping[str, frozenset[int]]) -> Schedule:
        """Return the schedule with these sites, of what was asked before if that tells whether the
        peak rises. Raises TimeIsOverError as `ordered`."""
        key = frozenset((rule, number) for rule, numbers in trial.items() for number in numbers)
        if (known := self.known(key)) is not None:
            return known
        copy = rewritten(self.func, trial)
        text = text_of(copy) if self.rows else ""  # other sites may have made the same of it
        if (known := self.known(text)) is None:
            known = self.copies.ordered(copy, text, self.deadline, self.most)
            self.asked[text if self.rows else key] = self.most, known
        if self.rows:
            self.asked[key] = self.asked[text]
        return known

    def known(self, key: frozenset[tuple[str, int]] | str) -> Schedule | None:
        """Return the schedule that was asked for before if it tells whether the peak rises. One of
        more bytes than were asked for may be any order, of which only the bound tells."""
        if key not in self.asked:
            return None
        limit, answer = self.asked[key]
        is_any = limit < answer.peak > answer.lower_bound
        is_open = is_any and limit < self.most >= answer.lower_bound
        return None if is_open else answer


def apply_by_search(
    func: FuncOp, rules: Sequence[str], time_limit: float | None, rows: bool = False
) -> list[RewrittenAttr]:
    """Apply rules, each wherever it is legal and the peak of whole operators, or of all in `rows`,
    of the least that is found within `time_limit` seconds, does not rise with it. What each did
    that is legal anywhere. Raises MemoptError where operators cannot be cut into rows.
    """
    deadline = clock.deadline(time_limit)
    everywhere = runnable(func, dict.fromkeys(rules))
    if not any(everywhere.values()):
        return []
    copies = _Copies(rows)
    try:
        copy = rewritten(func, {})
        before = copies.ordered(copy, text_of(copy) if rows else "", deadline, None, FIRST)
    except clock.TimeIsOverError:
        return []
    schedules: Asked = {frozenset(): (before.peak, before)}
    together = _together(func, everywhere, before, deadline, schedules, copies)
    search = _Search(func, deadline, before, rows, _proven(before, rows), schedules, copies)
    for rule in rules:
        search.add(rule)
    if together is not None and together.best.peak < search.best.peak:
        search = together
    if any(applied(func, search.taken).values()) and not rows:
        _settle_sums(func, search.best.order)
    if rows and deadline is None:
        copies.hand_over(func, search.best)
    return search.did


def _proven(before: Schedule, rows: bool) -> int:
    """The peak that no change may raise: of rows, whose orders are harder to find, that which no
    order has less than."""
    return before.lower_bound if rows else before.peak


def _settle_sums(func: FuncOp, order: Sequence[int]) -> None:
    """Let partial sums of reals be added in the order of their makers."""
    memory = extract(func, any_order=True).memory
    step: dict[SSAValue, int] = {
        v: i for i, k in enumerate(order) for v in memory.operations[k].results
    }
    for op in body_of(func).ops:
        if isinstance(op, AccumulateOp) and not is_stored(op.result):
            rest = op.operands[len(op.sums) :]
            op.operands = [*sorted(op.sums, key=step.__getitem__), *rest]


def _together(
    func: FuncOp,
    everywhere: Mapping[str, frozenset[int]],
    before: Schedule,
    deadline: float | None,
    asked: Asked,
    copies: "_Copies",
) -> _Search | None:
    """All rules at all of their sites, in half of the time that is left, then without those that
    the peak does not need; None if there is but one of them, or the peak does not fall."""
    taken = {rule: sites for rule, sites in everywhere.items() if sites}
    if len(taken) < 2 or clock.late(deadline):
        return None
    seconds = clock.left(deadline)
    half = clock.deadline(None if seconds is None else seconds / 2)
    rows, lower = copies.rows, _proven(before, copies.rows) - 1
    try:
        copy = rewritten(func, taken)
        text = text_of(copy) if rows else ""
        best = copies.ordered(copy, text, half, lower)
    except clock.TimeIsOverError:
        return None
    if rows:
        asked[text] = lower, best
    if best.peak > lower:
        return None
    search = _Search(func, half, best, rows, best.peak, asked, copies, taken=dict(taken))
    costly = [rule for rule in reversed(taken) if facts_of(rule).only_lower]
    for rule in costly:
        search.change(rule, DROP, sorted(taken[rule]), whole=True)
    for rule in costly:
        search.change(rule, DROP, sorted(search.taken[rule]))
    done = applied(copy_of(func), search.taken)
    search.did = [summary(r, done[r], taken[r], before, search.best) for r in taken]
    return search


def summary(
    rule: str, done: frozenset[int], legal: frozenset[int], before: Schedule, after: Schedule
) -> RewrittenAttr:
    proven = all(s.proof != "none" and s.peak == s.lower_bound for s in (before, after))
    peaks = before.peak, after.peak
    return RewrittenAttr(rule, len(done), len(legal - done), peak=peaks, proven=proven)


def copy_of(func: FuncOp) -> FuncOp:
    copy = func.clone()
    ModuleOp([copy])  # a rewriter works inside one
    return copy


def applied(
    func: FuncOp, allowed: Allowed, numbers: dict[Operation, int] | None = None
) -> dict[str, frozenset[int]]:
    """Apply rules where they may be and are legal, one after the other, until none is; where each
    was. `numbers` gets those of the operations. What works in scratch is asked again."""
    numbers = {} if numbers is None else numbers
    numbers |= {op: i for i, op in enumerate(body_of(func).ops)}
    sites = {rule: Sites(numbers, where) for rule, where in allowed.items()}
    forget_scratch(func)
    again = True
    while again:
        again = False
        for rule, rule_sites in sites.items():
            again = apply_rules(func, (rule,), sites=rule_sites) or again
    ask_scratch(func)
    return {rule: frozenset(rule_sites.found) for rule, rule_sites in sites.items()}


def runnable(func: FuncOp, allowed: Allowed) -> dict[str, frozenset[int]]:
    """Return where rules would be applied, as `runnable_copy` applies them."""
    return runnable_copy(func, allowed)[1]


def runnable_copy(func: FuncOp, allowed: Allowed) -> tuple[FuncOp, dict[str, frozenset[int]]]:
    """Return a copy with rules applied where they may be, and where that was; without what kernels
    of the function's target cannot read as a virtual tensor."""
    target = target_of(func)
    while True:
        copy, numbers = copy_of(func), dict[Operation, int]()
        sites_of = applied(copy, allowed, numbers)
        wrong = [
            (op, read)
            for op in body_of(copy).ops
            if (read := inlined_by(op)) and not can_inline(op, target)
        ]
        sites = {numbers.get(value.op, -1) for _, read in wrong for value in read}
        if not any(sites & numbers_of_rule for numbers_of_rule in sites_of.values()):
            return copy, sites_of
        allowed = {rule: numbers_of_rule - sites for rule, numbers_of_rule in sites_of.items()}


def rewritten(func: FuncOp, allowed: Allowed) -> FuncOp:
    """Return a copy without a plan, with rules applied where they may be."""
    copy = copy_of(func)
    drop_plan(copy)
    applied(copy, allowed)
    return copy


@dataclass
class _Copies:
    """Copies of a function that are ordered, whole or with all operators in `rows`; of these the
    last one that no other has a lower peak than is in `cuts`, by its text."""

    rows: bool
    least: int | None = None
    cuts: dict[str, CutCopy] = field(default_factory=dict[str, CutCopy])

    def ordered(
        self,
        copy: FuncOp,
        text: str,
        deadline: float | None,
        most: int | None,
        states: int = STATES,
    ) -> Schedule:
        """Return the schedule of a copy, of its own for this, as `ordered`; keep it by its text."""
        schedule, cut = ordered(copy, deadline, self.rows, states, most)
        if cut is not None and (self.least is None or schedule.peak <= self.least):
            self.least = schedule.peak
            self.cuts.clear()
            self.cuts[text] = cut
        return schedule

    def hand_over(self, func: FuncOp, schedule: Schedule) -> None:
        """Hand over the copy that is the function with all operators in rows, if it is there."""
        if (cut := self.cuts.get(text_of(func))) is not None:
            hand_over(func, cut, schedule)


def ordered(
    copy: FuncOp, deadline: float | None, rows: bool, states: int, most: int | None
) -> tuple[Schedule, CutCopy | None]:
    """Return the schedule of least peak that is known by then of a copy of a function, and the copy
    where `rows` cuts all of its operators. The search has so many states, and ends where no peak is
    at most `most` bytes; many rows are searched only where their heuristics are far from the bound.
    Raises TimeIsOverError where operators in rows cannot be cut until then."""
    seconds = clock.left(deadline)
    if not rows:
        return schedule(grouped(copy, True, None).graph, "auto", seconds, most=most), None
    cut = cut_copy(copy, range(len(computing(copy))), deadline)
    graph = cut.grouped.graph
    tolerance = TOLERANCE if len(graph) > MANY else 0.0
    limits = {"max_states": states, "most": most, "tolerance": tolerance}
    return schedule(graph, "auto", seconds, **limits), cut
