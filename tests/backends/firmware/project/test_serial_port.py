"""`--port`: the computer's side of a board, of one that is slow or silent too, and streams of bytes
to it."""

import os
import random
import socket
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from serial_board import terminal

from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.usage import UsageError
from memopt.validate.board import ANSWER, LONGEST, PART, SILENCE, Board, Hello, framed, unframed
from memopt.validate.port import open_port
from memopt.validate.program import traced

HELLO = Hello(1, bytes(8), bytes(8), 4, 4, "net")


class Fake:
    """Port that answers each request alike; a read of what is not there takes its time."""

    seconds_per_byte = 0.0

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer, self._waiting, self.now, self.writes = answer, b"", 0.0, 0

    def write(self, data: bytes) -> None:
        self.writes += 1
        self._waiting += self._answer(data)

    def read(self, seconds: float) -> bytes:
        data, self._waiting = self._waiting, b""
        self.now += 0.001 if data else seconds
        return data


def first_alone(answer: bytes) -> Callable[[bytes], bytes]:
    """Return what answers so once, and then nothing."""
    answers = iter([answer])
    return lambda _: next(answers, b"")


Answer = Callable[[bytes], bytes]
NO_BOARDS: list[tuple[Answer, str]] = [
    (lambda _: b"", "no answer within 7 s: does the program call"),
    (lambda data: data, "no answer within 7 s; the board has fallen silent"),
    (lambda _: b"login: \xc0", "16 broken frames in 3 s: is the port's speed"),
    (lambda _: b"\xff" * 9000, "no answer within 7 s; the board has fallen silent"),
    (lambda data: framed(129, data[2], 0, b"no"), "the board says nothing of its model"),
    (lambda data: framed(129, data[2], 1), "the board does not know the request 1"),
    (lambda _: framed(128, 0, 0), "16 broken frames"),
    (lambda _: framed(128, 0, 0) * 2, "32 broken frames in 3 s"),
    (first_alone(b"boot\xc0"), "no answer within 7 s; the board has fallen silent"),
    (lambda _: framed(129, 99, 0) * 20, "no answer within 7 s"),
]


@pytest.mark.parametrize(("answer", "text"), NO_BOARDS)
def test_what_is_no_board_is_said(answer: Answer, text: str) -> None:
    port = Fake(answer)
    with pytest.raises(MemoptError, match=text) as caught:
        Board(port, "/dev/ttyX", lambda: port.now).greet(HELLO)
    assert str(caught.value).startswith("/dev/ttyX: ") and "\n" not in str(caught.value)
    assert port.writes <= 16


def test_a_part_of_a_trace_has_bytes() -> None:
    """An empty one would be looked for behind itself without end."""
    port = Fake(lambda data: framed(PART | ANSWER, data[2], 0) + framed(data[1] | 128, data[2], 0))
    with pytest.raises(MemoptError, match="a part of a trace of 0 B"):
        Board(port, "/dev/ttyX", lambda: port.now).trace(bytes(4))


@pytest.mark.parametrize("trace", [b"\4\0\0\0net", b"\4\0\0\0net\0abc", b"\4\0"])
def test_a_trace_that_is_cut_is_said(trace: bytes) -> None:
    assert traced(b"\3\0\0\0net\0abc")[0].data == b"abc"
    with pytest.raises(MemoptError, match="ends in a result"):
        traced(trace)


def test_one_broken_frame_is_one() -> None:
    """There was time for one try alone."""
    port = Fake(lambda _: b"boot\xc0")
    clock = iter([0.0] * 3 + [99.0] * 4)
    with pytest.raises(MemoptError, match="1 broken frame in 99 s"):
        Board(port, "/dev/ttyX", lambda: next(clock)).greet(HELLO)


class Slow:
    """A board behind a line of that speed, whose answers are as long as they can be."""

    def __init__(self, baud: int) -> None:
        self.seconds_per_byte, self.now, self.writes = 10 / baud, 0.0, 0
        self._answers = list[tuple[float, bytes]]()

    def write(self, data: bytes) -> None:
        self.writes += 1
        body = unframed(data[1:-1])
        assert body is not None
        size = {2: 0, 3: 4, 4: 256}[body[0]]
        answer = framed(body[0] | 128, body[1], 0, b"\xc0" * size)
        at = self.now + (len(data) + len(answer)) * self.seconds_per_byte
        self._answers.append((at, answer))

    def read(self, seconds: float) -> bytes:
        if not self._answers or self._answers[0][0] > self.now + seconds:
            self.now += seconds
            return b""
        self.now, answer = self._answers.pop(0)
        return answer


