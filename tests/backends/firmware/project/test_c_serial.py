"""`--serial` and `--port`: a board behind a serial port, its C with the computer's side of it.

The C runs in QEMU behind a UART, and here with sanitizers, given what no computer would send.
"""

import ctypes
import os
import queue
import random
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serial_board import built, linked, running, terminal
from tools import need_tools

from memopt.backends.c.emit.c_text import filled
from memopt.backends.c.project.program import memory_arrays
from memopt.backends.c.project.project_files import fill
from memopt.cli import main
from memopt.compile.options import PlanOptions
from memopt.compile.request import Building, Request
from memopt.compile.stages import build, plan, read
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.tensors import shape_of
from memopt.validate.board import ANSWER, PART, RUNNING, Board, Hello, framed, unframed
from memopt.validate.layers import EVALUATE
from memopt.validate.program import traced
from memopt.validate.validation import validate

FUZZ = float(os.environ.get("MEMOPT_FUZZ", "0.02"))
SESSIONS = 2000  # through a line that loses and changes bytes
FRAMES = 400_000  # of which most are nonsense
UARTS = {
    "cortex-m4": ("volatile uint32_t *)0x40004000", "1] & 2", "1] & 1u) != 0", "2] = 3"),
    "riscv32": ("volatile uint8_t *)0x10000000", "5] & 1", "5] & 32u) == 0", "2] = 0"),
}
PROGRAM = """
#include "@name@_serial.h"
#define UART ((@at@u)
static uint8_t arena[@NAME@_ARENA_BYTES] __attribute__((aligned(@NAME@_ARENA_ALIGNMENT)));
static uint32_t calls;
static int get(void) { while ((UART[@get@u) == 0u) { } return (int)(UART[0] & 0xFFu); }
static void put(uint8_t byte) { while ((UART[@put@u) { } UART[0] = byte; }
static uint32_t ticks(void) { return calls += 7u; }
int main(void) {
  const @name@_port port = {get, put, ticks};
  UART[@start@u;
  @name@_serve(&port, arena);
  return 0;
}
"""


def program(name: str, target: str) -> str:
    at, getting, putting, start = UARTS[target]
    words = {"@at@": at, "@get@": getting, "@put@": putting, "@start@": start}
    text = PROGRAM.replace("@name@", name).replace("@NAME@", name.upper())
    for word, value in words.items():
        text = text.replace(word, value)
    return text.replace("UART[2] = 3u;", "UART[4] = 16u;\n  UART[2] = 3u;")


