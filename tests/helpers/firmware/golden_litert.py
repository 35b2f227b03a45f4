"""Runs LiteRT's builtin kernels without XNNPACK, or its reference kernels where `reference` says
so, and writes every tensor that was asked for.

A script with the jobs of golden_tflm.py otherwise. LiteRT corrupts its heap on some models, so each
job is done by a fork of this process, which has only imported it, as that takes longer than a job.
"""

import importlib
import json
import os
import signal
import sys
import traceback
from typing import Any

import numpy as np

SECONDS = 600  # after which a job ends itself

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


def run_apart(line: str) -> int:
    """The exit code of a process that does the job, negative if a signal ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        os.dup2(2, 1)  # what LiteRT prints is no answer
        signal.alarm(SECONDS)
        run(json.loads(line))
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


for line in sys.stdin:
    code = run_apart(line)
    if code:
        sys.exit(f"LiteRT's process ended with {code}")
    print("done", flush=True)
