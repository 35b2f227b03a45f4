"""Every number of a plan is checked, in every state of the plan: a seeded fault of each is refused.

By the command line: `memopt verify`, and `memopt-opt -t minimalloc-csv` and `-t json`, which must
export nothing of a plan that is wrong.
"""

from pathlib import Path

import pytest
from plan_source import SOURCE
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.compile.driver import new_context
from memopt.dialects.attributes.memories import MemoryAttr

STATES = {
    "scheduled": "memgraph-schedule",
    "partition": "memgraph-partition{k=2},memgraph-schedule",
    "off_chip": "memgraph-schedule,memgraph-traffic{on-chip=176}",
    "placed": "memgraph-schedule,memgraph-place",
    "objects": "memgraph-schedule,memgraph-place{method=shared-objects}",
    "memories": "memgraph-schedule,memgraph-memory{banks=a:160@1,b:256@2}",
}
BIG = str(1 << 63)
FAMILY = "family = order"
ARENA = ", arena = 176, arena_lower_bound = 176"
OBJECT = "#memgraph.memory<object0, kind = object, bytes = 176>"
BYTES = "#memgraph.memory<object%s, kind = object, bytes = %s>"
BANK = "kind = bank, capacity = 999, cost = 1, moved = 0,"
FAULTS: dict[str, list[tuple[str, str]]] = {
    "scheduled": [
        ("peak = 176", "peak = 192"),
        ("peak = 176", "peak = -176"),
        ("peak = 176, lower_bound = 176", f"peak = {BIG}, lower_bound = 176"),
        ("lower_bound = 176", "lower_bound = 192"),
        ("lower_bound = 176", "lower_bound = -1"),
        ("proof = flow", "proof = 1"),
        (FAMILY, "family = rows"),
        (f", {FAMILY}", ""),
        (FAMILY, f"{FAMILY}, {FAMILY}"),
        (FAMILY, f"{FAMILY}, arena = -1, arena_lower_bound = -1"),
        (FAMILY, f"{FAMILY}, arena = -176, arena_lower_bound = 0"),
        (FAMILY, f"{FAMILY}, arena_lower_bound = 176"),
        (FAMILY, f"{FAMILY}, arena_lower_bound = -5"),
        (FAMILY, f"{FAMILY}, arena = 176"),
        (FAMILY, f"{FAMILY}, objects = [176], objects_lower_bound = 0"),
        (FAMILY, f"{FAMILY}, memories_lower_bound = 8"),
        (FAMILY, f"{FAMILY}, memories_lower_bound = -1"),
        (FAMILY, f"{FAMILY}, memories = [{OBJECT}], memories_lower_bound = 0"),
        (FAMILY, f"{FAMILY}{ARENA}, memories = [{OBJECT}], memories_lower_bound = 0"),
        (FAMILY, f"{FAMILY}, memories = []"),
        (FAMILY, f"{FAMILY}, traffic = #memgraph.traffic<cost = 0, lower_bound = 0, proof = ilp>"),
        ("memgraph.order = 1 : i64", "memgraph.order = -1 : i64"),
        ("memgraph.order = 1 : i64", "memgraph.order = 1 : i32"),
        ("memgraph.order = 1 : i64", "memgraph.order = true"),
        ("memgraph.order = 1 : i64", "memgraph.order = 1.0 : f64"),
        ("memgraph.order = 1 : i64", "memgraph.order = 7 : i64"),
        ("{memgraph.order = 1 : i64}", ""),
        ("memgraph.order = 1 : i64", "memgraph.order = 1 : i64, memgraph.offset = [0 : i64]"),
        ("%x: tensor<64xi8>", "%x: tensor<64xi8> {memgraph.offset = 0 : i64}"),
        ("#memgraph.scratch<16>", "#memgraph.scratch<16, 0>"),
        ("#memgraph.scratch<16>", "#memgraph.scratch<16, #memgraph.slot<a, 0>>"),
        ("#memgraph.scratch<16>", "#memgraph.scratch<-16>"),
        ("#memgraph.scratch<16>", f"#memgraph.scratch<{BIG}>"),
        ("memgraph.plan =", "memgraph.schedules_tried = 3 : i64, memgraph.plan ="),
        (
            "memgraph.plan =",
            "memgraph.memories = #memgraph.memories<banks = [#memgraph.bank<a, capacity = 9, "
            "cost = 1, arena = 0, moved = 0>], cost = 0, lower_bound = 0, proof = ilp>, "
            "memgraph.plan =",
        ),
    ],
    "partition": [
        ("memgraph.partition = 1 : i64", "memgraph.partition = -1 : i64"),
        ("memgraph.partition = 1 : i64", "memgraph.partition = 1 : i32"),
        ("memgraph.partition = 0 : i64", "memgraph.partition = false"),
        ("memgraph.partition = 0 : i64", "memgraph.partition = 5 : i64"),
    ],
    "off_chip": [
        ("on_chip = 176", "on_chip = -1"),
        ("on_chip = 176", f"on_chip = {BIG}"),
        ("moved = 0, lower_bound = 0", "moved = 0, lower_bound = 1"),
        ("moved = 0, lower_bound = 0", "moved = 0, lower_bound = -1"),
        ("moved = 0, lower_bound = 0", f"moved = {BIG}, lower_bound = 0"),
    ],
    "placed": [
        (ARENA, ""),
        (ARENA, ", arena = -1, arena_lower_bound = 0"),
        (ARENA, ", arena = -1, arena_lower_bound = -1"),
        (ARENA, ", arena = -176, arena_lower_bound = -176"),
        (ARENA, ", arena = 160, arena_lower_bound = 160"),
        (ARENA, ", arena = 192, arena_lower_bound = 176"),
        (ARENA, ", arena = 176, arena_lower_bound = 192"),
        (ARENA, ", arena = 176, arena_lower_bound = -1"),
        (ARENA, ", arena = 176"),
        (ARENA, f", arena = {BIG}, arena_lower_bound = 0"),
        (ARENA, f"{ARENA}, objects = [176], objects_lower_bound = 0"),
        (ARENA, f"{ARENA}, memories_lower_bound = 176"),
        (ARENA, f"{ARENA}, memories = [{OBJECT}], memories_lower_bound = 0"),
        (ARENA, f"{ARENA}, memories = [#memgraph.memory<arena, kind = arena, bytes = 176>]"),
        (ARENA, f"{ARENA}, traffic = #memgraph.traffic<cost = 0, lower_bound = 0, proof = none>"),
        ("memgraph.offset = [0 : i64]", "memgraph.offset = [-16 : i64]"),
        ("memgraph.offset = [0 : i64]", "memgraph.offset = [0.0 : f64]"),
        ("memgraph.offset = [0 : i64]", "memgraph.offset = [false]"),
        ("memgraph.offset = [0 : i64]", "memgraph.offset = [0 : i32]"),
        ("memgraph.offset = [0 : i64]", "memgraph.offset = [#memgraph.slot<a, 0>]"),
        ("memgraph.offset = [0 : i64]", "memgraph.offset = [#memgraph.slot<arena, 0>]"),
        ("memgraph.offset = [0 : i64]", "memgraph.offset = [#memgraph.object<0>]"),
        ("memgraph.offset = [0 : i64]", "memgraph.offset = [8 : i64]"),
        ("memgraph.offset = 0 : i64", "memgraph.offset = -64 : i64"),
        ("memgraph.offset = 0 : i64", "memgraph.offset = false"),
        ("#memgraph.scratch<16, 64>", "#memgraph.scratch<16, -2>"),
        ("#memgraph.scratch<16, 64>", "#memgraph.scratch<16>"),
        ("#memgraph.scratch<16, 64>", "#memgraph.scratch<16, 0>"),
        ("#memgraph.scratch<16, 64>", "#memgraph.scratch<16, #memgraph.slot<arena, 64>>"),
        ("memgraph.plan =", "memgraph.schedules_tried = 0 : i64, memgraph.plan ="),
        ("memgraph.plan =", "memgraph.schedules_tried = -3 : i64, memgraph.plan ="),
        ("memgraph.plan =", "memgraph.schedules_tried = true, memgraph.plan ="),
    ],
    "objects": [
        (ARENA, ""),
        (ARENA, ", arena = -176, arena_lower_bound = 0"),
        (ARENA, ", arena = 192, arena_lower_bound = 176"),
        (BYTES % (1, 32), BYTES % (1, 48)),
        (BYTES % (1, 32), BYTES % (1, -32)),
        (BYTES % (1, 32), BYTES % (1, BIG)),
        (BYTES % (1, 32), BYTES % (1, "true")),
        (BYTES % (1, 32), BYTES % (0, 32)),
        (f"{BYTES % (1, 32)}, {BYTES % (2, 16)}", f"{BYTES % (1, 16)}, {BYTES % (2, 32)}"),
        (f", {BYTES % (2, 16)}", ""),
        (f", {BYTES % (2, 16)}", f", {BYTES % (2, 16)}, {BYTES % (2, 0)}"),
        (", kind = object, bytes = 128", ", kind = arena, bytes = 128"),
        (", kind = object, bytes = 128", ", kind = object, bytes = 128, capacity = 128"),
        (", kind = object, bytes = 128", f", {BANK} bytes = 128"),
        (", kind = object", f", {BANK}"[:-1]),
        ("memories_lower_bound = 176", "memories_lower_bound = 177"),
        ("memories_lower_bound = 176", "memories_lower_bound = -1"),
        ("memories_lower_bound = 176", f"memories_lower_bound = {BIG}"),
        (", memories_lower_bound = 176", ""),
        ("#memgraph.slot<object1, 0>", "#memgraph.slot<object1, -16>"),
        ("#memgraph.slot<object1, 0>", "#memgraph.slot<object1, 16>"),
        ("#memgraph.slot<object1, 0>", f"#memgraph.slot<object1, {BIG}>"),
        ("#memgraph.slot<object1, 0>", "#memgraph.slot<object3, 0>"),
        ("#memgraph.slot<object1, 0>", "#memgraph.slot<object2, 0>"),
        ("#memgraph.slot<object1, 0>", "#memgraph.slot<arena, 0>"),
        ("#memgraph.slot<object1, 0>", "0 : i64"),
        ("#memgraph.slot<object1, 0>", "#memgraph.object<1>"),
    ],
    "memories": [
        (ARENA, ""),
        (ARENA, ", arena = -1, arena_lower_bound = 0"),
        (ARENA, ", arena = 160, arena_lower_bound = 0"),
        (ARENA, ", arena = 288, arena_lower_bound = 176"),
        ("capacity = 160", "capacity = 144"),
        ("capacity = 160", "capacity = -160"),
        ("capacity = 160", f"capacity = {BIG}"),
        (" capacity = 160,", ""),
        ("cost = 1,", "cost = 0,"),
        ("cost = 1,", "cost = -1,"),
        (" cost = 1,", ""),
        ("kind = bank, bytes = 160,", "kind = bank, bytes = 144,"),
        ("kind = bank, bytes = 160,", "kind = bank, bytes = -160,"),
        ("kind = bank, bytes = 160,", f"kind = bank, bytes = {BIG},"),
        ("kind = bank, bytes = 160,", "kind = bank,"),
        ("kind = bank, bytes = 160,", "kind = object, bytes = 160,"),
        ("#memgraph.memory<b, ", "#memgraph.memory<a, "),
        ("#memgraph.memory<b, ", '#memgraph.memory<"", '),
        ("moved = 448", "moved = 0"),
        ("moved = 448", "moved = -448"),
        (", moved = 448", ""),
        ("traffic<cost = 480", "traffic<cost = 460"),
        ("traffic<cost = 480", f"traffic<cost = {BIG}"),
        ("lower_bound = 480", "lower_bound = 481"),
        ("lower_bound = 480", "lower_bound = -1"),
        ("lower_bound = 480, proof = ilp", "lower_bound = 480, proof = flow"),
        (", traffic = #memgraph.traffic<cost = 480, lower_bound = 480, proof = ilp>", ""),
        (", traffic =", ", memories_lower_bound = 0, traffic ="),
        ("#memgraph.slot<a, 128>", "#memgraph.slot<a, -128>"),
        ("#memgraph.slot<a, 128>", "#memgraph.slot<a, 144>"),
        ("#memgraph.slot<a, 128>", f"#memgraph.slot<a, {BIG}>"),
        ("#memgraph.slot<a, 128>", "#memgraph.slot<c, 128>"),
        ("#memgraph.slot<a, 128>", "128 : i64"),
    ],
}


