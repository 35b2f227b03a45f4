"""`memopt-opt --explain-peak`: where the peak is, why no order goes below, and what would help.

    @main: peak 4,960 B in step 0 of 0 .. 6, at "op1"; live there:
             3,136 B  op1:0
             ...
    bound 4,704 B at "op2" (step 3): no order runs it with less live, here with 1 of the ...
             ...
      256 B below the peak, which only search proves
    shrink "op1:0" (3,136 B): without it the bound is 2,080 B; no other tensor lowers it more

Steps count from 0, as `memgraph.order` does.

The bound is T6 (theory.md section 3): the min-cut of one operator, whose source side is the best
set of operators to have executed when it runs. Sensitivity is exact: the bound is taken again with
that tensor at 0 bytes.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.errors import printable
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import plan_of
from memopt.passes.plan.certify import certified_graph
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.theory.bounds import flow_bound, trivial
from memopt.solvers.theory.cuts import Cuts

SECONDS = 20.0  # for the sensitivity of one function


@dataclass(frozen=True)
class Live:
    """Contents of memory while `operator` runs after exactly `done`; bytes in all is `total`."""

    operator: int
    done: int
    total: int
    groups: tuple[int, ...]
    workspace: int
    saved: int  # taken over in place


def live_at(graph: MemoryGraph, done: int, operator: int) -> Live:
    """The groups that the step s(D, v) counts."""
    fresh = {g for g in graph.writes[operator] if graph.sizes[g]}
    groups = [
        g
        for g in range(len(graph.groups))
        if graph.sizes[g] and (g in fresh or graph.resident(g, done))
    ]
    used = graph.taken_over(done, operator)
    return Live(
        operator,
        done,
        graph.step(done, operator),
        tuple(sorted(groups, key=lambda g: (-graph.sizes[g], g))),
        graph.extra[operator],
        graph.sizes[used.result] if used else 0,
    )


def peak_of(graph: MemoryGraph) -> Live:
    """The first largest step of the order 0, 1, 2, ..."""
    steps = profile(graph, range(len(graph))).steps
    v = max(range(len(graph)), key=lambda i: (steps[i], -i))
    return live_at(graph, (1 << v) - 1, v)


def least_step(graph: MemoryGraph, operator: int) -> tuple[int, int]:
    """(bytes, ideal) of the least step at which any order can run the operator."""
    cuts = Cuts(graph)
    tried = [cuts.least_step(operator, c) for c in (None, *graph.candidates[operator])]
    return min(x for x in tried if x is not None)


def bound_of(graph: MemoryGraph) -> Live:
    """The operator and ideal whose step is T6, the bound of every order's peak."""
    order = range(len(graph))
    bound = flow_bound(graph, [order])
    operator = bound.operator
    if operator is None or bound.value == trivial(graph):  # of several, the worst in this order
        steps = profile(graph, order).steps
        ranked = sorted(range(len(graph)), key=lambda v: -steps[v])
        operator = next((v for v in ranked if least_step(graph, v)[0] >= bound.value), ranked[0])
    return live_at(graph, least_step(graph, operator)[1], operator)


def without(graph: MemoryGraph, group: int) -> MemoryGraph:
    """The graph with one group at 0 bytes; what no longer fits over it runs not in place."""
    groups = list(graph.groups)
    groups[group] = replace(groups[group], size=0)
    inplace = tuple(c for c in graph.inplace if group not in (c.operand, c.result))
    return replace(graph, groups=tuple(groups), inplace=inplace)


@dataclass(frozen=True)
class Shrink:
    """The tensor that lowers the bound most, and the bound without it; `all_seen` if none was left
    out for lack of time."""

    group: int
    bound: int
    all_seen: bool


def best_to_shrink(graph: MemoryGraph, tight: Live, seconds: float = SECONDS) -> Shrink | None:
    """The group at whose 0 bytes T6 is least; None if no single one lowers it.

    The step of the tight operator bounds from below what a group can do, so the bound is taken
    anew only for those that may beat the best so far.
    """
    deadline = clock.now() + seconds
    promising: list[tuple[int, int]] = []
    all_seen = True
    for g in sorted(range(len(graph.groups)), key=lambda g: (g not in tight.groups, g)):
        if not graph.sizes[g]:
            continue
        if clock.now() > deadline:
            all_seen = False
            break
        least = least_step(without(graph, g), tight.operator)[0]
        if least < tight.total:
            promising.append((least, g))
    best: tuple[int, int] | None = None
    for least, g in sorted(promising):
        if best is not None and least >= best[0]:
            break
        if clock.now() > deadline:
            all_seen = False
            break
        bound = flow_bound(without(graph, g), [range(len(graph))]).value
        if bound < tight.total and (best is None or bound < best[0]):
            best = (bound, g)
    return None if best is None else Shrink(best[1], best[0], all_seen)


