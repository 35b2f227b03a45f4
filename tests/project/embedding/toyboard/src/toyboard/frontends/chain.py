"""A chain of operators, one per line: its name and the bytes of its result."""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, TensorType, i8

from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.frontends.core.function import Draft
from memopt.frontends.core.registry import Frontend

MARK = b"chain"
FRONTEND = Frontend(".chain", __name__, looks=lambda data: data.startswith(MARK))


def read(data: bytes, name: str, path: Path | None = None) -> ModuleOp:
    """The module of such a file. Raises MemoptError."""
    first, *lines = data.decode().splitlines()
    if not lines:
        raise MemoptError("a chain without operators", name)
    draft = Draft[int]()
    draft.take([0], ["x"], [TensorType(i8, [int(first.split()[1])])])
    for i, line in enumerate(lines):
        kind, size = line.split()
        op = OpaqueOp(kind, [draft.values[i]], [TensorType(i8, [int(size)])])
        draft.add(op, [i + 1], [f"t{i + 1}"], SourceAttr(0, i, ()))
    return ModuleOp([draft.function("main", [draft.values[len(lines)]])])
