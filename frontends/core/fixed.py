"""Inputs that are constants in use: `--fix=sr=16000`, `--fix=mask=1,1,1,0`."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from memopt.dialects.memgraph.errors import MemoptError

Fixed: TypeAlias = Mapping[str, Sequence[int | float]]
"""Name of an input -> its elements in their order, or one for all of them."""

NOT_HERE: Final = "--fix makes constants of inputs of an .onnx file, of no other"


def check_none_fixed(fixed: Fixed, place: str = "") -> None:
    """Raise MemoptError if something is fixed in what is no .onnx file."""
    if fixed:
        raise MemoptError(NOT_HERE, place)
