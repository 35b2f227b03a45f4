"""LiteRT's own reference kernels, which round as they are written, on any machine."""

from memopt.validate.job import Answer, Job
from memopt.validate.litert_interpreter import REFERENCE_KERNELS, interpreted

SUFFIX = ".tflite"


def run(job: Job) -> Answer:
    """Answer a job."""
    return interpreted(job, REFERENCE_KERNELS)