WAYS = ("minimalloc-csv", "json", "report")


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The planned IR in each state."""
    folder = tmp_path_factory.mktemp("plans")
    source = folder / "source.mlir"
    source.write_text(SOURCE)
    found: dict[str, str] = {}
    for name, pipeline in STATES.items():
        path = folder / f"{name}.mlir"
        assert opt([str(source), "-p", pipeline, "-o", str(path)]) == 0
        assert main(["verify", str(path)]) == 0
        found[name] = path.read_text()
    return found


EVERY = [(s, *fault) for s, faults in FAULTS.items() for fault in faults]


@pytest.mark.parametrize(
    ("number", "state", "old", "new"), [(i, *fault) for i, fault in enumerate(EVERY)]
)
def test_a_wrong_number_is_refused(
    number: int,
    state: str,
    old: str,
    new: str,
    plans: dict[str, str],
    fuzz: float,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the verifier, and by what reads a plan to make something of it: one in turn, or all."""
    text = plans[state]
    assert old in text, text
    path, out = tmp_path / "plan.mlir", tmp_path / "out"
    path.write_text(text.replace(old, new, 1))
    assert main(["verify", str(path)]) == 1
    said, error = capsys.readouterr()
    assert not said and ": error: " in error and "internal" not in error and "\n" in error
    for way in WAYS if fuzz >= 1 else WAYS[number % len(WAYS) :][:1]:
        if way == "report":
            assert main([way, str(path)]) == 1
        else:
            assert opt([str(path), "-t", way, "-o", str(out)]) == 1
        assert not out.exists()
        assert "internal" not in capsys.readouterr().err


