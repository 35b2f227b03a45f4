"""A planned function that was verified and analysed, for backends that are handed one.

Whoever has planned a function a moment ago hands this on, so that nobody derives it again; what was
read from a file comes without, and `checked` derives it.
"""

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from memopt.analysis.function_memory import function_memory
from memopt.analysis.storage_groups import BlockMemory
from memopt.analysis.weights import Weights, weights_of
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.plan import model_of
from memopt.verify.channels import check_channels
from memopt.verify.plan import verify_plan


@dataclass(frozen=True)
class Checked:
    """The function, its plan, which the verifier found true, and its storage groups. It holds until
    the function changes."""

    func: FuncOp
    plan: PlanAttr
    memory: BlockMemory


def checked(func: FuncOp, placed: bool = False, weights: Weights | None = None) -> Checked:
    """Return a function whose plan, and what it says of channels, was verified; with `placed`,
    offsets are required. `weights` are the module's if not given. Raises MemoptError."""
    plan = verify_plan(func, placed).plan
    check_channels(func, (weights or weights_of(func)).array)
    return Checked(func, plan, function_memory(func, model_of(func)))
