# pyright: basic
"""Buffers that move within the arena, over themselves too, as C with sanitizers."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from beside import evaluated
from moved_networks import moved, write

FULL = 400  # networks


def test_moved_buffers_compute_the_same(tmp_path: Path, lab: Any, fuzz: float) -> None:
    lab.need_tools("host")
    rng = Random(8)
    runs = over_itself = 0
    while runs < max(2, int(FULL * fuzz)):
        module, planned, layout = moved(rng, "host")
        if len(layout.answer.moves) < 3 or min(layout.answer.offsets) < 0:
            continue
        runs += 1
        at = dict(enumerate(layout.answer.offsets))
        for move in layout.answer.moves:
            size = layout.problem.blocks[move.block].size
            over_itself += abs(at[move.block] - move.offset) < size
            at[move.block] = move.offset
        inputs = [
            np.array([[rng.uniform(-2, 2) for _ in range(n)]], np.float32) for n in (5, 10, 15)
        ]
        want = evaluated(module, inputs)
        write(planned, layout)
        project = lab.write(module, tmp_path / str(runs), "net", "host")
        run = lab.run_project(project, inputs, lab.SANITIZE, trace=False)
        assert run.code == 0, run.messages
        assert run.output == want
    assert over_itself or runs < 20
