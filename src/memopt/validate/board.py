"""A board that answers through a port: the computer's side of the C project's `NET_serial.h`.

board = Board(port, "/dev/ttyUSB0")
board.greet(hello)                        # or says which other model is there
board.run(x.tobytes(), 12)                # the bytes of its outputs

A frame that is lost, cut or broken on its way is sent again. What the board did not understand it
says, and a run is not repeated, since it has overwritten its input. Of a trace, which is sent as
the network runs, what was lost is asked for by another run on the same input.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

from memopt.dialects.memgraph.errors import MemoptError
from memopt.validate.port import Port

HELLO, WRITE, RUN, READ, TRACE, PART, ANSWER = 1, 2, 3, 4, 5, 6, 128
HEAD, DATA, CRC = 6, 256, 4
END, ESCAPE, ESCAPED_END, ESCAPED_ESCAPE = b"\xc0", b"\xdb", b"\xdb\xdc", b"\xdb\xdd"
LONGEST = 2 * (HEAD + DATA + CRC) + 2  # bytes of a frame on its way
TRIES = 16  # of one request, where frames arrive broken
# Seconds, besides those that the longest request and answer take on the line:
FIRST = 1.0  # of silence, after which a request is sent again; then twice as many
AFTER_NOISE = 0.2  # the same after a broken frame, if that was noise before the answer
SILENCE = 7.0  # after which a board is given up
RUNNING = 127.0  # the same while it runs the network


@dataclass(frozen=True)
class Hello:
    """Facts that a board tells of itself: version of the protocol, hashes of the model's file and
    of the generated code, bytes of all inputs and of all outputs, and the model's name."""

    version: int
    model: bytes
    code: bytes
    inputs: int
    outputs: int
    name: str

    @staticmethod
    def of(data: bytes) -> "Hello":
        """Return what the data say. Raises ValueError for others."""
        if len(data) < 25:
            raise ValueError("too short")
        inputs, outputs = (int.from_bytes(data[at : at + 4], "little") for at in (17, 21))
        name = data[25:].decode("ascii", "replace")
        return Hello(data[0], data[1:9], data[9:17], inputs, outputs, name)


def framed(kind: int, sequence: int, number: int, data: bytes = b"") -> bytes:
    """Return a frame as it is sent, after an END that ends whatever went before."""
    body = bytes([kind, sequence]) + number.to_bytes(4, "little") + data
    body += crc32(body).to_bytes(4, "little")
    return END + body.replace(ESCAPE, ESCAPED_ESCAPE).replace(END, ESCAPED_END) + END


def unframed(text: bytes) -> bytes | None:
    """Return the body of a frame without its CRC, from what lies between two ENDs; None if it is
    broken."""
    parts = text.split(ESCAPE)
    if any(part[:1] not in (ESCAPED_END[1:], ESCAPED_ESCAPE[1:]) for part in parts[1:]):
        return None
    body = text.replace(ESCAPED_END, END).replace(ESCAPED_ESCAPE, ESCAPE)
    content, crc = body[:-CRC], body[-CRC:]
    is_right = len(content) >= HEAD and crc32(content).to_bytes(4, "little") == crc
    return content if is_right else None


class UnknownRequestError(MemoptError):
    """The board does not know what it was asked."""


