"""Constant arrays as C text: each number a literal, as many on a line as it takes."""

import random

import numpy as np
import pytest
from native import needs_native

from memopt.backends.c.emit import c_text
from memopt.backends.c.emit.native_arrays import native_text

ARRAYS = 2_000


def word_by_word(c_type: str, numbers: list[float]) -> str:
    """Return the lines of an array, made a word at a time."""
    literal = c_text.float_literal if c_type == "float" else c_text.int_literal
    lines, line = list[str](), ""
    for word in map(literal, numbers or [0]):  # pyright: ignore[reportArgumentType]
        if line and len(line) + len(word) + 2 > c_text.LINE:
            lines.append(line)
            line = ""
        line += f" {word}," if line else f"  {word},"
    return "\n".join([*lines, line])


def drawn(rng: random.Random, c_type: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.generic]]":
    """Return an array of none to a hundred numbers of all magnitudes."""
    count = rng.choice((0, 1, rng.randrange(100)))
    if c_type == "float":
        numbers = [
            rng.choice((1, -1)) * rng.random() * 10 ** rng.randint(-45, 38) for _ in range(count)
        ]
        odd = (0.0, -0.0, 1.0, -3.0, float("inf"), float("-inf"), float("nan"), 2.0**24, 1e9)
        return np.array([rng.choice((n, n, rng.choice(odd))) for n in numbers], np.float32)
    bits = int(c_type[3:-2])
    ends = (-(1 << bits - 1), (1 << bits - 1) - 1, 0)
    drawn = [rng.choice((rng.choice(ends), rng.randint(-9, 9))) for _ in range(count)]
    return np.array(drawn, f"int{bits}")


def test_arrays_are_what_they_are_word_by_word(
    monkeypatch: pytest.MonkeyPatch, fuzz: float
) -> None:
    """Also where a part ends on a line."""
    rng = random.Random(0)
    for _ in range(int(ARRAYS * fuzz)):
        monkeypatch.setattr(c_text, "PART", rng.choice((1, 7, 16, 1 << 15)))
        monkeypatch.setattr(c_text, "LARGE", rng.choice((-1, 1 << 16)))  # by the native library
        c_type = rng.choice(("float", "int8_t", "int32_t", "int64_t"))
        values = drawn(rng, c_type)
        head = f"MEMOPT_TABLES static const {c_type} t[{max(1, len(values))}] = {{\n"
        body = word_by_word(c_type, values.tolist())
        assert c_text.array(c_type, "t", values) == f"{head}{body}\n}};\n"


def test_a_literal_reads_back_as_the_same_number() -> None:
    numbers = np.random.default_rng(0).integers(0, 1 << 32, 2_000, np.uint32).view(np.float32)
    numbers = numbers[np.isfinite(numbers)]
    body = c_text.array("float", "t", numbers).split("{", 1)[1].strip().rstrip("};")
    read = [float(word.strip().removesuffix("f")) for word in body.split(",") if word.strip()]
    assert np.array(read, np.float32).tobytes() == numbers.tobytes()


@needs_native
def test_the_library_writes_what_python_does() -> None:
    """Numbers near powers of ten, halves of the last digit, and what the library leaves to
    Python."""
    numbers = np.random.default_rng(1).integers(0, 1 << 32, 40_000, np.uint32).view(np.float32)
    tens = [10.0**k for k in range(-37, 38)]
    near = [np.nextafter(np.float32(ten), np.float32(way)) for ten in tens for way in (0, 1e38)]
    halves = [k + 0.5**n for k in (1, 1023, 16383) for n in range(10)]
    numbers = np.concatenate([numbers, np.array([*tens, *near, *halves], np.float32)])
    unwritten = 0
    for number in numbers:
        written = native_text("float", np.array([number], np.float32), 0)
        unwritten += written is None
        assert written is None or written[0] == f"  {c_text.float_literal(float(number))}"
    assert unwritten < len(numbers) / 3
