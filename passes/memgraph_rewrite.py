"""`memgraph-rewrite{rules=pad-into-window,relu-into-producer}`: rules of rewrites/, as asked for.

Before `memgraph-rewrite{rules=relu-into-producer}`:
    %1 = memgraph.add %x, %x : (T, T) -> T
    %2 = memgraph.relu %1 : (T) -> T
After:
    %2 = memgraph.add %x, %x activation<relu> : (T, T) -> T

Each rule is described in its own file. Those that are proven not to raise the least peak are
applied wherever they are legal; then, one after the other, those that may raise it, each where the
least peak of whole operators, or with `rows` that of all operators in rows, does not rise, by the
function's memory model (rewrite_search.py).
What was done stands in `memgraph.rewrites`. A function that a rule changed loses its plan, and what
was changed has its `memgraph.source` as `memgraph.changed`: it is not what stands in the file, so a
writer that copies operators from there refuses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.weights import Weights
from memopt.analysis.work import Work, function_work
from memopt.dialects.attributes.channels import has_claims
from memopt.dialects.attributes.rewrites import REWRITES, Pair, RewrittenAttr, rewrites_of
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import drop_plan
from memopt.passes.plan.option import check_options, option
from memopt.passes.plan.rewrite_search import apply_by_search
from memopt.rewrites import (
    RULES,
    SAFE,
    SEARCH,
    SETS,
    Sites,
    apply_rules,
    facts_of,
    named_rules,
    unknown_rule,
)
from memopt.solvers import clock
from memopt.verify.channels import check_channels

MOST = 1024  # channels at a time that a kernel may want


@dataclass(frozen=True)
class MemgraphRewritePass(ModulePass):
    """Apply rewrite rules, each where it is legal and where the least peak does not rise."""

    name = "memgraph-rewrite"

    rules: tuple[str, ...] = option(
        (), f"of {', '.join(RULES)}, in this order; or {', '.join(SETS)} ({SAFE}: to the bit)"
    )
    channel_multiple: int = option(1, "channels of tensors that get narrower: a multiple of it")
    time_limit: int | float | None = option(None, "seconds for rules that are applied by search")
    rows: bool = option(False, "rules that are applied by search count the peak of rows")

    def __post_init__(self) -> None:
        check_options(self)
        if not 1 <= self.channel_multiple <= MOST:
            text = f"channel-multiple={self.channel_multiple}: 1 to {MOST}"
            raise PassFailedException(f"{self.name}: {text}")
        if wrong := unknown_rule(self.rules):
            raise PassFailedException(f"{self.name}: {wrong}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = named_rules(self.rules)
        searched = [rule for rule in rules if facts_of(rule).applied == SEARCH]
        deadline = clock.deadline(self.time_limit)
        for func in functions(op):
            did = apply_at_once(
                func, [r for r in rules if r not in searched], self.channel_multiple
            )
            did += apply_by_search(func, searched, clock.left(deadline), self.rows)
            if any(done.sites.data for done in did):
                drop_plan(func)
                check_channels(func, Weights.of(op).array)  # it trusts nobody, whoever claims it
            if did:
                func.attributes[REWRITES] = ArrayAttr([*rewrites_of(func), *did])


def apply_at_once(func: FuncOp, rules: Sequence[str], channel_multiple: int) -> list[RewrittenAttr]:
    """Apply rules wherever they are legal, until none is; what each did that did something.

    Those of whole functions, of which alone any changes what there is to compute, come after the
    others, then what waits for these, and what says something of channels comes last."""
    sites, work = Sites(), dict[str, tuple[Work, Work]]()
    again, known = True, None
    while again:
        claimed = has_claims(func)
        legal = [rule for rule in rules if not claimed or facts_of(rule).keeps_claims]
        of_name = {rule: facts_of(rule) for rule in legal}
        function_rules = {n: r for n, r in of_name.items() if r.of_function}
        others = [rule for rule in legal if rule not in function_rules]
        again = bool(others) and apply_rules(func, others, sites=sites)
        known = None if again else known
        for rule, kind in sorted(function_rules.items(), key=lambda r: (r[1].claims, r[1].waits)):
            if again and (kind.claims or kind.waits):
                break  # the others first
            known = before = known or function_work(func)
            if apply_rules(func, (rule,), channel_multiple=channel_multiple, sites=sites):
                again, known = True, function_work(func)
                work[rule] = work.get(rule, (before,))[0], known
    return [
        RewrittenAttr(rule, sites.changed[rule], 0, *figures(work.get(rule)))
        for rule in rules
        if sites.changed[rule]
    ]


def figures(work: tuple[Work, Work] | None) -> tuple[Pair | None, Pair | None]:
    """Bytes of weights and multiplications, before and after; None where they are the same, or not
    known."""

    def pair(old: int | None, new: int | None) -> Pair | None:
        return None if old is None or new is None or old == new else (old, new)

    if work is None:
        return None, None
    before, after = work
    return pair(before.weights, after.weights), pair(before.macs, after.macs)
