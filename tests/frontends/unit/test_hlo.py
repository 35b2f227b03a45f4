"""HLO text of XLA as functions: what is an operation, what is a view, what must come before what.

The texts in `hlo/` are `jax.jit(f).lower(...).compile().as_text()` of jax 0.10.2 on a CPU, but for
one without metadata; XLA's own temporary memory stands at the end of each, from
`memory_analysis()`: the text itself does not have it.
"""

import random
import re
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from memopt.cli.opt import main as opt
from memopt.compile.driver import import_bytes, load_model
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.names import operator_kind
from memopt.dialects.memgraph.plan import GENERIC, model_of
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.frontends.hlo.in_place import overwritable
from memopt.frontends.hlo.instructions import Instruction, parse

TEXTS = Path(__file__).parent / "hlo"


def planned(path: Path, tmp_path: Path, *options: str) -> str:
    out = tmp_path / "planned.mlir"
    command = [str(path), "--schedule=auto", "--place=auto", "--verify-plan", "-o", str(out)]
    assert opt([command[0], *options, *command[1:]]) == 0
    return out.read_text()


# Ours is less where XLA's order or its fusions of buffers are not the best, more where it puts what
# is temporary into the memory of results (mlp), or carries the values of a loop in place (scan).
@pytest.mark.parametrize(
    ("name", "ours"),
    [("cnn", 276016), ("cond", 1040), ("dus", 0), ("mlp", 17024), ("scan", 3168), ("step", 12288)],
)
def test_the_arena_beside_xlas_temporary_memory(name: str, ours: int, tmp_path: Path) -> None:
    path = TEXTS / f"{name}.hlo"
    (xla,) = map(int, re.findall(r"// (\d+) bytes: memory_analysis", path.read_text()))
    text = planned(path, tmp_path, "--model=inplace=on")
    assert f"arena = {ours}, " in text
    assert (ours <= xla) == (name not in ("cond", "mlp", "scan"))
    page = (ROOT / "docs" / "guides" / "mlir.md").read_text()
    assert f"| {name} | {xla} | {ours} |" in page


def test_constants_tuples_and_bitcasts_are_no_operations() -> None:
    text = """HloModule m, is_scheduled=true

ENTRY %main (p: (f32[4], f32[2,2])) -> (f32[4], f32[2,2]) {
  %p = (f32[4]{0}, f32[2,2]{1,0}) parameter(0)
  %c = f32[2,2]{1,0} constant({ { 1, 2 },
    { 3, 4 } })
  %a = f32[4]{0} get-tuple-element(%p), index=0
  %b = f32[2,2]{1,0} get-tuple-element(%p), index=1
  %s = f32[2,2]{1,0} sine(%b)
  %v = f32[4]{0} bitcast(%s)
  %t = (f32[4]{0}, s32[3]{0}) fusion(%a, %c), kind=kLoop, calls=%f
  %n = s32[3]{0} get-tuple-element(%t), index=1
  %w = f32[4]{0} custom-call(%v, %n), custom_call_target="w", custom_call_has_side_effect=true
  ROOT %r = (f32[4]{0}, f32[2,2]{1,0}) tuple(%w, %s)
}
"""
    func = only_function(import_bytes(text.encode(), ".hlo", "m.hlo", None))
    assert model_of(func).io.data == "caller"
    *body, end = body_of(func).ops
    assert [operator_kind(op) for op in body] == ["sine", "bitcast", "fusion", "custom-call"]
    sine, bitcast, fusion, call = body
    memory = behaviour_of(bitcast, GENERIC)
    assert not memory.executes and [a.kind for a in memory.aliases] == ["view"]
    assert list(fusion.operands) == [body_of(func).args[0]] and len(fusion.results) == 2
    assert list(call.operands) == [bitcast.results[0], fusion.results[1]]
    assert behaviour_of(call, GENERIC).effects and not behaviour_of(fusion, GENERIC).effects
    assert list(end.operands) == [call.results[0], sine.results[0]]


DONATED = """HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY %main (x: f32[64], y: f32[4]) -> (f32[64], f32[4]) {
  %x = f32[64]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %r = f32[4]{0} slice(%x), slice={[0:4]}
  %u = f32[64]{0} broadcast(%y), dimensions={}
  ROOT %t = (f32[64]{0}, f32[4]{0}) tuple(%u, %r)
}
"""


def test_what_reads_a_donated_parameter_comes_first() -> None:
    func = only_function(import_bytes(DONATED.encode(), ".hlo", "m.hlo", None))
    read, written = list(body_of(func).ops)[:2]
    assert [operator_kind(op) for op in (read, written)] == ["slice", "broadcast"]
    assert written.operands[-1] is read.results[-1] and len(read.results) == 2
    free = DONATED.replace("may-alias", "x").replace("{0}: (0, {}, x)", "")
    func = only_function(import_bytes(free.encode(), ".hlo", "m.hlo", None))
    assert [len(op.results) for op in body_of(func).ops][:2] == [1, 1]


