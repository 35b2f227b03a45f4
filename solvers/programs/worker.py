"""Integer programs are solved in a process of their own, so that none can take the run with it.

    reply = ask("cp-sat", (model, parameters), limit=None)        # None: there is no answer

OR-Tools' solvers are native code: a failed check in them aborts the process, they catch Ctrl-C, and
they may look at the clock too late. So the process is started at the first program, reused by the
next, and killed where it does not answer in time or the user interrupts. Its death is a line on
stderr, and the program's caller goes on with the best it knows. Threads that solve at the same time
get a process each. `worker_process.py` is what runs there.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import spawn
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, Any

from memopt.solvers import clock
from memopt.solvers.programs.messages import Message, read, write

# The path goes along, so it finds what the parent found, and no file of the current folder (-P).
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]);"
    "from memopt.solvers.programs.worker_process import main; main()"
)

Told = Callable[[float, float], None]


def grace(limit: float) -> float:
    """Seconds that the process may be late; what is asked for is kept within 10 % and 1 s."""
    return 0.5 + 0.05 * limit


def command() -> list[str]:
    """Return the command of the process; `multiprocessing.set_executable` chooses its Python."""
    isolated = ["-I"] if sys.flags.isolated else ["-P"]
    return [os.fsdecode(spawn.get_executable() or ""), *isolated, "-c", _BOOT, json.dumps(sys.path)]


class Worker:
    """One process. `ask` may be called again as long as `alive`."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """Raises OSError if the process cannot be started."""
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115, closed with the process
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,  # Ctrl-C goes to the group of the terminal, not to it
        )
        self._ready = False
        self._talk: Thread | None = None
        self._closed = False

    @property
    def alive(self) -> bool:
        """Return whether the process can answer another question."""
        return not self._closed and self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(
        self, kind: str, program: Message, limit: float | None, told: Told | None = None
    ) -> Any:
        """The answer to one request; None if there is none within `limit` seconds, or ever.

        `told` is called with the objective and the bound of each incumbent. On any exception, also
        Ctrl-C, the process is killed.
        """
        deadline = clock.deadline(limit)
        end = None if limit is None else clock.deadline(limit + grace(limit))
        heard: SimpleQueue[Message] = SimpleQueue()
        request = (kind, deadline, told is not None, *program)
        self._talk = Thread(target=self._exchange, args=(request, heard), daemon=True)
        self._talk.start()
        try:
            while True:
                message = heard.get(timeout=clock.left(end))
                if message[0] != "told":
                    break
                if told is not None:
                    told(*message[1:])
        except Empty:
            self.close()
            return None
        except BaseException:
            self.close()
            raise
        if message[0] == "done":
            return message[1]
        if message[0] != "late":
            self._mourn(message)
        return None

    def _exchange(self, request: Message, heard: "SimpleQueue[Message]") -> None:
        """Send, then pass on what comes back; in a thread, as a pipe has no time limit.

        The second entry of `request` is a deadline here and the seconds that are left there.
        """
        kind, deadline, *rest = request
        source, target = self._process.stdout, self._process.stdin
        assert source is not None and target is not None
        try:
            if not self._ready:
                if read(source) is None:
                    heard.put(("dead",))
                    return
                self._ready = True
            if clock.late(deadline):
                heard.put(("late",))
                return
            write(target, (kind, clock.left(deadline), *rest))
            while (message := read(source)) is not None:
                heard.put(message[0])
                if message[0][0] != "told":
                    return
        except (OSError, ValueError):  # its end of the pipe is gone, or closed here
            pass
        heard.put(("dead",))

    def _mourn(self, message: Message) -> None:
        """Say on one line why there is no answer."""
        if message[0] == "failed":
            self.close()
            reason = str(message[1])
        else:
            try:
                code = self._process.wait(5)
            except subprocess.TimeoutExpired:
                code = 0
            ended = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            reason = ", ".join(filter(None, (ended, self._last_words())))
            self.close()
        tell_death(reason)

    def _last_words(self) -> str:
        """The line of a failed check, or the last that the process printed."""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        said = [line.strip() for line in lines if line.strip()]
        checks = [line for line in said if "Check failed" in line]
        return (checks or said[-1:] or [""])[0]

    def close(self) -> None:
        """End the process, whatever it does."""
        self._closed = True
        self._process.kill()
        self._process.wait()
        if self._talk is not None:
            self._talk.join(1)  # its pipes have ended
        for stream in (self._process.stdin, self._process.stdout, self._said):
            if stream is not None:
                with suppress(OSError):  # what was still to be written
                    stream.close()


def tell_death(reason: str) -> None:
    """The line on stderr for a program without an answer."""
    text = "".join(c if c.isprintable() else " " for c in reason)[:300]
    print(
        f"memopt: the process that solves integer programs died ({text}); what was known before "
        "is the answer, proof = none",
        file=sys.stderr,
        flush=True,
    )


_idle: list[Worker] = []
_lock = Lock()


def ask(kind: str, program: Message, limit: float | None, told: Told | None = None) -> Any:
    """`Worker.ask` of a process that has nothing to do, or of a new one."""
    if limit is not None and limit <= 0:
        return None
    deadline = clock.deadline(limit)
    worker = _waiting()
    if worker is None:
        try:
            worker = Worker(command())
        except OSError as error:
            tell_death(f"it cannot be started: {error}")
            return None
    try:
        return worker.ask(kind, program, clock.left(deadline), told)
    finally:
        if worker.alive:
            with _lock:
                _idle.append(worker)


def _waiting() -> Worker | None:
    with _lock:
        while _idle:
            worker = _idle.pop()
            if worker.alive:
                return worker
            worker.close()
    return None


def running() -> list[int]:
    """Process numbers of those that wait for the next program."""
    return [worker.pid for worker in _idle]


def _forget() -> None:
    """In a forked child: the processes are the parent's."""
    global _lock
    _lock = Lock()
    _idle.clear()


@atexit.register
def stop() -> None:
    """End the processes that wait."""
    while _idle:
        with suppress(KeyboardInterrupt):  # at Ctrl-C too, which asks for nothing else
            _idle.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
