"""A module, or a training step, as a graph of ATen operators on fake tensors: none has any data.

A module goes through `torch.export`, a step through `make_fx`, which follows Python, autograd and
all, down to the operators that would run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memopt.torch.lazy import pytorch


@dataclass(frozen=True)
class Step:
    """`function(state, *inputs)`: a step of training or any other callable that overwrites tensors.

    `state`: nested dicts, lists and tuples of tensors that stay from step to step (parameters,
    buffers, what the optimiser keeps). `inputs`: tensors, or such nests. Both are the caller's
    while the step runs, so they are persistent.
    """

    function: Callable[..., Any]
    state: Any
    inputs: tuple[Any, ...]


@dataclass(frozen=True)
class Traced:
    """A graph of PyTorch's with the name of each placeholder, in their order, and which of them
    stay where they are."""

    graph_module: Any
    names: Sequence[str]
    persistent: Sequence[bool]


def traced_module(module: Any, inputs: tuple[Any, ...]) -> Traced:
    """A module by `torch.export`. Its parameters, buffers and constants are persistent; its inputs
    are those of the graph."""
    program = pytorch("torch.export").export(module, inputs)
    names: list[str] = []
    persistent: list[bool] = []
    for spec in program.graph_signature.input_specs:
        given = spec.kind.name == "USER_INPUT"
        names.append(spec.arg.name if given else spec.target)
        persistent.append(not given)
    return Traced(program.graph_module, names, persistent)


def traced_step(step: Step) -> Traced:
    """A step by `make_fx`; nothing of it is left out or changed, so it also shows what is written
    in place."""
    proxy = pytorch("torch.fx.experimental.proxy_tensor")
    tree = pytorch("torch.utils._pytree")
    make = proxy.make_fx(
        step.function,
        decomposition_table=_honest(),
        tracing_mode="fake",
        _allow_non_fake_inputs=True,
    )
    graph_module = make(step.state, *step.inputs)
    state, _ = tree.tree_flatten_with_path(step.state)
    inputs, _ = tree.tree_flatten_with_path(step.inputs)
    names = [_name("state", path) for path, _ in state] + [_name("input", p) for p, _ in inputs]
    return Traced(graph_module, names, [True] * len(names))


def _name(what: str, path: Sequence[Any]) -> str:
    """`state.weights.conv.weight` of the keys on the way to a tensor."""
    keys = (str(getattr(key, "key", getattr(key, "idx", key))) for key in path)
    return ".".join([what, *keys])


def _honest() -> dict[Any, Any]:
    """`native_batch_norm` overwrites its running statistics, of which its schema says nothing;
    this is the same by an operator whose schema does."""
    aten = pytorch().ops.aten
    legit = aten._native_batch_norm_legit

    def batch_norm(
        x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, *rest: float
    ) -> Any:
        if mean is None:
            return legit.no_stats(x, weight, bias, training, *rest)
        return legit.default(x, weight, bias, mean, var, training, *rest)

    return {aten.native_batch_norm.default: batch_norm}
