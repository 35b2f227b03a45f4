"""Cycles of blocks of instructions, counted by hand from the cores' manuals."""

from collections.abc import Iterable
from random import Random

import pytest

from memopt.backends.c.project.cycles.blocks import HANDLER, MOST, Ran, blocks_by
from memopt.backends.c.project.cycles.instructions import (
    Cycles,
    cycles_of,
    instructions_of,
    price,
)
from memopt.targets.core.target import target_named

M0, M3, M4 = (target_named(f"cortex-{name}").timing for name in ("m0plus", "m3", "m4"))


def blocks_of(
    lines: Iterable[str], starts: int, stops: int, most: int = MOST, spans: range | None = None
) -> Ran | None:
    """Return what ran each time, or those times that are in `spans`."""
    groups = blocks_by(lines, starts, stops, lambda n: int(spans is None or n in spans), most)
    return None if groups is None else groups.get(1, Ran())


def block(*texts: str) -> list[str]:
    """As objdump prints them, from address 0x100 on, two bytes each."""
    rows = (text.split(" ", 1) for text in texts)
    return [
        f"     {0x100 + 2 * n:x}:\tbf00      \t{row[0]}\t{row[1] if len(row) > 1 else ''}"
        for n, row in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("texts", "taken", "m4", "m3", "m0"),
    [
        (["adds r0, r1, r2", "lsls r0, r0, #3", "nop"], False, (3, 3), (3, 3), (3, 3)),
        # a load takes two, one behind another that has not made its address
        (["ldr r0, [r4, #0]"], False, (2, 2), (2, 2), (2, 2)),
        (["ldr r0, [r4, #0]", "ldr.w r1, [r4, #4]"], False, (3, 3), (3, 3), (4, 4)),
        (["ldr r4, [r4, #0]", "ldr r1, [r4, #4]"], False, (4, 4), (4, 4), (4, 4)),
        (["adds r4, #4", "ldr r1, [r4, #4]"], False, (4, 4), (4, 4), (3, 3)),
        (["ldrb.w r1, [r4], #1", "smlad r0, r1, r2, r0"], False, (3, 3), (3, 3), (3, 3)),
        (["str r0, [r4, #0]", "strb r0, [r4, r5]"], False, (2, 3), (2, 3), (4, 4)),
        # one and one for each word
        (["ldmia.w r0!, {r4, r5, r6, r7}"], False, (5, 5), (5, 5), (5, 5)),
        (["push {r4, r5, fp, lr}"], False, (5, 5), (5, 5), (5, 5)),
        (["ldrd r4, r5, [r0], #8", "strd r4, r5, [r1]"], False, (6, 6), (6, 6), (6, 6)),
        (["vldmia r0!, {s0-s3}", "vldr d7, [r0]", "vstr s0, [r1]"], False, (10, 10), None, None),
        # a branch that is taken refills the pipeline
        (["subs r0, #1", "bne.n 100"], True, (3, 5), (3, 5), (3, 3)),
        (["subs r0, #1", "bne.n 100"], False, (2, 2), (2, 2), (2, 2)),
        (["cbz r0, 110", "bl 200"], True, (3, 5), (3, 5), (4, 4)),
        (["bx lr"], True, (2, 4), (2, 4), (2, 2)),
        (["pop {r4, r5, pc}"], True, (5, 7), (5, 7), (5, 5)),
        (["ldr.w pc, [r0]"], True, (3, 5), (3, 5), None),
        (["tbb [pc, r0]"], True, (3, 5), (3, 5), None),
        (["muls r0, r1", "mla r0, r1, r2, r3"], False, (2, 2), (3, 3), None),
        (["umull r0, r1, r2, r3", "smlal r0, r1, r2, r3"], False, (2, 2), (7, 12), None),
        (["udiv r0, r0, r1"], False, (2, 12), (2, 12), None),
        (["it eq", "ldreq r0, [r1]"], False, (1, 3), (1, 3), None),
        (["vfma.f32 s0, s1, s2", "vdiv.f32 s0, s0, s1"], False, (17, 17), None, None),
    ],
)
def test_blocks_are_counted_as_the_manuals_say(
    texts: list[str], taken: bool, m4: tuple[int, int], m3: object, m0: object
) -> None:
    code = list(instructions_of(block(*texts)).values())
    assert len(code) == len(texts)
    for timing, wanted in ((M4, m4), (M3, m3), (M0, m0)):
        assert timing is not None
        found = price(code, taken, timing)
        assert wanted is None or (found.least, found.most) == wanted
        assert found.instructions == len(texts)


