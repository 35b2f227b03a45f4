"""How arrays of constants are written."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ArrayStorage:
    """How arrays are written: the `sections` of kinds of them (sections.py), whether a function
    checks the weights, whether these are a file of their own (weights/blob.py), and the `addresses`
    of sections."""

    sections: Mapping[str, str] = field(default_factory=dict[str, str])
    has_check: bool = False
    in_file: bool = False
    addresses: Mapping[str, int] = field(default_factory=dict[str, int])


DEFAULT = ArrayStorage()
