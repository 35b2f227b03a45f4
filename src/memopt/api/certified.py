"""Certificates of plans: `memopt verify PLAN --certificate FILE`.

The memory graph is derived again from the IR and its hash compared with the certificate's; then the
stand-alone checker has the last word. Nothing that the plan claims of its bound is believed.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.passes.plan.certify import certified_graph
from memopt.solvers.checker import RejectedError, check, parse, schema
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory.certificates import digest
from memopt.verify.plan import verify_plan


def optimality_of(found: Sequence[FuncOp], path: Path) -> str:
    """`proven (flow)` or `proven (search)`, or `gap` with the bound that is proven.

    Raises MemoptError if the certificate is rejected or speaks of another graph or order, OSError.
    """
    if len(found) != 1:
        raise MemoptError(f"a certificate speaks of one function, there are {len(found)}")
    func = found[0]
    verified = verify_plan(func)
    place = str(path)
    try:
        certificate = parse(path.read_text(encoding="utf-8"))
        schema(certificate)  # before anything is read from it
    except (RejectedError, UnicodeDecodeError) as error:
        raise MemoptError(f"the certificate is rejected: {error}", place) from None
    graph = certified_graph(func)
    assumed = _assumption(func, graph, certificate)
    if assumed is None:
        raise MemoptError("the certificate speaks of another graph than the plan", place)
    if certificate["order"] != list(range(len(graph))):
        raise MemoptError("the certificate speaks of another order than the plan's", place)
    try:
        check(certificate)
    except RejectedError as error:
        raise MemoptError(f"the certificate is rejected: {error}", place) from None
    kind, bound = certificate["proof"]["kind"], certificate["lower_bound"]
    if bound == verified.peak:
        return f"proven ({kind}){assumed}"
    return f"gap, no order is below {bound:,} B ({kind}){assumed}"


def is_proven(optimality: str) -> bool:
    """Return whether `optimality_of` says that no order is better, under no assumption."""
    return optimality in ("proven (flow)", "proven (search)")


def _assumption(func: FuncOp, graph: MemoryGraph, certificate: dict[str, Any]) -> str | None:
    """Return the assumption under which the two graphs are the same; None if they are not."""
    text = json.dumps(certificate["graph"], sort_keys=True, separators=(",", ":"))
    hashed = hashlib.sha256(text.encode()).hexdigest()
    if digest(graph) == hashed:
        return ""
    if digest(certified_graph(func, True)) == hashed:
        return ", if unknown operations are pure"
    return None
