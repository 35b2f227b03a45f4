"""onnxruntime's session, sample by sample (`pip install onnxruntime`)."""

import os
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from memopt.dialects.arithmetic.stored import Array
from memopt.validate.job import Answer, Job, stacked


def answered(job: Job, is_optimised: bool) -> Answer:
    """Answer a job, with the optimiser or without."""
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    levels = ort.GraphOptimizationLevel
    level = levels.ORT_ENABLE_ALL if is_optimised else levels.ORT_DISABLE_ALL
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    plain = ort.InferenceSession(str(job.model), options)
    given = [one.name for one in plain.get_inputs()]
    outputs = [one.name for one in plain.get_outputs()]
    session, known = _with_tensors(ort, options, job, outputs) if job.tensors else (plain, [])
    rows: list[list[Array]] = []
    for sample in zip(*job.inputs, strict=True):
        feeds = dict(zip(given, sample, strict=False))
        rows.append(session.run([*outputs, *known], feeds))
    arrays = stacked(rows)
    tensors = dict(zip(known, arrays[len(outputs) :], strict=True))
    return Answer(arrays[: len(outputs)], tensors)


def _with_tensors(ort: Any, options: Any, job: Job, outputs: list[str]) -> tuple[Any, list[str]]:
    """Return a session whose outputs are also those of `job.tensors` that nodes of the graph
    make, and their names."""
    onnx: Any = import_module("onnx")
    model = onnx.load_model(str(job.model), load_external_data=False)
    written = {name for node in model.graph.node for name in node.output}
    known = [name for name in job.tensors if name in written and name not in outputs]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in known)
    # beside the model, where the files of its weights are
    handle, path = tempfile.mkstemp(dir=job.model.parent, prefix=".memopt-", suffix=".onnx")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(model.SerializeToString())
        return ort.InferenceSession(path, options), known
    finally:
        Path(path).unlink()
