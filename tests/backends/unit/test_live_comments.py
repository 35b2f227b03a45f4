"""Comments in C that name what is live while rows run."""

import random

import pytest

from memopt.analysis.liveness import LiveGroups
from memopt.analysis.storage_groups import BlockMemory, Storage
from memopt.backends.c.rows.live_rows import LiveRows

STEPS = 512


def memory_of(groups: list[Storage], steps: int) -> BlockMemory:
    """A block of so many operations, of which only the number counts."""
    operations: list[None] = [None] * steps
    return BlockMemory(operations, [], groups, {}, [], [], {}, [])  # type: ignore[arg-type]


def test_live_groups_and_their_bytes() -> None:
    rng = random.Random(1)
    for _ in range(50):
        steps = rng.randint(1, 9)
        groups = [
            Storage(
                [],
                rng.randrange(9),
                writers=[rng.randrange(steps)],
                readers=rng.sample(range(steps), rng.randint(0, steps)),
                is_output=rng.random() < 0.2,
                in_arena=rng.random() < 0.8,
            )
            for _ in range(rng.randrange(9))
        ]
        live = LiveGroups.of(memory_of(groups, steps))
        for pair in [(t,) for t in range(steps)] + [(t, t + 1) for t in range(steps - 1)]:
            want: list[int] = []
            for t in pair:
                for i, g in enumerate(groups):
                    last = steps - 1 if g.is_output else max(g.writers + g.readers)
                    if g.in_arena and g.writers[0] <= t <= last and i not in want:
                        want.append(i)
            assert live.at(pair) == want
            assert live.in_bytes(pair) == sum(groups[i].size for i in want)


def test_groups_are_listed_once_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """512 rows that all live to the end are listed at the fullest call of a line alone."""
    rows = [Storage([], 4, writers=[t], readers=[STEPS - 1]) for t in range(STEPS)]
    live = LiveGroups.of(memory_of(rows, STEPS))
    listed, at = list[int](), LiveGroups.at

    def counted(groups: LiveGroups, steps: tuple[int, ...]) -> list[int]:
        listed.extend(answer := at(groups, steps))
        return answer

    monkeypatch.setattr(LiveGroups, "at", counted)
    comments = LiveRows(live, [("k", t) for t in range(STEPS)])
    lines = [range(t, t + 8) for t in range(0, STEPS, 8)]
    texts = [comments.text([(t,) for t in line]) for line in lines]
    assert texts[0] == "  /* live at most 32 B: k[0-7] */\n"
    assert texts[-1] == f"  /* live at most {4 * STEPS} B: k[0-{STEPS - 1}] */\n"
    assert len(listed) == sum(line.stop for line in lines)
