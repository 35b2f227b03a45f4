"""Runs TensorFlow Lite Micro and writes every tensor that was asked for. A script, never imported:
a model that TFLM dislikes aborts the whole process.

A job is a line on stdin, answered by a line on stdout once it is done:
{"model": path, "inputs": npz, "tensors": [index], "output": npz, "stays": bool}. `inputs` holds
arrays `input_K` of shape [runs, ...]; `output` gets arrays `tensor_I` of shape [runs, ...]. If
`stays`, each run begins with what the one before has left in variables.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

runtime: Any = importlib.import_module("tflite_micro.python.tflite_micro.runtime")

ARENA = 64 << 20


def run(job: dict[str, Any]) -> None:
    model = Path(job["model"]).read_bytes()
    inputs = np.load(job["inputs"])
    keys = sorted(inputs.files, key=lambda k: int(k.removeprefix("input_")))
    found: dict[str, list[Any]] = {f"tensor_{i}": [] for i in job["tensors"]}
    interpreter: Any = None
    for run_index in range(len(inputs[keys[0]])):
        # A new interpreter for every run: nothing is left over from the one before.
        if interpreter is None or not job["stays"]:
            interpreter = runtime.Interpreter.from_bytes(
                model,
                arena_size=ARENA,
                intrepreter_config=runtime.InterpreterConfig.kPreserveAllTensors,
            )
        for k, key in enumerate(keys):
            interpreter.set_input(inputs[key][run_index], k)
        interpreter.invoke()
        for i in job["tensors"]:
            found[f"tensor_{i}"].append(interpreter.GetTensor(i, 0)["tensor_data"])
    arrays: dict[str, Any] = {name: np.stack(values) for name, values in found.items()}
    np.savez(job["output"], **arrays)


for line in sys.stdin:
    run(json.loads(line))
    print("done", flush=True)
