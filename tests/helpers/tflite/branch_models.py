"""Random .tflite files whose IF and WHILE run other subgraphs, which may do so again."""

import random
from dataclasses import dataclass, field

import numpy as np
from tflite_builder import Extra, Graph, Op, T, build

KINDS = ("NEG", "ABS", "ADD", "MUL", "CONCATENATION", "ADD_N", "SUM", "IF", "WHILE")
PLAIN = -2  # of these
TURNS = 3  # at most, of a loop


@dataclass
class Draft:
    """A subgraph that grows; `known` are the first subgraphs of what others run, by kind and
    elements, where they may be run again."""

    rng: random.Random
    known: dict[tuple[str, int], list[int]] | None = None
    tensors: list[T] = field(default_factory=list[T])
    operators: list[Op] = field(default_factory=list[Op])

    def tensor(self, width: int, kind: str = "FLOAT32", data: object = None) -> int:
        self.tensors.append(T(f"t{len(self.tensors)}", [1, width], kind, data))
        return len(self.tensors) - 1

    def run(self, name: str, inputs: list[int], *results: int, **options: int) -> int:
        """Add an operator; its first result."""
        words = "".join(part.capitalize() for part in name.split("_"))
        given = (words, dict(options)) if options else None
        self.operators.append(Op(name, inputs, list(results), given))
        return results[0]

    def graph(self, inputs: list[int], outputs: list[int]) -> Graph:
        return Graph(self.tensors, self.operators, inputs, outputs)


def branch_model(
    seed: int, depth: int = 2, is_shared: bool = False, extra: Extra | None = None
) -> bytes:
    """Return a main graph of a condition and one or two vectors; at least one of its operators runs
    others, and if that `is_shared`, several often run the same."""
    rng = random.Random(seed)
    graphs: list[Graph | None] = [None]
    draft = Draft(rng, {} if is_shared else None)
    condition = draft.tensor(1, "BOOL")
    inputs = [draft.tensor(rng.choice((3, 17, 40))) for _ in range(rng.randrange(1, 3))]
    results = _fill(draft, graphs, condition, inputs, depth, must=True)
    graphs[0] = draft.graph([condition, *inputs], results)
    return build(*(graph for graph in graphs if graph is not None), extra=extra)


def _fill(
    draft: Draft,
    graphs: list[Graph | None],
    condition: int,
    inputs: list[int],
    depth: int,
    must: bool = False,
) -> list[int]:
    """Add operators on `inputs`; those results that are not read, for each at least one."""
    rng, values = draft.rng, list(inputs)
    count = rng.randrange(2, 6)
    for k in range(count):
        a = rng.choice(values)
        width = draft.tensors[a].shape[1]
        kind = rng.choice(KINDS[: None if depth else PLAIN])
        if must and k == count - 1:
            kind = rng.choice(KINDS[PLAIN:])
        same = rng.choice([v for v in values if draft.tensors[v].shape[1] == width])
        if kind in ("NEG", "ABS"):
            values.append(draft.run(kind, [a], draft.tensor(width)))
        elif kind in ("ADD", "MUL"):
            values.append(draft.run(kind, [a, same], draft.tensor(width)))
        elif kind == "ADD_N":  # in scratch of a pointer per operand
            operands = [a, same] * rng.randrange(1, 12)
            values.append(draft.run(kind, operands, draft.tensor(width)))
        elif kind == "SUM":
            values.append(_sum(draft, a, width))
        elif kind == "CONCATENATION":
            b = rng.choice(values)
            wide = draft.tensor(width + draft.tensors[b].shape[1])
            values.append(draft.run(kind, [a, b], wide, axis=1))
        else:
            values.append(_branch(draft, graphs, kind, condition, a, depth - 1))
    read = {i for op in draft.operators for i in op.inputs}
    return [v for v in values if v not in read and v not in inputs] or values[-1:]


