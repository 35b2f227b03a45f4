"""Runs LiteRT's builtin kernels without XNNPACK, or its reference kernels where `reference` says
so, and writes every tensor that was asked for.

A script with the jobs of golden_tflm.py otherwise, in a process of its own for the same reason.
"""

import importlib
import json
import sys
from typing import Any

import numpy as np

litert: Any = importlib.import_module("ai_edge_litert.interpreter")


def run(job: dict[str, Any]) -> None:
    kinds = litert.OpResolverType
    optimised = kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = litert.Interpreter(
        job["model"],
        experimental_op_resolver_type=kinds.BUILTIN_REF if job["reference"] else optimised,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    inputs = np.load(job["inputs"])
    found: dict[str, list[Any]] = {f"tensor_{i}": [] for i in job["tensors"]}
    for run_index in range(len(inputs["input_0"])):
        for k, detail in enumerate(interpreter.get_input_details()):
            interpreter.set_tensor(detail["index"], inputs[f"input_{k}"][run_index])
        interpreter.invoke()
        for i in job["tensors"]:
            found[f"tensor_{i}"].append(interpreter.get_tensor(i).copy())
    arrays: dict[str, Any] = {name: np.stack(values) for name, values in found.items()}
    np.savez(job["output"], **arrays)


for line in sys.stdin:
    run(json.loads(line))
    print("done", flush=True)
