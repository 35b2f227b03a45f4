"""The runtimes that memory models name, each with its folder of `targets/`: answers as the
interface `Runtimes` asks them (dialects/attributes/runtimes.py)."""

from functools import cache
from importlib import import_module

from memopt.dialects.attributes.runtimes import Requests
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
SCRATCHES = tuple(REQUESTS)


@cache
def requests(word: str) -> Requests | None:
    """Return what the kernels of that word request."""
    module = REQUESTS.get(word)
    return import_module(module).requests if module else None


@cache
def interpreter(target: str) -> str:
    """Return the name of the runtime that runs the files of a target, "" for none."""
    known = all_targets().get(target)
    return known.interpreter if known else ""
