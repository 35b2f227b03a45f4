"""The TFLM writer on small models: what changes in a file, what does not, what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import Extra, Graph, Op, T, build, dump, objects
from tflm_plan import TFLM, import_for_tflm, planned, write
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64

from memopt.backends.tflm import unknown_scratch, write_tflm
from memopt.backends.tflm.extent import trailing_bytes
from memopt.backends.tflm.repack import outside_ranges, unpack
from memopt.dialects import tflite_control
from memopt.dialects.errors import MemoptError
from memopt.dialects.plan import MODEL, OFFSET, functions, plan_of
from memopt.dialects.plan_attributes import ModelAttr
from memopt.dialects.tflite_file import read_model
from memopt.frontends.tflite import read

PLAN = "OfflineMemoryAllocation"


def diamond(extra: Extra | None = None, *, stateful: bool = False) -> bytes:
    """x(16) -> wide a, b (1024 each) -> narrow c, d (16): depth first is better than the file."""
    tensors = [T("x", [16], "FLOAT32"), T("a", [1024]), T("b", [1024]), T("c", [16]), T("d", [16])]
    tensors += [T("y", [32]), T("w", [3], data=np.arange(3, dtype=np.int8))]
    kind = "CUSTOM:k" if stateful else "LOG"
    ops = [
        Op(kind, [0], [1], None, b"abc" if stateful else b""),
        Op(kind, [0, 6], [2]),
        Op("EXP", [1], [3]),
        Op("EXP", [2], [4]),
        Op("CONCATENATION", [3, 4], [5], ("Concatenation", {"axis": 0})),
    ]
    return build(Graph(tensors, ops, [0], [5]), extra=extra)


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
    assert max(o + s for o, s in zip(offsets, sizes, strict=False)) == plan.arena.data


@pytest.mark.parametrize(
    "name", ["resnet8_int8", "swiftnet_cell_vww_uint8", "selfie_segmentation", "hello_world_int8"]
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


# -- refusals -----------------------------------------------------------------------------------


def refused(module: Any, data: bytes, message: str) -> None:
    with pytest.raises(MemoptError, match=message) as caught:
        write(module, data)
    assert "\n" not in str(caught.value)


def two_subgraphs(name: str, options: tuple[str, dict[str, Any]] | None) -> bytes:
    inner = Graph([T("x", [4]), T("y", [4])], [Op("RELU", [0], [1])], [0], [1], "inner")
    tensors = [T("c", [1], "BOOL"), T("x", [4]), T("a", [4]), T("y", [4])]
    ops = [Op("RELU", [1], [2]), Op(name, [0, 2], [3], options)]
    return build(Graph(tensors, ops, [0, 1], [3]), inner)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("IF", ("If", {"thenSubgraphIndex": 1, "elseSubgraphIndex": 1})),
        ("WHILE", ("While", {"condSubgraphIndex": 1, "bodySubgraphIndex": 1})),
        ("CALL_ONCE", ("CallOnce", {"initSubgraphIndex": 1})),
    ],
)
def test_control_flow_between_subgraphs_is_refused_by_name(
    name: str, options: tuple[str, dict[str, Any]]
) -> None:
    data = two_subgraphs(name, options)
    module, _ = planned(data)
    refused(module, data, rf"subgraph 0 operator 1 \({name}\): error: {name} runs another subgraph")


def test_two_subgraphs_without_control_flow_are_refused() -> None:
    one = Graph([T("x", [4]), T("y", [4])], [Op("RELU", [0], [1])], [0], [1])
    data = build(one, one)
    refused(planned(data)[0], data, "the model has 2 subgraphs, the module 2 functions")


def test_an_unplanned_or_changed_function_is_refused() -> None:
    data = diamond()
    refused(import_for_tflm(data)[0], data, "the function has no plan; run --schedule and --place")
    module, func = planned(data)
    func.attributes[MODEL] = ModelAttr("tflm", 32, scratch="tflm", views=False)
    refused(module, data, "@main: error: stale plan")


def test_a_plan_that_lies_is_refused() -> None:
    data = diamond()
    module, func = planned(data)
    for op in func.body.block.ops:
        if OFFSET in op.attributes and op.operands:
            op.attributes[OFFSET] = ArrayAttr([IntegerAttr(0, i64)])
    refused(module, data, "overwrites|overlap")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ModelAttr(), "planned for target generic, not for tflm"),
        (ModelAttr("cortex-m4"), "planned for target cortex-m4, not for tflm"),
        (ModelAttr("tflm", 8), "TFLM aligns to 16, the plan to 8"),
        (ModelAttr("tflm", io="caller"), "TFLM has inputs and outputs in its arena"),
    ],
)
def test_a_plan_for_another_memory_model_is_refused(model: ModelAttr, message: str) -> None:
    from memopt.passes.memgraph_place import place_function
    from memopt.passes.memgraph_schedule import schedule_function

    data = diamond()
    module = read(data, "m.tflite")
    func = next(functions(module))
    func.attributes[MODEL] = model
    schedule_function(func, "auto", 5)
    place_function(func, "auto", 5)
    refused(module, data, message)


def replanned(module: Any) -> Any:
    from memopt.passes.memgraph_place import place_function
    from memopt.passes.memgraph_schedule import schedule_function

    func = next(functions(module))
    schedule_function(func, "auto", 5)
    place_function(func, "auto", 5)
    return module


def test_operators_that_are_not_the_files_are_refused() -> None:
    data = diamond()
    module, func = import_for_tflm(data)
    op = next(o for o in func.body.block.ops if str(o.attributes.get("memgraph.names")) == '["c"]')
    source = op.attributes.pop("memgraph.source")
    with pytest.raises(MemoptError, match=r"is not an operator of a .tflite file"):
        replanned(module)
    func.attributes[MODEL] = ModelAttr("tflm", views=False)
    refused(replanned(module), data, r"LOG \(c\)|EXP \(c\): error: is not an operator of a .tflite")
    op.attributes["memgraph.source"] = source
    op.operands[0] = func.body.block.args[0]
    refused(replanned(module), data, "reads or makes other tensors than in the file")


def test_a_missing_operator_is_refused() -> None:
    tensors = [T("x", [16]), T("dead", [16]), T("y", [16])]
    data = build(Graph(tensors, [Op("LOG", [0], [1]), Op("EXP", [0], [2])], [0], [2]))
    module, func = import_for_tflm(data)
    dead = next(iter(func.body.block.ops))
    dead.detach()
    dead.erase()
    refused(replanned(module), data, r"operator 0 \(LOG\) of the file is missing")


def test_a_command_stream_is_bound_to_its_plan(shared: Path) -> None:
    data = (shared / "models" / "person_detect_vela_plan.tflite").read_bytes()
    module, _ = planned(data)
    refused(module, data, r"operator 0 \(CUSTOM:ethos-u\): error: was compiled for the plan")


def test_the_source_must_be_the_file_that_was_imported(tmp_path: Path) -> None:
    data = diamond()
    path = tmp_path / "net.tflite"
    path.write_bytes(data)
    module = read(data, "net.tflite")
    func = next(functions(module))
    func.attributes[MODEL] = TFLM
    replanned(module)
    assert write_tflm(module, tmp_path) == write(module, data)
    path.write_bytes(diamond(Extra(metadata={"other": b""})))
    with pytest.raises(MemoptError, match="is not the model that was imported"):
        write_tflm(module, tmp_path)
    module.attributes.pop("memgraph.files")
    with pytest.raises(MemoptError, match="refers to 0 model files"):
        write_tflm(module, tmp_path)


def test_a_plan_that_makes_tflm_need_more_is_refused() -> None:
    """Fixed tensors leave scratch only the gaps: here all of it goes on top of a good plan."""
    tensors = [
        T("x", [1, 64], scale=(1.0,)),
        T("a", [1, 16], scale=(1.0,)),
        T("axes", [1], "INT32", np.array([1], np.int32)),
        T("b", [1, 1], scale=(1.0,)),
    ]
    ops = [Op("LOG", [0], [1]), Op("SUM", [1, 2], [3], ("Reducer", {"keepDims": True}))]
    data = build(Graph(tensors, ops, [0], [3]))
    module, func = planned(data)
    write(module, data)
    plan = plan_of(func)
    assert plan is not None
    # The same plan 64 bytes further up: valid, and worse than no plan.
    from memopt.dialects.plan import argument_attributes, set_argument_attributes
    from memopt.dialects.plan_attributes import PlanAttr, ScratchAttr

    def up(value: Any) -> Any:
        return IntegerAttr(value.value.data + 64, i64) if isinstance(value, IntegerAttr) else value

    arguments = argument_attributes(func)
    arguments[0][OFFSET] = up(arguments[0][OFFSET])
    set_argument_attributes(func, arguments)
    for op in func.body.block.ops:
        if OFFSET in op.attributes:
            places: Any = op.attributes[OFFSET]
            op.attributes[OFFSET] = ArrayAttr([up(p) for p in places.data])
        scratch: Any = op.attributes.get("memgraph.scratch")
        if scratch is not None:
            moved = [ScratchAttr(s.bytes.data, s.offset.data + 64) for s in scratch.data]
            op.attributes["memgraph.scratch"] = ArrayAttr(moved)
    func.attributes["memgraph.plan"] = PlanAttr(
        plan.peak.data,
        plan.lower_bound.data,
        plan.proof.data,
        plan.arena.data + 64,
        plan.arena_lower_bound.data,
        plan.fingerprint.data,
    )
    refused(module, data, r"with this plan TFLM needs \d+ B, with the file as it is \d+ B")


def test_operators_of_unknown_scratch_are_named() -> None:
    assert unknown_scratch(planned(diamond(stateful=True))[1]) == ["CUSTOM:k"]
    assert unknown_scratch(planned(diamond())[1]) == []
