"""What a plan that comes from a file says of its optimality: claimed, until somebody shows it.

A plan's peak and arena are derived again; a bound and its proof are not in the IR. So what the same
run has proven is `optimal`, and what a file says is `claimed`: `optimal` is null.
"""

from typing import Any


def only_claimed(report: dict[str, Any]) -> dict[str, Any]:
    """The report of a plan that was read: null where it says that nothing better exists."""
    plan, memories = dict(report["plan"]), report["memories"]
    for key in ("optimal", "arena_optimal"):
        plan[key] = None if plan[key] else False
    if memories is not None:
        memories = memories | {"optimal": None if memories["optimal"] else False}
    return report | {"plan": plan | {"claimed": True}, "memories": memories}


def optimality_line(proof: str, tight: bool) -> str:
    """`optimality` of a plan that no certificate was given for."""
    return f"not checked, only claimed ({proof})" if tight and proof != "none" else "not checked"
