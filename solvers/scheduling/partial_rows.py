"""Graphs of rows in which some operators are left whole: their numbers, without their IR.

    some = Rows(graph, operator, tensor, sizes, cut, 4).with_whole({3, 4})
    profile(some.graph, some.like(order)).peak

`order`, of all rows, is followed as far as it can be: an operator that is whole runs when the last
of its rows did. So a choice costs milliseconds where cutting the operators costs a second. What is
found so is checked on the choice's own graph: what lies in place, or how a tensor is rounded, may
differ in a few bytes.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, round_up

REMEMBERED = 4  # graphs, which are large


@dataclass(frozen=True)
class Rows:
    """`operator` says of each step which operator it is, or is a row of; `cut` are those in rows.
    `tensor` says of each group which tensor it is a row of, -1: of none; `sizes` are bytes, not
    rounded; rows are not, all else is rounded to `alignment`."""

    graph: MemoryGraph
    operator: tuple[int, ...]
    tensor: tuple[int, ...]
    sizes: tuple[int, ...]
    cut: frozenset[int]
    alignment: int
    _graphs: "dict[frozenset[int], SomeWhole]" = field(
        init=False, default_factory=dict[frozenset[int], "SomeWhole"], compare=False
    )

    @cached_property
    def rows_of(self) -> dict[int, list[int]]:
        """The groups of each tensor."""
        rows: dict[int, list[int]] = {}
        for g, t in enumerate(self.tensor):
            rows.setdefault(t, []).append(g)
        rows.pop(-1, None)
        return rows

    @cached_property
    def operators_of(self) -> dict[int, tuple[set[int], set[int]]]:
        """Return the operators that write the rows of each tensor, and those that read them."""
        groups, operator = self.graph.groups, self.operator
        return {
            tensor: (
                {operator[v] for g in rows for v in groups[g].writers},
                {operator[v] for g in rows for v in groups[g].readers},
            )
            for tensor, rows in self.rows_of.items()
        }

    def with_whole(self, chosen: Set[int]) -> "SomeWhole":
        """Return the graph with these operators whole, one of the last few or a new
        one: the same choice is looked at for its order, its arena and its calls."""
        key = frozenset(chosen)
        if key not in self._graphs:
            if len(self._graphs) == REMEMBERED:
                del self._graphs[next(iter(self._graphs))]
            self._graphs[key] = self._with_whole(key)
        return self._graphs[key]

    def _with_whole(self, chosen: Set[int]) -> "SomeWhole":
        graph, in_rows = self.graph, self.cut - chosen
        step: list[int] = []
        members: list[list[int]] = []
        first: dict[int, int] = {}
        for v, operator in enumerate(self.operator):
            new = len(members)
            at = new if operator in in_rows else first.setdefault(operator, new)
            if at == new:
                members.append([])
            members[at].append(v)
            step.append(at)
        groups = _Groups(self, step, in_rows)
        needed = (
            [step[p] for v in steps for p in graph.predecessors[v]] + groups.needed.get(at, [])
            for at, steps in enumerate(members)
        )
        before = ((p for p in waited_for if p != at) for at, waited_for in enumerate(needed))
        small = MemoryGraph(
            tuple(graph.names[steps[0]] for steps in members),
            tuple(tuple(dict.fromkeys(predecessors)) for predecessors in before),
            tuple(groups.made),
            tuple(max(graph.extra[v] for v in steps) for steps in members),
            groups.inplace(),
        )
        return SomeWhole(small, tuple(step), tuple(map(tuple, members)))


class _Groups:
    """The groups of a graph with some operators whole; `of` says where each of all rows went."""

    def __init__(self, rows: Rows, step: Sequence[int], in_rows: Set[int]) -> None:
        self.rows, self.step, self.in_rows = rows, step, in_rows
        self.is_row = [operator in in_rows for operator in rows.operator]
        self.made: list[Group] = []
        self.of = [-1] * len(rows.graph.groups)
        self.single: set[int] = set()  # tensors that are one group
        self.pieces: set[int] = set()  # whose rows come or die alone, at their place in the whole
        self.needed: dict[int, list[int]] = {}  # steps before one that reads all of a tensor
        graph = rows.graph
        for tensor, rows_of_tensor in rows.rows_of.items():
            self._add_tensor(tensor, rows_of_tensor)
        for g, tensor in enumerate(rows.tensor):
            if tensor < 0:
                self._add([g], 0 if self._is_inside(g) else graph.sizes[g])

        for g, old in enumerate(graph.groups):
            if old.piece is not None and rows.tensor[g] not in self.single | self.pieces:
                self._lay_within(self.of[g], self.of[old.piece[0]], old.piece[1])

    def _add_tensor(self, tensor: int, rows_of_tensor: Sequence[int]) -> None:
        """Add a tensor, as one group or row by row."""
        rows, step = self.rows, self.step
        old = [rows.graph.groups[g] for g in rows_of_tensor]
        writers, operators = rows.operators_of[tensor]
        is_computed = not self.in_rows.isdisjoint(writers)
        read = {operator in self.in_rows for operator in operators}
        if not is_computed and read != {True}:
            self.single.add(tensor)
            size = sum(rows.sizes[g] for g in rows_of_tensor)
            self._add(rows_of_tensor, round_up(size, rows.alignment))
            return
        readers: list[int] = []
        if read != {True}:  # most tensors are read by rows alone
            every = (step[v] for g in old for v in g.readers if not self.is_row[v])
            readers = list(dict.fromkeys(every))  # each row gets all of them
        first = len(self.made)
        for g in rows_of_tensor:
            self._add([g], rows.sizes[g], readers)
        if not is_computed or read != {True}:
            self.pieces.add(tensor)
            self._tie(first)
        for at in readers:  # also what its rows would not read
            self.needed.setdefault(at, []).extend(step[v] for g in old for v in g.writers)

    def _tie(self, first: int) -> None:
        """Lay the rows from `first` on one behind the other, as the parts of one tensor."""
        rows = self.made[first:]
        writers = tuple(dict.fromkeys(v for g in rows for v in g.writers))
        ends = any(g.is_input for g in rows), any(g.is_output for g in rows)
        at = 0
        for k, g in enumerate(rows):
            self._lay(first + k, first + len(rows), at)
            at += g.size
        self.made.append(Group(rows[0].name, 0, writers, (), *ends))

    def _lay(self, part: int, whole: int, at: int) -> None:
        self.made[part] = replace(self.made[part], piece=(whole, at))

    def _lay_within(self, part: int, whole: int, at: int) -> None:
        """Lay a part where its tensor is, which may be the one row of another tensor in parts."""
        outer, inside = self.made[whole].piece or (whole, 0)
        self._lay(part, outer, inside + at)

    def _is_inside(self, g: int) -> bool:
        """Return whether group `g` is an unfinished sum of an operator that is whole."""
        group, operator = self.rows.graph.groups[g], self.rows.operator
        operators = {operator[v] for v in (*group.writers, *group.readers)}
        return (
            len(operators) == 1
            and operators <= self.rows.cut - self.in_rows
            and bool(group.writers and group.readers)
            and not group.is_output
        )

    def _add(self, its: Sequence[int], size: int, more: Sequence[int] = ()) -> None:
        """One group in place of these, with `more` readers."""
        step, old = self.step, [self.rows.graph.groups[g] for g in its]
        for g in its:
            self.of[g] = len(self.made)
        if len(old) == 1:  # nearly always
            writers, reading = [step[v] for v in old[0].writers], [step[v] for v in old[0].readers]
        else:
            writers = [step[v] for g in old for v in g.writers]
            reading = [step[v] for g in old for v in g.readers]
        readers = tuple(dict.fromkeys([*reading, *more]))
        is_input, is_output = any(g.is_input for g in old), any(g.is_output for g in old)
        group = Group(
            old[0].name, size, tuple(dict.fromkeys(writers)), readers, is_input, is_output
        )
        self.made.append(group)

    def inplace(self) -> tuple[InPlace, ...]:
        """Rows of no whole tensor are written over others, whole tensors over whole ones."""
        pairs: dict[InPlace, None] = {}
        for c in self.rows.graph.inplace:
            result, operand = self.rows.tensor[c.result], self.rows.tensor[c.operand]
            row = self.is_row[c.operator]
            if row:
                may = result not in self.pieces | self.single and operand not in self.single
            else:
                may = all(t < 0 or t in self.single for t in (result, operand))
            candidate = InPlace(self.step[c.operator], self.of[c.result], self.of[c.operand])
            inner, outer = self.made[candidate.result], self.made[candidate.operand]
            both_whole = inner.writers == (candidate.operator,) and inner is not outer
            free = candidate.operator not in outer.writers and not outer.is_output
            if may and both_whole and free and inner.size <= outer.size:
                pairs[candidate] = None
        return tuple(pairs)


@dataclass(frozen=True)
class SomeWhole:
    """A graph of rows and whole operators: `step[v]` is where step `v` of all rows went, `members`
    are those of each."""

    graph: MemoryGraph
    step: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]

    def like(self, order: Sequence[int]) -> tuple[int, ...]:
        """Return its order that follows one of all rows."""
        waiting = list(map(len, self.members))
        done = [False] * len(self.members)
        result: list[int] = []
        for v in order:
            at = self.step[v]
            waiting[at] -= 1
            stack = [] if waiting[at] or done[at] else [(at, iter(self.graph.predecessors[at]))]
            while stack:
                at, rest = stack[-1]
                p = next((p for p in rest if not done[p]), None)
                if p is not None:
                    stack.append((p, iter(self.graph.predecessors[p])))
                    continue
                stack.pop()
                done[at] = True
                result.append(at)
        return tuple(result)
