"""Random functions of stablehlo with loops, branches and calls: what they compute value by value is
what they compute in the arena of their plan, and planners that forget a condition are caught."""

import re
from collections.abc import Callable
from random import Random
from typing import Any, cast

import numpy as np
import pytest
from deep import SEEDS, seeds
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue

from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.foreign import regions
from memopt.dialects.memgraph import functions as memgraph_functions
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, called_by, functions
from memopt.dialects.memgraph.names import full_name
from memopt.dialects.memgraph.plan import bytes_offset, places_of, plan_of, scratch_list
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.passes import memgraph_branches, memgraph_outline
from memopt.passes.plan.extract import extract

AGAIN = "memgraph-branches,memgraph-schedule,memgraph-place"
PIPELINE = f"memgraph-schedule,memgraph-place,{AGAIN},{AGAIN},{AGAIN},memgraph-verify-plan"
SIZES = (1, 3, 8)  # of tensors, in elements of 4 bytes
Array = Any


class Writer:
    """Text of random functions; `live` are values that may be read, by size."""

    def __init__(self, seed: int) -> None:
        self.random, self.lines, self.count, self.depth = Random(seed), list[str](), 0, 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self, live: dict[str, int], n: int | None = None) -> str:
        return self.random.choice([v for v, size in live.items() if n is None or size == n][-4:])

    def block(self, live: dict[str, int], steps: int) -> dict[str, int]:
        live = dict(live)
        kinds = [self.each, self.each, self.each, self.call]
        if self.depth < 2:
            kinds += [self.loop, self.loop, self.branch]
        for _ in range(steps):
            self.random.choice(kinds)(live)
        return live

    def each(self, live: dict[str, int]) -> None:
        a = self.pick(live)
        b, name, kind = (
            self.pick(live, live[a]),
            self.name(),
            self.random.choice(("add", "multiply")),
        )
        self.lines.append(f"{name} = stablehlo.{kind} {a}, {b} : tensor<{live[a]}xi32>")
        live[name] = live[a]

    def call(self, live: dict[str, int]) -> None:
        a, name, t = self.pick(live, 3), self.name(), "tensor<3xi32>"
        self.lines.append(f"{name} = call @callee({a}) : ({t}) -> {t}")
        live[name] = 3

    def loop(self, live: dict[str, int]) -> None:
        inits = [self.pick(live) for _ in range(self.random.randint(1, 3))]
        sizes = [live[v] for v in inits]
        i, result = self.name(), self.name()
        carried = [self.name() for _ in inits]
        pairs = ", ".join(
            f"{a} = {v}" for a, v in zip((i, *carried), ("%zero", *inits), strict=True)
        )
        types = ", ".join(["tensor<i32>", *(f"tensor<{n}xi32>" for n in sizes)])
        again, following = self.name(), self.name()
        self.lines.append(f"{result}:{len(inits) + 1} = stablehlo.while({pairs}) : {types} cond {{")
        compared = "(tensor<i32>, tensor<i32>) -> tensor<i1>"
        self.lines.append(f"{again} = stablehlo.compare LT, {i}, %three, SIGNED : {compared}")
        self.lines.append(f"stablehlo.return {again} : tensor<i1> }} do {{")
        self.depth += 1
        inner = self.block(
            {**live, **dict(zip(carried, sizes, strict=True))}, self.random.randint(0, 3)
        )
        self.depth -= 1
        self.lines.append(f"{following} = stablehlo.add {i}, %one : tensor<i32>")
        ends = ", ".join([following, *(self.pick(inner, n) for n in sizes)])
        self.lines.append(f"stablehlo.return {ends} : {types} }}")
        live.update({f"{result}#{k + 1}": n for k, n in enumerate(sizes)})

    def branch(self, live: dict[str, int]) -> None:
        sizes = [live[self.pick(live)] for _ in range(self.random.randint(1, 2))]
        types, name = ", ".join(f"tensor<{n}xi32>" for n in sizes), self.name()
        count = self.random.choice((2, 2, 3))
        kind, given = ("if", "%flag") if count == 2 else ("case", "%which")
        self.lines.append(f'{name}:{len(sizes)} = "stablehlo.{kind}"({given}) (')
        for k in range(count):
            self.lines.append("{" if k == 0 else ", {")
            self.depth += 1
            inner = self.block(live, self.random.randint(0, 3))
            self.depth -= 1
            ends = ", ".join(self.pick(inner, n) for n in sizes)
            self.lines.append(f"stablehlo.return {ends} : {types} }}")
        self.lines.append(f") : (tensor<{'i1' if kind == 'if' else 'i32'}>) -> ({types})")
        live.update({f"{name}#{k}": n for k, n in enumerate(sizes)})