def explain_function(func: FuncOp, claimed: bool = False) -> str:
    """The lines for one function, in its block's order; what its plan says is only `claimed` if it
    was read. Raises MemoptError if it has no graph."""
    graph, plan, place = certified_graph(func), plan_of(func), f"@{func.sym_name.data}"
    if not len(graph):
        return f"{place}: no operator runs"
    in_rows = plan is not None and plan.family.data == "rows"
    top, tight = peak_of(graph), bound_of(graph)
    lines = [
        f"{place}: peak {top.total:,} B in step {top.operator} of 0 .. {len(graph) - 1}, at "
        f"{_quoted(graph.names[top.operator])}; live there:",
        *_table(graph, top, in_rows),
        f"bound {tight.total:,} B at {_quoted(graph.names[tight.operator])} (step "
        f"{tight.operator}): no order runs it with less live, here with "
        f"{tight.done.bit_count()} of the others before it:",
        *_table(graph, tight, in_rows),
    ]
    if tight.total == top.total:
        lines.append("  so no order is better: proof = flow")
    elif plan is not None and plan.optimal:
        kind = plan.proof.data
        proof = f"{kind} is claimed to prove" if claimed else f"only {kind} proves"
        lines.append(f"  {top.total - tight.total:,} B below the peak, which {proof}")
    else:
        lines.append(f"  {top.total - tight.total:,} B below the peak: an order may be better")
    best = best_to_shrink(graph, tight)
    if best is None:
        lines.append("shrink: no single tensor lowers the bound")
    else:
        rest = "no other tensor lowers it more" if best.all_seen else "not all tensors were tried"
        size = graph.sizes[best.group]
        lines.append(
            f"shrink {_quoted(label(graph, best.group))} ({size:,} B): without it the bound is "
            f"{best.bound:,} B; {rest}"
        )
    return "\n".join(map(printable, lines))


def _quoted(name: str) -> str:
    """Return a name between quotes, those inside of it escaped."""
    text = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _table(graph: MemoryGraph, live: Live, in_rows: bool) -> list[str]:
    """A line per tensor, of a plan in rows with the rows that are there."""
    rows = [(graph.sizes[g], label(graph, g)) for g in live.groups]
    rows = _by_tensor(rows) if in_rows else rows
    if live.workspace:
        rows.append((live.workspace, "workspace"))
    if live.saved:
        rows.append((-live.saved, "taken over in place"))
    counted = sum(size for size, _ in rows)
    if counted != live.total:
        rows.append((live.total - counted, "inputs that nobody reads"))
    return [f"  {size:>14,} B  {name}" for size, name in rows]


def _by_tensor(rows: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """`wide[3]` and `wide[4]` as `wide[3..4]`, their bytes together; the largest first."""
    sizes: dict[str, int] = {}
    numbers: dict[str, list[int]] = {}
    for size, name in rows:
        row = re.fullmatch(r"(.*)\[(\d+)\]", name, re.DOTALL)
        tensor = row[1] if row else name
        sizes[tensor] = sizes.get(tensor, 0) + size
        numbers.setdefault(tensor, []).extend([int(row[2])] if row else [])
    return sorted(
        ((size, f"{tensor}{_ranges(numbers[tensor])}") for tensor, size in sizes.items()),
        key=lambda found: -found[0],
    )


def _ranges(numbers: list[int]) -> str:
    """`[2, 4..6]`, or nothing for none."""
    runs: list[tuple[int, int]] = []
    for n in sorted(numbers):
        if runs and runs[-1][1] == n - 1:
            runs[-1] = runs[-1][0], n
        else:
            runs.append((n, n))
    text = ", ".join(f"{a}..{z}" if z > a else f"{a}" for a, z in runs)
    return f"[{text}]" if text else ""


def label(graph: MemoryGraph, group: int) -> str:
    """The group's name, with the step that writes it where the name alone is not enough."""
    named = graph.groups[group]
    alike = sum(other.name == named.name for other in graph.groups)
    origin = f" of step {named.writers[0]}" if named.writers else " (input)"
    return named.name if alike == 1 else named.name + origin


def explain(module: ModuleOp, claimed: Collection[str] = ()) -> str:
    """The lines for every function of a module, of which those `claimed` have a plan that was
    read."""
    return "\n".join(explain_function(f, f.sym_name.data in claimed) for f in functions(module))
