"""Certificates: what proves to anyone that no order of a graph has a peak below a bound.

Two kinds. `flow` is T6 (theory.md section 3): for one operator a flow for every way it may run in
place, and one for none. `search` is a set of executed sets that no way below the bound leaves: from
each of them all moves reach the bound or another one of the set, or T1 commits to one of them
(`closure.py`). Nothing that a solver claims is taken over.

`checker.py` checks both, alone and without this file. Proofs: docs/concepts/certificates.md.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from memopt.solvers.errors import NoCertificateError
from memopt.solvers.problems.memory_graph import MemoryGraph, check_order, profile
from memopt.solvers.theory.bounds import flow_bound
from memopt.solvers.theory.closure import search_proof
from memopt.solvers.theory.network import certificate as flows_of

MAX_BYTES = 50_000_000  # a larger certificate is not written


def graph_dict(graph: MemoryGraph) -> dict[str, Any]:
    """The memory graph as JSON: operators and groups by index, sizes in bytes, not rounded."""
    return {
        "alignment": graph.alignment,
        "names": list(graph.names),
        "predecessors": [sorted(set(ps)) for ps in graph.predecessors],
        "groups": [
            {
                "name": g.name,
                "size": g.size,
                "writers": sorted(set(g.writers)),
                "readers": sorted(set(g.readers)),
                "is_input": g.is_input,
                "is_output": g.is_output,
            }
            for g in graph.groups
        ],
        "workspace": list(graph.workspace),
        "inplace": [[c.operator, c.result, c.operand] for c in graph.inplace],
    }


def digest(graph: MemoryGraph) -> str:
    """SHA-256 of the graph's JSON, keys sorted, without white space."""
    text = json.dumps(graph_dict(graph), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def certificate(
    graph: MemoryGraph,
    order: Sequence[int],
    lower_bound: int,
    time_limit: float | None = None,
    max_bytes: int = MAX_BYTES,
) -> dict[str, Any]:
    """The certificate that `order` has its peak and that none is below `lower_bound` bytes.

    Raises NoCertificateError if the bound is wrong, or if the search needs more than `time_limit`
    seconds or its certificate more than `max_bytes`; ProblemError for an order that is none.
    """
    check_order(graph, order)
    proof = flow_proof(graph, order, lower_bound) or search_proof(
        graph, lower_bound, time_limit, max_bytes
    )
    return {
        "format": "memopt certificate 1",
        "sha256": digest(graph),
        "graph": graph_dict(graph),
        "order": list(order),
        "peak": profile(graph, order).peak,
        "lower_bound": lower_bound,
        "proof": proof,
    }


def certificate_text(found: dict[str, Any], max_bytes: int = MAX_BYTES) -> str:
    """The certificate as a file. Raises NoCertificateError above `max_bytes`."""
    text = json.dumps(found, separators=(",", ":")) + "\n"
    if len(text) > max_bytes:
        raise NoCertificateError(f"the certificate of {len(text):,} bytes is not written")
    return text


def flow_proof(graph: MemoryGraph, order: Sequence[int], lower_bound: int) -> dict[str, Any] | None:
    """The flows of an operator that prove `lower_bound` by T6; None if T6 does not reach it."""
    bound = flow_bound(graph, [order])
    if bound.operator is None or bound.value < lower_bound:
        return None
    operator = bound.operator
    cuts = flows_of(graph, operator)
    if min(c.value for c in cuts) < lower_bound:
        return None
    flows = [
        {
            "operand": None if c.candidate is None else c.candidate.operand,
            "flow": [list(arc) for arc in c.flow],
        }
        for c in cuts
    ]
    return {"kind": "flow", "operator": operator, "flows": flows}
