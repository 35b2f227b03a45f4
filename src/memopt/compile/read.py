"""`Request -> Imported`: the model or IR of a request, verified."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.compile.claims import check_claims
from memopt.compile.custom_ops import declare_custom_ops, read_custom_ops
from memopt.compile.driver import (
    IR,
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
from memopt.dialects.memgraph.errors import MemoptError
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
    declare_ranges(module, how.ranges)
    if how.custom:
        if request.options.runs_file:
            raise UsageError("--custom is of C targets; TensorFlow Lite Micro asks its kernels")
        declare_custom_ops(module, read_custom_ops(how.custom))
    check_module(module)
    check_claims(module)
    return module
