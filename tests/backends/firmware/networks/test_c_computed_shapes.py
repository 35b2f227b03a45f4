"""A reshape to a shape that operators compute, as exporters write it for an open batch, as C."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import FLOAT32, INT32, Forge, flatbuffer_utils, schema
from xdsl.context import Context

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.frontends.tflite.known_shapes import with_known_shapes
from memopt.passes.memgraph_rewrite import MemgraphRewritePass


def chain(lab: Any, path: Path) -> Path:
    """y = fully_connected(reshape(a, pack(shape(a)[0], 24))) of a = x + x."""
    schema, forge = lab.forge.schema, lab.forge.Forge(np.random.default_rng(7), True)
    codes, kinds, int32 = schema.BuiltinOperator, schema.BuiltinOptions, schema.TensorType.INT32
    x = forge.input([1, 3, 4, 2])
    a, flat, y = (forge.activation(s) for s in ([1, 3, 4, 2], [1, 24], [1, 5]))
    forge.graph.tensors[flat].quantization = forge.graph.tensors[a].quantization
    shape, batch, packed = (forge.tensor(s, int32) for s in ([4], [], [2]))
    begin, end, one = (forge.tensor([1], int32, [v]) for v in (0, 1, 1))
    columns = forge.tensor([], int32, 24)
    cut, pack = schema.StridedSliceOptionsT(), schema.PackOptionsT()
    cut.shrinkAxisMask, pack.valuesCount = 1, 2
    forge.operator(codes.ADD, [x, x], a, schema.AddOptionsT(), kinds.AddOptions)
    forge.operator(codes.SHAPE, [a], shape, schema.ShapeOptionsT(), kinds.ShapeOptions)
    operands = [shape, begin, end, one]
    forge.operator(codes.STRIDED_SLICE, operands, batch, cut, kinds.StridedSliceOptions)
    forge.operator(codes.PACK, [batch, columns], packed, pack, kinds.PackOptions)
    reshape = schema.ReshapeOptionsT()
    forge.operator(codes.RESHAPE, [a, packed], flat, reshape, kinds.ReshapeOptions)
    operands = [flat, forge.weights([5, 24], 5, 0, per_axis=False), -1]
    options = schema.FullyConnectedOptionsT()
    forge.operator(codes.FULLY_CONNECTED, operands, y, options, kinds.FullyConnectedOptions)
    forge.graph.outputs = [y]
    return forge.save(path)


def test_nothing_computes_a_shape_that_is_known(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    path = chain(lab, tmp_path / "chain.tflite")
    module = lab.read_model(path)
    with pytest.raises(MemoptError, match="SHAPE"):
        lab.write(lab.plan(module.clone()), tmp_path / "refused", "net", "host")
    MemgraphRewritePass(("computed-shapes",)).apply(Context(), module)
    inputs = lab.random_inputs(module, 20, 5)
    written = lab.write(lab.plan(module), tmp_path / "c", "net", "host")
    run = lab.run_project(written, inputs, lab.SANITIZE, trace=False)
    y = lab.forge.flatbuffer_utils.read_model(str(path)).subgraphs[0].outputs[0]
    want = lab.golden("tflm", path, inputs, [int(y)], tmp_path / "golden")
    assert run.code == 0, run.messages
    assert run.output == want[int(y)].tobytes()


def open_batch(path: Path) -> Path:
    """A transposed convolution, and what is filled, to sizes that are computed: y + 0.5."""
    forge = Forge(np.random.default_rng(3), False)
    codes, kinds = schema.BuiltinOperator, schema.BuiltinOptions
    x, shape = forge.input([1, 3, 4, 2]), forge.tensor([4], INT32)
    read: Any = schema.ShapeOptionsT()
    read.outType = INT32
    forge.operator(codes.SHAPE, [x], shape, read, kinds.ShapeOptions)
    sizes = list[int]()
    for k in range(3):
        ends = [forge.tensor([1], INT32, [v]) for v in (k, k + 1, 1)]
        sizes.append(forge.tensor([], INT32))
        cut: Any = schema.StridedSliceOptionsT()
        cut.shrinkAxisMask = 1
        operands, slices = [shape, *ends], kinds.StridedSliceOptions
        forge.operator(codes.STRIDED_SLICE, operands, sizes[-1], cut, slices)
    for k in (1, 2):
        operands = [sizes[k], forge.tensor([], INT32, 2)]
        sizes[k] = forge.tensor([], INT32)
        forge.operator(codes.MUL, operands, sizes[k], schema.MulOptionsT(), kinds.MulOptions)
    pack, packed = schema.PackOptionsT(), forge.tensor([4], INT32)
    pack.valuesCount = 4
    operands = [*sizes, forge.tensor([], INT32, 5)]
    forge.operator(codes.PACK, operands, packed, pack, kinds.PackOptions)
    y, filled, total = (forge.activation([1, 6, 8, 5]) for _ in range(3))
    options: Any = schema.TransposeConvOptionsT()
    options.strideH = options.strideW = 2
    operands = [packed, forge.weights([5, 3, 3, 2], 5, 0, per_axis=False), x]
    forge.operator(codes.TRANSPOSE_CONV, operands, y, options, kinds.TransposeConvOptions)
    operands = [packed, forge.tensor([], FLOAT32, 0.5)]
    forge.operator(codes.FILL, operands, filled, schema.FillOptionsT(), kinds.FillOptions)
    forge.operator(codes.ADD, [y, filled], total, schema.AddOptionsT(), kinds.AddOptions)
    forge.graph.outputs = [total]
    return forge.save(path)


def test_operators_of_computed_sizes_are_typed(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    path = open_batch(tmp_path / "m.tflite")
    module = lab.read_model(path)
    with pytest.raises(MemoptError, match="SHAPE"):
        lab.write(lab.plan(module.clone()), tmp_path / "refused", "net", "host")
    known = with_known_shapes(module)
    names = [op.name for op in only_function(known).body.block.ops]
    assert [n for n in names if n != "memgraph.constant"] == [
        *("memgraph.transpose_conv_2d", "memgraph.strided", "memgraph.add", "func.return")
    ]
    inputs = lab.random_inputs(known, 2, 5)
    run = lab.run_project(lab.write(lab.plan(known), tmp_path / "c", "net", "host"), inputs)
    assert run.code == 0, run.messages
    y = int(flatbuffer_utils.read_model(str(path)).subgraphs[0].outputs[0])
    want = lab.golden("litert_ref", path, inputs, [y], tmp_path / "golden")[y]
    got = np.frombuffer(run.output, np.float32).reshape(want.shape)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()
    assert with_known_shapes(known) is known


def counted(path: Path, last: int) -> Path:
    """x broadcast to the shape of two, plus the numbers of a range up to `last`."""
    forge = Forge(np.random.default_rng(3), False)
    codes, kinds = schema.BuiltinOperator, schema.BuiltinOptions
    x, shape = forge.input([1, 4]), forge.tensor([2], INT32)
    pair = [forge.tensor([2], INT32, [3, 1]), forge.tensor([1], INT32, [4])]
    forge.operator(codes.BROADCAST_ARGS, pair, shape, None, 0)
    wide, numbers = forge.activation([3, 4]), forge.tensor([4], INT32)
    broadcast = schema.BroadcastToOptionsT()
    forge.operator(codes.BROADCAST_TO, [x, shape], wide, broadcast, kinds.BroadcastToOptions)
    ends = [forge.tensor([], INT32, np.array(v)) for v in (1, last, 2)]
    forge.operator(codes.RANGE, ends, numbers, schema.RangeOptionsT(), kinds.RangeOptions)
    reals, total = forge.activation([4]), forge.activation([3, 4])
    cast: Any = schema.CastOptionsT()
    cast.inDataType, cast.outDataType = INT32, FLOAT32
    forge.operator(codes.CAST, [numbers], reals, cast, kinds.CastOptions)
    forge.operator(codes.ADD, [wide, reals], total, schema.AddOptionsT(), kinds.AddOptions)
    forge.graph.outputs = [total]
    return forge.save(path)


def test_ranges_and_shapes_to_which_two_broadcast(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    path = counted(tmp_path / "m.tflite", last=8)
    known = with_known_shapes(lab.read_model(path))
    inputs = lab.random_inputs(known, 2, 5)
    run = lab.run_project(lab.write(lab.plan(known), tmp_path / "c", "net", "host"), inputs)
    assert run.code == 0, run.messages
    total = int(flatbuffer_utils.read_model(str(path)).subgraphs[0].outputs[0])
    want = lab.golden("litert_ref", path, inputs, [total], tmp_path / "golden")[total]
    assert run.output == want.tobytes()


@pytest.mark.parametrize("last", [12, 2**31 - 1])
def test_a_range_of_another_length_stays(last: int, tmp_path: Path, lab: Any) -> None:
    known = with_known_shapes(lab.read_model(counted(tmp_path / "m.tflite", last)))
    assert any("RANGE" in str(op) for op in only_function(known).body.block.ops)
