"""Questions about a target's kernels, answered before anything is planned.

    workspace_of(op, target)      # bytes of scratch, 0 for none
    computes_rows(op, target)     # whether it may be cut into rows
    can_inline(op, target)        # whether it may read virtual tensors
    fast_forms(op, target)        # bytes of scratch in which it would be faster, by form
    may_be_fast(target)           # whether any operation would

Kernels belong to a backend, and passes know none. Whoever knows both, the command line, names the
one to ask (`src/memopt/compile/connections.py`); kernels of targets without such a backend ask for
nothing and compute all.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from memopt.targets.core.target import Target


class KernelOracle(Protocol):
    """Interface of a module that answers for kernels on a core with the instruction sets `isa`,
    best first."""

    def workspace_of(self, op: "Operation", isa: tuple[str, ...]) -> int: ...
    def computes_rows(self, op: "Operation", isa: tuple[str, ...]) -> bool: ...
    def can_inline(self, op: "Operation", isa: tuple[str, ...]) -> bool: ...
    def fast_forms(self, op: "Operation", isa: tuple[str, ...]) -> dict[str, int]: ...
    def any_fast(self, isa: tuple[str, ...]) -> bool: ...


_modules: dict[str, str] = {}


def connect_oracle(output: str, module: str) -> None:
    """Let a module, a KernelOracle, answer for kernels of targets with this `output`; it is loaded
    when it is asked."""
    _modules[output] = module
    _oracle.cache_clear()


@cache
def _oracle(output: str) -> KernelOracle | None:
    name = _modules.get(output)
    return None if name is None else cast("KernelOracle", import_module(name))


def workspace_of(op: "Operation", target: "Target") -> int:
    """Bytes of scratch that the target's kernel for an operation works in, from its types alone."""
    oracle = _oracle(target.output)
    return 0 if oracle is None else oracle.workspace_of(op, target.isa)


def computes_rows(op: "Operation", target: "Target") -> bool:
    """Return whether the target's kernel for an operation, if it has one, computes single rows."""
    oracle = _oracle(target.output)
    return oracle is None or oracle.computes_rows(op, target.isa)


def can_inline(op: "Operation", target: "Target") -> bool:
    """Return whether the target's kernels make the virtual tensors that an operation reads."""
    oracle = _oracle(target.output)
    return oracle is None or oracle.can_inline(op, target.isa)


def fast_forms(op: "Operation", target: "Target") -> dict[str, int]:
    """Bytes of scratch of the target's faster kernels for an operation by their forms
    (`dialects.plan.FORMS`), the fastest first; none if there are none."""
    oracle = _oracle(target.output)
    return {} if oracle is None else oracle.fast_forms(op, target.isa)


def may_be_fast(target: "Target") -> bool:
    """Return whether the target has kernels that take scratch to be faster."""
    oracle = _oracle(target.output)
    return oracle is not None and oracle.any_fast(target.isa)
