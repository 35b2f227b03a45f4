"""Groups and live ranges are derived twice, in `analysis/` and in `verify/`: on random functions
the two agree, also on what is refused."""

import random
from collections import Counter
from collections.abc import Callable

from random_functions import random_function
from xdsl.dialects.func import FuncOp

from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import live_ranges
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import model_of
from memopt.verify.groups import read_function


def analysed(func: FuncOp) -> object:
    memory = function_memory(func, model_of(func))
    groups = [
        (dict(g.members), g.size, g.is_input, g.is_output, g.in_arena, live.start, live.stop - 1)
        for g, live in zip(memory.groups, live_ranges(memory), strict=True)
    ]
    return memory.operations, groups, sorted(memory.overwrites), set(memory.views)


def verified(func: FuncOp) -> object:
    reading = read_function(func, model_of(func))
    groups = [
        (g.places, g.size, g.is_input, g.is_output, g.in_arena, g.first, g.last)
        for g in reading.groups
    ]
    return reading.operations, groups, sorted(reading.overwrites), set(reading.views)


def outcome(read: Callable[[FuncOp], object], func: FuncOp) -> tuple[bool, object]:
    try:
        return True, read(func)
    except MemoptError as error:
        return False, (error.text, error.place)


def test_both_readings_agree(fuzz: float) -> None:
    correct = Counter[bool]()
    for seed in range(round(1500 * fuzz)):
        func = only_function(random_function(random.Random(seed), 12))
        found = outcome(analysed, func)
        assert found == outcome(verified, func), seed
        correct[found[0]] += 1
    assert correct[True] and correct[False]
