"""Inputs as the command line says them: `--shape=NAME=1x3x224x224`, `--batch=1`, and constants in
the place of inputs, `--fix=sr=16000`."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import is_buffer, shape_of

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
BATCH: Final = "*"
"""Stands for all inputs: one number, their first dimension where a file leaves it open."""


def check_names(shapes: Shapes, names: Sequence[str], place: str = "") -> None:
    """Raise MemoptError for a shape of an input that there is not."""
    for given in shapes:
        if given not in names and given != BATCH:
            inputs = ", ".join(names) or "none"
            text = f"--shape names {given!r}{nearest(given, names)}, but the inputs are: {inputs}"
            raise MemoptError(text, place)


def check_shapes(module: ModuleOp, shapes: Shapes) -> None:
    """Raise MemoptError unless `--shape` gives the inputs of a module the shapes that they have."""
    inputs = [a for f in functions(module) for a in f.body.blocks[0].args if is_buffer(a.type)]
    names = [name_of(a) for a in inputs]
    check_names(shapes, names)
    for value, name in zip(inputs, names, strict=True):
        if name in shapes and shapes[name] != shape_of(value):
            has, wanted = ("x".join(map(str, s)) for s in (shape_of(value), shapes[name]))
            raise MemoptError(
                f"has the fixed shape {has or 'of a scalar'}, --shape gives {wanted}",
                f"input {name!r}",
            )


Fixed: TypeAlias = Mapping[str, Sequence[int | float]]
"""Name of an input -> its elements in their order, or one for all of them."""

NOT_HERE: Final = "--fix makes constants of inputs of an .onnx file, of no other"


def check_none_fixed(fixed: Fixed, place: str = "") -> None:
    """Raise MemoptError if something is fixed in what is no .onnx file."""
    if fixed:
        raise MemoptError(NOT_HERE, place)
