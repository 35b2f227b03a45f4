"""numpy as `np`, imported when the first name of it is asked for: help and parsers need none."""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            vars(self).update(vars(numpy))  # so that each other name is found at once
            return getattr(numpy, name)

    np = _Numpy()

__all__ = ["is_loaded", "np"]


def is_loaded() -> bool:
    """Return whether numpy is there, for what has a way without it that is as short for once."""
    return "numpy" in sys.modules