def _sum(draft: Draft, a: int, width: int) -> int:
    """Add a sum of stored numbers, in scratch of four bytes per element; its result."""
    axis = draft.tensor(1, "INT32", np.array([0], np.int32))
    draft.tensors[axis] = T("axis", [1], "INT32", np.array([0], np.int32))
    stored = [draft.tensor(width, "INT8") for _ in range(2)]
    for i in stored:
        draft.tensors[i] = T(f"t{i}", [1, width], "INT8", scale=(0.1,), zero=(0,))
    draft.run("QUANTIZE", [a], stored[0])
    draft.operators.append(
        Op("SUM", [stored[0], axis], [stored[1]], ("Reducer", {"keepDims": True}))
    )
    return draft.run("DEQUANTIZE", [stored[1]], draft.tensor(width))


def _branch(
    draft: Draft, graphs: list[Graph | None], kind: str, condition: int, a: int, depth: int
) -> int:
    """Add an IF or a WHILE on a vector; its result."""
    width = int(draft.tensors[a].shape[1])
    first = len(graphs)
    known = [] if draft.known is None else draft.known.setdefault((kind, width), [])
    if known and draft.rng.random() < 0.7:
        return _run_again(draft, kind, draft.rng.choice(known), condition, a)
    graphs += [None, None]
    if kind == "IF":
        for at in (first, first + 1):
            inner = Draft(draft.rng, draft.known)
            given = inner.tensor(1, "BOOL"), inner.tensor(width)
            vectors = _fill(inner, graphs, given[0], [given[1]], depth)
            graphs[at] = inner.graph(list(given), [_narrowed(inner, vectors[0], width)])
        known.append(first)
        return _run_again(draft, kind, first, condition, a)
    test, body = Draft(draft.rng), Draft(draft.rng, draft.known)
    state = [(1, "INT32"), (1, "BOOL"), (width, "FLOAT32")]
    given = [test.tensor(*each) for each in state]
    last = test.tensor(1, "INT32", np.array([draft.rng.randrange(TURNS + 1)], np.int32))
    goes_on = test.run("LESS", [given[0], last], test.tensor(1, "BOOL"))
    graphs[first] = test.graph(given, [goes_on])
    given = [body.tensor(*each) for each in state]
    one = body.tensor(1, "INT32", np.array([1], np.int32))
    turn = body.run("ADD", [given[0], one], body.tensor(1, "INT32"))
    vectors = _fill(body, graphs, given[1], [given[2]], depth)
    graphs[first + 1] = body.graph(given, [turn, given[1], _narrowed(body, vectors[0], width)])
    known.append(first)
    return _run_again(draft, kind, first, condition, a)


def _run_again(draft: Draft, kind: str, first: int, condition: int, a: int) -> int:
    """Add an IF or a WHILE that runs two subgraphs, `first` and the one behind it; its result."""
    width = int(draft.tensors[a].shape[1])
    if kind == "IF":
        result = draft.tensor(width)
        options = {"thenSubgraphIndex": first, "elseSubgraphIndex": first + 1}
        return draft.run("IF", [condition, condition, a], result, **options)
    zero = draft.tensor(1, "INT32", np.array([0], np.int32))
    results = [draft.tensor(*each) for each in ((1, "INT32"), (1, "BOOL"), (width, "FLOAT32"))]
    options = {"condSubgraphIndex": first, "bodySubgraphIndex": first + 1}
    draft.run("WHILE", [zero, condition, a], *results, **options)
    return results[2]


def _narrowed(draft: Draft, value: int, width: int) -> int:
    """Return a vector as wide as it has to be, bounded so that no loop makes it infinite."""
    if draft.tensors[value].shape[1] != width:
        begin = draft.tensor(2, "INT32", np.array([0, 0], np.int32))
        size = draft.tensor(2, "INT32", np.array([1, width], np.int32))
        draft.tensors[begin] = T("begin", [2], "INT32", np.array([0, 0], np.int32))
        draft.tensors[size] = T("size", [2], "INT32", np.array([1, width], np.int32))
        value = draft.run("SLICE", [value, begin, size], draft.tensor(width))
    return draft.run("TANH", [value], draft.tensor(width))
