"""How a wrong command line is answered: one line on stderr, exit code 2."""

import argparse
import atexit
import gc
import os
import re
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn, cast

from memopt.dialects.memgraph.errors import MemoptError, nearest, printable
from memopt.text.distributions import version_of


class UsageError(ValueError):
    """The command line, or an argument in Python, is wrong: exit code 2."""


def add_time_limit(parser: Any, text: str | None = None) -> None:
    """`--time-limit`, which `check_time_limit` looks at."""
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help=text)


def check_time_limit(seconds: float | None) -> None:
    """Raise UsageError for a `--time-limit` that is none: 0, negative, without end, no number."""
    if seconds is not None and not 0 < seconds < float("inf"):
        raise UsageError(f"--time-limit={seconds:g}: seconds, finite and more than 0")


class Terminated(KeyboardInterrupt):
    """SIGTERM: what is done is given up and cleaned up as at Ctrl-C."""


class Answer:
    """Exit code of a command. No dataclass: importing these takes a third of `--version`."""

    def __init__(self) -> None:
        self.code = 0


@contextmanager
def answering(program: str) -> Generator[Answer]:
    """Yield the answer of the command inside, which is 2 for wrong usage, 130 for Ctrl-C, 143 for
    SIGTERM, 1 for a plugin that is broken, each with its line on stderr, and 1 for a reader that
    went away."""
    answer = Answer()
    try:
        with _terminable():
            yield answer
    except UsageError as error:
        print(f"{program}: error: {printable(str(error))}", file=sys.stderr)
        answer.code = 2
    except MemoptError as error:  # of a registry, before any file is at hand
        print(f"{program}: {printable(str(error))}", file=sys.stderr)
        answer.code = 1
    except Terminated:
        print(f"{program}: terminated", file=sys.stderr)
        answer.code = 143
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        answer.code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        answer.code = 1
    finally:
        gc.unfreeze()  # what was `staying`, for who goes on after the command


@contextmanager
def _terminable() -> Generator[None]:
    """Raise Terminated at SIGTERM, once; whoever has said what happens then is left alone."""
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # nothing interrupts the cleaning up
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def collect_rarely() -> None:
    """For a command, which ends soon: less of Python's search for cycles in what is all in use.

    Operations and their values are cycles that stay; looking through those of 10,000 operators
    again and again took a quarter of the seconds of `--schedule=source`, and once more through
    what had survived a tenth of `--place=tflm`. At its end Python looks through all of it again,
    modules too, which took a fifth of the seconds of a small command: what is frozen is left out.
    """
    gc.set_threshold(100_000, 100, 20)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


@contextmanager
def staying() -> Generator[None]:
    """Make inside what stays to the end of the command, such as a module: Python looks for no
    cycles in it, neither while it is made nor later, which took 0.3 s for 20,000 operators.
    `answering` ends that."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
        gc.freeze()


def version_line() -> str:
    """Return what `--version` prints."""
    return f"memopt {version_of('memopt')} (xdsl {version_of('xdsl')})"


class Parser(argparse.ArgumentParser):
    """argparse with one line per error: the usage of a dozen options would hide it."""

    def error(self, message: str) -> NoReturn:
        text = _CHOICE.sub(_with_nearest_choice, message)
        if (wrong := _UNKNOWN.match(text)) is not None:
            text = f"{wrong[0]}{nearest(wrong[1], self.option_names())}{text[wrong.end() :]}"
        self.exit(2, f"{self.prog}: error: {text}; see {self.prog} --help\n")

    def actions(self) -> list[argparse.Action]:
        """Return the options and arguments of the parser itself."""
        return self._actions

    def commands(self) -> dict[str, tuple[str, "Parser"]]:
        """Return the commands of the parser: name -> line of help, parser."""
        for action in self._actions:
            if isinstance(cast("object", action.choices), dict):
                parsers = cast("dict[str, Parser]", action.choices)
                lines: Any = action
                texts = {one.dest: one.help or "" for one in lines._choices_actions}
                return {name: (texts.get(name, ""), parser) for name, parser in parsers.items()}
        return {}

    def option_names(self) -> list[str]:
        """Return the options of the parser and of its commands."""
        options = [option for action in self._actions for option in action.option_strings]
        for _, parser in self.commands().values():
            options += parser.option_names()
        return options


def _with_nearest_choice(found: re.Match[str]) -> str:
    """Return argparse's words on a wrong choice with the nearest of those that there are."""
    known = [name.strip("'\" ") for name in found[2].split(",")]
    return f"invalid choice: '{found[1]}'{nearest(found[1], known)} (choose from {found[2]})"


_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from ([^)]*)\)")
_UNKNOWN = re.compile(r"unrecognized arguments: (-[^ =]+)\S*")
STDOUT = "-"  # as the name of an output; as the name of an input it is stdin


def path_text(text: str) -> str:
    """For `type=`: a path of the command line. An empty one would mean the working directory."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    return text


def folder_text(text: str) -> str:
    """For `type=`: the path of a folder to be written."""
    if text == STDOUT:
        raise argparse.ArgumentTypeError("a folder cannot go to stdout")
    return path_text(text)