@pytest.mark.parametrize("baud", [300, 2400, 9600])
def test_a_slow_line_takes_its_time(baud: int) -> None:
    """No request is sent twice; a board that is silent is given up later."""
    port = Slow(baud)
    board = Board(port, "slow", lambda: port.now)
    assert board.run(b"\xdb" * 256, 256) == b"\xc0" * 256 and port.writes == 3
    silent = Fake(lambda _: b"")
    silent.seconds_per_byte = 10 / baud
    seconds = SILENCE + 2 * LONGEST * 10 / baud
    assert 520 < len(framed(0xC0, 0xC0, 0xC0C0C0C0, b"\xc0" * 256)) <= LONGEST
    with pytest.raises(MemoptError, match=f"no answer within {seconds:.0f} s"):
        Board(silent, "slow", lambda: silent.now).greet(HELLO)


def test_frames_are_as_they_were() -> None:
    for seed in range(200):
        data = bytes(random.Random(seed).choices((0, 0xC0, 0xDB, 0xDC, 0xDD, 7), k=seed))
        text = framed(seed, 7, 0xC0DB, data)
        assert text[:1] == text[-1:] == b"\xc0" and b"\xc0" not in text[1:-1]
        body = unframed(text[1:-1])
        assert body == bytes([seed, 7, 0xDB, 0xC0, 0, 0]) + data
        assert unframed(text[1:-2]) is None
    assert unframed(b"") is None and unframed(b"\xdb") is None


def test_a_port_is_a_terminal_or_a_socket(tmp_path: Path) -> None:
    """Bytes go through as they are, also those that terminals take for something else."""
    every = bytes(range(256))
    with terminal() as (ours, name):
        with open_port(f"{name}:9600") as port:
            assert port.seconds_per_byte == 10 / 9600
            port.write(every)
            assert os.read(ours, 300) == every
            os.write(ours, every)
            assert port.read(10) == every
            assert port.read(0) == b""
        for baud in (0, 12345):
            with pytest.raises(UsageError, match=f"{baud} baud"), open_port(f"{name}:{baud}"):
                pass
    for family, address in ((socket.AF_UNIX, str(tmp_path / "s")), (socket.AF_INET, ("", 0))):
        with socket.socket(family) as server:
            server.bind(address)
            server.listen(1)
            name = address if isinstance(address, str) else "socket://localhost:{1}"
            with open_port(name.format(*server.getsockname())) as port:
                assert port.seconds_per_byte == 0
                stream, _ = server.accept()
                port.write(every)
                assert stream.recv(300) == every
                stream.sendall(every)
                assert port.read(10) == every
                stream.close()
                with pytest.raises(MemoptError, match="closed by the other side"):
                    port.read(10)


def test_a_byte_is_there_at_once() -> None:
    """Also where another program has set the terminal to wait for more."""
    with terminal() as (ours, name):
        attributes = termios.tcgetattr(ours)
        attributes[3] &= ~termios.ICANON
        attributes[6][termios.VMIN], attributes[6][termios.VTIME] = 100, 0
        termios.tcsetattr(ours, termios.TCSANOW, attributes)
        with open_port(name) as port:
            os.write(ours, bytes(10))
            assert port.read(1) == bytes(10)


def test_elsewhere_ports_are_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no termios and no such flags, and its sockets are no files."""
    monkeypatch.setitem(sys.modules, "termios", None)
    monkeypatch.setattr(sys.modules["memopt.validate.port"], "os", SimpleNamespace())
    with pytest.raises(MemoptError, match=r"COM3: .* of POSIX systems"), open_port("COM3"):
        pass
    with socket.socket() as server:
        server.bind(("", 0))
        server.listen(1)
        with open_port(f"socket://localhost:{server.getsockname()[1]}") as port:
            stream, _ = server.accept()
            with stream:
                port.write(b"?")
                assert stream.recv(10) == b"?"
                stream.sendall(b"!")
                assert port.read(10) == b"!"
