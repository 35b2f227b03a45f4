"""The runtimes that memory models name, each with its folder of `targets/`."""

from functools import cache
from importlib import import_module

from memopt.dialects.attributes.runtimes import Requests, Runtimes
from memopt.targets.cmsis_nn import CALLED
from memopt.targets.core.target import all_targets

REQUESTS = {
    "none": "",
    "tflm": "memopt.targets.tflm.scratch",
    "cmsis-nn": "memopt.targets.cmsis_nn.scratch",
    CALLED: "",
}
"""`scratch` of a memory model -> the module whose `requests(op, model)` says what kernels request,
"" where scratch is written at the operations."""


@cache
def _requests(word: str) -> Requests | None:
    module = REQUESTS.get(word)
    return import_module(module).requests if module else None


@cache
def _interpreter(target: str) -> str:
    known = all_targets().get(target)
    return known.interpreter if known else ""


RUNTIMES = Runtimes(tuple(REQUESTS), _requests, _interpreter)
