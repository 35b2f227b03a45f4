"""`memopt.verify(plan)`: a plan checked by what shares no code with the solvers."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from xdsl.dialects.builtin import ModuleOp

from memopt.api.certified import optimality_of
from memopt.api.place_buffers import Placed
from memopt.api.plans import Plan
from memopt.api.sources import Model, load, told
from memopt.compile.driver import IR, check_claims
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.frontends.core.registry import frontend_of, frontend_of_bytes, with_plans
from memopt.verify.buffers import verify_rows
from memopt.verify.plan import verify_plan


@dataclass(frozen=True)
class Verified:
    """Figures that the verifier derived again, in bytes: the plan says the same.

    `arena` is None where the plan has no offsets. `lower_bound` and `proof` are claims of the plan;
    `optimality` says what a certificate proves of them: `not checked` without one, `proven (flow)`,
    `proven (search)`, or `gap` with the bound that is proven.
    """

    name: str
    peak: int
    arena: int | None
    lower_bound: int
    proof: str
    optimality: str = "not checked"


@overload
def verify(source: Placed) -> int: ...
@overload
def verify(
    source: "str | os.PathLike[str] | bytes | Plan | Model | ModuleOp",
    *,
    certificate: "str | os.PathLike[str] | None" = None,
) -> Verified: ...
def verify(
    source: "str | os.PathLike[str] | bytes | Plan | Model | ModuleOp | Placed",
    *,
    certificate: "str | os.PathLike[str] | None" = None,
) -> Verified | int:
    """Check a plan: order, live ranges, overlaps, alignment, peak and arena, trusting nothing.

    `source` is a Plan, a path or the bytes of a plan (.mlir, or .tflite with an offline plan), or a
    module. `certificate` is the file that proves its bound (docs/concepts/certificates.md). The
    answer of `memopt.place` is checked too: then the arena in bytes is given back.

    Raises MemoptError with the first fault, OSError, TypeError.

        >>> memopt.verify(memopt.plan("net.tflite", target="tflm"))
        Verified(name='main', peak=73728, arena=73728, lower_bound=73728, proof='search', ...)
    """
    if isinstance(source, Placed):
        with told("buffers"):
            return _verify_placed(source)
    if isinstance(source, Plan):
        name, module, data = source.name, source.module, source.data
    else:
        name, module, data = _planned(source)
    with told(name):
        func = only_function(module)
        verified = verify_plan(func)
        check_claims(module, data)
        optimality = (
            "not checked" if certificate is None else optimality_of([func], Path(certificate))
        )
    plan = verified.plan
    return Verified(
        func.sym_name.data,
        verified.peak,
        verified.arena,
        plan.lower_bound.data,
        plan.proof.data,
        optimality,
    )


def _planned(
    source: "str | os.PathLike[str] | bytes | Model | ModuleOp",
) -> tuple[str, ModuleOp, bytes | None]:
    """Return what messages call a plan, its module, and the bytes of its model if in no file."""
    if isinstance(source, bytes):
        with told("bytes"):
            frontend = frontend_of_bytes(source, "bytes")
            if frontend is not None and frontend.planned:
                return "bytes", frontend.read_planned(source, "bytes"), source
    elif isinstance(source, str | os.PathLike):
        path = Path(source)
        frontend = frontend_of(path.suffix)
        if frontend is not None and frontend.planned:
            with told(str(path)):
                return str(path), frontend.read_planned(path.read_bytes(), str(path)), None
        if path.suffix != IR:
            raise MemoptError(f"a plan is an {with_plans(IR)} file", str(path))
    model = load(source)
    return model.name, model.module, model.data


def _verify_placed(placed: Placed) -> int:
    arena = verify_rows(placed.rows)
    if tuple(r.offset for r in placed.rows) != placed.offsets:
        raise MemoptError("the offsets are not those of the rows", "buffers")
    if arena > placed.arena:
        raise MemoptError(f"the rows end at {arena} B, the answer says {placed.arena} B", "buffers")
    return arena
