"""Random operators of TensorFlow Lite Micro's signal library at the end of a forged file, and a
preprocessor of audio as its audio_preprocessor.py makes one."""

import importlib
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from forge_model import BOOL, FLOAT32, INT16, INT32, Forge, schema
from tflite_builder import Graph, Op, T, build

flexbuffers: Any = importlib.import_module("flatbuffers.flexbuffers")
UINT32, UINT64 = schema.TensorType.UINT32, schema.TensorType.UINT64

Mend = Callable[[dict[int, Any]], None]
"""Puts zeros where the runtime leaves any numbers in tensors of several runs."""


def add_signal(forge: Forge, name: str, **changed: Any) -> Mend:
    """Add the operator `Signal<name>`, with other options where some are given."""
    return OPERATORS[name](forge, changed)


def _nothing(tensors: dict[int, Any]) -> None:
    """Every element is written."""


def _add(
    forge: Forge, name: str, inputs: Sequence[int], results: Sequence[int], options: dict[str, Any]
) -> None:
    given = bytes(flexbuffers.Dumps(options)) if options else b""
    forge.custom(f"Signal{name}", inputs, results, given)


def _input(forge: Forge, shape: Sequence[int], type_: int = INT16) -> int:
    index = forge.tensor(shape, type_)
    forge.graph.inputs.append(index)
    return index


def _sizes(forge: Forge, *ends: int) -> list[int]:
    return [int(forge.rng.integers(1, end)) for end in ends]


def _outer(forge: Forge) -> list[int]:
    return [int(v) for v in forge.rng.integers(1, 4, int(forge.rng.integers(3)))]


def window(forge: Forge, changed: dict[str, Any]) -> Mend:
    shape = [*_outer(forge), *_sizes(forge, 40)]
    weights = forge.tensor(shape[-1:], INT16, forge.rng.integers(-32768, 32768, shape[-1]))
    options = {"shift": forge.pick(0, 12, 15)} | changed
    inputs = [_input(forge, shape), weights]
    _add(forge, "Window", inputs, [forge.tensor(shape, INT16)], options)
    return _nothing


def auto_scale(forge: Forge, changed: dict[str, Any]) -> Mend:
    shape = _sizes(forge, 40)
    results = [forge.tensor(shape, INT16), forge.tensor([], INT32)]
    _add(forge, "FftAutoScale", [_input(forge, shape)], results, changed)
    return _nothing


def rfft(forge: Forge, changed: dict[str, Any]) -> Mend:
    outer, length = _outer(forge), int(2 ** forge.rng.integers(2, 10))
    given = int(forge.pick(length, *_sizes(forge, length + 1)))
    _transform(forge, "Rfft", [*outer, given], [*outer, length + 2], length, changed)
    return _nothing


def irfft(forge: Forge, changed: dict[str, Any]) -> Mend:
    outer, length = _outer(forge), int(2 ** forge.rng.integers(2, 10))
    _transform(forge, "Irfft", [*outer, length + 2], [*outer, length], length, changed)
    return _nothing


def _transform(
    forge: Forge, name: str, shape: list[int], result: list[int], length: int, changed: Any
) -> None:
    type_ = forge.pick(INT16, INT16, INT32)
    options = {"T": type_, "fft_length": length} | changed
    _add(forge, name, [_input(forge, shape, type_)], [forge.tensor(result, type_)], options)


def energy(forge: Forge, changed: dict[str, Any]) -> Mend:
    (count,) = _sizes(forge, 40)
    first, end = sorted(int(v) for v in forge.rng.integers(0, count + 1, 2))
    result, options = forge.tensor([count], UINT32), {"start_index": first, "end_index": end}
    _add(forge, "Energy", [_input(forge, [2 * count])], [result], options | changed)

    def mend(tensors: dict[int, Any]) -> None:
        tensors[result][:, :first] = tensors[result][:, end:] = 0

    return mend


