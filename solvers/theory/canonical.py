"""A memory graph without names and numbers: equal forms are the same problem, renumbered.

Operators and groups are told apart by rounds of colours (sizes first, then the colours around
them), and written down in the order of their colours. Where colours tie, the old order decides: two
numberings of one graph may then have two forms, which costs a second solution and nothing else. The
form is complete - the graph can be made from it again - so different problems never share one.
"""

from collections.abc import Sequence
from typing import Any

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph

Form = tuple[Any, ...]


def canonical(graph: MemoryGraph) -> Form:
    """The form of `graph`: a hashable tuple of alignment, operators, groups and candidates."""
    return canonical_order(graph)[0]


def canonical_order(graph: MemoryGraph) -> tuple[Form, tuple[int, ...]]:
    """The form, and the operator of `graph` at each of its places."""
    operators, groups = _colours(graph)
    order = sorted(range(len(graph)), key=lambda v: (operators[v], v))
    place = {v: i for i, v in enumerate(order)}
    listed = sorted(range(len(graph.groups)), key=lambda g: (groups[g], g))
    number = {g: i for i, g in enumerate(listed)}

    def moved(vs: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted({place[v] for v in vs}))

    form = (
        tuple((graph.extra[v], moved(graph.predecessors[v])) for v in order),
        tuple(
            (
                graph.sizes[g],
                moved(graph.groups[g].writers),
                moved(graph.groups[g].readers),
                graph.groups[g].is_input,
                graph.groups[g].is_output,
            )
            for g in listed
        ),
        # the candidates of one operator keep their order: the first that can is taken
        tuple(
            (place[c.operator], number[c.result], number[c.operand])
            for v in order
            for c in graph.candidates[v]
        ),
    )
    return form, tuple(order)


def graph_of(form: Form) -> MemoryGraph:
    """A graph of that form, sizes rounded up already."""
    operators, groups, inplace = form
    return MemoryGraph(
        tuple(f"op{i}" for i in range(len(operators))),
        tuple(before for _, before in operators),
        tuple(Group(f"g{i}", *g) for i, g in enumerate(groups)),
        tuple(extra for extra, _ in operators),
        tuple(InPlace(*c) for c in inplace),
    )


def _colours(graph: MemoryGraph) -> tuple[list[int], list[int]]:
    """A colour per operator and per group that no renumbering changes."""
    operators = _ranks(
        [(e, len(set(ps))) for e, ps in zip(graph.extra, graph.predecessors, strict=True)]
    )
    groups = _ranks(
        [(s, g.is_input, g.is_output) for s, g in zip(graph.sizes, graph.groups, strict=True)]
    )
    while True:
        kinds = len(set(operators)) + len(set(groups))
        new = _ranks(
            [
                (
                    operators[v],
                    tuple(sorted(operators[p] for p in set(graph.predecessors[v]))),
                    tuple(sorted(operators[s] for s in graph.successors[v])),
                    tuple(sorted(groups[g] for g in graph.reads[v])),
                    tuple(sorted(groups[g] for g in graph.writes[v])),
                    tuple((groups[c.result], groups[c.operand]) for c in graph.candidates[v]),
                )
                for v in range(len(graph))
            ]
        )
        groups = _ranks(
            [
                (
                    groups[i],
                    tuple(sorted(operators[v] for v in set(g.writers))),
                    tuple(sorted(operators[v] for v in set(g.readers))),
                )
                for i, g in enumerate(graph.groups)
            ]
        )
        operators = new
        if len(set(operators)) + len(set(groups)) == kinds:
            return operators, groups


def _ranks(keys: Sequence[tuple[Any, ...]]) -> list[int]:
    """Equal keys get equal numbers, in the order of the keys."""
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    return [rank[key] for key in keys]
