"""The processes of a sweep: all of them end at Ctrl-C or SIGTERM, also while one starts."""

import signal
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Processes(ProcessPoolExecutor):
    """Pool of processes that `end` can stop, whenever Ctrl-C comes."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a call; Ctrl-C and SIGTERM take effect at its end."""
        with _uninterrupted():
            return super().submit(fn, *args, **kwargs)

    def end(self) -> None:
        """Stop all processes, as `terminate_workers` of Python 3.14 does."""
        processes: dict[int, BaseProcess] = vars(self).get("_processes") or {}
        for process in list(processes.values()):
            process.terminate()


@contextmanager
def _uninterrupted() -> Generator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in handlers.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread() or not before:
        yield  # they are not for this thread, or not for Python
        return
    came: list[tuple[int, FrameType | None]] = []

    def wait(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))

    for number in before:
        signal.signal(number, wait)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number, frame in came[:1]:
        before[signal.Signals(number)](number, frame)
