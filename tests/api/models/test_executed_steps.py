"""Training steps that PyTorch runs by their plans: bits equal to what it does by itself, tensors at
their addresses, and every wrong plan noticed."""

import copy
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from benchmarks.__main__ import main as bench
from places import ROOT
from xdsl.dialects.builtin import IntegerAttr, i64

import memopt
from memopt.dialects.memgraph.errors import MemoptError
from memopt.torch import PIPELINE, Step, capture, eager, run, training
from memopt.torch import compile as compiled
from memopt.torch.allocator import installed
from memopt.torch.graph import drawn
from memopt.torch.run import Executable, Layout, executable, layout_of
from memopt.torch.trace import traced_step

NEEDS = "needs PyTorch: pip install memopt[torch]"
STEPS = 20


class Net(NamedTuple):
    """A network, an input and its targets."""

    module: Any
    x: Any
    y: Any


def mlp() -> Net:
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    nn = torch.nn
    net = nn.Sequential(
        nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.GELU(), nn.Linear(96, 9)
    )
    return Net(net, torch.randn(8, 64), torch.randint(0, 9, (8,)))


def cnn() -> Net:
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    nn = torch.nn
    first = [nn.Conv2d(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU(True), nn.MaxPool2d(2)]
    second = [nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU6()]
    last = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32, 9)]
    return Net(
        nn.Sequential(*first, *second, *last), torch.randn(4, 3, 24, 24), torch.randint(0, 9, (4,))
    )


def attention() -> Net:
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    from torch_networks import transformer

    return Net(transformer(2, 32, 4), *torch.randint(0, 1000, (2, 4, 16)))


def encoder() -> Net:
    """A layer of PyTorch's own, whose attention allocates in several threads at once."""
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, 0.1, "gelu", 1e-6, True, True)
    net = torch.nn.Sequential(layer, torch.nn.Linear(64, 9))
    return Net(net, torch.randn(4, 96, 64), torch.randint(0, 9, (4, 96)))


NETS: dict[str, Callable[[], Net]] = {
    "mlp": mlp,
    "cnn": cnn,
    "attention": attention,
    "encoder": encoder,
}


def step_of(net: Net, optimizer: str = "sgd") -> Step:
    torch: Any = pytest.importorskip("torch", reason=NEEDS)

    def loss(result: Any, targets: Any) -> Any:
        flat = result.reshape(-1, result.shape[-1])
        return torch.nn.functional.cross_entropy(flat, targets.reshape(-1))

    return training(net.module, (net.x,), net.y, loss, optimizer, 1e-2)


def leaves_of(nest: Any) -> list[Any]:
    tree: Any = pytest.importorskip("torch.utils._pytree", reason=NEEDS)
    return tree.tree_leaves(nest)


def bits(nest: Any) -> list[Any]:
    """Tensors as bytes: NaN is equal to itself, and 0 is not -0."""
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    return [t.detach().contiguous().view(-1).view(torch.uint8).tolist() for t in leaves_of(nest)]


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("name", NETS)
def test_twenty_steps_have_the_bits_of_pytorch(name: str, optimizer: str) -> None:
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    torch.manual_seed(0)
    step = step_of(NETS[name](), optimizer)
    before = bits(step.state)
    fast = compiled(step)
    assert bits(step.state) == before  # it was measured on a copy
    ours, theirs = copy.deepcopy(step.state), copy.deepcopy(step.state)
    torch.manual_seed(1)  # of dropout
    expected = [step.function(theirs, *step.inputs) for _ in range(STEPS)]
    torch.manual_seed(1)
    losses = [fast(ours, *step.inputs) for _ in range(STEPS)]
    assert bits(losses) == bits(expected) and bits(ours) == bits(theirs)
    assert bits(ours) != before
    last = fast.last
    assert last is not None and last.served > 10
    if name == "encoder":
        assert last.unused == 0 and last.outside_peak <= 4096
    else:
        assert (last.outside, last.unused, last.outside_peak) == (0, 0, 0)
    plan = fast.plan
    assert plan.optimal and plan.arena == plan.peak == last.peak - last.outside_peak
    assert last.peak <= eager(Step(step.function, theirs, step.inputs)).peak