def filter_bank(forge: Forge, changed: dict[str, Any]) -> Mend:
    rng, (size, weights, channels) = forge.rng, _sizes(forge, 60, 60, 12)
    widths = rng.integers(0, min(size, weights) + 1, channels + 1)
    parts = [rng.integers(0, limit - widths + 1) for limit in (size, weights)]
    tables = [*rng.integers(-32768, 32768, (2, weights)), *parts, widths]
    inputs = [_input(forge, [size], UINT32), *(forge.tensor([len(t)], INT16, t) for t in tables)]
    options = {"num_channels": channels} | changed
    _add(forge, "FilterBank", inputs, [forge.tensor([channels], UINT64)], options)
    return _nothing


def square_root(forge: Forge, changed: dict[str, Any]) -> Mend:
    shape = _sizes(forge, 20)
    inputs = [_input(forge, shape, UINT64), forge.tensor([], INT32, forge.pick(0, 3, 15))]
    _add(forge, "FilterBankSquareRoot", inputs, [forge.tensor(shape, UINT32)], changed)
    return _nothing


def subtraction(forge: Forge, changed: dict[str, Any]) -> Mend:
    shape = _sizes(forge, 20)
    factors = [int(v) for v in forge.rng.integers(0, 1 << 14, 5)]
    names = ("alternate_one_minus_smoothing", "alternate_smoothing", "min_signal_remaining")
    names = (*names, "one_minus_smoothing", "smoothing")
    options = dict(zip(names, factors, strict=True))
    options |= {"clamping": forge.pick(True, False), "num_channels": shape[0]}
    options |= {"smoothing_bits": forge.pick(0, 10), "spectral_subtraction_bits": 14}
    results = [forge.tensor(shape, UINT32) for _ in range(2)]
    inputs = [_input(forge, shape, UINT32)]
    _add(forge, "FilterBankSpectralSubtraction", inputs, results, options | changed)
    return _nothing


def pcan(forge: Forge, changed: dict[str, Any]) -> Mend:
    shape, rng = _sizes(forge, 20), forge.rng
    gains = rng.integers(-32768, 32768, 125) >> int(rng.integers(6))
    inputs = [*(_input(forge, shape, UINT32) for _ in range(2)), forge.tensor([125], INT16, gains)]
    options = {"snr_shift": forge.pick(0, 6, 40)} | changed
    _add(forge, "PCAN", inputs, [forge.tensor(shape, UINT32)], options)
    return _nothing


def log(forge: Forge, changed: dict[str, Any]) -> Mend:
    shape = _sizes(forge, 20)
    options = {"input_correction_bits": forge.pick(0, 3), "output_scale": forge.pick(64, 1600)}
    inputs, results = [_input(forge, shape, UINT32)], [forge.tensor(shape, INT16)]
    _add(forge, "FilterBankLog", inputs, results, options | changed)
    return _nothing


def framer(forge: Forge, changed: dict[str, Any]) -> Mend:
    outer, (step, count) = _outer(forge), _sizes(forge, 12, 4)
    size, prefill = step + int(forge.rng.integers(0, 30)), bool(forge.pick(True, False))
    result = forge.tensor([*outer, count, size], INT16)
    options = {"frame_size": size, "frame_step": step, "prefill": prefill} | changed
    samples = _input(forge, [*outer, step * count])
    _add(forge, "Framer", [samples], [result, forge.tensor([], BOOL)], options)

    def mend(tensors: dict[int, Any]) -> None:
        for run, frames in enumerate(tensors[result]):
            missing = 0 if prefill else math.ceil(size / step) - 1 - run * count
            frames[..., : max(missing, 0), :] = 0

    return mend


def stacker(forge: Forge, changed: dict[str, Any]) -> Mend:
    size, left, right = _sizes(forge, 12, 4, 5)
    left, right = left - 1, right - 1
    stacked = left + right + 1
    result, valid = forge.tensor([size * stacked], INT16), forge.tensor([], BOOL)
    options = {"num_channels": size, "stacker_left_context": left, "stacker_right_context": right}
    options |= {"stacker_step": int(forge.rng.integers(1, stacked + 1))}
    _add(forge, "Stacker", [_input(forge, [size])], [result, valid], options | changed)

    def mend(tensors: dict[int, Any]) -> None:
        tensors[result][~tensors[valid].astype(bool)] = 0

    return mend


