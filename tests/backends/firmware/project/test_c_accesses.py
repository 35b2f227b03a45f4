"""Loads and stores of generated C in each memory, counted by QEMU, against what the plan says."""

from pathlib import Path
from typing import Any

import pytest
from benchmarks.executed.accesses import Stretch, counted, plugin_fault
from deep import deep_but
from pass_functions import assign_function, free_moves
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from memopt.dialects.attributes.placement import SlotAttr
from memopt.dialects.memgraph.plan import memory_at, order_of, places_of, scratch_list
from memopt.dialects.operators.movement import CopyOp
from memopt.passes import memgraph_memory
from memopt.passes.memgraph_memory import parse_banks
from memopt.verify.memories import operator_traffic

TARGET = "cortex-m7"


def by_operator(stretches: list[Stretch]) -> dict[int, dict[str, tuple[int, int]]]:
    """Return of each operator the different bytes that it loads and stores in each memory."""
    sums: dict[int, dict[str, tuple[int, int]]] = {}
    for stretch in stretches:
        own = sums.setdefault(stretch.operator, {})
        for name, a in stretch.memories.items():
            loaded, stored = own.get(name, (0, 0))
            own[name] = loaded + a.different_loaded, stored + a.different_stored
            assert a.loaded >= a.different_loaded and a.stored >= a.different_stored
    return sums


def leaves_pixels_out(op: Operation) -> bool:
    """Return whether some window is narrower than its stride."""
    window = getattr(op, "window", None)
    if window is None:
        return False
    kernel, stride = window.kernel.get_values(), window.stride.get_values()
    return any(k < s for k, s in zip(kernel, stride, strict=True))


def check(directory: Path, func: FuncOp) -> set[str]:
    """Compare operator by operator, and return the memories in which something moved."""
    operators = by_operator(counted(directory, TARGET))
    where, moved = places_of(func), set[str]()
    ops = func.body.block.ops
    operations = {number: op for op in ops if (number := order_of(op)) is not None}
    assert operators.keys() == operations.keys()
    for number, op in operations.items():
        reads, writes = operator_traffic(op)
        want: dict[str, list[int]] = {}
        for k, part in enumerate((reads, writes)):
            for value, size in part.items():
                place = where.get(value)
                if isinstance(place, SlotAttr):
                    want.setdefault(place.memory.data, [0, 0])[k] += size
        for scratch in scratch_list(op) or ():
            sizes = want.setdefault(memory_at(scratch.place), [0, 0])
            sizes[:] = [s + scratch.bytes.data for s in sizes]
        for name, (loaded, stored) in operators[number].items():
            read, written = want.pop(name, (0, 0))
            assert stored == written, op
            assert 0 < loaded < read if read and leaves_pixels_out(op) else loaded == read, op
            moved |= {name} if loaded + stored else set()
        assert not any(sum(sizes) for sizes in want.values())
    return moved


@pytest.mark.parametrize("model", deep_but("resnet8_int8", ["resnet8_int8", "dscnn_kws_int8"]))
def test_what_operators_touch_is_what_the_plan_counts(
    model: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    need(lab)
    module = lab.ordered(lab.read_model(shared / "models" / f"{model}.tflite"), target=TARGET)
    func = lab.main_of(module)
    assign_function(func, parse_banks("dtcm:12K@1,sram:320K@2"))
    assert check(lab.write(module, tmp_path / "c", "net", TARGET), func) == {"dtcm", "sram"}


def test_so_it_is_where_tensors_move(
    shared: Path, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moves read one memory and write another."""
    need(lab)
    monkeypatch.setattr(memgraph_memory, "assign", free_moves)
    path = shared / "models" / "resnet8_int8.tflite"
    module = lab.ordered(lab.read_model(path), target=TARGET)
    func = lab.main_of(module)
    assign_function(func, parse_banks("dtcm:36K@1,sram:36K@9"))
    assert any(isinstance(op, CopyOp) for op in func.body.block.ops)
    assert check(lab.write(module, tmp_path / "c", "net", TARGET), func) == {"dtcm", "sram"}


def need(lab: Any) -> None:
    """Skip where QEMU cannot count."""
    lab.need_tools(TARGET)
    if fault := plugin_fault():
        pytest.skip(fault)
