"""A step of training as people write it: forward, loss, backward, and the optimiser's update."""

from collections.abc import Callable
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError
from memopt.torch.lazy import pytorch
from memopt.torch.trace import Step

OPTIMIZERS = ("sgd", "adam")


def training(
    module: Any,
    inputs: tuple[Any, ...],
    targets: Any,
    loss: Callable[[Any, Any], Any],
    optimizer: str = "sgd",
    rate: float = 1e-3,
) -> Step:
    """The step `loss(module(*inputs), targets)`, its gradients, and an update of all parameters
    that have one, each in place; it returns the loss.

    `optimizer`: "sgd", w -= rate * g; "adam", by the form at the end of section 2 of Kingma and Ba,
    2015, which keeps two moments per weight. Raises MemoptError for another one.
    """
    if optimizer not in OPTIMIZERS:
        text = f"optimizer {optimizer!r} is not one of: {', '.join(OPTIMIZERS)}"
        raise MemoptError(f"{text}; memopt.torch.Step takes any callable")
    torch = pytorch()
    call = pytorch("torch.func").functional_call
    weights = {n: p.detach() for n, p in module.named_parameters() if p.requires_grad}
    frozen = {n: p.detach() for n, p in module.named_parameters() if not p.requires_grad}
    state: dict[str, Any] = {"weights": weights, "rest": {**frozen, **dict(module.named_buffers())}}
    if optimizer == "adam":
        for moment in ("first", "second"):
            state[moment] = {n: torch.zeros_like(p) for n, p in weights.items()}

    def step(state: dict[str, Any], inputs: tuple[Any, ...], targets: Any) -> Any:
        weights = {n: p.requires_grad_() for n, p in state["weights"].items()}
        value = loss(call(module, {**weights, **state["rest"]}, inputs), targets)
        gradients = torch.autograd.grad(value, list(weights.values()))
        with torch.no_grad():
            for (name, weight), gradient in zip(weights.items(), gradients, strict=True):
                if optimizer == "sgd":
                    weight.add_(gradient, alpha=-rate)
                else:
                    _adam(weight, gradient, state["first"][name], state["second"][name], rate)
        return value.detach()

    return Step(step, state, (inputs, targets))


def _adam(weight: Any, gradient: Any, first: Any, second: Any, rate: float) -> None:
    """In place but for one root; the constants are the usual ones."""
    first.mul_(0.9).add_(gradient, alpha=0.1)
    second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    weight.addcdiv_(first, second.sqrt().add_(1e-8), value=-rate)
