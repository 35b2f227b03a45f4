"""The TFLM writer on small models: what changes in a file, what does not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from tflite_builder import Extra, dump, objects
from tflm_plan import diamond, planned, write

from memopt.backends.tflm.extent import trailing_bytes
from memopt.backends.tflm.repack import outside_ranges, unpack
from memopt.dialects.plan import plan_of
from memopt.formats import tflite_control
from memopt.formats.tflite import read_model

PLAN = "OfflineMemoryAllocation"


def operator_names(data: bytes) -> list[tuple[str, tuple[int, ...]]]:
    return [(op.name, op.outputs) for op in read_model(data, "m").subgraphs[0].operators]


def plan_in(data: bytes) -> list[int]:
    model = read_model(data, "m")
    (buffer,) = [b for name, b in model.metadata if name == PLAN]
    return np.frombuffer(data[slice(*model.buffers[buffer])], "<i4").tolist()


def without_plan(data: bytes) -> Any:
    """Object dump of a file without order and plan."""
    model = objects(data)
    for graph in model.subgraphs:
        graph.operators = sorted(graph.operators, key=lambda o: tuple(o.outputs))
    entries: list[Any] = list(model.metadata or [])
    names: list[bytes] = [m.name for m in entries]
    if PLAN.encode() in names:
        entry = model.metadata.pop(names.index(PLAN.encode()))
        model.buffers[entry.buffer].data = None
        if entry.buffer == len(model.buffers) - 1:
            model.buffers.pop()
    model.metadata = model.metadata or None
    return dump(model)


def test_only_order_and_plan_change() -> None:
    extra = Extra(metadata={"other": b"kept"}, signatures={"serve": ({"in": 0}, {"out": 5})})
    data = diamond(extra)
    module, func = planned(data)
    result = write(module, data)
    assert [o for _, (o,) in operator_names(data)] == [1, 2, 3, 4, 5]
    assert [o for _, (o,) in operator_names(result)] in ([1, 3, 2, 4, 5], [2, 4, 1, 3, 5])
    assert without_plan(result) == without_plan(data)
    version, graphs, count, *offsets = plan_in(result)
    assert (version, graphs, count, len(offsets)) == (1, 1, 7, 7)
    assert offsets[6] == -1, "constants have no place"
    plan = plan_of(func)
    sizes = [64, 1024, 1024, 16, 16, 32]
    assert plan is not None
    assert max(o + s for o, s in zip(offsets, sizes, strict=False)) == plan.arena


@pytest.mark.parametrize(
    "name",
    deep_but(
        ["resnet8_int8", "hello_world_int8"],
        ["resnet8_int8", "swiftnet_cell_vww_uint8", "selfie_segmentation", "hello_world_int8"],
    ),
)
def test_only_order_and_plan_change_in_real_models(name: str, shared: Path) -> None:
    data = (shared / "models" / f"{name}.tflite").read_bytes()
    result = write(planned(data)[0], data)
    assert without_plan(result) == without_plan(data)
    assert all(start % 16 == 0 for start, stop in read_model(result, name).buffers if stop > start)
    assert result == write(planned(data)[0], data), "the same bytes every time"


def test_an_earlier_plan_is_replaced_also_when_it_is_there_twice() -> None:
    old = np.array([0, 1, 7, *[4096] * 7], np.int32).tobytes()
    data = diamond(Extra(metadata={PLAN: old, "other": b"kept"}))
    model = unpack(data)
    from memopt.backends.tflm.repack import pack

    model.metadata.append(model.metadata[0])
    twice = pack(model, data, b"")
    results = [write(planned(d)[0], d) for d in (data, twice)]
    assert plan_in(results[0]) == plan_in(results[1])
    assert 4096 not in plan_in(results[0])
    names = [m.name for m in objects(results[1]).metadata]
    assert names == [PLAN.encode(), b"other"]
    assert len(objects(results[0]).buffers) == len(objects(data).buffers), "its buffer is reused"


def test_a_plan_whose_buffer_something_else_uses_gets_a_new_one() -> None:
    data = diamond(Extra(metadata={PLAN: b"shared", "other": b"?"}))
    model = unpack(data)
    from memopt.backends.tflm.repack import pack

    model.metadata[1].buffer = model.metadata[0].buffer
    data = pack(model, data, b"")
    result = objects(write(planned(data)[0], data))
    found = {m.name: bytes(result.buffers[m.buffer].data) for m in result.metadata}
    assert found[b"other"] == b"shared" and found[PLAN.encode()] != b"shared"


def test_control_dependencies_move_with_their_operators() -> None:
    key = tflite_control.KEY
    data = diamond(Extra(metadata={key: tflite_control.serialize([((0, 2), (1, 3))])}))
    module, _ = planned(data)
    result = write(module, data)
    entry = next(m for m in objects(result).metadata if m.name == key.encode())
    (edges,) = tflite_control.parse(bytes(objects(result).buffers[entry.buffer].data))
    outputs = [o for _, (o,) in operator_names(result)]
    pairs = {(outputs[a], outputs[b]) for a, b in edges}
    assert pairs == {(1, 3), (2, 4)}, "the same operators, by what they make"


def test_stateful_operators_keep_their_order() -> None:
    data = diamond(stateful=True)
    result = write(planned(data)[0], data)
    assert [o for n, (o,) in operator_names(result) if n == "CUSTOM:k"] == [1, 2]
    assert [
        bytes(o.customOptions)
        for o in objects(result).subgraphs[0].operators
        if o.customOptions is not None
    ] == [b"abc"]


@pytest.mark.parametrize(
    "trailing", [b"PK\3\4 labels.txt", b"\0\0\0\0archive", bytes(range(256)) * 40]
)
def test_bytes_behind_the_file_stay(trailing: bytes) -> None:
    data = diamond(Extra(trailing=trailing))
    result = write(planned(data)[0], data)
    assert result.endswith(trailing.lstrip(b"\0"))
    assert trailing_bytes(diamond(), []) == b""
    again = write(planned(result)[0], result)
    assert again == result, "nothing piles up"


def test_buffers_behind_the_file_move_along() -> None:
    """Models above 2 GB keep their weights behind the flatbuffer, at offsets of the file."""
    data = diamond(Extra(trailing=b"??????? labels"))
    model = unpack(data)
    from memopt.backends.tflm.repack import pack

    index = next(i for i, b in enumerate(model.buffers) if b.data == b"\0\1\2")
    assert model.subgraphs[0].tensors[6].buffer == index
    model.buffers[index].data = None
    model.buffers[index].offset, model.buffers[index].size = len(data) - 3, 3
    custom = model.subgraphs[0].operators[0]
    custom.largeCustomOptionsOffset, custom.largeCustomOptionsSize = len(data) - 6, 6
    moved = pack(model, data[:-3] + b"\0\1\2", b"end")
    assert read_model(moved, "m").subgraphs[0].tensors[6].is_constant
    result = write(planned(moved)[0], moved)
    model = unpack(result)
    ranges = outside_ranges(model)
    assert [result[slice(*r)] for r in ranges] == [b"\0\1\2", b"lab\0\1\2"]
    assert all(start % 16 == 0 for start, _ in ranges) and result.endswith(b"end")
