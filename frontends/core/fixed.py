"""Inputs that are constants in use: `--fix=sr=16000`, `--fix=mask=1,1,1,0`."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

Fixed: TypeAlias = Mapping[str, Sequence[int | float]]
"""Name of an input -> its elements in their order, or one for all of them."""

NOT_HERE: Final = "--fix makes constants of inputs of an .onnx file, of no other"
