"""TFLM's planner against a literal transcription of its C++, and scratch, operator by operator."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tflite_builder import Extra, Graph, Op, T, build
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    Float32Type,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block

from memopt.backends.tflm import PLAN_NAME, unknown_scratch
from memopt.dialects.memgraph.functions import depth_of, only_function
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.frontends.tflite.read import read
from memopt.targets.tflm.arena import Request, greedy, tflm_arena
from memopt.targets.tflm.planned import give_plan
from memopt.targets.tflm.scratch import scratch_bytes

ONLINE = -1
CASES = 20_000


@dataclass
class Entry:
    """`ListEntry` of greedy_memory_planner.h."""

    offset: int
    requirements: int
    following: int = -1


def transcribed(requests: list[Request]) -> tuple[list[int], int]:
    """`GreedyMemoryPlanner::CalculateOffsetsIfNeeded` line by line, with its bubble sort and its
    list of entries that refer to each other by index."""
    size = [(r.size + 15) // 16 * 16 for r in requests]
    offline = [ONLINE if r.offset is None else r.offset for r in requests]
    count = len(requests)
    if count == 0:
        return [], 0
    sizes, ids, offsets = [0] * count, [0] * count, [0] * count
    tail, head = count, 0
    for i in range(count):
        if offline[i] == ONLINE:
            tail -= 1
            sizes[tail], ids[tail], offsets[i] = size[i], i, -1
        else:
            sizes[head], ids[head], offsets[i] = size[i], i, offline[i]
            head += 1
    swapped = True
    while swapped:
        swapped = False
        for i in range(head + 1, count):
            if sizes[i - 1] < sizes[i]:
                sizes[i - 1], sizes[i] = sizes[i], sizes[i - 1]
                ids[i - 1], ids[i] = ids[i], ids[i - 1]
                swapped = True

    def active(start: int | None, first_used: int, last_used: int) -> int | None:
        if start is None:
            at = first
        else:
            at = entries[start].following
            if at == -1:
                return None
        while True:
            r = requests[entries[at].requirements]
            if not (r.first > last_used or first_used > r.last):
                return at
            at = entries[at].following
            if at == -1:
                return None

    if offline[ids[0]] == ONLINE:
        offsets[ids[0]] = 0
    entries, first = [Entry(offsets[ids[0]], ids[0])], 0
    for buffer in ids[1:]:
        wanted = requests[buffer]
        candidate = 0
        if offline[buffer] == ONLINE:
            prior: int | None = None
            while True:
                following = active(prior, wanted.first, wanted.last)
                if prior is not None:
                    end = entries[prior].offset + size[entries[prior].requirements]
                    candidate = max(candidate, end)
                if following is None or entries[following].offset - candidate >= size[buffer]:
                    break
                prior = following
        else:
            candidate = offline[buffer]
        offsets[buffer] = candidate
        entries.append(Entry(candidate, buffer))
        new = len(entries) - 1
        if entries[first].offset > candidate:
            entries[new].following, first = first, new
        else:
            at = first
            while True:
                following = entries[at].following
                if following == -1:
                    entries[at].following = new
                    break
                if entries[following].offset > candidate:
                    entries[new].following, entries[at].following = following, new
                    break
                at = following
    return offsets, max(e.offset + size[e.requirements] for e in entries)


def chain(depth: int, is_shared: bool) -> bytes:
    """Return a file whose every subgraph but the last runs the next one, if that `is_shared` two
    times, with a plan that has all at 0."""
    vectors = [T("c", [1], "BOOL"), *(T(name, [1, 8], "FLOAT32") for name in "xyz")]
    graphs: list[Graph] = []
    for k in range(1, depth + 1):
        options = ("If", {"thenSubgraphIndex": k, "elseSubgraphIndex": k})
        second = Op("IF", [0, 2], [3], options) if is_shared else Op("ABS", [2], [3])
        graphs.append(Graph(vectors, [Op("IF", [0, 1], [2], options), second], [0, 1], [3]))
    graphs.append(Graph(vectors[:3], [Op("ABS", [1], [2])], [0, 1], [2]))
    tensors = sum(len(graph.tensors) for graph in graphs)
    plan = np.array([1, 1, tensors, *[0] * tensors], np.int32).tobytes()
    return build(*graphs, extra=Extra(metadata={PLAN_NAME: plan}))


@pytest.mark.parametrize("is_shared", [False, True])
def test_what_runs_often_is_looked_at_once(is_shared: bool) -> None:
    """A chain of subgraphs that would run 2**20 operators; the bytes are those of a short one, and
    32 for each of the two vectors of every further subgraph, and 16 for its condition."""
    heads: list[int] = []
    for depth in (4, 20):
        data = chain(depth, is_shared)
        module = read(data, "chain.tflite")
        func = only_function(module)
        assert depth_of(func) == depth and unknown_scratch(func) == []
        heads.append(tflm_arena(func, planned=False, source_order=True).head)
        if not is_shared:
            give_plan(module, data, "chain.tflite")
    assert heads[1] - heads[0] == 16 * (112 if is_shared else 80)


def random_requests(rng: random.Random) -> list[Request]:
    steps = rng.randrange(1, 8)
    result: list[Request] = []
    for _ in range(rng.randrange(1, 12)):
        first = rng.randrange(-1, steps)
        last = rng.randrange(first, steps)
        offset = rng.choice((None, None, None, 16 * rng.randrange(6)))
        result.append(Request(rng.choice((1, 8, 16, 17, 32, 48, 100, 256)), first, last, offset))
    return result


def test_greedy_is_tflms_planner(fuzz: float) -> None:
    rng = random.Random(7)
    for _ in range(max(250, round(CASES * fuzz))):
        requests = random_requests(rng)
        offsets, head = transcribed(requests)
        answer = greedy(requests)
        assert (list(answer.offsets), answer.head) == (offsets, head), requests


def test_fixed_buffers_go_first_and_equals_from_the_last() -> None:
    a = Request(32, 0, 1)
    assert greedy([a, a]).offsets == (32, 0)
    assert greedy([a, Request(16, 1, 2, 16)]).offsets == (32, 16)
    assert greedy([]).head == 0
    assert greedy([Request(0, 0, 5), a]).head == 32


INT8, INT16, INT32, FLOAT = IntegerType(8), IntegerType(16), IntegerType(32), Float32Type()


def opaque(
    name: str, inputs: list[tuple[Attribute, tuple[int, ...]]], result: Any, **options: Any
) -> OpaqueOp:
    """An operator on arguments of these (element, shape); option values are integers or lists."""

    def attribute(value: Any) -> Attribute:
        if isinstance(value, int):
            return IntegerAttr(int(value), i64)
        return ArrayAttr([IntegerAttr(v, i64) for v in value])

    block = Block(arg_types=[TensorType(e, s) for e, s in inputs])
    given = DictionaryAttr({k: attribute(v) for k, v in options.items()})
    return OpaqueOp(name, block.args, [TensorType(*result)], options=given)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (
            opaque("SVDF", [(INT8, (2, 96)), (INT8, (64, 96))], (INT8, (2, 16)), rank=4),
            (4 * 2 * 64, 4 * 2 * 16),
        ),
        (
            opaque("SVDF", [(FLOAT, (2, 96)), (FLOAT, (64, 96))], (FLOAT, (2, 16)), rank=4),
            (4 * 2 * 64,),
        ),
        (opaque("SVDF", [(INT8, (2, 96))], (INT8, (2, 16)), rank=4), None),
        (
            opaque(
                "UNIDIRECTIONAL_SEQUENCE_LSTM",
                [(INT8, (3, 5, 7)), *[(INT8, (8, 8))] * 8, (INT8, (3, 8)), (INT16, (3, 8))],
                (INT8, (3, 5, 8)),
                timeMajor=0,
                absent=[9, 10, 11, 12, 13, 14, 15, 16, 17],
            ),
            (3 * 8 * 2,) * 4,
        ),
        (
            opaque(
                "UNIDIRECTIONAL_SEQUENCE_LSTM",
                [(INT8, (3, 5, 7)), *[(INT8, (8, 8))] * 8, (INT8, (5, 8)), (INT16, (5, 8))],
                (INT8, (3, 5, 8)),
                timeMajor=1,
                absent=[9, 10, 11, 12, 13, 14, 15, 16, 17],
            ),
            (5 * 8 * 2,) * 4,
        ),
        (
            opaque("TRANSPOSE_CONV", [(INT32, (4,)), (INT8, (1,)), (INT8, (9,))], (INT8, (2, 9))),
            (72,),
        ),
        (
            opaque(
                "TRANSPOSE_CONV",
                [(INT32, (4,)), (INT8, (1,)), (INT16, (9,)), (INT16, (3,))],
                (INT16, (2, 9)),
            ),
            (144, 24),
        ),
        (
            opaque("TRANSPOSE_CONV", [(INT32, (4,)), (FLOAT, (1,)), (FLOAT, (9,))], (FLOAT, (2,))),
            (),
        ),
        (opaque("SUM", [(INT8, (2, 3, 4)), (INT32, (2,))], (INT8, (4,))), (16, 12, 8)),
        (opaque("SUM", [(FLOAT, (2, 3, 4)), (INT32, (2,))], (FLOAT, (4,))), (12, 8)),
        (opaque("REDUCE_MAX", [(INT8, (2, 3, 4)), (INT32, (2,))], (INT8, (4,))), (12, 8)),
        (opaque("MIRROR_PAD", [(INT8, (2, 3)), (INT32, (2, 2))], (INT8, (4, 5))), (8, 8)),
        (opaque("ADD_N", [(INT8, (2,))] * 3, (INT8, (2,))), (24,)),
        (opaque("CONV_2D", [(INT8, (9,)), (IntegerType(4), (2, 3, 3, 5))], (INT8, (9,))), (90,)),
        (opaque("CONV_2D", [(INT8, (9,)), (INT8, (2, 3, 3, 5))], (INT8, (9,))), ()),
        (opaque("LOG", [(FLOAT, (9,))], (FLOAT, (9,))), ()),
        (opaque("CUSTOM:SignalRfft", [(INT16, (9,))], (INT16, (9,))), None),
        (opaque("BUILTIN_251", [(INT16, (9,))], (INT16, (9,))), None),
    ],
)
def test_scratch_of_single_operators(op: OpaqueOp, expected: tuple[int, ...] | None) -> None:
    assert scratch_bytes(op) == expected
