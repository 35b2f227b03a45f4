"""Streams of bytes to a board: a serial port, a socket of the machine or of another one.

with open_port("/dev/ttyUSB0:115200") as port:    # or socket://host:1234, or a Unix socket
    port.write(b"...")
    port.read(0.5)                                # what comes within half a second, maybe nothing
"""

import os
import re
import select
import socket
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.usage import UsageError

BAUD = 115200
MOST = 4096  # bytes of a read
PATIENCE = 5.0  # seconds for a connection, and for bytes that the other side does not take
_SOCKET = re.compile(r"socket://(.+):(\d{1,5})")


class Port(Protocol):
    """A stream of bytes in both directions."""

    def read(self, seconds: float) -> bytes:
        """Return the bytes that are there, or that come within that time; none after it."""
        ...

    def write(self, data: bytes) -> None:
        """Send all of the data."""
        ...


class _Descriptor:
    """A port behind a number of the operating system."""

    def __init__(self, name: str, number: int) -> None:
        self._name, self._number = name, number

    def read(self, seconds: float) -> bytes:
        """Raises MemoptError where the other side is gone."""
        if not select.select([self._number], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            data = os.read(self._number, MOST)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise _gone(self._name, error.strerror) from None
        if not data:
            raise _gone(self._name)
        return data

    def write(self, data: bytes) -> None:
        """Raises MemoptError where the other side is gone, or takes nothing."""
        while data:
            if not select.select([], [self._number], [], PATIENCE)[1]:
                raise MemoptError(f"nothing takes the bytes for {PATIENCE:g} s", self._name)
            try:
                data = data[os.write(self._number, data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise _gone(self._name, error.strerror) from None


def _gone(name: str, why: str | None = None) -> MemoptError:
    return MemoptError(f"the port was closed by the other side{f': {why}' if why else ''}", name)


@contextmanager
def open_port(name: str) -> Generator[Port]:
    """Open the port of that name while it is used. Raises UsageError, MemoptError."""
    try:
        number = _opened(name)
    except OSError as error:
        raise MemoptError(f"cannot open the port: {error.strerror or error}", name) from None
    try:
        yield _Descriptor(name, number)
    finally:
        os.close(number)


def _opened(name: str) -> int:
    """Return the descriptor of a port. Raises OSError besides."""
    if name.startswith("socket://"):
        match = _SOCKET.fullmatch(name)
        if match is None or int(match[2]) > 65535:
            raise UsageError(f"--port={name}: expected socket://HOST:PORT")
        return socket.create_connection((match[1], int(match[2])), PATIENCE).detach()
    path, baud = name, BAUD
    if not os.path.lexists(name) and (parts := re.fullmatch(r"(.+):(\d+)", name)):
        path, baud = parts[1], int(parts[2])
    if stat.S_ISSOCK(os.stat(path).st_mode):  # noqa: PTH116
        with socket.socket(socket.AF_UNIX) as stream:
            stream.settimeout(PATIENCE)
            stream.connect(path)
            return stream.detach()
    number = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        _set_up(number, name, baud)
    except BaseException:
        os.close(number)
        raise
    return number


def _set_up(number: int, name: str, baud: int) -> None:
    """Make a serial port carry bytes as they are, at that speed, and forget what waits there."""
    try:
        import termios
    except ModuleNotFoundError:
        raise MemoptError("serial ports are of POSIX; here socket://HOST:PORT", name) from None
    speed = getattr(termios, f"B{baud}", None)
    if speed is None:
        raise UsageError(f"--port={name}: {baud} baud are not known here")
    try:
        control = termios.CS8 | termios.CREAD | termios.CLOCAL
        characters = termios.tcgetattr(number)[6]
        termios.tcsetattr(number, termios.TCSANOW, [0, 0, control, 0, speed, speed, characters])
        termios.tcflush(number, termios.TCIOFLUSH)
    except termios.error as error:
        raise MemoptError(f"no serial port: {error.args[-1]}", name) from None
