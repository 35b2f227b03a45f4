"""The least arena that other options have at once, in numbers: nothing is placed or written in IR.

    network = before_rows(context, module, options)
    estimate = estimated(network, options, most=24_000, work=Work())
    estimate.arena, estimate.is_least       # 20560, True; None for more than 24,000 B

Whole operators and, as far as the work allows, all rows are ordered and placed by what the choice
of rows begins with, without the searches behind it. So there may be a smaller arena, unless a bound
on the arenas of both shows that there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from memopt.compile.pipelines import SettledOptions
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.rows.steps import steps_of
from memopt.passes.memgraph_expand_rows import ALL, AUTO, NONE
from memopt.passes.plan.extract import extract
from memopt.passes.plan.rewrite_search import runnable_copy
from memopt.passes.rows.expand import computing, cut, expand
from memopt.passes.rows.stream_input import close_stream, receive_rows
from memopt.solvers import clock
from memopt.solvers.joint.capacity import at_first_sight
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling import schedule
from memopt.solvers.theory.bounds import trivial

STEPS = 1_700  # in rows, of all options together: about half a second
STATES = 6_000  # of the search for one order
ORDERS = ("auto", "source")  # that take about as long on every network


@dataclass
class Work:
    """The steps in rows that may still be looked at, and the moment when time is over."""

    steps: int = STEPS
    deadline: float | None = None


@dataclass(frozen=True)
class Estimate:
    """Bytes of an arena, and bytes below which no arena is; 0: none are known."""

    arena: int
    bound: int

    @property
    def is_least(self) -> bool:
        """Return whether there is no smaller arena."""
        return self.arena == self.bound


def estimated(network: ModuleOp, options: SettledOptions, most: int, work: Work) -> Estimate | None:
    """Return the least arena that is found for a network which is cut into rows next; None if it
    has more than `most` bytes. Raises MemoptError for what cannot be planned."""
    func, *others = functions(network)
    if others or options.schedule not in ORDERS:
        return None
    graph, estimates = extract(func).graph, list[Estimate | None]()
    if not options.stream_input:
        if graph.first_level > most:  # the inputs, also of rows
            return None
        if options.rows in (NONE, AUTO):
            estimates.append(_placed(graph, options, most, work))
    if options.in_rows:
        estimates.append(_in_rows(func, options, most, work))
    placed = [estimate for estimate in estimates if estimate is not None and estimate.arena <= most]
    if not placed:
        return None
    least = min(placed, key=lambda estimate: estimate.arena)
    return replace(least, bound=min(0 if e is None else e.bound for e in estimates))


def apply_everywhere(func: FuncOp, rules: Sequence[str]) -> bool:
    """Apply rules that a search would apply, wherever they are legal, to a copy in the place of the
    function; return whether any was."""
    copy, sites = runnable_copy(func, dict.fromkeys(rules))
    copy.detach()
    Rewriter.replace_op(func, copy)
    return any(sites.values())


def _in_rows(func: FuncOp, options: SettledOptions, most: int, work: Work) -> Estimate | None:
    """Return the arena of a function whose operators are cut as `options` say, of `auto` all."""
    steps = sum(len(steps_of(op) or (0,)) for op in computing(func))
    if steps > work.steps or clock.late(work.deadline):
        return None
    work.steps -= steps
    if options.stream_input:
        receive_rows(func)
    if options.rows in (ALL, AUTO):
        cut(func, range(len(computing(func))))
    else:
        expand(func, frozenset(options.rows.split(",")))
    if options.stream_input:
        close_stream(func)
    return _placed(extract(func).graph, options, most, work)


def _placed(graph: MemoryGraph, options: SettledOptions, most: int, work: Work) -> Estimate | None:
    """Return the arena of a graph, ordered and placed without a search for places; more than `most`
    bytes are those of a bound or peak. None where time is over."""
    least = trivial(graph)
    if least > most:
        return Estimate(least, least)
    if clock.late(work.deadline):
        return None
    states = {"max_states": STATES} if options.schedule == "auto" else {}
    ordered = schedule(graph, options.schedule, clock.left(work.deadline), **states)
    if ordered.peak > most:
        return Estimate(ordered.peak, ordered.lower_bound)
    placement = at_first_sight(graph, ordered.order)
    return Estimate(placement.arena, ordered.lower_bound)
