"""No pass that is no search grows faster than the graph: lines that run are counted, not timed."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import pytest
from benchmarks.tables import large, passes
from benchmarks.tables.large import FAMILIES
from deep import deep_but
from xdsl.dialects.func import FuncOp

import memopt
from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import live_ranges
from memopt.analysis.storage_groups import BlockMemory
from memopt.compile.driver import import_bytes
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.plan import model_of
from memopt.passes import memgraph_kernels
from memopt.passes.memgraph_memory import parse_banks
from memopt.passes.plan.extract import extract
from memopt.passes.plan.memory_tenants import tenants_of
from memopt.solvers.problems import memory_graph
from memopt.solvers.theory import bounds
from memopt.solvers.theory.chains import chains, forget

MOST = 1.5  # lines per operator of the larger graph over those of the smaller one, per function
BANKS = parse_banks("fast:64K@1,slow:64M@2")
FEW = 2  # lines per operator that say nothing
# what they find they search for, within limits that small graphs do not reach: taken as a whole
SEARCHES = ("memgraph-fuse", "memgraph-schedule{method=source}, of hyper-nodes")
# what they draw depends on what there is at the peak: of rows, taken as a whole too
DRAWN = ("-t svg", "-t html")
Function = tuple[str, str, int]


def _lines(action: Callable[[], object]) -> Counter[Function]:
    """Lines of Python that run in each function, those of libraries included."""
    # by identity, with a tracer of its own for each: hashing a code, or its name, takes longer
    codes: dict[int, tuple[CodeType, list[int], Any]] = {}

    def tracer(code: CodeType) -> Any:
        lines = [0]

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            lines[0] += 1
            return trace

        codes[id(code)] = code, lines, trace
        return trace

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        known = codes.get(id(code))
        trace = known[2] if known else tracer(code)
        return trace(frame, event, argument)

    before = sys.gettrace()
    sys.settrace(call)
    try:
        action()
    finally:
        sys.settrace(before)
    count = Counter[Function]()
    for code, lines, _ in codes.values():
        count[code.co_filename, code.co_name, code.co_firstlineno] += lines[0]
    return count


def _function(family: str, size: int) -> FuncOp:
    module = import_bytes(FAMILIES[family](size).encode(), ".json", "net.json", None)
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    return func


def _operators(family: str, size: int) -> int:
    func = _function(family, size)
    return len(function_memory(func, model_of(func)).operations)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("family", "size", "larger"),
    deep_but(
        ("butterfly", 4, 5),
        [("butterfly", 4, 5), ("chains", 40, 80), ("layers", 40, 80)],
        several=True,
    ),
)
def test_lines_per_operator_stay(
    family: str, size: int, larger: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a heuristic's bound is a search: so many flows, whatever the size beyond a few hundred
    monkeypatch.setattr(bounds, "HEURISTIC_FLOWS", 0)
    counts: list[dict[str, Counter[Function]]] = []
    for n in (size, larger):
        forget()
        number.cache_clear()  # each graph makes its own, as in a process of its own
        counts.append({stage: _lines(action) for stage, action in passes.stages(family, n)})
    sizes = _operators(family, size), _operators(family, larger)
    assert not _grown(sizes, counts[0], counts[1])


@pytest.mark.deep
def test_lines_per_row_operator_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "HEURISTIC_FLOWS", 0)
    monkeypatch.setattr(memory_graph, "MANY", 0)  # both sizes are profiled in the same way
    monkeypatch.setattr(large, "ROWS", 20)
    whole = (*SEARCHES, *DRAWN)
    taken = [stage for stage in passes.STAGES if stage != "-t minimalloc-csv"]  # refused: parts
    counts: list[dict[str, Counter[Function]]] = []
    for blocks in (4, 8):
        forget()
        number.cache_clear()
        steps = passes.stages("rows", blocks, taken)
        counts.append({stage: _lines(action) for stage, action in steps})
    assert not _grown((8 * large.ROWS, 16 * large.ROWS), counts[0], counts[1], whole)


@pytest.mark.deep
@pytest.mark.parametrize(("family", "size"), [("nested", 80), ("training", 250)])
def test_fusing_takes_so_many_lines_per_operator(family: str, size: int) -> None:
    """Check modules that lie each inside the next one, of which a round finds one."""
    lines: list[float] = []
    for n in (size, 2 * size):
        forget()
        graph = extract(_function(family, n)).graph
        lines.append(_lines(partial(chains, graph)).total() / len(graph))
    assert lines[1] <= 1.25 * lines[0]


def test_tenants_of_memories_are_found_in_so_many_lines_per_operator() -> None:
    counts: list[dict[str, Counter[Function]]] = []
    for n in (40, 80):
        func = _function("chains", n)
        extracted = extract(func)
        counts.append({"tenants": _lines(partial(tenants_of, extracted, BANKS, True))})
    assert not _grown((_operators("chains", 40), _operators("chains", 80)), counts[0], counts[1])


def _grown(
    sizes: tuple[int, int],
    before: Mapping[str, Counter[Function]],
    after: Mapping[str, Counter[Function]],
    whole: Sequence[str] = SEARCHES,
) -> list[tuple[str, object, int, int]]:
    """Stage and function of what takes more lines per operator, with both counts of lines."""
    small, large = sizes
    grown: list[tuple[str, object, int, int]] = []
    for stage, found in after.items():
        earlier = before[stage]
        if stage in whole:
            rows = [("all", earlier.total(), found.total())]
        else:
            rows = [(function, earlier[function], lines) for function, lines in found.items()]
        grown += [
            (stage, function, few, many)
            for function, few, many in rows
            if many / large > MOST * max(FEW, few / small)
        ]
    return grown


def test_room_for_scratch_is_looked_for_among_what_is_live(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing asks of all buffers in each step whether they are live."""
    asked = list[int]()

    def ends(memory: BlockMemory) -> list[SimpleNamespace]:
        lives = live_ranges(memory)
        asked.append(len(lives))
        return [SimpleNamespace(start=live.start, stop=live.stop) for live in lives]

    monkeypatch.setattr(memgraph_kernels, "live_ranges", ends)
    path = shared / "models/resnet8_int8.tflite"
    assert memopt.plan(path, target="cortex-m4", rows="none").arena
    assert asked