def random_module(seed: int) -> str:
    """Return a module whose @main takes a tensor of each size, a flag and a number."""
    writer = Writer(seed)
    given = {f"%x{n}": n for n in SIZES}
    taken = ", ".join(f"{v}: tensor<{n}xi32>" for v, n in given.items())
    for name, number in (("zero", 0), ("one", 1), ("three", 3)):
        writer.lines.append(f"%{name} = stablehlo.constant dense<{number}> : tensor<i32>")
    live = writer.block(given, writer.random.randint(2, 6))
    ends = [writer.pick(live, n) for n in SIZES]
    types = ", ".join(f"tensor<{n}xi32>" for n in SIZES)
    body = "\n".join(writer.lines)
    t = "tensor<3xi32>"
    return (
        f"func.func @main({taken}, %flag: tensor<i1>, %which: tensor<i32>) -> ({types}) {{\n"
        f"{body}\nreturn {', '.join(ends)} : {types}\n}}\n"
        f"func.func private @callee(%a: {t}) -> {t} {{\n%b = stablehlo.add %a, %a : {t}\n"
        f"%c = stablehlo.multiply %b, %a : {t}\n%d = stablehlo.add %c, %b : {t}\n"
        f"return %d : {t}\n}}\n"
    )


def computed(op: Operation, given: list[Array]) -> Array:
    """Return the only result of an operation without regions."""
    match full_name(op):
        case "stablehlo.add":
            return given[0] + given[1]
        case "stablehlo.multiply":
            return given[0] * given[1]
        case "stablehlo.compare":
            return given[0] < given[1]
        case kind:
            assert kind == "stablehlo.constant"
            dense = cast("Any", op.properties["value"])
            return np.array(list(dense.get_values()), np.int32).reshape(shape_of(op.results[0]))


class Values:
    """The module value by value, each an array of its own."""

    def __init__(self, module: ModuleOp) -> None:
        self.functions = {f.sym_name.data: f for f in functions(module)}

    def call(self, name: str, given: list[Array]) -> list[Array]:
        block = body_of(self.functions[name])
        return self.block(block, given, {})

    def block(self, block: Block, given: list[Array], known: dict[SSAValue, Array]) -> list[Array]:
        known = {**known, **dict(zip(block.args, given, strict=True))}
        for op in list(block.ops)[:-1]:
            known.update(zip(op.results, self.step(op, known), strict=True))
        return [known[v] for v in cast("Operation", block.last_op).operands]

    def step(self, op: Operation, known: dict[SSAValue, Array]) -> list[Array]:
        given = [known[v] for v in op.operands]
        if isinstance(op, CallOp):
            return self.call(op.callee.string_value(), given)
        if full_name(op) == "stablehlo.while":
            while self.block(op.regions[0].block, given, known)[0]:
                given = self.block(op.regions[1].block, given, known)
            return given
        if op.regions:
            return self.block(chosen(op, given[0]).block, [], known)
        return [computed(op, given)]


def chosen(op: Operation, value: Array) -> Any:
    """Return the region that a branch runs; an index that is none is the last one."""
    if full_name(op) == "stablehlo.if":
        return op.regions[0 if value else 1]
    index = int(value)
    return op.regions[index if 0 <= index < len(op.regions) else -1]


