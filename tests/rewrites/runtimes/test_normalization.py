# pyright: basic
# (arrays of any element type: strict has nothing to say about them)
"""Batch normalization, products and sums with constants, folded: close to what onnxruntime
computes, and no further from the real numbers than the rule says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from normalized import FAMILIES, Model
from onnx import TensorProto, helper, numpy_helper
from qdq_pairs import results
from xdsl.dialects.builtin import StringAttr

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.names import name_of
from memopt.rewrites import apply_rules

FULL = 500  # models of each family
RULES = ("constants-into-weights", "normalization-as-product", "relu-into-producer")
UNIT = 2.0**-24  # what rounding to float32 is off by, relative


def kinds(module: Any) -> set[str]:
    return {op.name.removeprefix("memgraph.") for op in module.walk()}


def result(module: Any, *inputs: Any) -> Any:
    func = only_function(module)
    last = func.get_return_op()
    assert last is not None
    return evaluate(func, Weights.of(module), list(inputs))[last.operands[0]]


def loaded(model: Model, path: Path) -> Any:
    path.write_bytes(model.data())
    module = load_model(path, {})
    module.verify()
    return module


@pytest.mark.parametrize("family", FAMILIES)
def test_folded_models_are_close_to_onnxruntime(family: str, tmp_path: Path, fuzz: float) -> None:
    make, all_of_it = FAMILIES[family]
    for seed in range(max(12, int(FULL * fuzz))):
        model = Model(seed)
        make(model)
        module = loaded(model, tmp_path / "m.onnx")
        assert "opaque" not in kinds(module), seed
        x = model.rng.normal(size=model.shape).astype(np.float32)
        want = results(model.data(), {"x": x}, fused=False)
        close(result(module, x), want, seed)
        assert apply_rules(module, RULES), seed
        module.verify()
        assert "batch_normalization" not in kinds(module), seed
        assert all_of_it == (not kinds(module) & {"mul", "add", "div"}), (seed, kinds(module))
        close(result(module, x), want, seed)
        apply_rules(module, ("channels-last",))
        module.verify()
        close(result(module, x), want, seed)


def close(got: Any, want: Any, seed: int) -> None:
    assert got.shape == want.shape
    assert abs(got - want).max() <= 1e-5 * abs(want).max(), seed


def test_constants_are_off_by_no_more_than_the_rule_says(tmp_path: Path, fuzz: float) -> None:
    """A matrix and constants behind it, of any size, against float64."""
    most = 0.0
    for seed in range(max(12, int(FULL * fuzz))):
        model = Model(seed, (3, 1 + seed % 7))
        model.multiply()
        for _ in range(model.whole(1, 5)):
            model.with_constant(one=False)
        module = loaded(model, tmp_path / "m.onnx")
        x = model.rng.normal(size=model.shape).astype(np.float32)
        exact, bound = in_float64(model, x)
        apply_rules(module, RULES)
        assert not kinds(module) & {"mul", "add", "div"}
        off = abs(result(module, x).astype(np.float64) - exact)
        assert (off <= bound).all(), seed
        most = max(most, float((off / bound).max()))
    assert most > 0.1, "the bound says nothing"


def in_float64(model: Model, x: Any) -> tuple[Any, Any]:
    """The result, and what it may be off by: the rule's bound, and that of the last rounding."""

    given = {c.name: numpy_helper.to_array(c).astype(np.float64) for c in model.constants}
    first, *steps = model.nodes
    weights = given[first.input[1]]
    weights = weights.T if any(a.name == "transB" and a.i for a in first.attribute) else weights
    bias = given[first.input[2]] if len(first.input) > 2 else np.zeros(weights.shape[1])
    values, wide = x @ weights + bias, abs(x).astype(np.float64) @ abs(weights)
    off = np.zeros_like(values)
    for node in steps:
        (number,) = (given[name] for name in node.input if name in given)
        if node.op_type == "Div":
            values, bias, wide, off = (
                values / number,
                bias / number,
                wide / abs(number),
                off / abs(number),
            )
        elif node.op_type == "Mul":
            values, bias, wide, off = (
                values * number,
                bias * number,
                wide * abs(number),
                off * abs(number),
            )
        else:
            values, bias = values + number, bias + number
        off = off + UNIT * (wide + abs(bias))
    return values, off * (1 + 1e-6) + UNIT * (abs(values) + off) + 1e-30


def test_a_convolution_keeps_its_name_and_makes_the_tensor_behind(tmp_path: Path) -> None:
    model = Model(0)
    model.convolve()
    model.normalize()
    for node in model.nodes:
        node.name = f"the {node.op_type}"
    module = loaded(model, tmp_path / "m.onnx")
    apply_rules(module, RULES)
    (op,) = (op for op in module.walk() if "conv_2d" in op.name)
    assert op.attributes["memgraph.operator"] == StringAttr("the Conv")
    assert name_of(op.results[0]) == model.last


# -- what stays an operator of the file, or is refused ---------------------------------------------


def normalized(tmp_path: Path, outputs: int = 1, given: int = 0, **attributes: Any) -> Any:
    """A model of one normalization, of which `given` statistics are inputs."""
    import onnx

    names = ["s", "b", "m", "v"]
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3, 4, 4))]
    infos += [helper.make_tensor_value_info(n, TensorProto.FLOAT, (3,)) for n in names[:given]]
    constants = [helper.make_tensor(n, TensorProto.FLOAT, (3,), [1, 2, 3]) for n in names[given:]]
    results = ["y", "rm", "rv"][:outputs]
    node = helper.make_node("BatchNormalization", ["x", *names], results, **attributes)
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in results]
    graph = helper.make_graph([node], "g", infos, ends, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "bn.onnx"
    path.write_bytes(onnx.shape_inference.infer_shapes(model).SerializeToString())
    return load_model(path, {})


def test_training_is_made_of_others(tmp_path: Path) -> None:
    found = kinds(normalized(tmp_path, outputs=3, training_mode=1))
    assert "mean" in found and not found & {"opaque", "batch_normalization"}
    assert "batch_normalization" in kinds(normalized(tmp_path))


@pytest.mark.parametrize("given", [1, 2, 3, 4])
def test_statistics_that_only_the_run_time_knows(given: int, tmp_path: Path) -> None:
    found = kinds(normalized(tmp_path, given=given))
    assert "sub" in found and not found & {"opaque", "batch_normalization"}
