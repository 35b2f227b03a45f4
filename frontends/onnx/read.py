"""The ONNX frontend: an .onnx file in, a module with one `memgraph` function out.

    module = read(Path("net.onnx").read_bytes(), "net.onnx", Path("net.onnx"), {"x": (1, 3, 8, 8)})

onnx's own checker and shape inference decide what a file says (opset 7 to the newest; older files
are converted by onnx where it can). Operators whose meaning is exactly that of a typed operation
become one; those that other operators say as well are made of them (`expansions/`), functions of
the standard are inlined, and all others are a `memgraph.opaque` of their name. Constants and what
follows from them alone are flash. Input is never trusted: whatever is wrong with a file is one
MemoptError with its place. A Relu stays an operation of its own here: it becomes the activation of
what makes its operand by a rule (see `FRONTEND`).
"""

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from memopt.frontends.core.function import module_of
from memopt.frontends.core.shapes import Fixed
from memopt.frontends.onnx.annotations import annotate
from memopt.frontends.onnx.convert import Importer
from memopt.frontends.onnx.folding import fold
from memopt.frontends.onnx.loading import load


def read(
    data: bytes,
    name: str,
    path: Path | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    fixed: Fixed | None = None,
) -> ModuleOp:
    """The module for an .onnx file.

    `name` is what messages call the file and what the module's weights refer to, unless `path` is
    given; weights in other files need `path`. `shapes` fixes inputs with symbolic dimensions
    (elements per dimension); `fixed` inputs are constants and no inputs. Raises MemoptError.
    """
    known = fold(load(data, name, path, shapes or {}, fixed or {}))
    func = Importer(known, annotate(known)).function()
    return module_of([func], known.graph.sha256, name, path)