def delay(forge: Forge, changed: dict[str, Any]) -> Mend:
    shape = [*_outer(forge), *_sizes(forge, 20)]
    options = {"delay_length": _sizes(forge, 30)[0]} | changed
    _add(forge, "Delay", [_input(forge, shape)], [forge.tensor(shape, INT16)], options)
    return _nothing


def overlap_add(forge: Forge, changed: dict[str, Any]) -> Mend:
    outer, (frames, size) = _outer(forge), _sizes(forge, 4, 20)
    step, type_ = int(forge.rng.integers(1, size + 1)), forge.pick(INT16, INT16, FLOAT32)
    result = forge.tensor([*outer, frames * step], type_)
    options = {"T": type_, "frame_step": step} | changed
    _add(forge, "OverlapAdd", [_input(forge, [*outer, frames, size], type_)], [result], options)
    return _nothing


OPERATORS: dict[str, Callable[[Forge, dict[str, Any]], Mend]] = {
    "Delay": delay,
    "Energy": energy,
    "FftAutoScale": auto_scale,
    "FilterBank": filter_bank,
    "FilterBankLog": log,
    "FilterBankSpectralSubtraction": subtraction,
    "FilterBankSquareRoot": square_root,
    "Framer": framer,
    "Irfft": irfft,
    "OverlapAdd": overlap_add,
    "PCAN": pcan,
    "Rfft": rfft,
    "Stacker": stacker,
    "Window": window,
}

STEP, FRAME, LENGTH, CHANNELS, FIRST, END = 320, 480, 512, 40, 5, 241


