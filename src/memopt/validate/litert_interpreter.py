"""LiteRT's interpreter, sample by sample."""

from importlib import import_module
from typing import Any

from memopt.dialects.arithmetic.stored import Array
from memopt.validate.job import Answer, Job, stacked

AS_AN_APPLICATION = "AUTO"
REFERENCE_KERNELS = "BUILTIN_REF"


def interpreted(job: Job, kernels: str) -> Answer:
    """Answer a job with these kernels, a name of LiteRT's OpResolverType."""
    litert: Any = import_module("ai_edge_litert.interpreter")
    interpreter = litert.Interpreter(
        str(job.model),
        experimental_op_resolver_type=litert.OpResolverType[kernels],
        experimental_preserve_all_tensors=bool(job.tensors),
    )
    given, results = interpreter.get_input_details(), interpreter.get_output_details()
    for detail, array in zip(given, job.inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], array.shape[1:])
    interpreter.allocate_tensors()
    known = [int(k) for k in job.tensors if _has(interpreter, int(k))]
    rows: list[list[Array]] = []
    for sample in zip(*job.inputs, strict=True):
        for detail, array in zip(given, sample, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        wanted = [*(detail["index"] for detail in results), *known]
        rows.append([interpreter.get_tensor(k).copy() for k in wanted])
    arrays = stacked(rows)
    outputs, tensors = arrays[: len(results)], arrays[len(results) :]
    return Answer(outputs, dict(zip(map(str, known), tensors, strict=True)))


def _has(interpreter: Any, tensor: int) -> bool:
    try:
        interpreter.get_tensor(tensor)
    except ValueError:
        return False
    return True
