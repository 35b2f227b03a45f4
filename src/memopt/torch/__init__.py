"""PyTorch's modules and training steps as graphs, and plans of them.

`capture` and `plan` need PyTorch, which the rest of memopt does not. No data is touched: sizes come
from fake tensors.

    import memopt.torch
    plan = memopt.torch.plan(module, (torch.zeros(1, 3, 224, 224),))
    step = memopt.torch.training(module, (x,), y, torch.nn.functional.cross_entropy, "adam")
    plan = memopt.torch.plan(step)

`run` and `compile` execute a step by its plan: every tensor at its planned address, on real data.

    fast = memopt.torch.compile(step)
    loss = fast(step.state, *step.inputs)     # as step.function is called
    fast.last.peak                            # bytes that were in use

`memopt capture FILE.py:NAME -o graph.json` writes the graph, for which PyTorch is no longer needed.
"""

from dataclasses import replace
from typing import Any

from memopt.api.plans import Plan
from memopt.api.plans import plan as plan_graph
from memopt.dialects.memgraph.errors import MemoptError
from memopt.torch.graph import drawn, graph_of
from memopt.torch.measure import measure
from memopt.torch.run import PIPELINE, Executable, Run, eager, executable, layout_of
from memopt.torch.trace import Step, traced_module, traced_step
from memopt.torch.training import training

__all__ = [
    "PIPELINE",
    "Compiled",
    "Run",
    "Step",
    "capture",
    "compile",
    "eager",
    "plan",
    "run",
    "training",
]


def capture(
    what: Any, inputs: tuple[Any, ...] | None = None, name: str = "", measured: bool = False
) -> dict[str, Any]:
    """A `Step`, or a module with example inputs, as a JSON graph; `name` is what it is called.

    The parameters and buffers of a module are persistent, and so is all that a step is given.
    `measured` runs a step once, on a copy of its state, and adds what its operators allocate.
    Raises MemoptError for what is neither, has sizes that depend on data, or graphs inside.
    """
    if isinstance(what, Step):
        seen = drawn(traced_step(what), name or "step")
        if measured:
            measure(what, seen)
        return seen.graph
    if inputs is None or not hasattr(what, "named_parameters"):
        raise MemoptError("neither a memopt.torch.Step nor a module with a tuple of inputs")
    if measured:
        raise MemoptError("a module is not run: make a memopt.torch.Step of it")
    return graph_of(traced_module(what, inputs), name or type(what).__name__)


def plan(what: Any, inputs: tuple[Any, ...] | None = None, **options: Any) -> Plan:
    """Return the plan of the graph that `capture` gives, with the options of `memopt.plan`."""
    return plan_graph(capture(what, inputs), **options)


def run(step: Step, plan: Plan) -> Run:
    """Run a step once, by the plan of its measured graph, on its own state and inputs.

    Raises MemoptError for a plan of another step, a stale plan, and what `Executable.run` refuses.
    """
    layout = layout_of(plan)
    seen = drawn(traced_step(step), "step")
    return executable(step, seen, layout).run(step.state, step.inputs)


class Compiled:
    """A step that runs by its plan; it is called as `step.function` is. `plan` is the plan, `last`
    what is known of the last call. Calls share one arena, so no two may run at a time."""

    def __init__(self, plan: Plan, executable: Executable):
        self.plan = plan
        self.last: Run | None = None
        self._executable = executable

    def __call__(self, state: Any, *inputs: Any) -> Any:
        """Return what the step returns. Raises MemoptError for other sizes or types than those
        that it was compiled for."""
        done = self._executable.run(state, inputs)
        self.last = replace(done, value=None)
        return done.value


def compile(step: Step, **options: Any) -> Compiled:  # noqa: A001 (as torch.compile)
    """Return a step that is captured, measured and planned, with the options of `memopt.plan`."""
    seen = drawn(traced_step(step), "step")
    measure(step, seen)
    planned = plan_graph(seen.graph, pipeline=PIPELINE, **options)
    return Compiled(planned, executable(step, seen, layout_of(planned)))