def test_a_plan_of_a_measured_graph_runs_and_no_other_one() -> None:
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    step = step_of(mlp())
    graph = capture(step, measured=True)
    assert any("workspace" in node for node in capture(step_of(cnn()), measured=True)["nodes"])
    plan = memopt.plan(graph, pipeline=PIPELINE)
    ours, theirs = copy.deepcopy(step.state), copy.deepcopy(step.state)
    done = run(Step(step.function, ours, step.inputs), plan)
    assert bits(done.value) == bits(step.function(theirs, *step.inputs))
    assert bits(ours) == bits(theirs) and done.peak == plan.arena
    x, y = mlp().x, mlp().y
    for text, wrong, other in (
        ("aligned to 16 B", step, memopt.plan(graph)),
        ("does not say what", step, memopt.plan(capture(step), pipeline=PIPELINE)),
        ("is of another step", step_of(Net(mlp().module, x[:4], y[:4])), plan),
        ("is of another step", step_of(Net(mlp().module.double(), x.double(), y)), plan),
        ("is of another step: there", step_of(cnn()), plan),
        ("several memories", step, memopt.plan(graph, pipeline=PIPELINE, place="shared-objects")),
    ):
        with pytest.raises(MemoptError, match=text):
            run(wrong, other)
    fast = compiled(step)
    for text, batch in (
        (r"is float32 \[4, 64\].*captured as float32 \[8, 64\]", (x[:4],)),
        (r"is float64 \[8, 64\]", (x.double(),)),
        ("is given 9 tensors, but was captured with 8", (x, x)),
    ):
        with pytest.raises(MemoptError, match=text):
            fast(ours, batch, y)
    with pytest.raises(MemoptError, match="on the CPU, but a tensor is on meta"):
        fast(ours, (x.to("meta"),), y)
    assert torch.equal(fast(ours, (x,), y), step.function(theirs, (x,), y))


def test_a_changed_plan_is_refused() -> None:
    """By the verifier: offsets that collide, another order, an operator that has changed."""
    step = step_of(mlp())
    plan = memopt.plan(capture(step, measured=True), pipeline=PIPELINE)

    def changed(change: Callable[[list[Any]], None]) -> memopt.Plan:
        module = plan.module.clone()
        change([op for op in module.walk() if op.name == "memgraph.opaque"])
        return replace(plan, module=module)

    def swap(ops: list[Any]) -> None:
        ops[1].detach()
        ops[2].parent.insert_op_after(ops[1], ops[2])

    def rename(ops: list[Any]) -> None:
        ops[0].properties["op_name"] = ops[1].op_name

    def move(ops: list[Any]) -> None:
        for op in ops:
            if "memgraph.offset" in op.attributes:
                first = op.attributes["memgraph.offset"].data[0]
                if isinstance(first, IntegerAttr):
                    moved = [IntegerAttr(1 << 20, i64), *op.attributes["memgraph.offset"].data[1:]]
                    op.attributes["memgraph.offset"] = type(op.attributes["memgraph.offset"])(moved)

    for change in (swap, rename, move):
        with pytest.raises(MemoptError):
            run(step, changed(change))


def test_a_plan_of_another_step_is_refused() -> None:
    """Refuse one with operators of the same names and types, but another operand, one more result,
    or one more operator."""
    torch: Any = pytest.importorskip("torch", reason=NEEDS)

    def step(change: str) -> Step:
        def function(weights: Any, x: Any) -> Any:
            a = torch.relu(x * weights)
            b = a + x
            c = b * b
            total = torch.sigmoid(c + (a if change == "operand" else b)).sum()
            if change == "operator":
                weights.add_(1.0)
            return (total, b) if change == "result" else total

        return Step(function, torch.ones(64), (torch.ones(64),))

    plan = memopt.plan(capture(step(""), measured=True), pipeline=PIPELINE)
    assert run(step(""), plan).outside == 0
    for change, text in (
        ("operand", r"there add_1 is .*, add float32 .*, here .*, relu float32"),
        ("result", r"there sum_1 are returned, here sum_1, add"),
        ("operator", r"it has no add_$"),
    ):
        with pytest.raises(MemoptError, match=f"the plan is of another step: {text}"):
            run(step(change), plan)


def test_tensors_that_share_a_storage_are_those_that_did() -> None:
    torch: Any = pytest.importorskip("torch", reason=NEEDS)

    def function(weights: Any, a: Any, b: Any) -> Any:
        b.mul_(weights)
        return (a + 1).sum()

    x, y = torch.ones(8), torch.ones(8)
    fast = compiled(Step(function, x, (x + 1, y)))
    with pytest.raises(MemoptError, match=r"input.1 is .* in the storage of input.0, but was"):
        fast(x, y, y)


def test_one_step_runs_at_a_time() -> None:
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    step = step_of(mlp())

    def function(state: Any, *inputs: Any) -> Any:
        return eager(Step(step.function, state, inputs)).value

    with pytest.raises(MemoptError, match="only one can be at a time"):
        eager(Step(function, step.state, step.inputs))
    with installed() as allocator:  # and the one that was refused has put nothing in its place
        torch.empty(100)
        assert allocator.counters().outside == 1
    with installed() as allocator:
        pass
    torch.empty(100)
    assert allocator.counters().outside == 0


def moved(layout: Layout, name: str, by: int) -> Layout:
    """A layout with all that an operator makes so many bytes further, for who reads it too."""
    operators = list(layout.operators)
    at = next(i for i, o in enumerate(operators) if o.name == name)
    old = operators[at]
    starts = set(old.offsets.values())
    allocations = tuple(
        replace(a, offset=a.offset + by) if a.offset is not None and a.offset in starts else a
        for a in old.allocations
    )
    offsets = {tensor: offset + by for tensor, offset in old.offsets.items()}
    operators[at] = replace(old, allocations=allocations, offsets=offsets)
    return replace(layout, operators=tuple(operators))


