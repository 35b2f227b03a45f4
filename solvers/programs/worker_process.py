"""The process in which OR-Tools solves; `worker.py` starts it, talks to it and reads its answers.

A request is (kind, seconds or None, whether to tell of incumbents, ...); it is answered by any
number of `told` (objective, bound) and then by `done` or `failed`. A thread reads: when stdin ends,
the parent is gone, and so is this process, also while it solves.
"""

import os
import signal
import sys
from dataclasses import dataclass
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any

from ortools.sat.python import cp_model_helper

from memopt.solvers.programs.messages import Message, read, write

cp: Any = cp_model_helper  # its types leave most open


@dataclass(frozen=True)
class Left:
    """Seconds that a request leaves to the solver, after it was received and read."""

    seconds: float | None
    began: float

    def __call__(self) -> float | None:
        return None if self.seconds is None else max(0.0, self.seconds - monotonic() + self.began)


def main() -> None:
    """Answer requests until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what native code prints must not end up between the messages
    waiting: SimpleQueue[tuple[Message, float]] = SimpleQueue()
    Thread(target=_receive, args=(requests, waiting), daemon=True).start()
    write(answers, ("ready",))
    while True:
        (kind, seconds, tell, *program), began = waiting.get()
        limit = Left(seconds, began)
        try:
            if kind == "cp-sat":
                answer = _cp_sat(*program, left=limit, told=_Told(answers) if tell else None)
            else:
                answer = _mathopt(*program, left=limit)
        except Exception as error:
            write(answers, ("failed", f"{type(error).__name__}: {error}"))
        else:
            write(answers, ("done", answer))


def _receive(requests: IO[bytes], waiting: "SimpleQueue[tuple[Message, float]]") -> None:
    while (message := read(requests)) is not None:
        waiting.put(message)
    os._exit(0)


def _cp_sat(model: str, parameters: str, *, left: Left, told: "_Told | None") -> str:
    """Programs and answers of CP-SAT as protocol buffers in their text form."""
    program, chosen = cp.CpModelProto(), cp.SatParameters()
    if not program.parse_text_format(model) or not chosen.parse_text_format(parameters):
        raise ValueError("the program does not arrive as it was sent")
    chosen.catch_sigint_signal = False
    seconds = left()
    if seconds is not None:
        chosen.max_time_in_seconds = seconds
    wrapper = cp.SolveWrapper()
    wrapper.set_parameters(chosen)
    if told is not None:
        wrapper.add_solution_callback(told)
    return str(wrapper.solve(program))


class _Told(cp.SolutionCallback):
    """Sends the objective and the bound of each answer that is found on the way."""

    def __init__(self, answers: IO[bytes]) -> None:
        cp.SolutionCallback.__init__(self)
        self._answers = answers

    def OnSolutionCallback(self) -> None:  # noqa: N802, the name is OR-Tools'
        """Called by OR-Tools."""
        write(self._answers, ("told", self.ObjectiveValue(), self.BestObjectiveBound()))


def _mathopt(
    model: bytes, solver: int, parameters: bytes, model_parameters: bytes, *, left: Left
) -> bytes:
    """Programs and answers of MathOpt as serialised protocol buffers."""
    names = ("callback", "model_parameters", "model", "parameters")
    messages: Any = [import_module(f"ortools.math_opt.{name}_pb2") for name in names]
    callback_pb2, model_parameters_pb2, model_pb2, parameters_pb2 = messages
    solve: Any = import_module("ortools.math_opt.core.python.solver").solve
    chosen = parameters_pb2.SolveParametersProto.FromString(parameters)
    seconds = left()
    if seconds is not None:
        chosen.time_limit.FromNanoseconds(int(seconds * 1e9))
    result = solve(
        model_pb2.ModelProto.FromString(model),
        solver,
        parameters_pb2.SolverInitializerProto(),
        chosen,
        model_parameters_pb2.ModelSolveParametersProto.FromString(model_parameters),
        None,
        callback_pb2.CallbackRegistrationProto(),
        None,
        None,
    )
    return result.SerializeToString()


if __name__ == "__main__":
    main()
    sys.exit(0)
