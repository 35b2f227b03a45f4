"""Operators of scikit-learn's exporters (`ai.onnx.ml`), of float32, as ONNX's own operators."""

from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.reductions import over
from memopt.frontends.onnx.scope import INT64, Scope


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
    """Rows divided by the sum of absolute values (L1) or the root of that of squares (L2); a row of
    zeros stays."""
    kind = {"L1": "ReduceL1", "L2": "ReduceL2"}.get(s.get("norm", "MAX"))
    if not s.is_float:
        return False
    if kind is None:
        return s.lacks(f"norm = {s.get('norm', 'MAX')} (L1 and L2 have one)")
    size = over(s, kind, s.x, [len(s.shape()) - 1])
    zero = s.add("Equal", size, s.const(0))
    return s.done("Div", s.x, s.add("Where", zero, s.const(1), size))


@expands("ai.onnx.ml.LinearRegressor")
def linear_regressor(s: Scope) -> bool:
    """A product with a matrix, a row of it for each target."""
    targets, weights = s.get("targets", 1), s.get("coefficients", [])
    if not s.is_float:
        return False
    if s.get("post_transform", "NONE") != "NONE" or len(s.shape()) > 2:
        return s.lacks(f"post_transform = {s.get('post_transform')} (NONE has one)")
    depth = s.shape()[-1]
    if len(weights) != targets * depth:
        return s.lacks(f"{len(weights)} coefficients for {targets} targets of {depth} numbers")
    matrix = s.const([weights[k::depth] for k in range(depth)])
    rows = s.add("Reshape", s.x, s.const([-1, depth], INT64))
    product = s.add("MatMul", rows, matrix)
    bias = s.get("intercepts", [])
    return s.done("Add", product, s.const(bias)) if bias else s.done("Identity", product)
