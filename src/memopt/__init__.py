"""memopt: fits neural networks into microcontrollers.

`memopt.peak(graph)` is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memopt.api import Peak, peak

__all__ = ["Peak", "peak"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from memopt import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
