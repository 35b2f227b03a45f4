"""The process that solves integer programs, spoken to without `worker.py`: requests and answers."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from ortools.sat.python import cp_model

from memopt.solvers.programs.messages import Message, read, write

MODULE = "memopt.solvers.programs.worker_process"


@pytest.fixture
def process() -> Iterator[Any]:
    """Its two ends; it ends by itself when there is nobody left to ask."""
    command = [sys.executable, "-m", MODULE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as found:
        assert found.stdin is not None and found.stdout is not None
        yield found
        found.stdin.close()
        assert found.wait(120) == 0


def told(process: Any) -> Message:
    message = read(process.stdout)
    assert message is not None
    return message[0]


def program() -> str:
    model = cp_model.CpModel()
    x, y = (model.new_int_var(0, 9, name) for name in "xy")
    model.add(2 * x + y >= 15)
    model.minimize(x + y)
    return str(model.proto)


def test_it_answers_until_nobody_asks(process: Any) -> None:
    assert told(process) == ("ready",)
    write(process.stdin, ("cp-sat", 60.0, True, program(), "num_workers: 1"))
    found = told(process)
    while found[0] == "told":
        assert found[1] >= found[2]  # an objective and a bound
        found = told(process)
    assert found[0] == "done" and "status: OPTIMAL" in found[1] and "objective_value: 8" in found[1]
    write(process.stdin, ("cp-sat", None, False, "no program", ""))
    kind, text = told(process)
    assert kind == "failed" and "does not arrive as it was sent" in text
    write(process.stdin, ("mathopt", 1.0, False, b"", 9999, b"", b""))
    assert told(process)[0] == "failed"
    write(process.stdin, ("cp-sat", 60.0, False, program(), ""))
    assert told(process)[0] == "done"
