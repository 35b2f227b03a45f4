"""Questions about a target's kernels, answered before anything is planned.

    workspace_of(op, target)      # bytes of scratch, 0 for none
    computes_rows(op, target)     # whether it may be cut into rows
    can_inline(op, target)      # whether it may read what is no buffer
    fast_forms(op, target)        # bytes of scratch in which it would be faster, by form
    may_be_fast(target)           # whether any operation would

Kernels belong to a backend, and passes know none. Whoever knows both, the command line, names the
one to ask (`src/memopt/compile/connections.py`); kernels of targets without such a backend ask for
nothing and compute all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memopt.targets.core.target import Target

if TYPE_CHECKING:
    from xdsl.ir import Operation


@dataclass(frozen=True)
class Asked:
    """Answers about an operation's kernel, on a core with these instruction sets, best first.

    They are bytes of scratch, whether it computes single rows, whether operands that are no buffers
    can be made as it reads them, and in how many bytes of scratch it would be faster, by form, the
    best first; `any_fast`, whether there are such kernels at all.
    """

    workspace: Callable[["Operation", tuple[str, ...]], int]
    rows: Callable[["Operation", tuple[str, ...]], bool]
    inlines: Callable[["Operation", tuple[str, ...]], bool]
    fast: Callable[["Operation", tuple[str, ...]], dict[str, int]]
    any_fast: Callable[[tuple[str, ...]], bool]


_ASKED: dict[str, Asked] = {}


def connect_kernels(output: str, asked: Asked) -> None:
    """Kernels of targets with this `output` are known to `asked`."""
    _ASKED[output] = asked


def workspace_of(op: "Operation", target: Target) -> int:
    """Bytes of scratch that the target's kernel for an operation works in, from its types alone."""
    asked = _ASKED.get(target.output)
    return 0 if asked is None else asked.workspace(op, target.isa)


def computes_rows(op: "Operation", target: Target) -> bool:
    """Return whether the target's kernel for an operation, if it has one, computes single rows."""
    asked = _ASKED.get(target.output)
    return asked is None or asked.rows(op, target.isa)


def can_inline(op: "Operation", target: Target) -> bool:
    """Return whether the target's kernels make operands of an operation that are no buffers."""
    asked = _ASKED.get(target.output)
    return asked is None or asked.inlines(op, target.isa)


def fast_forms(op: "Operation", target: Target) -> dict[str, int]:
    """Bytes of scratch of the target's faster kernels for an operation by their forms
    (`dialects.plan.FORMS`), the fastest first; none if there are none."""
    asked = _ASKED.get(target.output)
    return {} if asked is None else asked.fast(op, target.isa)


def may_be_fast(target: Target) -> bool:
    """Return whether the target has kernels that take scratch to be faster."""
    asked = _ASKED.get(target.output)
    return asked is not None and asked.any_fast(target.isa)
