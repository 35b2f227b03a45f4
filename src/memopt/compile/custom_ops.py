"""`--custom=FILE.json`: what the user's own kernels of custom operators need.

    {"AudioSpectrogram": {"scratch": 4096, "state": 0}}

Bytes of scratch and of state, 0 where a key is left out. What is declared is called as a function
of the C project, which the user writes (docs/guides/custom-operators.md); what is not is refused
by name.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, i64

from memopt.dialects.memgraph.custom import CUSTOM, IN_FILE, PREFIX, declared, name_of_custom
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import OpaqueOp, VariableOp

KEYS = ("scratch", "state")
MOST = 1 << 31


def read_custom_ops(path: Path) -> dict[str, dict[str, int]]:
    """Name of a custom operator -> its bytes. Raises MemoptError for any other file, OSError."""
    try:
        needs: Any = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MemoptError(f"no JSON: {error}", str(path)) from None
    if not isinstance(needs, dict):
        raise MemoptError("custom operators are an object, name: {scratch, state}", str(path))
    return {
        name: _needs(name, entry, path) for name, entry in cast("dict[str, Any]", needs).items()
    }


def _needs(name: str, entry: Any, path: Path) -> dict[str, int]:
    if not isinstance(entry, dict) or not set(cast("dict[str, Any]", entry)) <= set(KEYS):
        raise MemoptError(f"{name}: an object of {' and '.join(KEYS)}, in bytes", str(path))
    needs = {key: cast("dict[str, Any]", entry).get(key, 0) for key in KEYS}
    for key, value in needs.items():
        if type(value) is not int or not 0 <= value < MOST:
            raise MemoptError(f"{name}: {key} is a number of bytes, not {value}", str(path))
    return needs


def declare_custom_ops(module: ModuleOp, needs: Mapping[str, Mapping[str, int]]) -> None:
    """Say of each custom operator of these names what its kernel needs. Raises MemoptError for a
    name that the module does not have."""
    custom_ops = [op for op in module.walk() if isinstance(op, OpaqueOp) and name_of_custom(op)]
    names = {name_of_custom(op) for op in custom_ops}
    known = {
        v.data for op in module.walk() if isinstance(v := op.attributes.get(IN_FILE), StringAttr)
    }
    if double := sorted(set(needs) & {name.removeprefix(PREFIX) for name in known}):
        raise MemoptError(f"{double[0]} has a kernel here: declare those that have none")
    if missing := sorted(set(needs) - names):
        in_model = ", ".join(sorted(names)) or "none"
        raise MemoptError(f"no custom operator {missing[0]} in the model, which has {in_model}")
    for number, op in enumerate(op for op in custom_ops if name_of_custom(op) in needs):
        need = needs[name_of_custom(op)]
        if need["state"]:
            type_ = TensorType(i64, (-(-need["state"] // 8),))
            state = VariableOp(f"custom_{number}", type_)
            parent = op.parent_block()
            assert parent is not None
            parent.insert_op_before(state, op)
            op.operands = [*op.operands, state.result]
        op.attributes[CUSTOM] = declared(need["scratch"], bool(need["state"]))
