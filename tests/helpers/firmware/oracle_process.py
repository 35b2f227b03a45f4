"""Runtimes that tests compare with, each in a process beside them, which a bad model may abort.

They are kept for the next job, as starting them takes longer than most jobs: in TensorFlow Lite
Micro's every run has an interpreter of its own, and LiteRT's forks for each job.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

SECONDS = 600  # after which a job has failed, on any machine

_processes: dict[Path, tuple["subprocess.Popen[str]", IO[str]]] = {}


def run(script: Path, job: dict[str, Any]) -> None:
    """Have a job of golden_tflm.py or golden_litert.py done."""
    process, said = _processes.pop(script, None) or _start(script)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    if not select.select([process.stdout], [], [], SECONDS)[0]:
        process.kill()
    answer = process.stdout.readline()
    if answer == "done\n":
        _processes[script] = process, said
        return
    process.stdin.close()
    process.wait()
    said.seek(0)
    assert answer == "done\n", said.read()[-2000:]


def _start(script: Path) -> tuple["subprocess.Popen[str]", IO[str]]:
    said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (as long as the process)
    pipe = subprocess.PIPE
    command = [sys.executable, str(script)]
    # it runs nothing of ours, of which it would be counted what it covers
    own = {name: text for name, text in os.environ.items() if not name.startswith("COVERAGE_")}
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=said, text=True, env=own)
    return process, said