LOG = """
----------------
IN: main
0x00000100:  2003       movs r0, #3

Trace 0: 0x7f [00800408/00000100/00000110/ff000200] main
----------------
IN: loop
0x00000102:  3801       subs r0, #1
0x00000104:  d1fd       bne #0x102

Trace 0: 0x7f [00800408/00000102/00000110/ff000200] loop
Trace 0: 0x7f [00800408/00000102/00000110/ff000200] loop
Trace 0: 0x7f [00800408/00000102/00000110/ff000200] loop
----------------
IN: end
0x00000106:  bf00       nop
0x00000108:  bf00       nop

Trace 0: 0x7f [00800408/00000106/00000110/ff000200] end
Trace 0: 0x7f [00800408/00000102/00000110/ff000200] loop
"""


def test_a_loop_is_what_ran_from_one_block_to_another() -> None:
    """Three times round: two branches taken, one not; what comes behind the end is not counted."""
    ran = blocks_of(LOG.splitlines(), 0x100, 0x106, most=4)
    assert ran is not None
    assert blocks_of(LOG.splitlines(), 0x100, 0x106, most=3) is None
    assert ran.ends == {0x100: 0x100, 0x102: 0x104, 0x106: 0x108}
    code = instructions_of(block("movs r0, #3", "subs r0, #1", "bne.n 102", "nop", "nop"))
    assert M4 is not None
    found = cycles_of(ran, code, M4)
    assert found == Cycles(1 + 3 * 2, 1 + 2 * 3 + 2, 1 + 2 * 5 + 2)
    assert found.middle == 11


STOPPED = "Stopped execution of TB chain before 0x7f [{at:08x}] loop"
HANDLED = ["Trace 0: 0x7f [00800409/00000200/00000110/ff000200] tick"]


@pytest.mark.parametrize("at", range(LOG.count("Trace")))
@pytest.mark.parametrize("stopped", [True, False])
def test_an_interrupt_is_not_counted(at: int, stopped: bool) -> None:
    """Before or behind any block, and in the handler itself."""
    lines = LOG.splitlines()
    line = [n for n, text in enumerate(lines) if text.startswith("Trace")][at]
    address = int(lines[line].split("/")[1], 16)
    again = [STOPPED.format(at=address), *HANDLED, STOPPED.format(at=0x200), *HANDLED, lines[line]]
    cut = [*lines[: line + 1], *(again if stopped else HANDLED), *lines[line + 1 :]]
    assert blocks_of(cut, 0x100, 0x106) == blocks_of(lines, 0x100, 0x106)


def test_of_some_times_only_what_ran_then_is_counted() -> None:
    """The program does it twice, and does something else between."""
    once, between = LOG.splitlines(), "Trace 0: 0x7f [00800408/00000106/00000110/ff000200] end"
    twice = [*once, between, *(line for line in once if line.startswith("Trace"))]
    first = blocks_of(once, 0x100, 0x106)
    assert first is not None
    for spans in (range(1), range(1, 2)):
        ran = blocks_of(twice, 0x100, 0x106, spans=spans)
        assert ran is not None and ran.steps == first.steps
    both = blocks_of(twice, 0x100, 0x106)
    assert both is not None and both.steps.total() == 2 * first.steps.total()
    none = blocks_of(twice, 0x100, 0x106, spans=range(2, 3))
    assert none is not None and not none.steps


def _random_log(random: Random) -> list[str]:
    """Blocks 0 to 9, some translated on the way, stopped before, or run by a handler."""
    lines: list[str] = []
    for _ in range(random.randint(1, 300)):
        at = 0x100 + 16 * min(int(random.expovariate(0.4)), 9)
        if random.random() < 0.02:
            lines += ["IN: f", f"0x{at:08x}:  bf00  nop", f"0x{at + 2:08x}:  4770  bx lr", ""]
        flags = HANDLER if random.random() < 0.03 else 0
        lines.append(f"Trace 0: 0x7f00 [{flags:08x}/{at:08x}/00000110/ff020000]")
        if random.random() < 0.03:
            lines.append(f"Stopped execution of TB chain before 0x7f00 [{at:08x}]")
    return lines


def test_lines_that_are_read_together_count_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(0)
    for _ in range(400):
        lines = _random_log(random)
        starts, stops = (0x100 + 16 * random.randint(0, 9) for _ in range(2))
        counted: list[dict[int, Ran] | None] = []
        for size in (1, 2, 5):
            monkeypatch.setattr(f"{blocks_by.__module__}.CHUNK", size)
            counted.append(blocks_by(lines, starts, stops, lambda n: n % 3))
        assert counted[0] == counted[1] == counted[2]
