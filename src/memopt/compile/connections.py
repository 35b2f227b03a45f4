"""Rooms that must not know each other, connected: what passes ask of a backend, and the IR of
runtimes.

`import memopt` connects them, so before anything else of it runs; backends are loaded when they are
asked.
"""

from typing import TYPE_CHECKING

from memopt.dialects.attributes.runtimes import connect_runtimes
from memopt.targets.core.kernels import Asked, connect_kernels
from memopt.targets.core.runtimes import RUNTIMES

if TYPE_CHECKING:
    from xdsl.ir import Operation


def _c_workspace(op: "Operation", isa: tuple[str, ...]) -> int:
    from memopt.backends.c.emit.registry import workspace_of

    return workspace_of(op, isa)


def _c_rows(op: "Operation", isa: tuple[str, ...]) -> bool:
    from memopt.backends.c.emit.registry import computes_rows

    return computes_rows(op, isa)


def _c_inlines(op: "Operation", isa: tuple[str, ...]) -> bool:
    from memopt.backends.c.emit.registry import can_inline

    return can_inline(op, isa)


def _c_fast(op: "Operation", isa: tuple[str, ...]) -> dict[str, int]:
    from memopt.backends.c.emit.registry import fast_forms

    return fast_forms(op, isa)


def _c_any_fast(isa: tuple[str, ...]) -> bool:
    from memopt.backends.c.emit.registry import all_kernels

    return any(kernel.fast is not None and kernel.isa in isa for kernel in all_kernels())


def connect() -> None:
    """Say which backend knows the kernels of which targets, and who knows the runtimes."""
    connect_runtimes(RUNTIMES)
    connect_kernels("c", Asked(_c_workspace, _c_rows, _c_inlines, _c_fast, _c_any_fast))
