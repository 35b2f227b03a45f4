"""numpy as `np`, imported when the first name of it is asked for: help and parsers need none."""

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

__all__ = ["np"]