class Planned(Values):
    """The module in one arena, as its plan says; frames are noise when a function begins."""

    def __init__(self, module: ModuleOp, arena: int) -> None:
        super().__init__(module)
        self.memory = np.zeros(arena, np.uint8)
        self.noise = np.random.default_rng(1)

    def at(self, value: SSAValue, start: int) -> Array:
        size = bytes_of(value.type) or 0
        assert 0 <= start <= len(self.memory) - size
        kind = np.bool_ if "i1" in str(value.type) else np.int32
        return self.memory[start : start + size].view(kind).reshape(shape_of(value))

    def run(self, func: FuncOp, base: int, given: list[Array], results: list[Array]) -> None:
        """Run a function in the bytes from `base`, its results into arrays of the caller's."""
        plan, block = plan_of(func), body_of(func)
        assert plan is not None
        self.memory[base : base + plan.arena] = self.noise.integers(0, 256, plan.arena)
        returned = list(cast("Operation", block.last_op).operands)
        known: dict[SSAValue, Array] = {}
        places = places_of(func)
        for value, array in zip(block.args, given, strict=True):
            known[value] = self.placed(value, places, base, array)
            known[value][...] = array
        for op in list(block.ops)[:-1]:
            if full_name(op) == "stablehlo.constant":
                known[op.results[0]] = computed(op, [])
                continue
            for r in op.results:
                home = results[returned.index(r)] if r in returned else None
                known[r] = self.placed(r, places, base, home)
            self.into(op, known, base)
        for value, array in zip(returned, results, strict=True):
            array[...] = known[value]

    def placed(self, value: SSAValue, places: Any, base: int, caller: Array) -> Array:
        offset = bytes_offset(places[value])
        return caller if offset is None else self.at(value, base + offset)

    def into(self, op: Operation, known: dict[SSAValue, Array], base: int) -> None:
        """Run one operation, whose results have their arrays."""
        scratch = [base + s.offset.data for s in scratch_list(op) or ()]
        outs = [known[r] for r in op.results]
        if isinstance(op, CallOp):
            self.calls(op, known, scratch[0], outs)
            return
        if not op.regions:
            outs[0][...] = computed(op, [known[v] for v in op.operands])
            return
        own = iter(scratch[1:])
        is_loop = full_name(op) == "stablehlo.while"
        inside: dict[SSAValue, Array] = {}
        for block in (region.block for region in op.regions):
            ends = list(cast("Operation", block.last_op).operands)
            for r in (r for call in block.ops if isinstance(call, CallOp) for r in call.results):
                inside[r] = (
                    self.at(r, next(own)) if is_loop or r not in ends else outs[ends.index(r)]
                )
        if not is_loop:
            block = chosen(op, known[op.operands[0]]).block
            self.region(block, {**known, **inside}, scratch[0] if scratch else 0, outs)
            return
        for out, init in zip(outs, op.operands, strict=True):
            out[...] = known[init]
        condition, body = (region.block for region in op.regions)
        while self.region(
            condition,
            {**known, **inside, **dict(zip(condition.args, outs, strict=True))},
            scratch[0],
            [],
        )[0]:
            carried = dict(zip(body.args, outs, strict=True))
            self.region(body, {**known, **inside, **carried}, scratch[0], outs)

    def region(
        self, block: Block, known: dict[SSAValue, Array], frame: int, outs: list[Array]
    ) -> list[Array]:
        """Run a region, and copy what it ends with, one after the other, into `outs`."""
        for op in list(block.ops)[:-1]:
            assert isinstance(op, CallOp)
            self.calls(op, known, frame, [known[r] for r in op.results])
        ends = [known[v] for v in cast("Operation", block.last_op).operands]
        for out, end in zip(outs, ends, strict=False):
            out[...] = end
        return ends

    def calls(
        self, op: CallOp, known: dict[SSAValue, Array], frame: int, results: list[Array]
    ) -> None:
        callee = self.functions[op.callee.string_value()]
        self.run(callee, frame, [known[v] for v in op.operands], results)


def inputs(seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    tensors = [random.integers(-9, 9, n).astype(np.int32) for n in SIZES]
    return [*tensors, np.array(seed % 2 == 0), np.array(seed % 4 - 1, np.int32)]


def planned(text: str, inplace: bool) -> ModuleOp:
    model = f"memgraph-model{{inplace={'on' if inplace else 'off'} alignment=4}}"
    module = load_text(new_context(), text, "in.mlir")
    for each in build_pipeline(f"memgraph-outline,{model},{PIPELINE}"):
        each.apply(new_context(), module)
    module.verify()
    return module


def outcome(module: ModuleOp, seed: int) -> list[list[int]]:
    """Return what the plan computes."""
    main = next(functions(module))
    plan = plan_of(main)
    assert plan is not None
    results = [np.zeros(n, np.int32) for n in SIZES]
    Planned(module, plan.arena).run(main, 0, inputs(seed), results)
    return [r.tolist() for r in results]


def wanted(text: str, seed: int) -> list[list[int]]:
    values = Values(load_text(new_context(), text, "in.mlir"))
    return [r.tolist() for r in values.call("main", inputs(seed))]


@pytest.mark.parametrize("part", SEEDS)
def test_random_control_flow_computes_the_same(
    part: str, fuzz: float, record_property: Callable[[str, object], None]
) -> None:
    outlined, cases = 0, seeds(part, 1, 4, 400 * fuzz)
    for seed in cases:
        text = random_module(seed)
        for inplace in (False, True):
            module = planned(text, inplace)
            outlined += len(list(functions(module))) > 2
            for k in range(4):
                assert outcome(module, k) == wanted(text, k), (seed, inplace, k)
    assert outlined
    record_property("brute force", ("functions with control flow", len(cases), outlined))


def test_what_is_called_of_another_file_in_a_region_keeps_its_place() -> None:
    text = """
    func.func private @log(i1)
    func.func @main(%p: i1) {
      func.call @log(%p) : (i1) -> ()
      scf.if %p {
        func.call @log(%p) : (i1) -> ()
      }
      func.call @log(%p) : (i1) -> ()
      return
    }
    """
    module = load_text(new_context(), text, "in.mlir")
    memgraph_outline.MemgraphOutlinePass().apply(new_context(), module)
    graph = extract(next(functions(module))).graph
    assert [set(before) for before in graph.predecessors] == [set(), {0}, {1}]


def nothing(*_: object) -> list[Any]:
    return []


def in_place_of_any(op: Operation) -> tuple[tuple[int, int], ...]:
    """Forget that an init may be read besides."""
    fits = [
        k for k, (a, b) in enumerate(zip(op.results, op.operands, strict=False)) if a.type == b.type
    ]
    size = max((bytes_of(op.results[k].type) or 0 for k in fits), default=0)
    return tuple((k, k) for k in fits if (bytes_of(op.results[k].type) or 0) == size)[-1:]


def no_frame(op: Operation) -> list[int]:
    return [0, *SIZES_OF(op)[1:]] if SIZES_OF(op) else []


def less(op: Operation) -> list[int]:
    return [size - (size > 4) for size in SIZES_OF(op)]


SIZES_OF = memgraph_branches._sizes  # pyright: ignore[reportPrivateUsage]
MUTANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "exchanged": [(memgraph_outline, "exchanges", nothing), (regions, "exchanges", nothing)],
    "in place": [(regions, "_in_place_of_inits", in_place_of_any)],
    "frames": [(memgraph_branches, "_sizes", no_frame)],
    "bytes": [(memgraph_branches, "_sizes", less)],
    "next values": [(memgraph_functions, "region_values", nothing)],
    "callees": [(memgraph_functions, "called_by", nothing)],
}
COUNTED = r"arena of \d+ B is not counted"
# the verifier's refusal; of those without, other values are computed
FAULTS = {
    "frames": COUNTED,
    "bytes": COUNTED,
    "next values": r"\d tensors are made in its regions, 0 are counted",
    "callees": COUNTED,
}


