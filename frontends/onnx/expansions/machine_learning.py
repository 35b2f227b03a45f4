"""Operators of scikit-learn's exporters (`ai.onnx.ml`), of float32, as ONNX's own operators."""

from collections.abc import Sequence
from math import isnan
from typing import Any

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.reductions import over
from memopt.frontends.onnx.loading import ValueType
from memopt.frontends.onnx.scope import FLOAT, INT64, Scope


@expands("ai.onnx.ml.Scaler")
def scaler(s: Scope) -> bool:
    """Less one number, times another, of each column or for all."""
    offset, scale = s.get("offset"), s.get("scale")
    if not s.is_float:
        return False
    if not offset or not scale:
        return s.lacks("no offset or no scale")
    return s.done("Mul", s.add("Sub", s.x, s.const(offset)), s.const(scale))


@expands("ai.onnx.ml.Normalizer")
def normalizer(s: Scope) -> bool:
    """Expand Normalizer: rows divided by their largest number (MAX), the sum of absolute values
    (L1) or the root of that of squares (L2); a row of zeros stays."""
    kind = {"MAX": "ReduceMax", "L1": "ReduceL1", "L2": "ReduceL2"}.get(s.get("norm", "MAX"))
    if not s.is_float:
        return False
    if kind is None:
        return s.lacks(f"norm = {s.get('norm')} (MAX, L1 and L2 have one)")
    size = over(s, kind, s.x, [len(s.shape()) - 1])
    zero = s.add("Equal", size, s.const(0))
    return s.done("Div", s.x, s.add("Where", zero, s.const(1), size))


def product(s: Scope, rows: int) -> str:
    """Return the rows of the operand times so many rows of coefficients, plus intercepts; empty if
    there are other numbers of them."""
    weights, depth = s.get("coefficients", []), s.shape()[-1]
    if len(weights) != rows * depth or len(s.shape()) > 2:
        s.lacks(f"{len(weights)} coefficients for {rows} results of {depth} numbers")
        return ""
    x = s.x if s.is_float else s.add("Cast", s.x, to=FLOAT)
    matrix = s.const([weights[k::depth] for k in range(depth)])
    name = s.add("MatMul", s.add("Reshape", x, s.const([-1, depth], INT64)), matrix)
    bias = s.get("intercepts", [])
    return s.add("Add", name, s.const(bias)) if bias else name


def transformed(s: Scope, name: str, how: str) -> str:
    """Return the sums after `post_transform`; empty for one of which nothing is known here."""
    if how == "SOFTMAX":
        return s.add("Softmax", name, axis=-1)
    if how == "LOGISTIC":
        return s.add("Sigmoid", name)
    if how != "NONE":
        s.lacks(f"post_transform = {how} (NONE, SOFTMAX and LOGISTIC have one)")
    return name if how == "NONE" else ""


def chosen(s: Scope, name: str, labels: Sequence[Any], how: str, at: str = "") -> bool:
    """Return the label of the largest of sums, or that of number `at`, and the transformed sums. A
    label that is a text is its number."""
    if not at:
        scores = transformed(s, name, how)
        if not scores or not labels:
            return False
        at = s.add("ArgMax", name, axis=1, keepdims=0)
        if s.returns(1):
            s.done("Identity", scores, result=1)
    texts = [v if isinstance(v, str) else v.decode() for v in labels if isinstance(v, str | bytes)]
    if texts:
        s.known.labels[s.node.output[0]] = texts
        s.known.graph.types[s.node.output[0]] = ValueType(INT64, s.shape()[:1])
    if texts or list(labels) == list(range(len(labels))):
        return s.done("Cast", at, to=INT64)
    return s.done("Gather", s.const(list(labels), INT64), at, axis=0)


@expands("ai.onnx.ml.LinearRegressor")
def linear_regressor(s: Scope) -> bool:
    """A product with a matrix, a row of it for each target."""
    scores = product(s, s.get("targets", 1))
    scores = scores and transformed(s, scores, s.get("post_transform", "NONE"))
    return bool(scores) and s.done("Identity", scores)


@expands("ai.onnx.ml.LinearClassifier")
def linear_classifier(s: Scope) -> bool:
    """Expand LinearClassifier: a row of the matrix for each class."""
    labels: list[Any] = s.get("classlabels_ints") or s.get("classlabels_strings") or []
    scores = product(s, len(labels))
    return bool(scores) and chosen(s, scores, labels, s.get("post_transform", "NONE"))


