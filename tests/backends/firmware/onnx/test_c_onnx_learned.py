# pyright: basic, reportArgumentType=false
"""Tests of models of scikit-learn's exporters (`ai.onnx.ml`) as C: onnxruntime's numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_programs import compare, saved

from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function

pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(11)
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
INTS, FLOATS, TEXTS = TensorProto.INT64, TensorProto.FLOAT, TensorProto.STRING


def node(kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    return helper.make_node(kind, inputs, outputs, domain="ai.onnx.ml", **attributes)


def forest(prefix: str, depth: int, targets: list[int], modes: Any = MODES[:1]) -> dict[str, Any]:
    """Return three trees, of which a deep one has a leaf in the middle, their nodes in any
    order."""
    attributes: dict[str, list[Any]] = {}

    def add(key: str, value: Any) -> None:
        attributes.setdefault(key, []).append(value)

    places = [
        n for n in range(1, 2 ** (depth + 1)) if depth < 4 or n not in (10, 11, *range(20, 24))
    ]
    for tree in range(3):
        order = [1, *RNG.permutation(places[1:])]
        at = {int(n): k for k, n in enumerate(order)}
        for n in order:
            leaf = 2 * n not in at
            add("nodes_treeids", tree)
            add("nodes_nodeids", at[n])
            add("nodes_featureids", 0 if leaf else int(RNG.integers(4)))
            add("nodes_values", 0.0 if leaf else float(np.float32(RNG.normal())))
            add("nodes_modes", "LEAF" if leaf else modes[int(RNG.integers(len(modes)))])
            add("nodes_truenodeids", 0 if leaf else at[2 * n])
            add("nodes_falsenodeids", 0 if leaf else at[2 * n + 1])
            add("nodes_missing_value_tracks_true", 0 if leaf else int(n) % 2)
            for target in targets if leaf else []:
                add(f"{prefix}_treeids", tree)
                add(f"{prefix}_nodeids", at[n])
                add(f"{prefix}_ids", target)
                add(f"{prefix}_weights", float(RNG.normal()))
    return attributes


def rows() -> Any:
    x = RNG.normal(size=(6, 4)).astype("f4")
    x[1, 2] = np.nan
    return x


def run(lab: Any, path: Path, nodes: list[Any], declared: Any, x: Any = None) -> None:
    lab.need_tools("host")
    given = {"x": rows() if x is None else x}
    compare(lab, saved(path, nodes, given, {}, declared=declared), given)


@pytest.mark.parametrize("how", ["SUM", "AVERAGE"])
def test_trees_that_say_numbers(how: str, tmp_path: Path, lab: Any) -> None:
    """Check trees of every rule, with inputs that are no number, and two targets."""
    more = {"n_targets": 2, "aggregate_function": how, "base_values": [0.5, -1.0]}
    ensemble = node(
        "TreeEnsembleRegressor", ["x"], ["y"], **forest("target", 4, [1, 0], MODES[:4]), **more
    )
    run(lab, tmp_path / "m.onnx", [ensemble], {"y": (FLOATS, (6, 2))})


@pytest.mark.parametrize("how", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_trees_that_say_classes(how: str, tmp_path: Path, lab: Any) -> None:
    attributes = {**forest("class", 2, [0, 1, 2]), "classlabels_int64s": [4, -7, 9]}
    ensemble = node("TreeEnsembleClassifier", ["x"], ["l", "p"], **attributes, post_transform=how)
    run(lab, tmp_path / "m.onnx", [ensemble], {"l": (INTS, (6,)), "p": (FLOATS, (6, 3))})


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("how", ["NONE", "LOGISTIC"])
def test_trees_of_which_one_class_has_weights(
    how: str, positive: bool, tmp_path: Path, lab: Any
) -> None:
    """Check trees as gradient boosting writes them; labels are 0 and 1."""
    if positive and how == "LOGISTIC":
        pytest.skip("no exporter writes it")
    attributes = forest("class", 2, [0])
    if positive:
        weights = np.abs(attributes["class_weights"]) / 4
        attributes["class_weights"] = [float(v) for v in weights]
    ensemble = node(
        "TreeEnsembleClassifier",
        ["x"],
        ["l", "p"],
        **attributes,
        classlabels_int64s=[0, 1],
        post_transform=how,
    )
    run(lab, tmp_path / "m.onnx", [ensemble], {"l": (INTS, (6,)), "p": (FLOATS, (6, 2))})


def test_a_pipeline(tmp_path: Path, lab: Any) -> None:
    """Check missing numbers, a scaler, a linear model, and its numbers in proportion."""
    weights = [float(v) for v in RNG.normal(size=12)]
    nodes = [
        node(
            "Imputer",
            ["x"],
            ["a"],
            imputed_value_floats=[1.0, 2.0, 3.0, 4.0],
            replaced_value_float=float("nan"),
        ),
        node("Scaler", ["a"], ["b"], offset=[0.5] * 4, scale=[2.0, 1.0, 0.5, 3.0]),
        node(
            "LinearClassifier",
            ["b"],
            ["l", "p"],
            coefficients=weights,
            intercepts=[0.1, 0.2, 0.3],
            classlabels_ints=[0, 1, 2],
            post_transform="LOGISTIC",
        ),
        node("Normalizer", ["p"], ["q"], norm="L1"),
        node("Normalizer", ["b"], ["n"], norm="MAX"),
        node("Binarizer", ["b"], ["c"], threshold=0.25),
    ]
    declared = {"l": (INTS, (6,)), "q": (FLOATS, (6, 3))}
    declared |= dict.fromkeys("nc", (FLOATS, (6, 4)))
    run(lab, tmp_path / "m.onnx", nodes, declared)


@pytest.mark.parametrize("kind", ["RBF", "LINEAR", "POLY", "SIGMOID"])
def test_support_vectors(kind: str, tmp_path: Path, lab: Any) -> None:
    regressor = node(
        "SVMRegressor",
        ["x"],
        ["y"],
        kernel_type=kind,
        kernel_params=[0.25, 0.5, 3.0],
        n_supports=5,
        coefficients=[float(v) for v in RNG.normal(size=5)],
        support_vectors=[float(v) for v in RNG.normal(size=20)],
        rho=[0.25],
    )
    x = RNG.normal(size=(6, 4)).astype("f4")
    run(lab, tmp_path / "m.onnx", [regressor], {"y": (FLOATS, (6, 1))}, x)


def test_maps_and_labels_that_are_texts(tmp_path: Path) -> None:
    """Check that a map of probabilities is a tensor, and a label its number, which the function
    lists."""
    weights = {"coefficients": [1.0] * 8, "intercepts": [0.0, 1.0], "post_transform": "SOFTMAX"}
    names = {"classlabels_strings": ["cat", "d\u00e9g"]}
    nodes = [
        node("LinearClassifier", ["x"], ["l", "p"], **weights, **names),
        node("ZipMap", ["p"], ["z"], **names),
    ]
    maps = helper.make_map_type_proto(TEXTS, helper.make_tensor_type_proto(FLOATS, []))
    outputs = [
        helper.make_tensor_value_info("l", TEXTS, ["N"]),
        helper.make_value_info("z", helper.make_sequence_type_proto(maps)),
    ]
    x = helper.make_tensor_value_info("x", FLOATS, ["N", 4])
    graph = helper.make_graph(nodes, "g", [x], outputs)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    func = only_function(load_model(path, {}))
    assert [str(t) for t in func.function_type.outputs] == ["tensor<1xi64>", "tensor<1x2xf32>"]
    assert 'memgraph.labels = [["l", "cat", "d\\\\xe9g"]]' in str(func)


def test_categories_as_numbers(tmp_path: Path, lab: Any) -> None:
    """Check that numbers become labels, places of ones, and columns that are chosen."""
    x = RNG.integers(0, 4, (6, 4)).astype("f4")
    labels = node("LabelEncoder", ["x"], ["y"], keys_floats=[0.0, 2.0], values_floats=[5.0, -1.5])
    run(lab, tmp_path / "labels.onnx", [labels], {"y": (FLOATS, (6, 4))}, x)
    ones = node("OneHotEncoder", ["x"], ["y"], cats_int64s=[0, 1, 3])
    run(lab, tmp_path / "ones.onnx", [ones], {"y": (FLOATS, (6, 4, 3))}, x)
    at = helper.make_node("Constant", [], ["at"], value_ints=[2, 0])
    columns = node("ArrayFeatureExtractor", ["x", "at"], ["y"])
    run(lab, tmp_path / "columns.onnx", [at, columns], {"y": (FLOATS, (6, 2))}, x)
