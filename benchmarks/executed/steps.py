"""`python -m benchmarks executed`: training steps in PyTorch, by their plans and as it runs them.

Each step runs once by its plan and once eagerly, from the same state; both peaks are what PyTorch
allocated in this process, and all bits of the results are compared.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import fmean
from typing import Any

import memopt
import memopt.torch
from benchmarks.tables.papers import OLLA_7
from benchmarks.tables.table import Table, reduction
from memopt.text.usage import UsageError
from memopt.torch.graph import drawn
from memopt.torch.interpreter import copied
from memopt.torch.lazy import pytorch
from memopt.torch.measure import measure
from memopt.torch.run import executable, layout_of
from memopt.torch.trace import traced_step
from memopt.torch.training import OPTIMIZERS

NETWORKS = (
    *("alexnet", "vgg11", "googlenet", "mnasnet", "mobilenetv2", "efficientnet", "resnet18"),
    *("resnet50", "resnet3d", "vit", "transformer", "bert", "xlm-r"),
)
STEPS = tuple(f"{name}:{batch}" for batch in (1, 32) for name in NETWORKS)


@dataclass(frozen=True)
class Executed:
    """A step that ran. `source` is the peak of PyTorch's order, `ordered` that of the best one,
    neither with workspace or in place, as OLLA counts; `eager` and `planned` were measured; bytes.
    `seconds` are those of capture and measurement, of the plan, and of a step of each kind."""

    batch: int
    operators: int
    persistent: int
    source: int
    ordered: int
    plan: memopt.Plan
    eager: int
    planned: memopt.torch.Run
    is_equal: bool
    seconds: tuple[float, float, float, float]


def chosen(names: Sequence[str], quick: bool) -> tuple[str, ...]:
    """Return the steps asked for. Raises UsageError for one that there is not, MemoptError without
    PyTorch."""
    named(names)
    pytorch()
    return tuple(names) or (STEPS[:1] if quick else STEPS)


def named(names: Sequence[str]) -> None:
    """Raise UsageError where a name is none of a step."""
    for title in names:
        name, batch, optimizer = _parts(title)
        if name not in NETWORKS or not batch.isdecimal() or optimizer not in OPTIMIZERS:
            text = f"{title!r} is not NETWORK:BATCH or NETWORK:BATCH:adam, with NETWORK one of"
            raise UsageError(f"{text} {', '.join(NETWORKS)}")


def _parts(title: str) -> tuple[str, str, str]:
    """Return the network, the batch and the optimizer of a title."""
    name, _, rest = title.partition(":")
    batch, _, optimizer = rest.partition(":")
    return name, batch, optimizer or "sgd"


def built(title: str) -> memopt.torch.Step:
    """Return the step of training called so, with random weights and examples."""
    name, batch, optimizer = _parts(title)
    networks: Any = import_module("benchmarks.executed.networks")
    pytorch().manual_seed(0)
    x, y = networks.examples(name, int(batch))
    module = networks.NETWORKS[name]().train()
    return memopt.torch.training(module, (x,), y, networks.loss_of, optimizer)


def execute(title: str, time_limit: float | None) -> Executed:
    """Run one step of a network."""
    torch: Any = import_module("torch")
    tree: Any = import_module("torch.utils._pytree")
    step = built(title)
    name, batch, _ = _parts(title)
    started = time.perf_counter()
    seen = drawn(traced_step(step), name)
    measure(step, seen)
    captured = time.perf_counter() - started
    graph = seen.graph
    started = time.process_time()
    plan = memopt.plan(graph, pipeline=memopt.torch.PIPELINE, time_limit=time_limit)
    planning = time.process_time() - started
    bare = graph | {"nodes": [_bare(node) for node in graph["nodes"]]}
    bare_options: dict[str, Any] = {"pipeline": memopt.torch.PIPELINE, "time_limit": time_limit}
    source = memopt.plan(bare, schedule="source", place="tflite", **bare_options).peak
    ordered = memopt.plan(bare, place="tflite", **bare_options).peak
    ours = copied(step.state)
    program = executable(step, seen, layout_of(plan))
    torch.manual_seed(1)
    started = time.perf_counter()
    planned = program.run(ours, step.inputs)
    seconds = time.perf_counter() - started
    del program
    torch.manual_seed(1)
    started = time.perf_counter()
    eager = memopt.torch.eager(step)
    eager_seconds = time.perf_counter() - started
    pairs = zip(
        tree.tree_leaves((ours, planned.value)),
        tree.tree_leaves((step.state, eager.value)),
        strict=True,
    )
    return Executed(
        int(batch),
        len(graph["nodes"]),
        sum(t["bytes"] for t in graph["tensors"] if t.get("persistent")),
        source,
        ordered,
        plan,
        eager.peak,
        planned,
        all(_same_bits(a, b) for a, b in pairs),
        (captured, planning, seconds, eager_seconds),
    )


def _bare(node: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in node.items() if k not in ("workspace", "may_overwrite", "attrs")}


def _same_bits(one: Any, other: Any) -> bool:
    torch: Any = import_module("torch")
    a, b = (t.detach().contiguous().view(-1).view(torch.uint8) for t in (one, other))
    return bool(torch.equal(a, b))


def executed(
    names: Sequence[str], time_limit: float | None, tick: Callable[[str], None]
) -> list[Table]:
    """Return a row per step, and the means beside OLLA's. A step is NETWORK:BATCH, or :adam behind
    it."""
    table = Table(
        "executed",
        "Training steps that ran by their plans",
        (
            *("step", "operators", "persistent B", "eager B", "planned B", "arena B"),
            *("saved %", "of all bytes %", "by order %", "optimal", "fragmentation %"),
            *("outside", "equal", "plan CPU s", "step s", "eager s"),
        ),
        (
            "Eager and planned: the most that PyTorch had allocated at one time during the step,"
            " beside its state and batch (persistent), each tensor rounded up to 64 B; planned is"
            " the arena and what was allocated outside. By order: of all bytes, planned without"
            " workspace and nothing in place, as OLLA counts. Equal: loss and state, bit by bit.",
        ),
    )
    done: list[Executed] = []
    for title in names:
        tick(title)
        done.append(e := execute(title, time_limit))
        seconds = (round(s, 1) for s in e.seconds[1:])
        table.add(
            *(title, e.operators, e.persistent, e.eager, e.planned.peak, e.planned.arena),
            *(_saved(e.eager, e.planned.peak, 0), _saved(e.eager, e.planned.peak, e.persistent)),
            *(_saved(e.source, e.ordered, e.persistent), e.plan.optimal),
            round(reduction(e.plan.arena, e.plan.peak), 2),
            *(e.planned.outside, e.is_equal, *seconds),
        )
        tick(str(dict(zip(table.columns, table.rows[-1], strict=True))))
    return [table, _beside_olla(done)]


def _saved(before: int, after: int, persistent: int) -> float:
    return round(reduction(before, after, persistent), 1)


def _beside_olla(done: Sequence[Executed]) -> Table:
    table = Table(
        "executed-olla",
        "Beside OLLA",
        ("batch", "steps", "saved by order, mean %", "OLLA* %", "measured, mean %", "equal"),
        (
            "Of all bytes. OLLA: Steiner et al., 2022, section 5.4, on its eleven networks;"
            " measured is the process, with workspace and in place, beside eager PyTorch.",
        ),
    )
    for batch in sorted({e.batch for e in done}):
        of = [e for e in done if e.batch == batch]
        table.add(
            *(batch, len(of)),
            round(fmean(_saved(e.source, e.ordered, e.persistent) for e in of), 1),
            OLLA_7.get(batch, "-"),
            round(fmean(_saved(e.eager, e.planned.peak, e.persistent) for e in of), 1),
            all(e.is_equal for e in of),
        )
    return table