@expands("ai.onnx.ml.SVMRegressor")
def svm_regressor(s: Scope) -> bool:
    """Expand SVMRegressor: a weighted sum of functions of the operand and each support vector."""
    count, depth = s.get("n_supports", 0), s.shape()[-1]
    numbers = [*s.get("kernel_params", []), 0.0, 0.0, 0.0]
    gamma, offset, degree = numbers[:3]
    form, vectors = s.get("kernel_type", "LINEAR"), s.get("support_vectors", [])
    if not s.is_float or len(s.shape()) != 2:
        return False
    if s.get("one_class", 0) or s.get("post_transform", "NONE") != "NONE":
        return s.lacks("one_class or post_transform")
    if not count or len(vectors) != count * depth:
        return s.lacks("no support vectors, or others than those of the operand")
    matrix = np.array(vectors, np.float32).reshape(count, depth)
    if form == "RBF":
        rest = s.add("Sub", s.reshaped(s.x, (s.shape()[0], 1, depth)), s.const(matrix))
        distance = s.add("ReduceSum", s.add("Mul", rest, rest), s.const([2], INT64), keepdims=0)
        values = s.add("Exp", s.add("Mul", distance, s.const(-gamma)))
    else:
        values = s.add("MatMul", s.x, s.const(matrix.T))
        if form in ("POLY", "SIGMOID"):
            values = s.add("Add", s.add("Mul", values, s.const(gamma)), s.const(offset))
            values = (
                s.add("Tanh", values)
                if form == "SIGMOID"
                else s.add("Pow", values, s.const(degree))
            )
        elif form != "LINEAR":
            return s.lacks(f"support vectors compared by {form}")
    weights = np.array(s.get("coefficients", []), np.float32).reshape(count, 1)
    return s.done("Add", s.add("MatMul", values, s.const(weights)), s.const(s.get("rho", [0.0])))


@expands("ai.onnx.ml.ZipMap")
def zip_map(s: Scope) -> bool:
    """Expand ZipMap into the numbers of the classes as a tensor: C has no maps."""
    return s.done("Identity", s.x)


@expands("ai.onnx.ml.Imputer")
def imputer(s: Scope) -> bool:
    """Expand Imputer: another number, of each column or for all, where one stands for none."""
    values, missing = s.get("imputed_value_floats"), s.get("replaced_value_float", 0.0)
    if not s.is_float or not values:
        return False
    missing_at = s.add("Equal", s.x, s.x if isnan(missing) else s.const(missing))
    pair = (s.x, s.const(values)) if isnan(missing) else (s.const(values), s.x)
    return s.done("Where", missing_at, *pair)


@expands("ai.onnx.ml.ArrayFeatureExtractor")
def feature_extractor(s: Scope) -> bool:
    """Expand ArrayFeatureExtractor into a Gather of columns."""
    at = s.ints(1)
    if at is None or not s.shape():
        return False
    columns = s.add("Gather", s.x, s.const(at, INT64), axis=len(s.shape()) - 1)
    return s.done("Reshape", columns, s.const([-1, len(at)], INT64))


@expands("ai.onnx.ml.FeatureVectorizer")
def feature_vectorizer(s: Scope) -> bool:
    """Expand FeatureVectorizer into columns side by side."""
    if any(s.element(i) != FLOAT for i in range(len(s.node.input))):
        return s.lacks("other types than float32")
    return s.done("Concat", *s.node.input, axis=1)


@expands("ai.onnx.ml.LabelEncoder")
def label_encoder(s: Scope) -> bool:
    """Expand LabelEncoder into choices among known pairs, one after the other."""
    keys = s.get("keys_int64s") or s.get("keys_floats")
    values, default = s.get("values_int64s"), s.get("default_int64", -1)
    element = INT64
    if not values:
        values, default, element = s.get("values_floats"), s.get("default_float", -0.0), FLOAT
    if not keys or not values or s.element() not in (FLOAT, INT64):
        return s.lacks("keys or values that are texts or tensors (lists of numbers have one)")
    labels = s.const(default, element)
    for key, value in list(zip(keys, values, strict=False))[::-1]:
        labels = s.add("Where", s.add("Equal", s.x, s.like(key)), s.const(value, element), labels)
    return s.done("Identity", labels)


@expands("ai.onnx.ml.OneHotEncoder")
def one_hot_encoder(s: Scope) -> bool:
    """Expand OneHotEncoder into comparisons with each category."""
    categories = s.get("cats_int64s")
    if not categories or not s.get("zeros", 1) or s.element() not in (FLOAT, INT64):
        return s.lacks("categories that are texts, or zeros = 0 (numbers have one)")
    each = s.reshaped(s.x, (*s.shape(), 1))
    return s.done("Cast", s.add("Equal", each, s.like(categories)), to=FLOAT)