@pytest.mark.parametrize(
    ("target", "name", "shape"),
    [
        ("cortex-m4", "dscnn_kws_int8", (49, 10, 1)),
        ("riscv32", "dscnn_kws_int8", (49, 10, 1)),
        ("cortex-m4", "resnet8_int8", (32, 32, 3)),
    ],
)
@pytest.mark.deep  # test_board_page.py has a small one
def test_a_board_answers_as_the_reference(
    target: str, name: str, shape: tuple[int, ...], shared: Path, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    model, data = shared / "models" / f"{name}.tflite", tmp_path / "x.npy"
    options = PlanOptions(target=target, rows="none")
    image = built(model, program(name, target), tmp_path / "board", options)
    np.save(data, np.random.default_rng(3).normal(0, 20, (3, *shape)).astype(np.float32))
    with running(target, image, tmp_path / "uart") as port:
        request = Request(path=model, options=options, is_built=True)
        answer = validate(request, data, port=port)
        other = PlanOptions(target=target, rows="none", schedule="source", io="kept")
        second = validate(
            Request(path=model, options=other, is_built=True), data, against="tflm", port=port
        )
        stranger = shared / "models" / "tinymaix_mnist_resnet_int8.tflite"
        np.save(data, np.zeros((1, 28, 28, 1)))
        with pytest.raises(MemoptError, match=rf"another model is on the board: {name}, [0-9a-f]+"):
            validate(Request(path=stranger, options=options), data, port=port)
    assert [one.different for one in answer.outputs + second.outputs] == [0, 0]
    assert answer.samples == second.samples == 3
    assert answer.board is not None and answer.board.is_same_code
    assert answer.board.cycles == (7, 7)
    assert second.board is not None and not second.board.is_same_code


@pytest.mark.deep
def test_a_board_sends_what_its_operators_write(shared: Path, tmp_path: Path, lab: Any) -> None:
    """Compare all layers of a program that traces, find a kernel that was changed in it, and refuse
    one of other code."""
    lab.need_tools("cortex-m4")
    model, data = shared / "models" / "hello_world_int8.tflite", tmp_path / "x.npy"
    np.save(data, np.linspace(0, 6, 3, dtype=np.float32)[:, None])
    options = PlanOptions(target="cortex-m4")
    request = Request(path=model, options=options, is_built=True)
    text, folder = program("hello_world_int8", "cortex-m4"), tmp_path / "board"

    image = built(model, text, folder, options, "-O2 -DMEMOPT_TRACE")
    with running("cortex-m4", image, tmp_path / "uart") as port:
        answer = validate(request, data, None, EVALUATE, with_layers=True, port=port)
        other = replace(request, options=replace(options, io="kept"))
        with pytest.raises(MemoptError, match="--layers: the board's code is another than of"):
            validate(other, data, None, EVALUATE, with_layers=True, port=port)
    assert answer.layers is not None and len(answer.layers) == 3
    assert all(one.against is not None and not one.different for one in answer.layers)
    kernel = folder / "kernels" / "memopt_finish_s8.h"  # of the last operator alone
    kernel.write_text(kernel.read_text().replace("+ zero_point;", "+ zero_point + 1;"))
    image = linked(text, folder, "-O2 -DMEMOPT_TRACE -g")
    with running("cortex-m4", image, tmp_path / "other") as port:
        wrong = validate(request, data, None, EVALUATE, with_layers=True, port=port)
    assert [(one.different, one.max_abs) for one in wrong.layers or ()] == [(0, 0), (0, 0), (1, 1)]


ON_THE_HOST = """
#include <unistd.h>
#include "@name@_serial.h"
@arrays@
static int get(void) { uint8_t byte; return read(0, &byte, 1) == 1 ? byte : -1; }
static void put(uint8_t byte) { if (write(0, &byte, 1) != 1) { _exit(1); } }
int main(void) {
  const @name@_port port = {get, put, 0};
  @name@_serve(@given@);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("options", "model"),
    [
        (PlanOptions(io="caller"), "hello_world_int8"),
        (PlanOptions(place="shared-objects", rows="none"), "hello_world_int8"),
        (PlanOptions(memory="fast:16,slow:64K"), "hello_world_int8"),
        pytest.param(PlanOptions(), "streaming_wakeword_int8", marks=pytest.mark.deep),
    ],
)
def test_memories_of_each_kind_are_served(
    options: PlanOptions, model: str, shared: Path, tmp_path: Path
) -> None:
    """By a program behind a terminal; of a model with variables each session begins anew."""
    path, data = shared / "models" / f"{model}.tflite", tmp_path / "x.npz"
    how = Building(has_serial=True, layout="single-file")
    request = Request(path=path, options=options, building=how, is_built=True)
    project = build(plan(read(request)))
    assert project.project is not None
    for file, text in project.files.items():
        (tmp_path / file).write_text(str(text))
    layout = project.project.emitted.layout
    words = {
        "name": model,
        "arrays": memory_arrays(layout, model),
        "given": ", ".join(["&port", *(m.name for m in layout.memories if m.given)]),
    }
    text = filled(ON_THE_HOST, words)
    (tmp_path / "host.c").write_text(text)
    sources = [tmp_path / "host.c", tmp_path / f"{model}.c"]
    subprocess.run(["gcc", "-O1", *sources, "-lm", "-o", tmp_path / "host"], check=True)
    (value,) = layout.inputs
    np.savez(data, np.random.default_rng(1).normal(0, 20, (3, *shape_of(value)[1:])))
    with terminal() as (ours, port), subprocess.Popen([tmp_path / "host"], stdin=ours) as process:
        try:
            for _ in range(2):
                answer = validate(
                    replace(request, building=Building()), data, None, EVALUATE, port=port
                )
                assert [one.different for one in answer.outputs] == [0]
                assert answer.board is not None and answer.board.is_same_code
        finally:
            process.kill()


NET_H = """
#include <stddef.h>
#include <stdint.h>
#define NET_INPUT_0_BYTES 300u
#define NET_INPUT_1_BYTES 41u
#define NET_INPUT_BYTES 341u
#define NET_OUTPUT_0_BYTES 300u
#define NET_OUTPUT_1_BYTES 5u
#define NET_OUTPUT_BYTES 305u
static uint8_t inputs_0[300], inputs_1[41], outputs_0[300], outputs_1[5];
#ifdef MEMOPT_TRACE
void memopt_trace(uint32_t tensor, const char *name, const void *data, uint32_t bytes);
#else
#define memopt_trace(tensor, name, data, bytes) ((void)0)
#endif
static int net_run(void) { /* and the inputs are no more */
  for (int i = 0; i < 300; ++i) {
    outputs_0[i] = (uint8_t)(inputs_0[i] ^ inputs_1[i % 41]);
  }
  memopt_trace(0u, "wide", outputs_0, 300u);
  for (int i = 0; i < 5; ++i) {
    outputs_1[i] = inputs_1[i];
  }
  memopt_trace(1u, "narrow", outputs_1, 5u);
  for (int i = 0; i < 300; ++i) {
    inputs_0[i] = 0xDB;
  }
  return inputs_1[0] == 255 ? 3 : 0;
}
"""
SHARED_LIBRARY = """
#include "net_serial.h"
void serve(int (*get)(void), void (*put)(uint8_t));
void serve(int (*get)(void), void (*put)(uint8_t)) {
  const net_port port = {get, put, NULL};
  net_serve(&port);
}
"""
FROM_A_FILE = """
#include <stdio.h>
#include "net_serial.h"
static int get(void) { int byte = getchar(); return byte == EOF ? -1 : byte; }
static void put(uint8_t byte) { putchar(byte); }
int main(void) {
  const net_port port = {get, put, NULL};
  net_serve(&port);
  return 0;
}
"""
HELLO = Hello(1, b"\xc0\xdb\xdc\xdd\x00\x01\x02\x03", bytes(8), 341, 305, "net")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of two inputs and two outputs behind the header."""
    need_tools("host")
    work = tmp_path_factory.mktemp("serial")
    sizes = b"".join(size.to_bytes(4, "little") for size in (341, 305))
    told = bytes([1]) + HELLO.model + HELLO.code + sizes + b"net"
    tensors = {
        what: "".join(f"{{{what}s_{i}, NET_{what.upper()}_{i}_BYTES}}, " for i in range(2))
        for what in ("input", "output")
    }
    values = dict.fromkeys(("memory_parameters", "buffers", "arguments", "reset", "needs"), "")
    values |= {"name": "net", "NAME": "NET", "hello": ", ".join(map(str, told))}
    values |= {"inputs": tensors["input"], "outputs": tensors["output"]}
    (work / "net_serial.h").write_text(fill("serial.h.in", values))
    (work / "net.h").write_text(NET_H)
    return work


def compiled(folder: Path, text: str, name: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(text)
    warnings = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1"]
    command = ["gcc", *warnings, *flags, str(folder / f"{name}.c"), "-o", str(folder / name)]
    subprocess.run(command, check=True)
    return folder / name


def expected(given: bytes) -> bytes:
    first, second = given[:300], given[300:]
    return bytes(x ^ second[i % 41] for i, x in enumerate(first)) + second[:5]


class Line:
    """The C behind a line, in a thread of its own; what is on the line is changed by `spoil`. Time
    goes by only while the computer waits for a board that waits too."""

    seconds_per_byte = 0.0

    def __init__(self, library: ctypes.CDLL, spoil: Callable[[bytes], bytes]) -> None:
        self._spoil, self.now = spoil, 0.0
        self._to_board: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._waits, self._answered = threading.Event(), bytearray()
        get_type = ctypes.CFUNCTYPE(ctypes.c_int)
        put_type = ctypes.CFUNCTYPE(None, ctypes.c_uint8)

        def get() -> int:
            if self._to_board.empty():
                self._waits.set()
            return self._to_board.get()

        callbacks = get_type(get), put_type(self._answered.append)
        self._thread = threading.Thread(target=lambda: library.serve(*callbacks))
        self._thread.start()
        self._waits.wait()

    def write(self, data: bytes) -> None:
        self._waits.clear()
        for byte in self._spoil(data):
            self._to_board.put(byte)
        self._to_board.put(0x55)  # noise, which the next frame's first END ends
        self._waits.wait()

    def read(self, seconds: float) -> bytes:
        data = self._spoil(bytes(self._answered))
        self._answered.clear()
        if not data:
            self.now += seconds
        return data

    def clock(self) -> float:
        return self.now

    def close(self) -> None:
        self._to_board.put(-1)
        self._thread.join()


@contextmanager
def line(folder: Path, spoil: Callable[[bytes], bytes], traces: bool = False) -> Generator[Line]:
    library = folder / ("tracing" if traces else "library")
    if not library.exists():
        flags = ["-DMEMOPT_TRACE"] if traces else []
        library = compiled(folder, SHARED_LIBRARY, library.name, "-shared", "-fPIC", *flags)
    one = Line(ctypes.CDLL(str(library)), spoil)
    try:
        yield one
    finally:
        one.close()


def spoiler(seed: int, rate: float) -> Callable[[bytes], bytes]:
    """Return what drops, changes, adds and cuts bytes, each about `rate` times of a frame."""
    chance = random.Random(seed)

    def spoil(data: bytes) -> bytes:
        text = bytearray(data)
        for change in range(4):
            if text and chance.random() < rate:
                at = chance.randrange(len(text))
                if change == 0:
                    del text[at]
                elif change == 1:
                    text[at] ^= 1 << chance.randrange(8)
                elif change == 2:
                    text[at:at] = chance.choice((b"\xc0", b"\xdb", b"\x00", b"\xc0\xc0\xdb"))
                else:
                    del text[at:]
        return bytes(text)

    return spoil


def test_outputs_are_right_or_there_is_an_error_whatever_the_line_does(folder: Path) -> None:
    """Most are right where a tenth of the frames is broken; none is wrong where each is."""
    right = broken = 0
    for seed in range(int(SESSIONS * FUZZ)):
        given = random.Random(seed).randbytes(300) + bytes(41)
        given = given[:300] + random.Random(-seed).choice((b"\xc0", b"\xdb\xdc", b"z")) * 41
        given = given[:341]
        rate = (0.0, 0.02, 0.1, 0.7)[seed % 4]
        with line(folder, spoiler(seed, rate)) as port:
            board = Board(port, "line", port.clock)
            try:
                assert board.greet(HELLO)
                for _ in range(2):
                    assert board.run(given, 305) == expected(given)
                right += 1
            except MemoptError as error:
                assert rate > 0.02, error
                broken += 1
            assert port.now < 8 * RUNNING
    assert right >= 0.6 * (right + broken) and broken


def test_a_trace_is_right_or_there_is_an_error_whatever_the_line_does(folder: Path) -> None:
    """Ask again for what is lost; what operators wrote comes with their names."""
    right = broken = 0
    for seed in range(int(SESSIONS * FUZZ) // 2):
        given = random.Random(seed).randbytes(340) + b"x"
        rate = (0.0, 0.02, 0.1, 0.7)[seed % 4]
        outputs = expected(given)
        with line(folder, spoiler(seed, rate), traces=True) as port:
            board = Board(port, "line", port.clock)
            try:
                assert board.greet(HELLO)
                results = traced(board.trace(given))
                assert [(one.name, one.data) for one in results] == [
                    ("wide", outputs[:300]),
                    ("narrow", outputs[300:]),
                ]
                assert board.run(given, 305) == outputs
                right += 1
            except MemoptError as error:
                assert rate > 0.02, error
                broken += 1
            assert port.now < 16 * RUNNING
    assert right >= 0.6 * (right + broken) and broken
    with (
        line(folder, lambda data: data) as port,
        pytest.raises(MemoptError, match="does not trace"),
    ):
        Board(port, "line", port.clock).trace(bytes(341))


def test_a_run_is_not_repeated_and_says_what_it_returns(folder: Path) -> None:
    """It has overwritten its input: what is asked again, as nothing came back, is the same run."""
    losses = iter((True, True))

    def lose_two(data: bytes) -> bytes:
        is_lost = bytes([0xC0, 3 | 128]) in data and next(losses, False)
        return b"" if is_lost else data

    given = bytes(range(256)) + bytes(85)
    with line(folder, lose_two) as port:
        board = Board(port, "line", port.clock)
        board.greet(HELLO)
        assert board.run(given, 305) == expected(given)
        assert port.now == 3.0
        with pytest.raises(MemoptError, match="the board's run returned 3"):
            board.run(bytes(300) + b"\xff" * 41, 305)
        for other, text in (
            (Hello(2, HELLO.model, HELLO.code, 341, 305, "net"), "version 1 of the protocol, not"),
            (Hello(1, bytes(8), HELLO.code, 341, 305, "a"), "another model is on the board: net"),
            (Hello(1, HELLO.model, HELLO.code, 340, 305, "net"), "takes 341 B and returns 305 B"),
        ):
            with pytest.raises(MemoptError, match=text):
                board.greet(other)
        assert not board.greet(Hello(1, HELLO.model, b"12345678", 341, 305, "net"))


@pytest.mark.parametrize("traces", [False, True])
def test_no_frame_ends_the_board_or_goes_beyond_its_tensors(folder: Path, traces: bool) -> None:
    """Random frames, many with a CRC that is right, and pieces of them, with sanitizers; a proper
    session behind them is answered."""
    sanitized = "-fsanitize=address,undefined", "-fno-sanitize-recover"
    flags = ["-DMEMOPT_TRACE"] if traces else []
    run = compiled(folder, FROM_A_FILE, "file", *sanitized, *flags)
    chance, sent = random.Random(1), list[bytes]()
    for _ in range(int(FRAMES * FUZZ)):
        size = chance.choice((0, 0, 1, 4, 41, 255, 256, 257, 300))
        number = chance.choice((0, 0, 1, 300, 304, 305, 340, 341, 2**31, 2**32 - 1, 85))
        kind = chance.randrange(6)
        frame = framed(kind, chance.randrange(256), number, chance.randbytes(size))
        sent.append(spoiler(chance.randrange(1 << 30), chance.choice((0, 0, 0.5)))(frame))
    given = bytes(300) + bytes(range(41))
    parts = [(1, 0, b""), (2, 0, given[:256]), (2, 256, given[256:]), (3, 0, b""), (4, 0, b"")]
    sent += [framed(kind, n, number, data) for n, (kind, number, data) in enumerate(parts)]
    ran = subprocess.run([run], input=b"".join(sent), capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers = [unframed(text) for text in ran.stdout.split(b"\xc0") if text]
    assert None not in answers
    last = [body for body in answers[-len(parts) :] if body is not None]
    assert [body[:6] for body in last] == [
        bytes([128 | kind, n]) + bytes(4) for n, (kind, *_) in enumerate(parts)
    ]
    assert last[-1][6:] == expected(given)[:256]
    kinds = {body[0] for body in answers if body is not None}
    assert (PART | ANSWER in kinds) == traces
    others = (
        body for body in answers if body is not None and body[0] not in (ANSWER, PART | ANSWER)
    )
    assert {body[2] for body in others} == {0, 1}


def test_what_cannot_be_asked_is_refused(shared: Path, tmp_path: Path, capsys: Any) -> None:
    model, data = str(shared / "models" / "hello_world_int8.tflite"), str(tmp_path / "x.npy")
    np.save(data, np.zeros((1, 1)))
    other, regular = tmp_path / "other.tflite", tmp_path / "regular"
    other.write_bytes(Path(model).read_bytes())
    regular.write_bytes(b"")
    compiling = ["compile", model, "-o", str(tmp_path / "out"), "--serial"]
    validating = ["validate", model, f"--data={data}"]
    for code, text, *words in (
        (2, "--serial is of C targets", *compiling, "--target=tflm"),
        (2, "--stream-input: a serial", *compiling, "--stream-input"),
        (2, "--serial is of one model", "compile", str(other), *compiling[1:]),
        (1, "cannot open the port: No such file", *validating, "--port=/dev/none:9600"),
        (1, "no serial port: Inappropriate", *validating, f"--port={regular}"),
        (2, "expected socket://HOST:PORT", *validating, "--port=socket://a"),
        (2, "expected socket://HOST:PORT", *validating, "--port=socket://a..b:80"),
        (2, "expected socket://HOST:PORT", *validating, f"--port=socket://{'a' * 64}:80"),
        (2, "--serial is of C targets", *validating, "--port=x", "--target=tflm"),
        (2, "--slide: a serial port", *validating, "--port=x", "--slide=1"),
    ):
        assert main(words) == code, words
        error = capsys.readouterr().err
        assert text in error and error.count("\n") == 1, error
