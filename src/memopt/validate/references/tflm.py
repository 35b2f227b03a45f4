"""TensorFlow Lite Micro, by its Python package (`pip install tflite-micro`)."""

from importlib import import_module
from pathlib import Path
from typing import Any

from memopt.backends.tflm.wrong import wrong_answers
from memopt.dialects.arithmetic.stored import Array
from memopt.formats.tflite import read_model
from memopt.validate.job import Answer, Job, stacked

SUFFIX = ".tflite"
ARENA = 64 << 20  # bytes, more than any microcontroller has


def known_errors(path: Path, until: str) -> list[str]:
    """Return what TFLM computes of a model other than is meant, up to what writes a tensor, if that
    has a number."""
    data = path.read_bytes()
    return wrong_answers(read_model(data, path.name), data, int(until or -1))


def run(job: Job) -> Answer:
    """Answer a job."""
    runtime: Any = import_module("tflite_micro.python.tflite_micro.runtime")
    config = runtime.InterpreterConfig
    interpreter = runtime.Interpreter.from_bytes(
        job.model.read_bytes(),
        arena_size=ARENA,
        intrepreter_config=config.kPreserveAllTensors
        if job.tensors
        else config.kAllocationRecording,
    )
    subgraph, *_ = read_model(job.model.read_bytes(), job.model.name).subgraphs
    rows: list[list[Array]] = []
    count, known = len(subgraph.outputs), list(job.tensors)
    for sample in zip(*job.inputs, strict=True):
        for k, array in enumerate(sample):
            interpreter.set_input(array, k)
        interpreter.invoke()
        row = [interpreter.get_output(k).copy() for k in range(count)]
        rows.append(row + [interpreter.GetTensor(int(k), 0)["tensor_data"].copy() for k in known])
    arrays = stacked(rows)
    return Answer(arrays[:count], dict(zip(known, arrays[count:], strict=True)))
