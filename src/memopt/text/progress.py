"""A spinner on the terminal for what takes longer than two seconds."""

import threading
import time
from types import TracebackType
from typing import Self


class Spinner:
    """`with Spinner("memgraph-schedule"):` shows text and elapsed seconds after two seconds."""

    def __init__(self, text: str, delay: float = 2.0) -> None:
        self._text, self._delay = text, delay
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        start = time.monotonic()
        if self._done.wait(self._delay):
            return
        from rich.console import Console

        with Console(stderr=True).status(self._text) as status:
            while not self._done.wait(0.5):
                status.update(f"{self._text} {time.monotonic() - start:.0f} s")
