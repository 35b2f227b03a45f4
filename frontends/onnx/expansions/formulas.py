"""Functions of one number of float32, as formulas of other operators.

    "ThresholdedRelu": ("Where(x > alpha, x, 0)", {"alpha": 1.0})

`x` is the operand; another name in small letters is an attribute, whose default stands beside the
formula. A call is an operator of ONNX, whose own attributes are keywords.
"""

import ast
from typing import Final

from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.loading import kind_of
from memopt.frontends.onnx.scope import Scope

FORMULAS: Final[dict[str, tuple[str, dict[str, float]]]] = {
    "Acos": ("1.5707963267948966 - Atan(x / Sqrt(1 - x * x))", {}),  # infinite at the ends
    "Acosh": ("Log(x + Sqrt(x * x - 1))", {}),
    "Asin": ("Atan(x / Sqrt(1 - x * x))", {}),
    "Asinh": ("Log(Abs(x) + Sqrt(x * x + 1)) * Sign(x)", {}),  # so that nothing cancels
    "Atanh": ("Log((1 + x) / (1 - x)) * 0.5", {}),
    "Celu": ("Elu(x / alpha) * alpha", {"alpha": 1.0}),
    "Cosh": ("(Exp(x) + Exp(-x)) * 0.5", {}),
    "HardSigmoid": ("Min(Max(x * alpha + beta, 0), 1)", {"alpha": 0.2, "beta": 0.5}),
    "IsNaN": ("Not(Equal(x, x))", {}),
    "Mish": ("x * Tanh(Softplus(x))", {}),
    "Reciprocal": ("1 / x", {}),
    "Selu": (
        "Elu(x, alpha=alpha) * gamma",
        {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    ),
    "Shrink": (
        "Where(x > lambd, x - bias, Where(x < -lambd, x + bias, 0))",
        {"lambd": 0.5, "bias": 0.0},
    ),
    "Sinh": ("(Exp(x) - Exp(-x)) * 0.5", {}),
    "Softplus": ("Max(x, 0) + Log(Exp(-Abs(x)) + 1)", {}),  # which does not overflow
    "Softsign": ("x / (Abs(x) + 1)", {}),
    "Swish": ("x * Sigmoid(x * alpha)", {"alpha": 1.0}),
    "Tan": ("Sin(x) / Cos(x)", {}),
    "ThresholdedRelu": ("Where(x > alpha, x, 0)", {"alpha": 1.0}),
    "ai.onnx.ml.Binarizer": ("Cast(x > threshold, to=1)", {"threshold": 0.0}),
    "com.microsoft.QuickGelu": ("x * Sigmoid(x * alpha)", {"alpha": 1.702}),
}
OPERATORS: Final = {"Mult": "Mul", "Gt": "Greater", "Lt": "Less"}  # others are called alike


@expands(*FORMULAS, floats=True)
def formula(s: Scope) -> bool:
    """Expand a function by its formula."""
    text, defaults = FORMULAS[kind_of(s.node)]
    numbers = {name: s.get(name, value) for name, value in defaults.items()}
    return s.done("Identity", _tensor(s, ast.parse(text, mode="eval").body, numbers))


def _number(term: ast.expr, numbers: dict[str, float]) -> float | None:
    """Return what a term is known to be; None for a tensor."""
    match term:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return numbers.get(name)
        case ast.UnaryOp(operand=operand):
            value = _number(operand, numbers)
            return None if value is None else -value
        case _:
            return None


def _tensor(s: Scope, term: ast.expr, numbers: dict[str, float]) -> str:
    """Return the name of what the nodes of a term make; a factor of 1 makes none."""
    value = _number(term, numbers)
    if value is not None:
        return s.like(value)
    match term:
        case ast.UnaryOp(operand=operand):
            return s.add("Neg", _tensor(s, operand, numbers))
        case ast.BinOp(left=left, op=ast.Mult(), right=right) if _number(right, numbers) == 1:
            return _tensor(s, left, numbers)
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ):
            sides = (_tensor(s, t, numbers) for t in (left, right))
            name = type(op).__name__
            return s.add(OPERATORS.get(name, name), *sides)
        case ast.Call(func=ast.Name(id=kind), args=args, keywords=keywords):
            attributes = {k.arg or "": _number(k.value, numbers) for k in keywords}
            return s.add(kind, *(_tensor(s, t, numbers) for t in args), **attributes)
        case _:
            assert isinstance(term, ast.Name) and term.id == "x", ast.unparse(term)
            return s.x
