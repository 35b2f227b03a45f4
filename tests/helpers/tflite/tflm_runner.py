"""Runs models in TensorFlow Lite Micro and in LiteRT, in one subprocess for many jobs.

A bad plan aborts the process, and LiteRT corrupts its heap on some models: so every answer is
written as soon as it is known, and a job without an answer is a crash. What TFLM prints of its
allocations goes to stderr; the worker catches it there and parses it.

    answers = run([Job("tflm", data, inputs)], tmp_path)
    answers[0].head, answers[0].outputs[0]
"""

import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

ARENA = 64 << 20


@dataclass(frozen=True)
class Job:
    """`inputs`: per run one array per graph input. Run times: `tflm`, `litert` (builtin kernels
    without delegates) or `litert_ref` (reference kernels)."""

    runtime: Literal["tflm", "litert", "litert_ref"]
    model: bytes
    inputs: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Answer:
    """`outputs`: per run one array per graph output. Bytes of TFLM's arena: `total` = `head` (the
    plan) + `tail` (persistent). `error` is empty, what the run time said, or `crashed`."""

    outputs: tuple[tuple[Any, ...], ...] = ()
    total: int = 0
    head: int = 0
    tail: int = 0
    error: str = ""


def run(jobs: Sequence[Job], folder: Path, seconds: float = 300) -> list[Answer]:
    """The answers to all jobs; a crash costs one more subprocess and marks its job."""
    answers: list[Answer] = []
    while len(answers) < len(jobs):
        request, reply = folder / "request.pickle", folder / "reply.pickle"
        request.write_bytes(pickle.dumps(list(jobs[len(answers) :])))
        reply.write_bytes(b"")
        command = [sys.executable, __file__, str(request), str(reply)]
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
        found = _replies(reply)
        answers += found
        if len(answers) < len(jobs):
            text = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            answers.append(Answer(error=f"crashed: exit {done.returncode} {' '.join(text)}"))
    return answers


def _replies(path: Path) -> list[Answer]:
    result: list[Answer] = []
    with path.open("rb") as file:
        while True:
            try:
                result.append(Answer(**pickle.load(file)))
            except EOFError:
                return result


def random_inputs(model: bytes, runs: int, seed: int) -> list[list[Any]]:
    """Inputs of the right shapes and types: the full range of integers, [-1, 1] for floats."""
    import numpy as np

    from memopt.formats.tflite import read_model

    rng = np.random.default_rng(seed)
    graph = read_model(model, "model").subgraphs[0]

    def one(index: int) -> Any:
        tensor = graph.tensors[index]
        if tensor.type == "FLOAT32":
            return rng.uniform(-1, 1, tensor.shape).astype(np.float32)
        kind = np.dtype(tensor.type.lower())
        if kind == np.bool_:
            return rng.integers(0, 2, tensor.shape).astype(kind)
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, tensor.shape, kind, endpoint=True)

    return [[one(i) for i in graph.inputs] for _ in range(runs)]


# -- the worker ---------------------------------------------------------------------------------


def _captured(action: Any) -> str:
    """What `action` prints to the process's stderr, also from C++."""
    with tempfile.TemporaryFile() as file:
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            action()
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        file.seek(0)
        return file.read().decode(errors="replace")


def _tflm(job: Job) -> dict[str, Any]:
    import importlib

    runtime: Any = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    interpreter = runtime.Interpreter.from_bytes(job.model, arena_size=ARENA)
    count = len(job.inputs[0])
    outputs: list[tuple[Any, ...]] = []
    text = _captured(interpreter.print_allocations) if not count else ""
    for run_inputs in job.inputs:
        interpreter.reset()  # variables to their initial values: runs do not depend on each other
        for index, array in enumerate(run_inputs):
            interpreter.set_input(array, index)
        interpreter.invoke()
        outputs.append(tuple(interpreter.get_output(i) for i in range(_outputs(job.model))))
    text = _captured(interpreter.print_allocations)
    sizes = {
        key: int(cast("re.Match[str]", re.search(rf"{pattern} (\d+) bytes", text))[1])
        for key, pattern in (
            ("total", "Arena allocation total"),
            ("head", "Arena allocation head"),
            ("tail", "Arena allocation tail"),
        )
    }
    return {"outputs": tuple(outputs), **sizes}


def _outputs(model: bytes) -> int:
    from memopt.formats.tflite import read_model

    return len(read_model(model, "model").subgraphs[0].outputs)


def _litert(job: Job) -> dict[str, Any]:
    import importlib

    module: Any = importlib.import_module("ai_edge_litert.interpreter")
    kinds = module.OpResolverType
    kind = kinds.BUILTIN_REF if job.runtime == "litert_ref" else None
    kind = kind or kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = module.Interpreter(
        model_content=job.model, experimental_op_resolver_type=kind, num_threads=1
    )
    interpreter.allocate_tensors()
    outputs: list[tuple[Any, ...]] = []
    for run_inputs in job.inputs:
        interpreter.reset_all_variables()
        for detail, array in zip(interpreter.get_input_details(), run_inputs, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        details = interpreter.get_output_details()
        outputs.append(tuple(interpreter.get_tensor(d["index"]) for d in details))
    return {"outputs": tuple(outputs)}


def _work(request: Path, reply: Path) -> None:
    # Run as a script, this module is `__main__`; the pickled jobs name it by its file's name.
    sys.modules["tflm_runner"] = sys.modules["__main__"]
    jobs: list[Job] = pickle.loads(request.read_bytes())
    with reply.open("ab") as file:
        for job in jobs:
            try:
                answer = _tflm(job) if job.runtime == "tflm" else _litert(job)
            except Exception as error:  # the run times raise what they like: it is the answer
                answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
            pickle.dump(answer, file)
            file.flush()


if __name__ == "__main__":
    _work(Path(sys.argv[1]), Path(sys.argv[2]))
