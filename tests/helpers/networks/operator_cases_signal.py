"""Random operations on samples and their spectra: `SIGNAL[name](name, rng)`."""

from collections.abc import Callable
from typing import Any

from operator_parts import Rng, made, tensor, value
from xdsl.dialects.builtin import IntegerType, Signedness, UnitAttr, i1, i16, i32

from memopt.dialects.attributes.quick import number

U32, U64 = (IntegerType(bits, Signedness.UNSIGNED) for bits in (32, 64))


def flag(rng: Rng) -> UnitAttr | None:
    return UnitAttr() if rng.random() < 0.5 else None


def window(name: str, rng: Rng) -> Any:
    frames, size = (int(v) for v in rng.integers(1, 9, 2))
    operands = [value((frames, size), "", i16), value((size,), "", i16)]
    return made(name, operands, [tensor((frames, size), "", i16)], shift=number(12))


def auto_scale(name: str, rng: Rng) -> Any:
    shape = (int(rng.integers(1, 9)),)
    return made(name, [value(shape, "", i16)], [tensor(shape, "", i16), tensor((), "", i32)])


def transform(name: str, rng: Rng) -> Any:
    length, element = int(2 ** rng.integers(2, 7)), (i16, i32)[int(rng.integers(2))]
    sizes = [(3, length + 2), (3, length)]
    given, result = sizes if name == "signal_irfft" else reversed(sizes)
    results = [tensor(result, "", element)]
    return made(name, [value(given, "", element)], results, length=number(length))


def energy(name: str, rng: Rng) -> Any:
    count = int(rng.integers(1, 9))
    first, end = sorted(int(v) for v in rng.integers(0, count + 1, 2))
    ends = {"first": number(first), "end": number(end)}
    return made(name, [value((2 * count,), "", i16)], [tensor((count,), "", U32)], **ends)


def bank(name: str, rng: Rng) -> Any:
    size, weights, channels = (int(v) for v in rng.integers(1, 9, 3))
    shapes = [(weights,)] * 2 + [(channels + 1,)] * 3
    operands = [value((size,), "", U32), *(value(shape, "", i16) for shape in shapes)]
    return made(name, operands, [tensor((channels,), "", U64)])


def channels(name: str, rng: Rng) -> Any:
    shape = (int(rng.integers(1, 9)),)
    if name == "signal_filter_bank_square_root":
        operands = [value(shape, "", U64), value((), "", i32)]
        return made(name, operands, [tensor(shape, "", U32)])
    operands = [value(shape, "", U32), value(shape, "", U32)]
    if name == "signal_pcan":
        operands.append(value((125,), "", i16))
        return made(name, operands, [tensor(shape, "", U32)], shift=number(6))
    if name == "signal_filter_bank_log":
        scales = {"scale": number(64), "bits": number(int(rng.integers(4)))}
        return made(name, operands[:1], [tensor(shape, "", i16)], **scales)
    names = ("smoothing", "rest", "odd_smoothing", "odd_rest", "least")
    numbers = {key: number(int(rng.integers(1 << 14))) for key in names}
    numbers |= {"extra": number(10), "bits": number(14)}
    return made(name, operands, [tensor(shape, "", U32)] * 2, clamped=flag(rng), **numbers)


def frames(name: str, rng: Rng) -> Any:
    step, count, more = (int(v) for v in rng.integers(1, 9, 3))
    size, prefilled = step + more, flag(rng)
    held = more if prefilled else (-(-size // step) - 1) * step
    operands = [value((2, step * count), "", i16), value((2 * held + 1,), "", i16)]
    results = [tensor((2, count, size), "", i16), tensor((), "", i1)]
    sizes = {"size": number(size), "step": number(step)}
    return made(name, operands, results, prefilled=prefilled, **sizes)


def stack(name: str, rng: Rng) -> Any:
    size, left, right = (int(v) for v in rng.integers(1, 5, 3))
    stacked = left + right + 1
    operands = [value((size,), "", i16), value(((stacked - 1) * size + 1,), "", i16)]
    results = [tensor((stacked * size,), "", i16), tensor((), "", i1)]
    steps = {"left": number(left), "right": number(right), "step": number(1)}
    return made(name, operands, results, **steps)


def delay(name: str, rng: Rng) -> Any:
    size, length = (int(v) for v in rng.integers(1, 9, 2))
    operands = [value((2, size), "", i16), value((2 * length,), "", i16)]
    return made(name, operands, [tensor((2, size), "", i16)], length=number(length))


def overlap(name: str, rng: Rng) -> Any:
    count, size = (int(v) for v in rng.integers(1, 9, 2))
    step = int(rng.integers(1, size + 1))
    operands = [value((2, count, size), "", i16), value((2 * size,), "", i16)]
    return made(name, operands, [tensor((2, count * step), "", i16)], step=number(step))


SIGNAL: dict[str, Callable[[str, Rng], Any]] = {
    "signal_window": window,
    "signal_fft_auto_scale": auto_scale,
    **dict.fromkeys(("signal_rfft", "signal_irfft"), transform),
    "signal_energy": energy,
    "signal_filter_bank": bank,
    **{
        f"signal_{name}": channels
        for name in ("filter_bank_square_root", "filter_bank_log", "pcan")
    },
    "signal_filter_bank_spectral_subtraction": channels,
    "signal_framer": frames,
    "signal_stacker": stack,
    "signal_delay": delay,
    "signal_overlap_add": overlap,
}
