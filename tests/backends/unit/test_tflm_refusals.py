"""What the TFLM writer refuses, and what the check of a written file sees."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import SCHEMA, Extra, Graph, Op, T, build
from tflm_plan import TFLM, diamond, import_for_tflm, planned, write
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64

from memopt.backends.tflm import unknown_scratch, write_tflm
from memopt.backends.tflm.check import check_written
from memopt.backends.tflm.repack import unpack
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import MODEL, OFFSET, plan_of
from memopt.formats.flatbuffer import Flatbuffer
from memopt.formats.tflite import read_model
from memopt.frontends.tflite.read import read
from memopt.targets.tflm.arena import file_operators

PLAN = "OfflineMemoryAllocation"


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
def test_what_an_operator_runs_has_to_be_planned_too(
    name: str, options: tuple[str, dict[str, Any]]
) -> None:
    data = two_subgraphs(name, options)
    module, _ = planned(data)
    refused(module, data, rf"operator 1 {name} \(y\): error: {name} runs @subgraph_1, which has no")


def test_a_call_is_refused_by_name() -> None:
    data = two_subgraphs("CALL", ("Call", {"subgraph": 1}))
    text = r"subgraph 0 operator 1 \(CALL\): error: CALL runs another subgraph"
    refused(planned(data)[0], data, text)


def test_a_subgraph_that_is_no_function_is_refused() -> None:
    one = Graph([T("x", [4]), T("y", [4])], [Op("RELU", [0], [1])], [0], [1])
    data = build(one, one)
    module, _ = planned(data)
    _, other = functions(module)
    other.detach()
    other.erase()
    refused(module, data, "the model has 2 subgraphs, the module 1 functions")


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
    from pass_functions import place_function, schedule_function

    data = diamond()
    module = read(data, "m.tflite")
    func = next(functions(module))
    func.attributes[MODEL] = model
    schedule_function(func, "auto", 5)
    place_function(func, "auto", 5)
    refused(module, data, message)


def test_inputs_cannot_be_kept_where_kernels_ask_for_scratch() -> None:
    tensors = [T("x", [1, 64]), T("axes", [1], "INT32", np.array([1], np.int32)), T("y", [1, 1])]
    op = Op("SUM", [0, 1], [2], ("Reducer", {"keepDims": True}))
    data = build(Graph(tensors, [op], [0], [2]))
    for kept, calm in ((data, False), (diamond(), True)):
        module, func = import_for_tflm(kept)
        func.attributes[MODEL] = ModelAttr("tflm", io="kept", views=False)
        replanned(module)
        if calm:
            assert write(module, kept)
        else:
            refused(module, kept, "@main: error: inputs cannot be kept: TFLM lays scratch over")


def replanned(module: Any) -> Any:
    from pass_functions import place_function, schedule_function

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
    from memopt.dialects.attributes.memories import one_arena
    from memopt.dialects.attributes.placement import ScratchAttr
    from memopt.dialects.attributes.plan import PlanAttr
    from memopt.dialects.memgraph.functions import argument_attributes, set_argument_attributes

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
        plan.family.data,
        one_arena(plan.arena + 64),
        plan.arena_lower_bound.data,
        fingerprint=plan.fingerprint.data,
    )
    refused(module, data, r"with this plan TFLM needs \d+ B, with the file as it is \d+ B")


def test_options_of_a_newer_schema_are_not_lost_silently() -> None:
    tensors = [T("x", [4]), T("y", [4])]
    op = Op("RESHAPE", [0], [1], ("Reshape", {"newShape": np.array([4], np.int32)}))
    data = build(Graph(tensors, [op], [0], [1]))
    table = Flatbuffer(data).root(b"TFL3").tables(2)[0].tables(3)[0]
    kind = table.at(3, 1)
    assert kind is not None and data[kind] == 17
    newer = data[:kind] + bytes((250,)) + data[kind + 1 :]
    refused(planned(newer)[0], newer, r"operator 0 \(RESHAPE\): error: its options \(type 250\)")


def test_fields_of_a_newer_schema_are_not_lost_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    add_name = SCHEMA.TensorAddName

    def start(builder: Any) -> None:
        builder.StartObject(13)

    def add(builder: Any, name: Any) -> None:
        add_name(builder, name)
        builder.PrependUint32Slot(12, 7, 0)

    with monkeypatch.context() as patch:
        patch.setattr(SCHEMA, "TensorStart", start)
        patch.setattr(SCHEMA, "TensorAddName", add)
        data = diamond()
    refused(planned(data)[0], data, "Tensor field 12 is of a newer schema than LiteRT's here")


def test_operators_of_unknown_scratch_are_named() -> None:
    assert unknown_scratch(planned(diamond(stateful=True))[1]) == ["CUSTOM:k"]
    assert unknown_scratch(planned(diamond())[1]) == []


# -- the check of what was written ---------------------------------------------------------------


def check(result: bytes, order: list[int], plan: bytes) -> None:
    data = diamond()
    check_written(data, read_model(data, "m"), result, [order], plan, "m")


def test_the_check_of_the_written_file_sees_seeded_bugs() -> None:
    data = diamond()
    module, func = planned(data)
    good = write(module, data)
    order = [i for _, i in file_operators(func)]
    model = read_model(good, "m")
    (number,) = [b for name, b in model.metadata if name == PLAN]
    start, stop = model.buffers[number]
    plan = good[start:stop]
    check(good, order, plan)

    def seeded(change: Any) -> bytes:
        from memopt.backends.tflm.repack import pack

        objects_ = unpack(good)
        change(objects_)
        return pack(objects_, b"")

    def swap(m: Any) -> None:
        ops = m.subgraphs[0].operators
        ops[1], ops[2] = ops[2], ops[1]

    def rename(m: Any) -> None:
        m.subgraphs[0].tensors[2].name = "other"

    def rewire(m: Any) -> None:
        m.subgraphs[0].operators[-1].inputs = m.subgraphs[0].operators[-1].inputs[::-1].copy()

    def weights(m: Any) -> None:
        m.buffers[m.subgraphs[0].tensors[6].buffer].data = b"\3\2\1"

    def forget(m: Any) -> None:
        m.metadata = []

    def twice(m: Any) -> None:
        m.metadata.append(m.metadata[-1])

    for change, part in (
        (swap, "subgraphs"),
        (rename, "subgraphs"),
        (rewire, "subgraphs"),
        (weights, "buffer"),
        (forget, "plan"),
        (twice, "plan"),
    ):
        with pytest.raises(MemoptError, match=f"the written file differs in its {part}|{part}"):
            check(seeded(change), order, plan)
    with pytest.raises(MemoptError, match="differs in its plan"):
        check(good[:start] + bytes(stop - start) + good[stop:], order, plan)
    # Eight bytes more in front of everything: nothing else changes, but no buffer is aligned.
    root = int.from_bytes(good[:4], "little") + 8
    shifted = root.to_bytes(4, "little") + good[4:8] + bytes(8) + good[8:]
    with pytest.raises(MemoptError, match="differs in the alignment of buffer"):
        check(shifted, order, plan)
