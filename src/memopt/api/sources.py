"""Forms in which a graph may be given, and `memopt.load`.

memopt.load("net.tflite")                    a path: .tflite, .onnx, .json, .hlo, .mlir
memopt.load(response.content)                the bytes of such a file; what they are is seen
memopt.load(onnx_model)                      an onnx.ModelProto
memopt.load({"tensors": [...], ...})         a decoded JSON graph
"""

import json
import math
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import index
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException, ParseError

from memopt.analysis.function_memory import function_memory
from memopt.compile.driver import (
    FILES,
    IR,
    build_pipeline,
    check_module,
    import_bytes,
    load_model,
    load_text,
    new_context,
    set_model_path,
    unknown_kind,
)
from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.names import name_of, operator_name
from memopt.dialects.memgraph.plan import model_of
from memopt.frontends.core.registry import all_frontends, frontend_of, frontend_of_bytes
from memopt.frontends.core.shapes import Fixed, check_none_fixed, check_shapes
from memopt.passes.memgraph_input_range import Ranges, declare_ranges
from memopt.solvers.errors import ProblemError
from memopt.text.diagnostics import diagnose
from memopt.text.ir_text import module_text

if TYPE_CHECKING:
    from onnx import ModelProto

Kind: TypeAlias = str
"""A frontend's name, or mlir."""
Shapes = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Model:
    """An imported network. `str(model)` is its IR; `name` is what messages call it; `data` has the
    bytes of the file if no path says where they are: weights are looked up there."""

    name: str
    kind: Kind
    module: ModuleOp = field(repr=False)
    data: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def operators(self) -> tuple[str, ...]:
        """Return the operators' names in plan and peak, in the file's order; constants are none."""
        return tuple(title(op) for func in functions(self.module) for op in operators_of(func))

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name_of(a) for f in functions(self.module) for a in f.body.block.args)

    @property
    def outputs(self) -> tuple[str, ...]:
        ends = [f.body.block.last_op for f in functions(self.module)]
        return tuple(name_of(v) for end in ends if end is not None for v in end.operands)

    def __str__(self) -> str:
        return module_text(self.module)


Source: TypeAlias = (
    "str | os.PathLike[str] | bytes | Mapping[str, Any] | ModelProto | ModuleOp | Model"
)


def load(
    source: Source,
    *,
    shapes: Shapes | None = None,
    fixed: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Model:
    """Import a network.

    `source` is a path (.tflite, .onnx, .json, .hlo, .mlir), the bytes of such a file, an
    `onnx.ModelProto`, a decoded JSON graph, an xDSL module, or a Model, which is given back.
    `shapes` fixes inputs of ONNX files with symbolic dimensions, {"x": (1, 3, 224, 224)}; other
    files have theirs, which must be the same. `fixed` makes constants of inputs of ONNX files,
    {"sr": 16000}: a number, an array, or nested sequences; one element stands for all.
    `name` is what messages call it; by default its path, or what kind of thing it is.

    Raises MemoptError with the place of what is wrong with it, OSError for a file that cannot be
    read, TypeError for anything else.

        >>> memopt.load("net.onnx", shapes={"x": (1, 8)}).operators
        ('first', 'softmax (y)')
    """
    if isinstance(source, Model):
        return source
    sizes = {k: tuple(v) for k, v in (shapes or {}).items()}
    label = name or _label(source)
    with told(label):
        given = {k: _flat(v) for k, v in (fixed or {}).items()}
        model = _model(source, label, sizes, given)
        check_module(model.module)
        if model.kind == "mlir":
            check_shapes(model.module, sizes)
            check_none_fixed(given)
    return model


def prepared(
    source: Source, pipeline: str, shapes: Shapes | None = None, ranges: Ranges | None = None
) -> Model:
    """The network after `pipeline`, which is written as after `memopt-opt -p`, with the ranges of
    inputs said before. What was given is not changed. Raises as `load`, and ValueError for a
    pipeline that there is not."""
    model = load(source, shapes=shapes)
    steps = build_pipeline(pipeline) if pipeline else ()
    if not steps and not ranges:
        return model
    module, context = model.module.clone(), new_context(True)
    with told(model.name):
        declare_ranges(module, ranges or {})
        for step in steps:
            step.apply(context, module)
            check_module(module)
    return replace(model, module=module)


@contextmanager
def told(name: str) -> Generator[None]:
    """Say of `name` whatever is wrong with it as one MemoptError with its place."""
    try:
        yield
    except (
        MemoptError, ParseError, DiagnosticException, ProblemError, RecursionError,
        UnicodeDecodeError,
    ) as error:  # fmt: skip
        diagnosis = diagnose(error, name)
        if isinstance(error, MemoptError) and diagnosis.place == error.place:
            raise
        kind = type(error) if isinstance(error, MemoptError) else MemoptError
        raise kind(diagnosis.text, diagnosis.place) from None


@contextmanager
def weights_at_hand(data: bytes | None, module: ModuleOp) -> Generator[None]:
    """Let the module's weights be read meanwhile, of a model that is no file: `data` has its bytes,
    None for one that is."""
    files = module.attributes.get(FILES)
    if data is None or files is None:
        yield
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(data)
        set_model_path(module, str(path))
        try:
            yield
        finally:
            module.attributes[FILES] = files


def operators_of(func: FuncOp) -> list[Operation]:
    """The operators of a file in its order, also those that only give a buffer another shape."""
    memory = function_memory(func, model_of(func))
    in_memory = {*memory.operations, *memory.views}
    return [op for op in func.body.block.ops if op in in_memory]


def title(op: Operation) -> str:
    """The operator's own name in the file, else its kind and what it makes: `add (sum)`."""
    own = op.attributes.get("memgraph.operator")
    return own.data if isinstance(own, StringAttr) and own.data else operator_name(op)


def seconds(time_limit: float | None) -> float | None:
    """A time limit that is one. Raises ValueError, TypeError."""
    try:
        good = time_limit is None or (time_limit > 0 and math.isfinite(time_limit))
    except TypeError:
        raise TypeError(f"time_limit={time_limit!r}: seconds, a number") from None
    if not good:
        raise ValueError(f"time_limit={time_limit!r}: seconds, more than 0")
    return time_limit


def whole_number(name: str, value: object) -> int | None:
    """Return a number of bytes, rows or samples, if there is one. Raises ValueError, TypeError."""
    if value is None:
        return None
    try:
        number = None if isinstance(value, bool) else index(cast("SupportsIndex", value))
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name}={value!r}: a whole number")
    if number < 0:
        raise ValueError(f"{name}={value!r}: 0 or more")
    return number


