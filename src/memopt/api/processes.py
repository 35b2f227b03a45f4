"""The processes of a sweep: all of them end at Ctrl-C, also when it comes while one starts."""

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
    """What `submit` starts is known to `end`, whenever Ctrl-C comes."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """As in the class above; Ctrl-C takes effect at its end."""
        with _uninterrupted():
            return super().submit(fn, *args, **kwargs)

    def end(self) -> None:
        """What `terminate_workers` of Python 3.14 does."""
        processes: dict[int, BaseProcess] = vars(self).get("_processes") or {}
        for process in list(processes.values()):
            process.terminate()


@contextmanager
def _uninterrupted() -> Generator[None]:
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # Ctrl-C is not for this thread, or not for Python
        return
    came: list[tuple[int, FrameType | None]] = []

    def wait(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        before(*came[0])