class Board:
    """A board behind a port. `clock` tells the seconds that the port's reads take."""

    def __init__(self, port: Port, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._port, self._name, self._clock = port, name, clock
        self._on_the_line = 2 * LONGEST * port.seconds_per_byte
        self._sequence = 0
        self._waiting = b""
        self._received = 0
        self.ticks: list[int] = []

    def greet(self, expected: Hello) -> bool:
        """Return whether the board's code is the expected one; False for other code of that model.
        Raises MemoptError for another model, or one of other inputs or outputs."""
        try:
            here = Hello.of(self._ask(HELLO))
        except ValueError:
            raise MemoptError("the board says nothing of its model", self._name) from None
        if here.version != expected.version:
            versions = f"version {here.version} of the protocol, not {expected.version}"
            raise MemoptError(f"the board speaks {versions}: compile it again", self._name)
        if here.model != expected.model:
            raise MemoptError(
                f"another model is on the board: {here.name}, {here.model.hex()}, and not "
                f"{expected.name}, {expected.model.hex()}",
                self._name,
            )
        if (here.inputs, here.outputs) != (expected.inputs, expected.outputs):
            raise MemoptError(
                f"the board's {here.name} takes {here.inputs:,} B and returns {here.outputs:,} B, "
                f"by these options it would be {expected.inputs:,} B and {expected.outputs:,} B",
                self._name,
            )
        return here.code == expected.code

    def run(self, given: bytes, size: int) -> bytes:
        """Return the bytes of all outputs, `size` of them, for those of all inputs. Raises
        MemoptError for a board that is silent, broken, or refuses the run."""
        self._write(given)
        self.ticks.append(int.from_bytes(self._ask(RUN, patience=RUNNING), "little"))
        outputs = b""
        while len(outputs) < size:
            part = self._ask(READ, len(outputs))
            if not part or len(part) > size - len(outputs):
                raise MemoptError("the board returns outputs of another size", self._name)
            outputs += part
        return outputs

    def trace(self, given: bytes) -> bytes:
        """Return what the board says of the result of each operator in a run on the bytes of all
        inputs. What gets lost is asked for again, for which the board runs once more, with its
        variables as they were. Raises MemoptError as `run`, and for a board that cannot do so."""
        parts: dict[int, bytes] = {}
        at = tries = 0
        while tries < TRIES:
            self._ask(HELLO)
            self._write(given)
            try:
                answer = self._ask(TRACE, at, patience=RUNNING, parts=parts)
            except UnknownRequestError:
                text = "the board does not trace: compile the model and what includes its serial.h"
                raise MemoptError(f"{text} with -DMEMOPT_TRACE", self._name) from None
            total = int.from_bytes(answer, "little")
            tries += at not in parts
            while at in parts:
                at += len(parts[at])
            if at >= total:
                return b"".join(data for _, data in sorted(parts.items()))
        raise MemoptError(f"byte {at:,} of the trace arrives broken each time", self._name)

    def _write(self, given: bytes) -> None:
        for at in range(0, len(given), DATA):
            self._ask(WRITE, at, given[at : at + DATA])

    def _ask(
        self,
        kind: int,
        number: int = 0,
        data: bytes = b"",
        patience: float = SILENCE,
        parts: dict[int, bytes] | None = None,
    ) -> bytes:
        """Return the data of the answer to a request, which is sent again if it gets lost; `parts`
        takes what comes before it, by its offset."""
        self._sequence = (self._sequence + 1) % 256
        request = framed(kind, self._sequence, number, data)
        silence, broken = FIRST, list[int]()  # frames of each try
        end = (began := self._clock()) + patience + self._on_the_line
        for _ in range(TRIES):
            self._port.write(request)
            until = min(self._clock() + silence + self._on_the_line, end)
            broken.append(0)
            while (text := self._text(until)) is not None:
                body = unframed(text)
                if body is None or body[0] == ANSWER:
                    until = min(until, self._clock() + AFTER_NOISE + self._on_the_line)
                    broken[-1] += 1
                elif parts is not None and body[:2] == bytes([PART | ANSWER, self._sequence]):
                    if len(body) == HEAD:
                        raise MemoptError("the board sends a part of a trace of 0 B", self._name)
                    parts[int.from_bytes(body[2:HEAD], "little")] = body[HEAD:]
                    end = self._clock() + patience + self._on_the_line
                    until = min(self._clock() + silence + self._on_the_line, end)
                elif body[:2] == bytes([kind | ANSWER, self._sequence]):
                    return self._answered(kind, body)
            silence *= 1 if broken[-1] else 2
            if self._clock() >= end:
                break
        raise MemoptError(self._why(broken, self._clock() - began), self._name)

    def _answered(self, kind: int, body: bytes) -> bytes:
        number = int.from_bytes(body[2:HEAD], "little")
        if number == 0:
            return body[HEAD:]
        if kind in (RUN, TRACE) and number >= 256:
            raise MemoptError(f"the board's run returned {number - 256}", self._name)
        raise UnknownRequestError(f"the board does not know the request {kind}", self._name)

    def _why(self, broken: Sequence[int], seconds: float) -> str:
        count = sum(broken)
        if 2 * sum(map(bool, broken)) > len(broken):
            frames = "1 broken frame" if count == 1 else f"{count} broken frames"
            return f"{frames} in {seconds:.0f} s: is the port's speed the board's?"
        if self._received:
            return f"no answer within {seconds:.0f} s; the board has fallen silent"
        return (
            f"no answer within {seconds:.0f} s: does the program call the model's serve function?"
        )

    def _text(self, until: float) -> bytes | None:
        """Return what lies between two ENDs, None after that time."""
        while True:
            text, end, rest = self._waiting.partition(END)
            if end:
                self._waiting = rest
                if text:
                    return text
                continue
            seconds = until - self._clock()
            if seconds <= 0:
                return None
            data = self._port.read(seconds)
            self._received += len(data)
            self._waiting = self._waiting[-LONGEST:] + data
