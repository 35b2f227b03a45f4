"""A line on the terminal for what takes longer than two seconds: the best so far, seconds left."""

import threading
from types import TracebackType
from typing import Self

from memopt.solvers import clock


class Spinner:
    """`with Spinner("memgraph-schedule"):` shows its `line` after two seconds, again and again.

    There may be a `deadline` (by `clock`), or a `total` of things of which `done` are done.
    """

    def __init__(
        self, text: str, deadline: float | None = None, total: int | None = None, delay: float = 2.0
    ) -> None:
        self._text, self._deadline, self._total, self._delay = text, deadline, total, delay
        self.done = 0
        self._began = clock.now()
        self._over = threading.Event()
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
        self._over.set()
        self._thread.join()

    def line(self) -> str:
        """Return what is known now, such as `memgraph-schedule 12 s, peak 1,024 B, at least 896 B,
        18 s left`."""
        seconds = clock.now() - self._began
        words, remaining = [f"{self._text} {seconds:.0f} s"], clock.left(self._deadline)
        known = clock.standing() if self._total is None else None
        if known is not None and known.best is not None:
            words.append(f"{known.aim} {known.best:,} B")
            if known.bound is not None:
                least = known.bound >= known.best
                words.append("the least" if least else f"at least {known.bound:,} B")
        if self._total is not None:
            words.append(f"{self.done:,} of {self._total:,}")
            if self.done and seconds > 0:
                words.append(f"{self.done / seconds:,.1f} a second")
                remaining = (self._total - self.done) * seconds / self.done
        return ", ".join([*words, *([] if remaining is None else [f"{remaining:.0f} s left"])])

    def _run(self) -> None:
        if self._over.wait(self._delay):
            return
        from rich.console import Console
        from rich.text import Text  # of a plain string what is in brackets is markup

        with Console(stderr=True).status(Text(self.line())) as status:
            while not self._over.wait(0.5):
                status.update(Text(self.line()))
