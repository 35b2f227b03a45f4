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
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.usage import UsageError

BAUD = 115200
BITS = 10  # of a byte on a serial line
MOST = 4096  # bytes of a read
PATIENCE = 5.0  # seconds for a connection, and for bytes that the other side does not take
_SOCKET = re.compile(r"socket://(.+):(\d{1,5})")


class Port(Protocol):
    """A stream of bytes in both directions."""

    @property
    def seconds_per_byte(self) -> float:
        """Return how long a byte is on its way, 0 where that is not known."""
        ...

    def read(self, seconds: float) -> bytes:
        """Return the bytes that are there, or that come within that time; none after it."""
        ...

    def write(self, data: bytes) -> None:
        """Send all of the data."""
        ...


@dataclass(frozen=True)
class _Stream:
    """A port of the operating system: what select takes for it, and the calls that never wait."""

    name: str
    handle: int | socket.socket
    receive: Callable[[int], bytes]
    send: Callable[[bytes], int]
    close: Callable[[], None]
    seconds_per_byte: float = 0.0

    def read(self, seconds: float) -> bytes:
        """Raises MemoptError where the other side is gone."""
        if not select.select([self.handle], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            data = self.receive(MOST)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise _closed_error(self.name, error.strerror) from None
        if not data:
            raise _closed_error(self.name)
        return data

    def write(self, data: bytes) -> None:
        """Raises MemoptError where the other side is gone, or takes nothing."""
        while data:
            if not select.select([], [self.handle], [], PATIENCE)[1]:
                raise MemoptError(f"nothing takes the bytes for {PATIENCE:g} s", self.name)
            try:
                data = data[self.send(data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise _closed_error(self.name, error.strerror) from None


def _closed_error(name: str, why: str | None = None) -> MemoptError:
    return MemoptError(f"the port was closed by the other side{f': {why}' if why else ''}", name)


@contextmanager
def open_port(name: str) -> Generator[Port]:
    """Open the port of that name while it is used. Raises UsageError, MemoptError."""
    try:
        stream = _stream_of(name)
    except OSError as error:
        raise MemoptError(f"cannot open the port: {error.strerror or error}", name) from None
    try:
        yield stream
    finally:
        stream.close()


def _stream_of(name: str) -> _Stream:
    """Return the stream of a port. Raises OSError besides."""
    if name.startswith("socket://"):
        return _tcp_stream(name)
    if find_spec("termios") is None:
        text = "serial ports and Unix sockets are of POSIX systems; here socket://HOST:PORT"
        raise MemoptError(text, name)
    path, baud = name, BAUD
    if not os.path.lexists(name) and (parts := re.fullmatch(r"(.+):(\d+)", name)):
        path, baud = parts[1], int(parts[2])
    if stat.S_ISSOCK(os.stat(path).st_mode):  # noqa: PTH116
        stream = socket.socket(socket.AF_UNIX)
        try:
            stream.settimeout(PATIENCE)
            stream.connect(path)
        except BaseException:
            stream.close()
            raise
        return _socket_stream(name, stream)
    return _serial_stream(name, path, baud)


def _tcp_stream(name: str) -> _Stream:
    match = _SOCKET.fullmatch(name)
    expected = UsageError(f"--port={name}: expected socket://HOST:PORT")
    if match is None or int(match[2]) > 65535:
        raise expected
    try:
        stream = socket.create_connection((match[1], int(match[2])), PATIENCE)
    except UnicodeError:  # a part of the host's name is empty, or too long
        raise expected from None
    return _socket_stream(name, stream)


def _socket_stream(name: str, stream: socket.socket) -> _Stream:
    stream.setblocking(False)
    return _Stream(name, stream, stream.recv, stream.send, stream.close)


def _serial_stream(name: str, path: str, baud: int) -> _Stream:
    number = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        _set_up(number, name, baud)
    except BaseException:
        os.close(number)
        raise
    return _Stream(
        name,
        number,
        receive=lambda size: os.read(number, size),
        send=lambda data: os.write(number, data),
        close=lambda: os.close(number),
        seconds_per_byte=BITS / baud,
    )


def _set_up(number: int, name: str, baud: int) -> None:
    """Make a serial port carry bytes as they are, at that speed, and forget what waits there."""
    import termios  # here, as Windows has none

    speed = getattr(termios, f"B{baud}", termios.B0)
    if speed == termios.B0:  # hangs up
        raise UsageError(f"--port={name}: {baud} baud are not known here")
    try:
        control = termios.CS8 | termios.CREAD | termios.CLOCAL
        characters = termios.tcgetattr(number)[6]
        characters[termios.VMIN], characters[termios.VTIME] = 1, 0  # a byte is there at once
        termios.tcsetattr(number, termios.TCSANOW, [0, 0, control, 0, speed, speed, characters])
        termios.tcflush(number, termios.TCIOFLUSH)
    except termios.error as error:
        raise MemoptError(f"no serial port: {error.args[-1]}", name) from None