@pytest.mark.parametrize(
    ("operand", "offered"),
    [("%a", True), ("%s", False), ("%v", False), ("%p", False)],
)
def test_a_result_lies_in_place_of_what_it_alone_reads_there(operand: str, offered: bool) -> None:
    """Not where a view of it is read too, or where its elements lie in another order."""
    copied = "copy(%p)" if operand == "%p" else f"add(%s, {operand})"
    text = f"""HloModule m

ENTRY %main (p: f32[2,2]) -> f32[2,2] {{
  %p = f32[2,2]{{0,1}} parameter(0)
  %s = f32[2,2]{{1,0}} sine(%p)
  %a = f32[2,2]{{1,0}} cosine(%p)
  %v = f32[2,2]{{1,0}} bitcast(%s)
  ROOT %r = f32[2,2]{{1,0}} {copied}
}}
"""
    func = only_function(import_bytes(text.encode(), ".hlo", "m.hlo", None))
    last = list(body_of(func).ops)[-2]
    assert ("memgraph.may_overwrite" in last.attributes) == offered


def test_a_loop_is_one_step_with_workspace() -> None:
    func = only_function(load_model(TEXTS / "scan.hlo", {}))
    (loop,) = [op for op in body_of(func).ops if operator_kind(op) == "while"]
    memory = behaviour_of(loop, GENERIC)
    assert memory.workspace == (2084,)  # 1,040 in the body, and 4 + 1,024 + 16 carried on
    assert len(loop.operands) == len(loop.results) == 3


ASYNC = """HloModule m, is_scheduled=true

%body (p: f32[64]) -> f32[64] {
  %p = f32[64]{0} parameter(0)
  %n = f32[64]{0} negate(%p)
  ROOT %m = f32[64]{0} sine(%n)
}

ENTRY %main (x: f32[64]) -> f32[64] {
  %x = f32[64]{0} parameter(0)
  %a = f32[64]{0} sine(%x)
  %s = ((f32[64]{0}), f32[64]{0}, s32[]) async-start(%a), calls=%body
  %b = f32[64]{0} cosine(%x)
  %u = ((f32[64]{0}), f32[64]{0}, s32[]) async-update(%s)
  %d = f32[64]{0} async-done(%u)
  ROOT %r = f32[64]{0} add(%b, %d)
}
"""


def test_what_runs_on_uses_its_operands_and_workspace_until_it_is_done() -> None:
    """Else %b, or the place that %n has, could lie where %a does."""
    ops = list(body_of(only_function(import_bytes(ASYNC.encode(), ".hlo", "m.hlo", None))).ops)
    (made,) = [op for op in ops if operator_kind(op) == "sine"]
    (start,) = [op for op in ops if operator_kind(op) == "async-start"]
    (done,) = [op for op in ops if operator_kind(op) == "async-done"]
    work = start.results[-1]
    assert bytes_of(work.type) == 256 and len(start.results) == 4
    assert list(done.operands)[-2:] == [made.results[0], work]


