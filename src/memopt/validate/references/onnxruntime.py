"""onnxruntime without the optimiser, so that each node is computed as it stands."""

from memopt.validate.job import Answer, Job
from memopt.validate.onnx_session import answered

SUFFIX = ".onnx"


def run(job: Job) -> Answer:
    """Answer a job."""
    return answered(job, is_optimised=False)
