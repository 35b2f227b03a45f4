"""`Request -> Imported`: the model or IR of a request, verified."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, i64

from memopt.compile.driver import (
    IR,
    check_claims,
    check_module,
    is_model,
    load_model,
    load_text,
    new_context,
    set_model_path,
    unknown_kind,
)
from memopt.compile.request import Request
from memopt.compile.run_passes import Seconds
from memopt.dialects.memgraph.custom import CUSTOM, IN_FILE, PREFIX, declared, name_of_custom
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import mark_unrun
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.variables import VariableOp
from memopt.frontends.core.registry import Frontend, frontend_of
from memopt.frontends.core.shapes import check_none_fixed, check_shapes
from memopt.passes.memgraph_input_range import declare_ranges
from memopt.text.usage import UsageError


@dataclass(frozen=True)
class Imported:
    """A model that `frontend` read, None for IR, and the time since its stages began."""

    request: Request
    context: Context
    module: ModuleOp
    frontend: Frontend | None
    seconds: Seconds


def read(request: Request) -> Imported:
    """Return the model of a request. Raises MemoptError, UsageError, OSError."""
    seconds, context = Seconds(), new_context(True)
    with seconds.timed("import"):
        module = _module(request, context)
    return Imported(request, context, module, frontend_of(request.path.suffix), seconds)


def _module(request: Request, context: Context) -> ModuleOp:
    path, how = request.path, request.reading
    if is_model(path):
        module = load_model(path, how.shapes, how.fixed)
    elif path.suffix == IR:
        module = load_text(context, path.read_text(encoding="utf-8"), str(path))
        check_shapes(module, how.shapes)
        check_none_fixed(how.fixed)
    else:
        raise MemoptError(unknown_kind())
    if how.model_path:
        set_model_path(module, how.model_path)
    if how.ranges:
        declare_ranges(module, how.ranges)
    if how.custom:
        if request.options.runs_file:
            raise UsageError("--custom is of C targets; TensorFlow Lite Micro asks its kernels")
        declare_custom_ops(module, read_custom_ops(how.custom))
    if request.options.runs_file:
        mark_unrun(module)
    check_module(module)
    check_claims(module)
    return module


KEYS = ("scratch", "state")
MOST = 1 << 31


def read_custom_ops(path: Path) -> dict[str, dict[str, int]]:
    """Read what the user's own kernels of custom operators need (docs/guides/custom-operators.md):

        {"AudioSpectrogram": {"scratch": 4096, "state": 0}}

    bytes by the operator's name, 0 where a key is left out. Raises MemoptError for any other file,
    OSError."""
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