@pytest.mark.parametrize(
    ("kind", "size"),
    [("s4[9]{0}", 9), ("s4[9]{0:E(4)}", 5), ("pred[9]{0}", 9), ("f32[8,128]{1,0:T(8,128)}", 4096)],
)
def test_bytes_are_those_of_the_layout(kind: str, size: int) -> None:
    """An element of four bits has a byte, unless the layout packs it."""
    text = (
        f"HloModule m\n\nENTRY %main (p: s32[]) -> s32[] {{\n  ROOT %p = {kind} parameter(0)\n}}\n"
    )
    func = only_function(import_bytes(text.encode(), ".hlo", "m.hlo", None))
    assert bytes_of(body_of(func).args[0].type) == size


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("f32[5,7]{1,0:T(8,128)}", "layout {1,0:T(8,128)} pads [5, 7]"),
        ("f32[8]{0:T(8,128)}", "layout {0:T(8,128)} pads [8]"),
        ("f32[8]{0:S(1)}", "layout {0:S(1)} is in another memory, which no plan has"),
        ("f32[8]{1,0}", "layout {1,0} is none of [8]"),
    ],
)
def test_layouts_with_other_bytes_are_refused(kind: str, error: str) -> None:
    text = (
        f"HloModule m\n\nENTRY %main (p: f32[]) -> f32[] {{\n  ROOT %p = {kind} parameter(0)\n}}\n"
    )
    with pytest.raises(MemoptError, match=re.escape(error)):
        import_bytes(text.encode(), ".hlo", "m.hlo", None)


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        ("slice(%x)", "slice(%z)", "m.hlo:6:1: error: reads %z, which nothing before makes"),
        (
            "f32[4]{0} slice",
            "g9[4]{0} slice",
            "m.hlo:6:1: error: element type g9 of HLO has no size",
        ),
        ("slice(%x)", "slice%x", "m.hlo:6:1: error: an instruction without operands in"),
        ("ROOT ", "", "%main: error: a computation without ROOT"),
        ("ENTRY ", "", "m.hlo: error: no HloModule with an ENTRY computation"),
        ("HloModule", "HloModul", "m.hlo: error: does not begin with HloModule"),
    ],
)
def test_what_is_no_hlo_is_refused_by_line(
    before: str, after: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(DONATED.replace(before, after))
    assert opt([str(path), "--schedule=source"]) == 1
    assert error in capsys.readouterr().err


def test_a_damaged_text_is_refused_or_read() -> None:
    """Nothing but a refusal comes of characters that are gone, or there twice."""
    rng, texts = random.Random(5), [path.read_text() for path in sorted(TEXTS.glob("*.hlo"))]
    refused = 0
    for _ in range(60):
        text = rng.choice(texts)
        for _ in range(rng.randint(1, 3)):
            at, length = rng.randrange(10, len(text)), rng.choice((1, 2, 5, 20, 80))
            again = rng.choice(("", "", rng.choice("(){}[],%=0 9\n"), text[at : at + length] * 2))
            text = text[:at] + again + text[at + length :]
        try:
            import_bytes(text.encode(), ".hlo", "m.hlo", None).verify()
        except MemoptError as error:
            assert error.place
            refused += 1
    assert 10 < refused < 60


def test_a_dump_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "module_0001.jit_step.cpu_after_optimizations.txt"
    path.write_text((TEXTS / "step.hlo").read_text())
    assert "arena = 12288, " in planned(path, tmp_path, "--model=inplace=on")


def element(fused: list[Instruction], name: str, k: int, given: list[np.ndarray]) -> int:
    """Return element k of an instruction; what it reads is in memory now."""
    (i,) = [i for i in fused if i.name == name]
    match i.opcode:
        case "parameter":
            return int(given[int(i.text)][k])
        case "reverse":
            return element(fused, i.operands[0], 5 - k, given)
        case "negate":
            return -element(fused, i.operands[0], k, given)
        case _:
            a, b = (element(fused, o, k, given) for o in i.operands)
            return a + b if i.opcode == "add" else a * b


def test_what_may_be_overwritten_is_read_before_it_is_written() -> None:
    """Random fused computations, run element by element in any order over each operand that is
    offered, give what they give beside it."""
    rng, offered = random.Random(7), 0
    for _ in range(300):
        lines = [f"  %p{k} = s32[6]{{0}} parameter({k})" for k in range(2)]
        known = ["p0", "p1"]
        for n in range(rng.randint(1, 5)):
            kind = rng.choice(("add", "multiply", "negate", "reverse", "add"))
            count = 2 if kind in ("add", "multiply") else 1
            operands = ", ".join(f"%{rng.choice(known)}" for _ in range(count))
            more = ", dimensions={0}" if kind == "reverse" else ""
            lines.append(f"  %v{n} = s32[6]{{0}} {kind}({operands}){more}")
            known.append(f"v{n}")
        lines[-1] = lines[-1].replace("%", "ROOT %", 1)
        text = (
            "HloModule m\n\n%f (p0: s32[6], p1: s32[6]) -> s32[6] {\n" + "\n".join(lines) + "\n}\n"
        )
        text += "\nENTRY %main (x: s32[6], y: s32[6]) -> s32[6] {\n  %x = s32[6]{0} parameter(0)\n"
        text += "  %y = s32[6]{0} parameter(1)\n"
        text += "  ROOT %r = s32[6]{0} fusion(%x, %y), kind=kLoop, calls=%f\n}\n"
        module = parse(text, "m.hlo")
        fused = module.computations["f"]

        root = fused[-1].name
        inputs = [np.array([rng.randint(-9, 9) for _ in range(6)], object) for _ in range(2)]
        want = [element(fused, root, k, inputs) for k in range(6)]
        call = module.computations["main"][-1]
        for operand in overwritable(call, fused):
            memory = [v.copy() for v in inputs]
            for k in rng.sample(range(6), 6):
                memory[operand][k] = element(fused, root, k, memory)
            assert list(memory[operand]) == want, text
            offered += 1
    assert offered > 100