def test_wrong_addresses_and_orders_show_in_the_results() -> None:
    """Without the verifier. Each tensor is put where one lies that is still read; two operators of
    which one overwrites what the other reads change places; one lies beyond the arena."""
    torch: Any = pytest.importorskip("torch", reason=NEEDS)
    torch.manual_seed(0)
    step = step_of(mlp())
    plan = memopt.plan(capture(step, measured=True), pipeline=PIPELINE, inplace="off")
    layout, seen = layout_of(plan), drawn(traced_step(step), "step")

    def bits_of(changed: Layout) -> list[Any]:
        state = copy.deepcopy(step.state)
        done = executable(step, seen, changed).run(state, step.inputs)
        return bits((state, done.value))

    expected = bits_of(layout)
    nodes = {node["name"]: node for node in seen.graph["nodes"]}
    sizes = {t["name"]: t["bytes"] for t in seen.graph["tensors"]}
    order = [o.name for o in layout.operators]
    makers = {t: i for i, o in enumerate(layout.operators) for t in o.offsets}
    offsets = {t: at for o in layout.operators for t, at in o.offsets.items()}
    tried = 0
    for first, i in makers.items():
        readers = [k for k, name in enumerate(order) if first in nodes[name]["inputs"]]
        later = [t for t, k in makers.items() if i < k < max(readers, default=-1)]
        for second in later:
            if sizes[second] < 64 or layout.operators[makers[second]].name in order[-1:]:
                continue
            shift = offsets[first] - offsets[second]
            wrong = moved(layout, order[makers[second]], shift)
            fits = offsets[first] + sizes[second] <= layout.arena
            if fits and len(layout.operators[makers[second]].offsets) == 1:
                tried += 1
                assert bits_of(wrong) != expected, (first, second)
    assert tried > 10
    with pytest.raises(MemoptError, match="which it needs"):
        bits_of(replace(layout, operators=layout.operators[::-1]))
    early = [*layout.operators]
    update = next(o for o in early if "state.weights.4.weight" in nodes[o.name].get("mutates", []))
    early.remove(update)
    reader = next(o for o in reversed(early) if "state.weights.4.weight" in nodes[o.name]["inputs"])
    early.insert(early.index(reader), update)
    assert bits_of(replace(layout, operators=tuple(early))) != expected
    relu = next(o for o in layout.operators if o.kind.startswith("aten.relu"))
    with pytest.raises(MemoptError, match="beside the arena"):
        bits_of(moved(layout, relu.name, layout.arena - 64 - next(iter(relu.offsets.values()))))


def test_what_an_operator_allocates_otherwise_is_counted_or_refused() -> None:
    step = step_of(mlp())
    plan = memopt.plan(capture(step, measured=True), pipeline=PIPELINE)
    layout, seen = layout_of(plan), drawn(traced_step(step), "step")
    relu = next(i for i, o in enumerate(layout.operators) if o.kind.startswith("aten.relu"))
    operators = list(layout.operators)
    more = replace(operators[relu].allocations[0], size=64)
    operators[relu] = replace(operators[relu], allocations=(*operators[relu].allocations, more))
    done = executable(step, seen, replace(layout, operators=tuple(operators))).run(
        copy.deepcopy(step.state), step.inputs
    )
    assert (done.unused, done.outside) == (1, 0)
    operators[relu] = replace(operators[relu], allocations=())
    wrong: Executable = executable(step, seen, replace(layout, operators=tuple(operators)))
    with pytest.raises(MemoptError, match="allocates otherwise than it did when it was measured"):
        wrong.run(copy.deepcopy(step.state), step.inputs)
    assert eager(step).outside > 10  # PyTorch's own allocator is back


def test_the_table_needs_pytorch_and_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(["executed", "--graphs", "lenet:1"]) == 2
    assert "'lenet:1' is not NETWORK:BATCH" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "torch", None)
    assert bench(["executed", "--quick"]) == 1
    assert "needs PyTorch: pip install torch" in capsys.readouterr().err


def test_without_a_compiler_it_says_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extension: Any = pytest.importorskip("torch.utils.cpp_extension", reason=NEEDS)
    from memopt.torch import allocator

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("Ninja is required to load C++ extensions")

    allocator.library.cache_clear()
    monkeypatch.setattr(extension, "load", fail)
    with pytest.raises(MemoptError, match=r"pip install memopt\[torch\] \(Ninja is required"):
        eager(step_of(mlp()))
    allocator.library.cache_clear()


def test_the_code_of_the_page() -> None:
    pytest.importorskip("torch", reason=NEEDS)
    text = (ROOT / "docs/guides/training.md").read_text()
    exec("".join(b.split("```")[0] for b in text.split("```python\n")[1:]), {})


def test_a_module_is_not_run() -> None:
    net = mlp()
    with pytest.raises(MemoptError, match=r"make a memopt.torch.Step of it"):
        capture(net.module, (net.x,), measured=True)
