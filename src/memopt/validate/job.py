"""Question to a reference runtime, and its answer.

Both go through a file, from and to a process of its own: a runtime may abort at a model that it
dislikes, and its figures of speed and memory are no concern here.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.modules import modules_in

REFERENCES = modules_in("memopt.validate.references")  # name -> module
ARRAYS = "arrays.npz"


@dataclass(frozen=True)
class Job:
    """Run a model's file on samples, an array [samples, ...] per input; `tensors` are asked for
    beside its outputs, by number (.tflite) or name (.onnx)."""

    model: Path
    inputs: Sequence[Array]
    tensors: Sequence[str] = ()


@dataclass(frozen=True)
class Answer:
    """An array [samples, ...] per output, and of the tensors that the runtime has."""

    outputs: tuple[Array, ...]
    tensors: Mapping[str, Array] = field(default_factory=dict[str, Array])


def answer_of(reference: str, job: Job) -> Answer:
    """Return what a reference answers. Raises MemoptError where it cannot, or where its process
    ends."""
    with tempfile.TemporaryDirectory(prefix="memopt-") as work:
        folder = Path(work)
        arrays = {f"input_{k}": array for k, array in enumerate(job.inputs)}
        np.savez(folder / ARRAYS, allow_pickle=False, **arrays)
        text = json.dumps({"model": str(job.model.resolve()), "tensors": list(job.tensors)})
        command = [sys.executable, "-m", "memopt.validate.worker", REFERENCES[reference], work]
        ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if ran.returncode:
            lines = [line for line in ran.stderr.splitlines() if line.strip()]
            why = lines[-1] if lines else "it says nothing"
            ended = f"ended with {ran.returncode}" if ran.returncode < 0 else "refuses the model"
            raise MemoptError(f"{reference} {ended}: {why[:300]}", str(job.model))
        keys: list[str] = json.loads((folder / "tensors.json").read_text())
        with np.load(folder / "answer.npz", allow_pickle=False) as content:
            count = len(content.files) - len(keys)
            outputs = tuple(content[f"output_{k}"] for k in range(count))
            tensors = {key: content[f"tensor_{k}"] for k, key in enumerate(keys)}
    return Answer(outputs, tensors)


def stacked(rows: Sequence[Sequence[Array]]) -> tuple[Array, ...]:
    """Return the arrays of each sample, stacked."""
    return tuple(np.stack(column) for column in zip(*rows, strict=True))
