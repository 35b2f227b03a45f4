"""JSON graphs of up to 64 operators, solved many at once by the native library.

    answers = solved([text, another])      # None of a text: it is left to Python

Each answer is that of `plain_graph` and of `answer_of` in peaks.py, to the order. What the library
does not cover, what is wrong with a text, and what takes a long search, it leaves to them: without
the library that is all.
"""

from array import array
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from memopt.api.plain_graphs import GraphWork, json_text
from memopt.dialects.memgraph.plan import GENERIC
from memopt.dialects.memgraph.tensors import MAX_BYTES, element_bits
from memopt.frontends.json.file import DTYPES, MAX_RANK
from memopt.solvers.native.library import Stream, library, numbers_of, octets_of
from memopt.solvers.problems.memory_graph import Proof
from memopt.solvers.scheduling import best_first, both_ends, phases

SMALL, STATES = 32, 1_000  # up to so many operators and states a search beats contracting first
FIGURES, OPERATORS = 9, 64  # per graph, of the interface
WORK = 4_000_000  # of a call, between two looks for Ctrl-C: some 20 ms; of each byte 1
LONGEST = 1 << 18  # bytes of a text; longer ones are Python's, so that a chunk fits into memory
SECONDS = 0.1  # of a time limit within which any graph of so few operators and states is solved


class Answer(NamedTuple):
    """An order by names and numbers of its operators, bytes, what was searched for it, and the
    seconds that it took."""

    peak: int
    lower_bound: int
    proof: Proof
    order: tuple[str, ...]
    indices: tuple[int, ...]
    work: GraphWork
    states: int
    seconds: float


def has_time(time_limit: float | None) -> bool:
    """Return whether a graph under this time limit may be given to `solved`."""
    return time_limit is None or time_limit >= SECONDS


@cache
def _settings() -> tuple["array[int]", bytes]:
    """Return the numbers that the library does not know itself, and the names of element types."""
    stream = Stream()
    stream.add(GENERIC.alignment.data, MAX_BYTES, MAX_RANK)
    stream.add(SMALL, STATES, both_ends.TURN, best_first.CHAIN, phases.MANY)
    stream.add(*map(element_bits, DTYPES.values()))
    return stream.values, "".join(f"{name}\n" for name in DTYPES).encode()


def small_text(source: Any) -> bytes | None:
    """Return the text of a JSON graph that the library may solve."""
    text = json_text(source, LONGEST)
    return None if text is None or len(text) > LONGEST else text


def solved(texts: Sequence[bytes]) -> list[Answer | None]:
    """Return the answer of each text that the library solves."""
    native = library()
    if native is None:
        return [None] * len(texts)
    settings, elements = _settings()
    answers: list[Answer | None] = []
    while len(answers) < len(texts):
        ends, end = array("q"), 0
        for text in islice(texts, len(answers), None):
            if end >= WORK:
                break  # the call would not come to it
            ends.append(end := end + len(text))
        rest = texts[len(answers) : len(answers) + len(ends)]
        figures = array("q", bytes(8 * FIGURES * len(rest)))
        operators = bytearray(OPERATORS * len(rest))
        names = bytearray(end)
        count = native.memopt_json_graphs_solve(
            b"".join(rest), numbers_of(ends), len(rest), numbers_of(settings), len(settings),
            elements, WORK, numbers_of(figures), octets_of(operators), octets_of(names),
        )  # fmt: skip
        if count < 0:
            raise MemoryError
        begin = 0
        for i in range(count):
            answers.append(
                _answer(
                    figures[i * FIGURES : (i + 1) * FIGURES],
                    operators[i * OPERATORS : (i + 1) * OPERATORS],
                    names[begin : ends[i]],
                )
            )
            begin = ends[i]
    return answers


def _answer(figures: "array[int]", operators: bytearray, names: bytearray) -> Answer | None:
    is_solved, peak, bound, by_flow, states, has_macs, macs, weights, nanoseconds = figures
    if not is_solved:
        return None
    order = tuple(names[: names.rindex(b"\n")].decode("ascii").split("\n"))
    return Answer(
        peak, bound, "flow" if by_flow else "search", order, tuple(operators[: len(order)]),
        GraphWork(macs if has_macs else None, weights), states, nanoseconds / 1e9,
    )  # fmt: skip