def preprocessor() -> bytes:
    """Return a file that makes 40 features of int8 of every 320 samples at 16 kHz: frames of 30 ms,
    and then the operators of audio_preprocessor.py, in its order."""
    spectrum = LENGTH // 2 + 1
    weights, widths = _triangles()
    turn = 2 * np.pi * (np.arange(FRAME) + 0.5) / FRAME
    gains = np.concatenate([[32636, 32633, 32630], *_gains()])[:125]
    count = len(weights)
    constants = {
        "window": ("INT16", np.round(4096 * (0.5 - 0.5 * np.cos(turn)))),
        "frame_shape": ("INT32", np.array([FRAME])),
        "weights": ("INT16", weights),
        "unweights": ("INT16", 4096 - weights),
        "starts": ("INT16", FIRST + np.concatenate([[0], np.cumsum(widths)[:-1]])),
        "weight_starts": ("INT16", np.concatenate([[0], np.cumsum(widths)[:-1]])),
        "widths": ("INT16", widths),
        "gains": ("INT16", gains),
        "first": ("INT32", np.array([FIRST])),
        "end": ("INT32", np.array([END])),
        "one": ("INT32", np.array([1])),
        "low": ("INT32", np.zeros(FIRST)),
        "high": ("INT32", np.zeros(spectrum - END)),
        **{f"number_{v}": ("INT32", np.array(v)) for v in (256, 333, 666, -128, 127, -1)},
    }
    results: dict[str, tuple[list[int], str]] = {
        "samples": ([STEP], "INT16"),
        "frames": ([1, FRAME], "INT16"),
        "valid": ([], "BOOL"),
        "windowed": ([1, FRAME], "INT16"),
        "frame": ([FRAME], "INT16"),
        "scaled": ([FRAME], "INT16"),
        "exponent": ([], "INT32"),
        "fft": ([LENGTH + 2], "INT16"),
        **{n: ([spectrum], "UINT32") for n in ("energy", "all_unsigned")},
        **{n: ([spectrum], "INT32") for n in ("signed", "all")},
        "part": ([END - FIRST], "INT32"),
        "bank": ([CHANNELS], "UINT64"),
        **{n: ([CHANNELS], "UINT32") for n in ("root", "clean", "noise", "gained")},
        "log": ([CHANNELS], "INT16"),
        **{f"step_{n}": ([CHANNELS], "INT32") for n in range(7)},
        "features": ([CHANNELS], "INT8"),
    }
    assert count == END - FIRST
    dtypes = {"INT16": np.int16, "INT32": np.int32}
    tensors = [T(n, np.shape(v), t, np.asarray(v, dtypes[t])) for n, (t, v) in constants.items()]
    tensors += [T(name, shape, type_) for name, (shape, type_) in results.items()]
    places = {t.name: number for number, t in enumerate(tensors)}

    def op(name: str, inputs: str, outputs: str, options: Any = None, **custom: Any) -> Op:
        names = [[places[n] for n in text.split()] for text in (inputs, outputs)]
        given = bytes(flexbuffers.Dumps(custom)) if custom else b""
        return Op(name, names[0], names[1], options, given)

    plain = {"fusedActivationFunction": 0}
    smoothing = {"smoothing": 409, "one_minus_smoothing": 15975, "alternate_smoothing": 983}
    smoothing |= {"alternate_one_minus_smoothing": 15401, "min_signal_remaining": 819}
    smoothing |= {"smoothing_bits": 10, "spectral_subtraction_bits": 14, "clamping": False}
    banks = "all_unsigned weights unweights starts weight_starts widths"
    frame = {"frame_size": FRAME, "frame_step": STEP, "prefill": True}
    operators = [
        op("CUSTOM:SignalFramer", "samples", "frames valid", **frame),
        op("CUSTOM:SignalWindow", "frames window", "windowed", shift=12),
        op("RESHAPE", "windowed frame_shape", "frame"),
        op("CUSTOM:SignalFftAutoScale", "frame", "scaled exponent"),
        op("CUSTOM:SignalRfft", "scaled", "fft", T=7, fft_length=LENGTH),
        op("CUSTOM:SignalEnergy", "fft", "energy", start_index=FIRST, end_index=END),
        op("CAST", "energy", "signed"),
        op("STRIDED_SLICE", "signed first end one", "part", ("StridedSlice", {})),
        op("CONCATENATION", "low part high", "all", ("Concatenation", {"axis": 0})),
        op("CAST", "all", "all_unsigned"),
        op("CUSTOM:SignalFilterBank", banks, "bank", num_channels=CHANNELS),
        op("CUSTOM:SignalFilterBankSquareRoot", "bank exponent", "root"),
        op(
            "CUSTOM:SignalFilterBankSpectralSubtraction",
            *("root", "clean noise"),
            **smoothing,
            num_channels=CHANNELS,
        ),
        op("CUSTOM:SignalPCAN", "clean noise gains", "gained", snr_shift=6),
        op("CUSTOM:SignalFilterBankLog", "gained", "log", output_scale=64, input_correction_bits=3),
        op("CAST", "log", "step_0"),
        op("MUL", "step_0 number_256", "step_1", ("Mul", plain)),
        op("ADD", "step_1 number_333", "step_2", ("Add", plain)),
        op("DIV", "step_2 number_666", "step_3", ("Div", plain)),
        op("ADD", "step_3 number_-128", "step_4", ("Add", plain)),
        op("MINIMUM", "step_4 number_127", "step_5", ("MaximumMinimum", {})),
        op("MAXIMUM", "step_5 number_-128", "step_6", ("MaximumMinimum", {})),
        op("CAST", "step_6", "features"),
    ]
    ends = [places["samples"]], [places[n] for n in ("features", "valid")]
    return build(Graph(tensors, operators, *ends))


def _triangles() -> tuple[Any, Any]:
    """Return weights of one channel after another over the spectrum, and the widths of 41 parts."""
    bounds: Any = np.round(np.geomspace(6, END - FIRST + 6, CHANNELS + 2)).astype(int) - 6
    widths: Any = np.diff(bounds)
    sizes = [int(width) for width in widths]
    weights = [round(4096 * (1 - (k + 0.5) / n)) for n in sizes for k in range(n)]
    return np.array(weights), widths


def _gains() -> list[list[int]]:
    """Return for each position of the highest bit from the third on what a gain is there, falls by,
    and bends by."""
    ends = [round(32630 / (1 + (2**n / 2**14) ** 0.9)) for n in range(1, 34)]
    return [[a, b - a, 0, 0] for a, b in pairwise(ends[1:])]