def chosen(name: str, value: str, known: Sequence[str]) -> str:
    """`value`, if it is one of `known`. Raises ValueError that lists them."""
    if value not in known:
        raise ValueError(f"{name}={value!r}{nearest(value, known)}: one of {', '.join(known)}")
    return value


def kind_of(data: bytes, name: str) -> Kind:
    """Return the kind of a file by its bytes. Raises MemoptError if they are none of ours."""
    frontend = frontend_of_bytes(data, name)
    return "mlir" if frontend is None else frontend.name


def _flat(values: Any) -> tuple[int | float, ...]:
    """The elements of a number, an array, or sequences of such, in their order."""
    if hasattr(values, "tolist"):  # numpy's; it is not loaded for that
        return _flat(values.tolist())
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return tuple(v for one in cast("Sequence[Any]", values) for v in _flat(one))
    if not isinstance(values, int | float):
        raise TypeError(f"fixed: {values!r} is no number, and no sequence of numbers")
    return (values,)


def _label(source: object) -> str:
    if isinstance(source, str | os.PathLike):
        return os.fspath(cast("str | os.PathLike[str]", source))
    if isinstance(source, ModuleOp):
        return "module"
    return "bytes" if isinstance(source, bytes) else "graph"


def _model(source: Any, name: str, shapes: dict[str, tuple[int, ...]], fixed: Fixed) -> Model:
    if isinstance(source, ModuleOp):
        return Model(name, "mlir", source)
    if isinstance(source, Mapping):
        data = _json(cast("Mapping[str, Any]", source))
        return Model(name, "json", import_bytes(data, ".json", name, None, shapes, fixed))
    if isinstance(source, str | os.PathLike):
        return _from_path(Path(cast("str | os.PathLike[str]", source)), name, shapes, fixed)
    if isinstance(source, bytes | bytearray | memoryview):
        data = bytes(cast("bytes", source))
        kind = kind_of(data, name)
    elif hasattr(source, "graph") and hasattr(source, "SerializeToString"):  # onnx is not loaded
        kind = "onnx"
        try:
            data = cast("bytes", source.SerializeToString())
        except ValueError as error:  # protobuf's limit of 2 GiB
            raise MemoptError(f"{error}; save the model and give its path", name) from None
    else:
        raise TypeError(
            "a graph is a path, the bytes of a file, an onnx.ModelProto, a decoded JSON graph, an "
            f"xDSL module or a memopt.Model, not {type(source).__name__}"
        )
    if kind == "mlir":
        return Model(name, kind, load_text(new_context(True), data.decode(), name))
    suffix = all_frontends()[kind].suffix
    return Model(name, kind, import_bytes(data, suffix, name, None, shapes, fixed), data)


def _from_path(path: Path, name: str, shapes: dict[str, tuple[int, ...]], fixed: Fixed) -> Model:
    frontend = frontend_of(path.suffix)
    if frontend is not None:
        return Model(name, frontend.name, load_model(path, shapes, fixed))
    if path.suffix != IR:
        raise MemoptError(unknown_kind(), str(path))
    text = path.read_text(encoding="utf-8")
    return Model(name, "mlir", load_text(new_context(True), text, str(path)))


def _json(graph: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(dict(graph)).encode()
    except RecursionError:
        raise
    except (TypeError, ValueError) as error:
        raise TypeError(f"a graph given as a mapping is what JSON can say: {error}") from None
