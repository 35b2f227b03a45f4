"""ONNX operators as other ONNX operators that mean the same, of which typed operations exist.

    @expands("Sum", floats=True)
    def several(s: Scope) -> bool:
        return len(s.node.input) == 2 and s.done("Add", *s.node.input)

A file has a family; its functions are found here. Such a function returns False where the node
stays as it is: because an operation does just that (`operators.py`), or because nothing here means
the same. What it makes is looked at again in the same way. So a file of any opset becomes operators
of one form, and few operations say many of ONNX's operators.
"""

from collections.abc import Callable
from functools import cache

from onnx import NodeProto

from memopt.frontends.onnx.scope import Known, Scope
from memopt.modules import load, modules_in

Expansion = Callable[[Scope], bool]
_FOUND: dict[str, tuple[Expansion, bool]] = {}


def expands(*kinds: str, floats: bool = False) -> Callable[[Expansion], Expansion]:
    """Registers the function below as what expands these operators of ONNX's own domain; names of
    another one are written `com.microsoft.Gelu`. With `floats` those of float32 alone."""

    def register(function: Expansion) -> Expansion:
        for kind in kinds:
            assert kind not in _FOUND, kind
            _FOUND[kind] = function, floats
        return function

    return register


@cache
def _load() -> None:
    for family in modules_in(__name__).values():
        load(family)


def expanded(known: Known, kind: str, node: NodeProto, opset: int) -> list[NodeProto] | None:
    """The nodes that mean the same as an operator called `kind`, in order; None if it stays."""
    _load()
    if kind not in _FOUND:
        return None
    function, floats = _FOUND[kind]
    scope = Scope(known, node, opset)
    if (not floats or scope.is_float) and function(scope):
        return scope.made
    if scope.reason and len(node.output):
        known.reasons[node.output[0]] = scope.reason
    return None
