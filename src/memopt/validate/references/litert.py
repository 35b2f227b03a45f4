"""LiteRT as an application runs it: with the XNNPACK delegate."""

from memopt.validate.job import Answer, Job
from memopt.validate.litert_interpreter import AS_AN_APPLICATION, interpreted

SUFFIX = ".tflite"


def run(job: Job) -> Answer:
    """Answer a job."""
    return interpreted(job, AS_AN_APPLICATION)
