"""ONNX operators as other ONNX operators that mean the same, of which typed operations exist.

    @expands("Softsign")
    def softsign(s: Scope) -> bool:
        s.done("Div", s.x, s.add("Add", s.add("Abs", s.x), s.const(1)))
        return True

A file has a family; its functions are found here. Such a function returns False where the node
stays as it is: because an operation does just that (`operators.py`), or because nothing here means
the same. What it makes is looked at again in the same way. So a file of any opset becomes operators
of one form, and few operations say many of ONNX's operators.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from onnx import NodeProto

from memopt.frontends.onnx.scope import Known, Scope

Expansion = Callable[[Scope], bool]
_FOUND: dict[str, Expansion] = {}


def expands(*kinds: str) -> Callable[[Expansion], Expansion]:
    """Registers the function below as what expands these operators of ONNX's own domain; names of
    another one are written `com.microsoft.Gelu`."""

    def register(function: Expansion) -> Expansion:
        for kind in kinds:
            assert kind not in _FOUND, kind
            _FOUND[kind] = function
        return function

    return register


@cache
def _load() -> None:
    for family in iter_modules(__path__):
        import_module(f"{__name__}.{family.name}")


def expanded(known: Known, kind: str, node: NodeProto, opset: int) -> list[NodeProto] | None:
    """The nodes that mean the same as an operator called `kind`, in order; None if it stays."""
    _load()
    function = _FOUND.get(kind)
    if function is None:
        return None
    scope = Scope(known, node, opset)
    if function(scope):
        return scope.made
    if scope.reason and len(node.output):
        known.reasons[node.output[0]] = scope.reason
    return None
