"""What a target's kernels need besides operands and results, asked before anything is planned.

    workspace_of(op, target)    # bytes of scratch, 0 for none

Kernels belong to a backend, and passes know none. Whoever knows both, the front door, names the one
to ask (`src/memopt/connections.py`); kernels of targets without such a backend ask for nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memopt.targets.core.target import Target

if TYPE_CHECKING:
    from xdsl.ir import Operation

Ask = Callable[["Operation", tuple[str, ...]], int]
"""Bytes of scratch of an operation's kernel on a core with these instruction sets, best first."""

_ASKED: dict[str, Ask] = {}


def ask_for_workspace(output: str, ask: Ask) -> None:
    """Kernels of targets with this `output` are known to `ask`."""
    _ASKED[output] = ask


def workspace_of(op: "Operation", target: Target) -> int:
    """Bytes of scratch that the target's kernel for an operation works in, from its types alone."""
    ask = _ASKED.get(target.output)
    return 0 if ask is None else ask(op, target.isa)