@pytest.mark.parametrize("numbers", [(8, -1, -1), (-1, 1, -1), (-1, -1, 8)])
def test_only_a_bank_has_capacity_cost_and_moved(numbers: tuple[int, int, int]) -> None:
    """Also of a memory that was never text."""
    with pytest.raises(VerifyException, match="memory a: only a bank has capacity"):
        MemoryAttr("a", "arena", 8, *numbers)
    with pytest.raises(VerifyException, match="memory a: only a bank has capacity"):
        MemoryAttr("a", "object", 8, *numbers)
    with pytest.raises(VerifyException, match="memory a: -1 is negative"):
        MemoryAttr("a", "bank", 8, *numbers)


NUMBERS = (
    "slot<a, 1>",
    "scratch<1>",
    "scratch<8, 1>",
    "memory<a, kind = arena, bytes = 1>",
    "traffic<cost = 1, lower_bound = 0, proof = ilp>",
    'plan<peak = 1, lower_bound = 0, proof = flow, family = order, fingerprint = "0">',
    'plan<peak = 8, lower_bound = 1, proof = flow, family = order, fingerprint = "0">',
    "off_chip<on_chip = 1, rule = belady, moved = 0, lower_bound = 0, proof = none>",
    "alias<operand = 0, kind = slice, byte_offset = 1>",
)


@pytest.mark.parametrize("text", NUMBERS)
def test_a_boolean_is_no_number(text: str) -> None:
    """xDSL reads `true` as 1."""
    Parser(new_context(), f"#memgraph.{text}").parse_attribute()
    with pytest.raises(ParseError):
        Parser(new_context(), f"#memgraph.{text.replace('1', 'true')}").parse_attribute()
