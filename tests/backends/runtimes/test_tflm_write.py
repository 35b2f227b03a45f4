"""The TFLM writer on small models: what changes in a file, what does not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from tflite_builder import Extra, bytes_behind, dump, objects
from tflm_plan import diamond, planned, write

from memopt.backends.tflm import write_tflm
from memopt.backends.tflm.extent import has_bytes_behind, trailing_bytes
from memopt.backends.tflm.repack import pack, unpack
from memopt.dialects.memgraph.plan import plan_of
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
    model.metadata.append(model.metadata[0])
    twice = pack(model, b"")
    results = [write(planned(d)[0], d) for d in (data, twice)]
    assert plan_in(results[0]) == plan_in(results[1])
    assert 4096 not in plan_in(results[0])
    names = [m.name for m in objects(results[1]).metadata]
    assert names == [PLAN.encode(), b"other"]
    assert len(objects(results[0]).buffers) == len(objects(data).buffers), "its buffer is reused"


def test_a_plan_whose_buffer_something_else_uses_gets_a_new_one() -> None:
    data = diamond(Extra(metadata={PLAN: b"shared", "other": b"?"}))
    model = unpack(data)
    model.metadata[1].buffer = model.metadata[0].buffer
    data = pack(model, b"")
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


def test_buffers_behind_the_file_are_written_inside() -> None:
    """Models above 2 GB keep weights behind the flatbuffer, at offsets of the file, and custom
    options too; TFLM reads none there."""
    plain = diamond(Extra(trailing=b"end"), stateful=True)
    moved = bytes_behind(plain, [6], [0]) + b"end"
    again = read_model(moved, "m")
    assert again.subgraphs[0].tensors[6].is_constant and has_bytes_behind(moved)
    results = [write(planned(data)[0], data) for data in (plain, moved)]
    assert not has_bytes_behind(results[1])
    assert without_plan(results[1]) == without_plan(results[0]) and results[1].endswith(b"end")


def test_a_file_that_is_left_to_tflm_has_its_buffers_inside() -> None:
    """Also with the plan that it has."""
    offsets = np.array([1, 1, 7, *[0, 1024] * 3, -1], np.int32).tobytes()
    for extra in (Extra(), Extra(metadata={PLAN: offsets})):
        moved = bytes_behind(diamond(extra), [6])
        module, _ = planned(moved, "source")
        result = write_tflm(module, source=moved, at_run_time=True)
        assert not has_bytes_behind(result)
        found = read_model(result, "m")
        (plan,) = [result[slice(*found.buffers[b])] for n, b in found.metadata if n == PLAN]
        assert plan == (offsets if extra.metadata else plan) and len(plan) == 40
