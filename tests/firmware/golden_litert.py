"""Runs LiteRT's builtin kernels without XNNPACK and writes every tensor that was asked for.

A script with the jobs of golden_tflm.py, in a process of its own for the same reason.
"""

import json
import sys
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType


def run(job: dict) -> None:
    interpreter = Interpreter(
        job["model"],
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    inputs = np.load(job["inputs"])
    found: dict[str, list] = {f"tensor_{i}": [] for i in job["tensors"]}
    for run_index in range(len(inputs["input_0"])):
        for k, detail in enumerate(interpreter.get_input_details()):
            interpreter.set_tensor(detail["index"], inputs[f"input_{k}"][run_index])
        interpreter.invoke()
        for i in job["tensors"]:
            found[f"tensor_{i}"].append(interpreter.get_tensor(i).copy())
    np.savez(job["output"], **{name: np.stack(values) for name, values in found.items()})


for entry in json.loads(Path(sys.argv[1]).read_text()):
    run(entry)
