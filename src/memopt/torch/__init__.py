"""PyTorch's modules and training steps as graphs, and plans of them.

`capture` and `plan` need PyTorch, which the rest of memopt does not. No data is touched: sizes come
from fake tensors.

    import memopt.torch
    plan = memopt.torch.plan(module, (torch.zeros(1, 3, 224, 224),))
    step = memopt.torch.training(module, (x,), y, torch.nn.functional.cross_entropy, "adam")
    plan = memopt.torch.plan(step)

`memopt capture FILE.py:NAME -o graph.json` writes the graph, for which PyTorch is no longer needed.
"""

from typing import Any

from memopt.api import Plan
from memopt.api import plan as plan_graph
from memopt.dialects.memgraph.errors import MemoptError
from memopt.torch.graph import graph_of
from memopt.torch.trace import Step, traced_module, traced_step
from memopt.torch.training import training

__all__ = ["Step", "capture", "plan", "training"]


def capture(what: Any, inputs: tuple[Any, ...] | None = None, name: str = "") -> dict[str, Any]:
    """A `Step`, or a module with example inputs, as a JSON graph; `name` is what it is called.

    The parameters and buffers of a module are persistent, and so is all that a step is given.
    Raises MemoptError for what is neither, has sizes that depend on data, or graphs inside.
    """
    if isinstance(what, Step):
        return graph_of(traced_step(what), name or "step")
    if inputs is None or not hasattr(what, "named_parameters"):
        raise MemoptError("neither a memopt.torch.Step nor a module with a tuple of inputs")
    return graph_of(traced_module(what, inputs), name or type(what).__name__)


def plan(what: Any, inputs: tuple[Any, ...] | None = None, **options: Any) -> Plan:
    """Return the plan of the graph that `capture` gives, with the options of `memopt.plan`."""
    return plan_graph(capture(what, inputs), **options)
