"""The .tflite frontend: LiteRT's schema in, a module of `memgraph` functions out.

    module = read(Path("net.tflite").read_bytes(), "net.tflite")

Every subgraph becomes a function (`@main`, `@subgraph_1`, ...), every operator one operation in
file order; but of those that only say what variables begin with (variables.py) that alone is left.
Input is never trusted: whatever is wrong with a file is one MemoptError with its place.
"""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats import tflite_control
from memopt.formats.tflite import Model, read_model
from memopt.frontends.core.function import module_of, sha256_of
from memopt.frontends.core.shapes import Fixed, Shapes, check_none_fixed
from memopt.frontends.tflite.convert import Importer
from memopt.frontends.tflite.infer import with_shapes
from memopt.frontends.tflite.variables import first_values


def read(
    data: bytes,
    name: str = "model.tflite",
    path: Path | None = None,
    shapes: Shapes | None = None,
    fixed: Fixed | None = None,
) -> ModuleOp:
    """The module for a .tflite file.

    `name` is what messages call the file, and what the module's weights refer to unless `path` is
    given. `shapes` are those of its inputs, where the file leaves dimensions open. An
    `OfflineMemoryAllocation` plan in the file is not imported. Raises MemoptError.
    """
    if fixed:
        check_none_fixed(fixed, name)
    model = with_shapes(data, read_model(data, name), shapes or {}, name)
    sha256 = sha256_of(data)
    ordered = control_dependencies(model, data, name)
    first = first_values(data, model, name) if len(model.subgraphs) > 1 else {}
    functions = [
        Importer(
            data, sha256, model, index, f"{name}: subgraph {index}", ordered[index], first
        ).function()
        for index in range(1 if first else len(model.subgraphs))
    ]
    return module_of(functions, sha256, name, path)


def control_dependencies(model: Model, data: bytes, name: str) -> list[frozenset[int]]:
    """Operators per subgraph that the file's control dependencies name: they keep their order."""
    result: list[set[int]] = [set() for _ in model.subgraphs]
    for key, buffer in model.metadata:
        if key != tflite_control.KEY:
            continue
        try:
            graphs = tflite_control.parse(data[slice(*model.buffers[buffer])])
        except ValueError as error:
            raise MemoptError(str(error), f"{name}: metadata") from None
        for operators, edges in zip(result, graphs, strict=False):
            operators.update(i for edge in edges for i in edge)
    return [frozenset(operators) for operators in result]