LOOP = """
func.func @main(%a: tensor<1xi32>, %b: tensor<3xi32>, %c: tensor<8xi32>, %flag: tensor<i1>,
    %which: tensor<i32>) -> (tensor<1xi32>, tensor<3xi32>, tensor<8xi32>) {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %d = stablehlo.multiply %b, %b : tensor<3xi32>
  %0:3 = stablehlo.while(%i = %i0, %x = %b, %y = %d) : tensor<i32>, tensor<3xi32>, tensor<3xi32>
  cond {
    %1 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    %4 = stablehlo.add %y, %d : tensor<3xi32>
    stablehlo.return %2, ENDS : tensor<i32>, tensor<3xi32>, tensor<3xi32>
  }
  return %a, %0#2, %c : tensor<1xi32>, tensor<3xi32>, tensor<8xi32>
}
"""


EXCHANGE = LOOP.replace("ENDS", "%y, %x")
CAPTURE = LOOP.replace("ENDS", "%x, %4")  # of what the loop begins with


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the verifier, which names the fault, or by what is computed."""
    for text in (EXCHANGE, CAPTURE, *map(random_module, range(20))):
        want = [wanted(text, k) for k in range(4)]
        with monkeypatch.context() as patch:
            for owner, attribute, value in MUTANTS[name]:
                patch.setattr(owner, attribute, value)
            try:
                module = planned(text, inplace=True)
                found = [outcome(module, k) for k in range(4)]
            except MemoptError as error:
                assert name in FAULTS and re.search(FAULTS[name], error.text), error
                return
        if found != want:
            assert name not in FAULTS
            return
    pytest.fail("nobody saw it")


def test_functions_that_are_called_are_those_that_are_there_now() -> None:
    """Also behind a name that changed, another function in its place, and another module."""
    text = "func.func @f() {\n func.return\n}\nfunc.func @main() {\n func.call @f() : () -> ()\n"
    module, other = (
        load_text(new_context(), f"{text} func.return\n}}\n", "in.mlir") for _ in range(2)
    )
    first, *_ = functions(module)
    calls = [next(op for op in m.walk() if isinstance(op, CallOp)) for m in (module, other)]
    copy = first.clone()
    for _ in range(2):
        assert called_by(calls[0]) == (first,)
        assert called_by(calls[1]) == (next(functions(other)),)
    first.properties["sym_name"] = StringAttr("g")
    assert called_by(calls[0]) == ()
    module.body.block.add_op(copy)
    assert called_by(calls[0]) == (copy,)
    copy.detach()
    assert called_by(calls[0]) == ()
    first.properties["sym_name"] = StringAttr("f")
    assert called_by(calls[0]) == (first,)
    first.body.detach_block(0)
    assert called_by(calls[0]) == ()
