"""A reshape to a shape that operators compute, as exporters write it for an open batch, as C."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context

from memopt.dialects.errors import MemoptError
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
