"""Claims of a plan that comes from a file about its optimality, until somebody shows it.

A plan's peak and arena are derived again; a bound and its proof are not in the IR. So what the same
run has proven is `optimal`, and what a file says is `claimed`: `optimal` is null.
"""

from typing import Any

from xdsl.dialects.func import FuncOp

from memopt.analysis.weights import Weights
from memopt.dialects.attributes.channels import has_claims
from memopt.dialects.memgraph.plan import said_optimal
from memopt.passes.memgraph_traffic import check_traffic
from memopt.text.format import sizes
from memopt.verify.channels import verify_channels


def only_claimed(report: dict[str, Any], proven: bool = False) -> dict[str, Any]:
    """The report of a plan that was read: null where it says that nothing better exists. If its
    order is `proven` by a certificate, no peak is smaller, so an arena of that size neither."""
    plan, memories = dict(report["plan"]), report["memories"]
    for key in ("optimal", "arena_optimal"):
        plan[key] = said_optimal(plan[key], claimed=True)
    shown = False
    if proven:
        one_arena = not plan["objects"] and memories is None
        shown = one_arena and plan["arena"] == plan["peak"]
        plan |= {"optimal": True, "arena_optimal": True if shown else plan["arena_optimal"]}
    if memories is not None:
        memories = memories | {"optimal": said_optimal(memories["optimal"], claimed=True)}
    return report | {"plan": plan | {"claimed": not shown}, "memories": memories}


def optimality_line(proof: str, tight: bool) -> str:
    """`optimality` of a plan that no certificate was given for."""
    return f"not checked, only claimed ({proof})" if tight and proof != "none" else "not checked"


def off_chip_claims(func: FuncOp) -> dict[str, Any] | None:
    """Return the claims of a function that was read about its traffic off the chip, checked as far
    as it can be.

    Belady's bytes are derived again, and those of a list of what is outside; other rules' and the
    bounds are claimed. Raises MemoptError.
    """
    traffic = check_traffic(func)
    if traffic is None:
        return None
    claimed = traffic.rule.data != "belady" and not len(traffic.outside)
    tight = traffic.lower_bound.data == traffic.moved.data and traffic.proof.data != "none"
    of_orders: dict[str, Any] = {}
    if objective := traffic.objective.data:
        bound = traffic.orders_lower_bound.data
        of_orders = {"objective": objective, "orders_lower_bound": bound}
    return {
        "on_chip": traffic.on_chip.data,
        "rule": traffic.rule.data,
        "moved": traffic.moved.data,
        "moved_claimed": claimed,
        "lower_bound": traffic.lower_bound.data,
        "optimal": said_optimal(tight, claimed=True),
        **of_orders,
    }


def off_chip_lines(claims: dict[str, Any] | None) -> list[str]:
    """Return the claims of `off_chip_claims` for people."""
    if claims is None:
        return []
    said = "claimed: " if claims["moved_claimed"] else ""
    return [
        f"off chip  {said}{sizes(claims['moved'])} moved with {sizes(claims['on_chip'])} on it "
        f"({claims['rule']}), claimed bound {claims['lower_bound']:,} B"
        + (
            f", {claims['orders_lower_bound']:,} B of all orders"
            if "orders_lower_bound" in claims
            else ""
        )
    ]


def channel_claims(func: FuncOp, weights: Weights) -> str | None:
    """Return the check of channels that were left out, for people; None if none were. Raises
    MemoptError for a claim that is not so."""
    if not has_claims(func):
        return None
    return f"{verify_channels(func, weights.array):,} were left out, and nobody misses them"
