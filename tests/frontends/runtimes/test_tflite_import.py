"""What the .tflite frontend makes of files: small ones made here, then every real model."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from counting import calls_of
from tflite_builder import Extra, Graph, Op, T, build
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from memopt.analysis.function_memory import memory_of
from memopt.analysis.weights import Weights, files_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.structure import ConstantOp, OpaqueOp
from memopt.dialects.memgraph.variables import VariableOp
from memopt.formats import tflite_control
from memopt.frontends.core.constants import inline
from memopt.frontends.tflite.read import read


def main(module: ModuleOp) -> FuncOp:
    return next(functions(module))


def operations(module: ModuleOp) -> list[Operation]:
    return [op for op in main(module).body.block.ops if op.name.startswith("memgraph.")]


def one(data: bytes) -> Operation:
    """The only operator of a model."""
    module = read(data)
    module.verify()
    (op,) = [o for o in operations(module) if not isinstance(o, ConstantOp | VariableOp)]
    return op


RNG = np.random.default_rng(0)
INT8 = (0.5,)


def convolution(padding: int, stride: int, size: int = 8, kernel: int = 3, dilation: int = 1):
    span = dilation * (kernel - 1) + 1
    out = -(-size // stride) if padding == 0 else (size - span) // stride + 1
    weights = RNG.integers(-9, 9, (4, kernel, kernel, 2)).astype(np.int8)
    options = {
        "padding": padding,
        "strideH": stride,
        "strideW": stride,
        "dilationHFactor": dilation,
        "dilationWFactor": dilation,
        "fusedActivationFunction": 3,
    }
    tensors = [
        T("x", [1, size, size, 2], scale=INT8, zero=[-3]),
        T("w", weights.shape, data=weights, scale=(0.1, 0.2, 0.3, 0.4)),
        T("b", [4], "INT32", np.arange(4, dtype=np.int32), scale=(0.05, 0.1, 0.15, 0.2)),
        T("y", [1, out, out, 4], scale=(0.25,), zero=[5]),
    ]
    return build(Graph(tensors, [Op("CONV_2D", [0, 1, 2], [3], ("Conv2D", options))], [0], [3]))


@pytest.mark.parametrize(
    ("padding", "stride", "size", "kernel", "dilation", "pad"),
    [
        (1, 1, 8, 3, 1, (0, 0, 0, 0)),
        (0, 1, 8, 3, 1, (1, 1, 1, 1)),
        (0, 2, 8, 3, 1, (0, 0, 1, 1)),
        (0, 2, 7, 3, 1, (1, 1, 1, 1)),
        (0, 1, 8, 3, 2, (2, 2, 2, 2)),
        (0, 3, 8, 2, 1, (0, 0, 0, 0)),
        (0, 1, 8, 4, 1, (1, 1, 2, 2)),
    ],
)
def test_windows_are_explicit(
    padding: int, stride: int, size: int, kernel: int, dilation: int, pad: tuple[int, ...]
) -> None:
    op = one(convolution(padding, stride, size, kernel, dilation))
    text = str(op)
    assert op.name == "memgraph.conv_2d"
    assert "activation<relu6>" in text and "rounding<tflm_double>" in text
    assert (f"pad = {list(pad)}" in text) == any(pad)
    assert "#memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [5]>" in text
    per_axis = "#memgraph.encoding<ohwi, scale = [1.0e-01, 2.0e-01, 3.0e-01, 4.0e-01], "
    assert per_axis + "zero_point = [0], axis = 0>" in text


def test_hybrid_arithmetic_is_typed() -> None:
    """Float activations on int8 weights are quantised at run time; of one kind of arithmetic only
    one operand of which stays opaque."""
    weights = np.ones((3, 8), np.int8)
    tensors = [
        T("x", [1, 8], "FLOAT32"),
        T("w", [3, 8], data=weights, scale=(0.1,)),
        T("y", [1, 3], "FLOAT32"),
    ]
    options = ("FullyConnected", {"asymmetricQuantizeInputs": True})
    model = [Op("FULLY_CONNECTED", [0, 1, -1], [2], options)]
    op = one(build(Graph(tensors, model, [0], [2])))
    assert op.name == "memgraph.hybrid_fully_connected" and "asymmetric" in str(op)
    tensors[1] = T("w", [3, 8], "UINT8", weights.astype(np.uint8), scale=(0.1,))
    op = one(build(Graph(tensors, [Op("FULLY_CONNECTED", [0, 1, -1], [2])], [0], [2])))
    assert isinstance(op, OpaqueOp) and op.op_name.data == "FULLY_CONNECTED"
    assert op.options is not None and str(op.options.data["absent"]) == "[2 : i64]"


@pytest.mark.parametrize(
    ("name", "expected", "stateful"),
    [
        (251, "BUILTIN_251", True),
        ("CUSTOM:ethos-u", "CUSTOM:ethos-u", True),
        ("CUSTOM:", "CUSTOM:", True),
        ("CUSTOM:é", "CUSTOM:\\xe9", True),
        ("HASHTABLE_FIND", "HASHTABLE_FIND", True),
        ("SVDF", "SVDF", False),
        ("LOG", "LOG", False),
    ],
)
def test_what_has_no_typed_operation_is_opaque(
    name: str | int, expected: str, stateful: bool
) -> None:
    op = one(build(Graph([T("x", [4]), T("y", [4])], [Op(name, [0], [1])], [0], [1])))
    assert isinstance(op, OpaqueOp) and op.op_name.data == expected
    assert (op.stateful is not None) == stateful


def test_reductions_and_movement_take_their_constants_into_attributes() -> None:
    axes = np.array([-2, 1], np.int32)
    tensors = [
        T("x", [2, 3, 4, 5], "FLOAT32"),
        T("axes", [2], "INT32", axes),
        T("m", [2, 5], "FLOAT32"),
        T("pads", [2, 2], "INT32", np.array([[1, 0], [0, 2]], np.int32)),
        T("p", [3, 7], "FLOAT32"),
        T("order", [2], "INT32", np.array([1, 0], np.int32)),
        T("t", [7, 3], "FLOAT32"),
        T("begin", [2], "INT32", np.array([-2, 1], np.int32)),
        T("end", [2], "INT32", np.array([7, 3], np.int32)),
        T("step", [2], "INT32", np.array([1, 2], np.int32)),
        T("s", [2, 1], "FLOAT32"),
    ]
    ops = [
        Op("MEAN", [0, 1], [2], ("Reducer", {"keepDims": False})),
        Op("PAD", [2, 3], [4]),
        Op("TRANSPOSE", [4, 5], [6]),
        Op("STRIDED_SLICE", [6, 7, 8, 9], [10], ("StridedSlice", {})),
    ]
    module = read(build(Graph(tensors, ops, [0], [10])))
    module.verify()
    found = operations(module)
    assert [op.name[9:] for op in found] == ["mean", "pad", "transpose", "slice"], "no constants"
    texts = list(map(str, found))
    for text, part in zip(texts, ("2, 1", "1, 0", "1, 0", "5, 1"), strict=True):
        assert part in text


def test_an_operator_that_does_more_than_the_typed_one_is_opaque() -> None:
    tensors = [
        T("x", [4, 5], "FLOAT32"),
        T("begin", [2], "INT32", np.zeros(2, np.int32)),
        T("end", [2], "INT32", np.array([1, 5], np.int32)),
        T("step", [2], "INT32", np.ones(2, np.int32)),
        T("y", [5], "FLOAT32"),
    ]
    options = {"shrinkAxisMask": 1, "offset": True}
    op = Op("STRIDED_SLICE", [0, 1, 2, 3], [4], ("StridedSlice", options))
    module = read(build(Graph(tensors, [op], [0], [4])))
    assert "options {beginMask = 0 : i64" in str(module)
    assert [o.name for o in operations(module)] == ["memgraph.constant"] * 3 + ["memgraph.opaque"]


def test_variables_hold_the_order_of_those_that_use_them() -> None:
    tensors = [T("x", [1, 4]), T("state", [1, 4], variable=True), T("y", [1, 4]), T("z", [1, 4])]
    ops = [Op("SVDF", [0, 0, 0, 1], [2]), Op("SVDF", [0, 0, 0, 1], [3])]
    module = read(build(Graph(tensors, ops, [0], [2, 3])))
    variable, first, second = operations(module)
    assert isinstance(variable, VariableOp) and variable.sym.data == "state"
    effects = [memory_of(op, model_of(main(module))).effects for op in (first, second)]
    assert effects[0] == effects[1] != ()


def test_control_dependencies_become_state() -> None:
    edges = tflite_control.serialize([((0, 2),)])
    tensors = [T(n, [4], "FLOAT32") for n in "xabc"]
    ops = [Op("RELU", [0], [1]), Op("RELU", [0], [2]), Op("RELU", [0], [3])]
    data = build(
        Graph(tensors, ops, [0], [1, 2, 3]), extra=Extra(metadata={tflite_control.KEY: edges})
    )
    kinds = [(op.name, isinstance(op, OpaqueOp)) for op in operations(read(data))]
    assert kinds == [
        ("memgraph.opaque", True),
        ("memgraph.relu", False),
        ("memgraph.opaque", True),
    ]


@pytest.mark.parametrize(
    "edges", [(), (((0, 1),),), (((5, -1), (1 << 20, -(1 << 31))), (), ((0, 0),))]
)
def test_control_dependencies_round_trip(edges: tuple[tuple[tuple[int, int], ...], ...]) -> None:
    data = tflite_control.serialize(edges)
    assert tflite_control.parse(data) == edges
    for cut in range(len(data)):
        with pytest.raises(ValueError, match=r"control dependencies|version"):
            tflite_control.parse(data[:cut])


def test_subgraphs_become_functions() -> None:
    a = Graph([T("x", [4]), T("y", [4])], [Op("RELU", [0], [1])], [0], [1])
    module = read(build(a, a, a))
    assert [f.sym_name.data for f in functions(module)] == ["main", "subgraph_1", "subgraph_2"]
    module.verify()


def test_names_and_sources_lead_back_to_the_file() -> None:
    tensors = [T("x", [4]), T('odd "name"\n', [4]), T("", [4])]
    ops = [Op("RELU", [0], [1]), Op("LOG", [1], [2])]
    module = read(build(Graph(tensors, ops, [0], [2])))
    text = str(module)
    assert '{memgraph.name = "x"}' in text
    assert name_of(operations(module)[0].results[0]) == 'odd "name"\n'
    assert '"tensor_2"' in text and "memgraph.source = #memgraph.source<0, 1, [2]>" in text


def test_a_path_that_is_not_ascii_survives_as_text() -> None:
    from memopt.compile.driver import load_text, new_context
    from memopt.text.ir_text import module_text

    data = build(Graph([T("x", [4]), T("y", [4])], [Op("RELU", [0], [1])], [0], [1]))
    again = load_text(new_context(), module_text(read(data, "modèle.tflite")), "x.mlir")
    assert list(files_of(again).values()) == ["modèle.tflite"]


def test_a_constant_of_ten_rows_is_inline() -> None:
    """`10x1` in its type is no bit pattern."""
    type_ = TensorType(f32, [10, 1])
    assert inline(type_, np.ones(10, np.float32).tobytes()) is not None
    assert inline(type_, np.full(10, np.inf, np.float32).tobytes()) is None


def test_small_constants_are_inline_and_large_ones_by_reference(tmp_path: Path) -> None:
    small, large = np.arange(16, dtype=np.float32), np.arange(17, dtype=np.float32)
    odd = np.array([np.inf, -0.0, np.nan, 1], np.float32)
    tensors = [
        T("x", [1], "FLOAT32"),
        T("small", [16], "FLOAT32", small),
        T("large", [17], "FLOAT32", large),
        T("odd", [4], "FLOAT32", odd),
        T("y", [1], "FLOAT32"),
    ]
    data = build(Graph(tensors, [Op("CUSTOM:f", [0, 1, 2, 3], [4])], [0], [4]))
    path = tmp_path / "net.tflite"
    path.write_bytes(data)
    module = read(data, "net.tflite")
    found = [op for op in operations(module) if isinstance(op, ConstantOp)]
    assert ["#memgraph.weights" in str(op) for op in found] == [False, True, True]
    weights = Weights.of(module, tmp_path)
    for op, array in zip(found, (small, large, odd), strict=True):
        assert weights.array(op).tobytes() == array.tobytes()

    (sha256,) = files_of(module)
    with pytest.raises(MemoptError, match="no such file; say where it is with --model-path"):
        Weights.of(module, tmp_path / "elsewhere").array(found[1])
    elsewhere = Weights.of(module, tmp_path / "elsewhere", model_path=path)
    assert elsewhere.array(found[1]).tobytes() == large.tobytes()
    path.write_bytes(data[:-1] + b"!")
    with pytest.raises(MemoptError, match=f"not the model that was imported.*{sha256}"):
        Weights.of(module, tmp_path).array(found[1])


@pytest.mark.parametrize(("type_", "low", "high"), [("INT4", -8, 8), ("UINT4", 0, 16)])
def test_four_bit_weights_are_unpacked(type_: str, low: int, high: int, tmp_path: Path) -> None:
    values = np.arange(201) % (high - low) + low
    nibbles = np.append(values & 15, 0).astype(np.uint8)
    packed = nibbles[0::2] | nibbles[1::2] << 4
    tensors = [T("x", [1]), T("w", [3, 67], type_, packed), T("y", [1])]
    data = build(Graph(tensors, [Op("CUSTOM:f", [0, 1], [2])], [0], [2]))
    (tmp_path / "net.tflite").write_bytes(data)
    module = read(data, "net.tflite")
    (op,) = [o for o in operations(module) if isinstance(o, ConstantOp)]
    assert np.array_equal(Weights.of(module, tmp_path).array(op).reshape(-1), values)


def test_memory_that_an_operator_works_in_has_a_value() -> None:
    tensors = [T("x", [4]), T("scratch", [64], "UINT8"), T("y", [4])]
    module = read(build(Graph(tensors, [Op("CUSTOM:ethos-u", [0, 1], [2])], [0], [2])))
    memory, op = operations(module)
    assert isinstance(memory, OpaqueOp) and memory.op_name.data == "UNINITIALIZED"
    assert op.operands[1] is memory.results[0]


# -- real models --------------------------------------------------------------------------------

TYPED = {  # operators of the real models that have to stay opaque, all others are typed
    "person_detect_vela_plan": {"CUSTOM:ethos-u": 1, "UNINITIALIZED": 2},
}


def test_every_real_model_imports_typed_verified_and_lean(shared: Path) -> None:
    operators, work = 0, 0
    paths = sorted((shared / "models").glob("*.tflite"))
    assert len(paths) >= 19
    for path in paths:
        data = path.read_bytes()
        module, calls = calls_of(lambda data=data, path=path: read(data, str(path)))
        work += calls
        module.verify()
        found = operations(module)
        operators += sum(not isinstance(op, ConstantOp | VariableOp) for op in found)
        opaque = Counter(op.op_name.data for op in found if isinstance(op, OpaqueOp))
        assert opaque == TYPED.get(path.stem, {}), path.stem
    assert operators > 600
    # about a second per 1,000 operators; what Python loads on first use is in it
    assert work < 100_000 + 2_000 * operators, f"{operators} operators, {work} calls"


@pytest.mark.deep
def test_every_real_model_reads_back_from_text_to_the_same_bytes(shared: Path) -> None:
    from memopt.compile.driver import load_text, new_context
    from memopt.text.ir_text import module_text

    for path in sorted((shared / "models").glob("*.tflite")):
        text = module_text(read(path.read_bytes(), str(path)))
        again = load_text(new_context(), text, "again.mlir")
        again.verify()
        assert module_text(again) == text, path.stem


def test_real_weights_are_the_bytes_of_the_file(shared: Path) -> None:
    from tflite_builder import objects

    path = shared / "models" / "resnet8_int8.tflite"
    data = path.read_bytes()
    module = read(data, str(path))
    weights = Weights.of(module)
    by_name = {t.name.decode(): t for t in objects(data).subgraphs[0].tensors}
    buffers = objects(data).buffers
    count = 0
    for op in operations(module):
        if isinstance(op, ConstantOp):
            name = str(op.attributes["memgraph.names"])[2:-2]
            assert weights.array(op).tobytes() == bytes(buffers[by_name[name].buffer].data)
            count += 1
    assert count == 20
