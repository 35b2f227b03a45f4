"""All shared graphs import quickly, survive text unchanged, and count as `optima.json` says."""

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from counting import calls_of
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func

from memopt.analysis.function_memory import function_memory
from memopt.analysis.storage_groups import BlockMemory
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.dialect import MEMGRAPH
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import model_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_prepare import MemgraphPreparePass
from memopt.text.ir_text import module_text, parse_module

INFERENCE = [
    "amoebanet_a_cifar",
    "amoebanet_a_imagenet",
    "darts_cifar",
    "darts_imagenet",
    "hrnet_w18_small_v1",
    "hrnet_w18_small_v2",
    "hrnet_w18_small_v2_s1p32",
    "hrnet_w32",
    "hrnet_w32_s1p32",
    "nasnet_a_cifar",
    "nasnet_a_imagenet",
    "randwire_s0",
    "randwire_s117",
    "randwire_s172",
    "randwire_s60",
]
TRAINING = [
    f"train_{net}_b{batch}"
    for net in ("efficientnet_b0", "mobilenetv2", "resnet18", "tinytransformer")
    for batch in (1, 32)
]
FILES = [f"{g}.json" for g in INFERENCE + TRAINING] + [f"{g}.onnx" for g in INFERENCE]
QUICK = FILES[::6]  # that a normal run writes and reads again; `make fuzz` does with all
GENERIC = {"hrnet_w18_small_v1.onnx", "train_resnet18_b1.json", "randwire_s60.onnx"}
ROWS = 27  # of optima.json; a normal run counts in every third, inference and training


@cache
def loaded(path: Path) -> ModuleOp:
    return load_model(path, {})


def load(path: Path) -> ModuleOp:
    """A module of its own, that the test may change."""
    return loaded(path).clone()


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, Func, MEMGRAPH):
        ctx.load_dialect(dialect)
    return ctx


def source_peak(memory: BlockMemory) -> int:
    """theory.md section 1 by the letter, at alignment 1: the largest of t({}) and all steps."""
    count = len(memory.operations)
    change = [0] * (count + 2)
    for group in memory.groups:
        touched = sorted({*group.writers, *group.readers})
        first = 0 if group.is_input or not touched else touched[0]
        last = count if group.is_output else touched[-1] if touched else 0
        change[first] += group.size
        change[last + 1] -= group.size
    level = peak = 0
    for step in range(count):
        level += change[step]
        peak = max(peak, level + sum(memory.memory[step].workspace))
    return peak


@pytest.mark.deep
@pytest.mark.parametrize("name", FILES)
def test_round_trip(name: str, shared: Path, fuzz: float) -> None:
    if fuzz < 1 and name not in {*QUICK, *GENERIC}:
        pytest.skip("in make fuzz")
    module = load(shared / "graphs" / name)
    module.verify()
    text = module_text(module)
    ctx = context()
    again = parse_module(ctx, text, name)
    again.verify()
    assert module_text(again) == text
    if fuzz >= 1 or name in GENERIC:
        generic = module_text(module, generic=True)
        assert module_text(parse_module(ctx, generic, name)) == text


@pytest.mark.deep
@pytest.mark.parametrize("name", ["nasnet_a_cifar.onnx", "nasnet_a_cifar.json"])
def test_import_is_linear_and_lean(name: str, shared: Path) -> None:
    """At most 1,000 calls per operator, which is a second per 1,000 operators on any machine."""
    path = shared / "graphs" / name
    load_model(path, {})
    module, calls = calls_of(lambda: load_model(path, {}))
    operators = sum(1 for _ in next(functions(module)).body.block.ops) - 1
    assert operators > 800
    assert calls <= 1_000 * operators


@pytest.mark.parametrize("row", range(ROWS))
def test_counts(row: int, shared: Path, fuzz: float) -> None:
    """Operators and peak in the file's order, from JSON and from ONNX alike."""
    if fuzz < 1 and row % 3:
        pytest.skip("in make fuzz")
    optima = cast("list[dict[str, Any]]", json.loads((shared / "graphs/optima.json").read_bytes()))
    assert len(optima) == ROWS
    entry = optima[row]
    conventions = tuple(c for c in entry["prepare"].split(",") if c)
    for suffix in ("json", "onnx"):
        path = shared / "graphs" / f"{entry['graph']}.{suffix}"
        if suffix == "onnx" and entry["graph"] in TRAINING:
            continue
        module = load(path)
        ctx = Context()
        MemgraphPreparePass(conventions).apply(ctx, module)
        MemgraphModelPass(alignment=1).apply(ctx, module)
        module.verify()
        func = next(functions(module))
        memory = function_memory(func, model_of(func))
        assert len(memory.operations) == entry["operators"]
        assert source_peak(memory) == entry["source"]


@pytest.mark.deep
def test_onnx_is_all_typed(shared: Path) -> None:
    """No operator of the inference graphs is opaque, so nothing above rests on opaque sizes."""
    for graph in INFERENCE[::4]:
        module = load(shared / "graphs" / f"{graph}.onnx")
        assert not [op for op in module.walk() if op.name == "memgraph.opaque"]
