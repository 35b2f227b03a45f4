"""Random operations that few networks have: `RARE[name](name, rng)`."""

from collections.abc import Callable
from typing import Any

from operator_parts import Rng, filters, image, made, tensor, value
from xdsl.dialects.builtin import (
    ComplexType,
    IntegerType,
    Signedness,
    StringAttr,
    UnitAttr,
    f32,
    i8,
    i32,
)

from memopt.dialects.attributes.operators import ActivationAttr, WindowAttr
from memopt.dialects.attributes.quick import number, numbers
from memopt.frontends.core.typed import real


def detections(name: str, rng: Rng) -> Any:
    count, classes, limit = (int(v) for v in rng.integers(1, 6, 3))
    operands = [value((1, count, 4), ""), value((1, count, classes + 1), ""), value((count, 4), "")]
    results = [tensor(shape, "") for shape in ((1, limit, 4), (1, limit), (1, limit), (1,))]
    names = ("y", "x", "h", "w", "score", "overlap")
    properties = {key: real(float(rng.uniform(0.1, 1))) for key in names}
    per_class = number(2) if rng.random() < 0.5 else None
    return made(name, operands, results, per_class=per_class, label_offset=UnitAttr(), **properties)


def layer_of_reals(name: str, rng: Rng) -> Any:
    """Return a layer with or without a projection, peepholes and int8 weights; always with coupled
    gates."""
    batch, steps, size, units = (int(v) for v in rng.integers(1, 4, 4))
    stored, projected, peeps = (bool(v) for v in rng.integers(2, size=3))
    out = 2 if projected else units
    weights = {(part, g): (units, size if part == 0 else out) for part in (0, 4) for g in (1, 2, 3)}
    weights |= {(8, g): (units,) for g in (1, 3) if peeps}
    weights |= {(16, 0): (out, units)} if projected else {}
    operand_of = {
        p + g: filters(s, "") if stored else value(s, "") for (p, g), s in weights.items()
    }
    operand_of |= {12 + g: value((units,), "") for g in (1, 2, 3)}
    parts = sorted(operand_of)
    operands = [value((batch, steps, size), ""), *(operand_of[p] for p in parts)]
    operands += [value((batch, n), "") for n in (out, units)]
    properties = {"clip": real(0.0), "projection_clip": real(1.0), "parts": numbers(parts)}
    bent = ActivationAttr.new((StringAttr(str(rng.choice(["tanh", "relu"]))),))
    result = tensor((batch, steps, out), "")
    return made(name, operands, [result], activation=bent, **properties)


def scattered(name: str, rng: Rng) -> Any:
    shape, depth = image(rng), int(rng.integers(1, 5))
    operands = [value((3, depth), "", i32), value((3, *shape[depth:]), "")]
    return made(name, operands, [tensor(shape, "")])


def scatter_update(name: str, rng: Rng) -> Any:
    shape, depth, count = image(rng), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    operands = [value(shape, ""), value((count, depth), "", i32)]
    operands.append(value((count, *shape[depth:]), ""))
    how = ("add", "mul", "max", "min", None)[int(rng.integers(5))]
    reduction = None if how is None else StringAttr(how)
    return made(name, operands, [tensor(shape, "")], reduction=reduction)


def one_hot(name: str, rng: Rng) -> Any:
    shape, axis = image(rng)[:3], int(rng.integers(4))
    operands = [value(shape, "", i32), value((), ""), value((), "")]
    result = tensor((*shape[:axis], 5, *shape[axis:]), "")
    ends = UnitAttr() if rng.random() < 0.5 else None
    return made(name, operands, [result], axis=number(axis), from_end=ends)


def top_k(name: str, rng: Rng) -> Any:
    shape = image(rng)
    out = (*shape[:3], int(rng.integers(1, shape[3] + 1)))
    return made(name, [value(shape, "")], [tensor(out, ""), tensor(out, "", i32)])


def cumulative(name: str, rng: Rng) -> Any:
    shape, ways = image(rng), ("exclusive", "reverse")
    properties = {way: UnitAttr() if rng.random() < 0.5 else None for way in ways}
    axis = number(int(rng.integers(4)))
    return made(name, [value(shape)], [tensor(shape)], axis=axis, **properties)


def recurrent(name: str, rng: Rng) -> Any:
    batch, steps, size, units = (int(v) for v in rng.integers(1, 4, 4))
    major = bool(rng.integers(2))
    lengths = (steps, batch) if major else (batch, steps)
    shapes = [(units, size)] * 4 + [(units, units)] * 4 + [(units,)] * 4 + [(batch, units)] * 2
    operands = [value((*lengths, size), ""), *(value(shape, "") for shape in shapes)]
    order = {"time_major": UnitAttr()} if major else {}
    clip = real(float(rng.integers(3)))
    return made(name, operands, [tensor((*lengths, units), "")], clip=clip, **order)


def over_time(name: str, rng: Rng) -> Any:
    batch, size, units, rank, memory = (int(v) for v in rng.integers(1, 4, 5))
    shapes = [(batch, size), (units * rank, size), (units * rank, memory), (units,)]
    operands: list[Any] = [value(shape, "") for shape in shapes]
    operands[3] = operands[3] if rng.random() < 0.5 else None
    operands.append(value((batch, units * rank * memory), ""))
    return made(name, operands, [tensor((batch, units), "")], rank=number(rank))


def update(name: str, rng: Rng) -> Any:
    shape = image(rng)
    inner = [int(rng.integers(1, n + 1)) for n in shape]
    return made(name, [value(shape), value(inner), value((4,), "", i32)], [tensor(shape)])


def segments(name: str, rng: Rng) -> Any:
    shape = image(rng)
    depth = int(rng.integers(1, 4))
    operands = [value(shape), value(shape[:depth], "", i32)]
    return made(name, operands, [tensor((3, *shape[depth:]), "")])


def suppression(name: str, rng: Rng) -> Any:
    count, limit = (int(v) for v in rng.integers(1, 9, 2))
    limits = [value((), "") for _ in range(int(rng.integers(2, 4)))]
    kinds = [i32, f32, i32] if len(limits) == 3 else [i32, i32]
    shapes = [*[(limit,)] * (len(kinds) - 1), ()]
    results = [tensor(s, "", kind) for s, kind in zip(shapes, kinds, strict=True)]
    return made(name, [value((count, 4), ""), value((count,), ""), *limits], results)


def local_response(name: str, rng: Rng) -> Any:
    shape, reals = image(rng), ("bias", "alpha", "beta")
    properties = {key: real(float(rng.uniform(0.5, 1.5))) for key in reals}
    return made(name, [value(shape)], [tensor(shape)], radius=number(2), **properties)


def group_statistics(name: str, rng: Rng) -> Any:
    (n, h, w, c), groups = image(rng), int(rng.integers(1, 4))
    result = tensor((2, groups), "")
    return made(name, [value((n, h, w, c * groups))], [result], groups=number(groups))


def group_normalization(name: str, rng: Rng) -> Any:
    (n, h, w, c), groups = image(rng), int(rng.integers(1, 4))
    shape = (n, h, w, c * groups)
    terms = [value(shape[3:], "") for _ in range(int(rng.integers(3)))]
    operands = [value(shape), value((2, groups), ""), *terms]
    bent = ActivationAttr("relu") if rng.random() < 0.5 else None
    epsilon = real(float(rng.uniform(0.5, 1.5)))
    return made(name, operands, [tensor(shape)], epsilon=epsilon, activation=bent)


def layer_normalization(name: str, rng: Rng) -> Any:
    shape, axis = image(rng), int(rng.integers(1, 4))
    terms = [value(shape[axis:], "") for _ in range(int(rng.integers(3)))]
    form = ("", "quotient", "line")[int(rng.integers(3))]
    ways: dict[str, Any] = {
        "form": StringAttr(form) if form else None,
        "around_zero": UnitAttr() if rng.random() < 0.5 else None,
    }
    ways |= {"axis": number(axis), "epsilon": real(float(rng.uniform(0.5, 1.5)))}
    return made(name, [value(shape), *terms], [tensor(shape)], **ways)


def spectrum(name: str, rng: Rng) -> Any:
    shape = image(rng)
    height, width = (2 ** int(v) for v in rng.integers(1, 4, 2))
    result = tensor((*shape[:2], height, width // 2 + 1), "", ComplexType(f32))
    return made(name, [value(shape)], [result], sizes=numbers([height, width]))


def complex_part(name: str, rng: Rng) -> Any:
    shape = image(rng)
    return made(name, [value(shape, "", ComplexType(f32))], [tensor(shape, "")])


def convolution_3d(name: str, rng: Rng) -> Any:
    kernel, out, strides = ([int(v) for v in rng.integers(1, 4, 3)] for _ in range(3))
    size = [(n - 1) * s + k for n, s, k in zip(out, strides, kernel, strict=True)]
    operands = [value((1, *size, 2), ""), value((*kernel, 2, 3), "")]
    properties = {"strides": numbers(strides), "dilations": numbers([1] * 3)}
    result = tensor((1, *out, 3), "")
    return made(name, operands, [result], pad=numbers([0] * 3), **properties)


def places(name: str, rng: Rng) -> Any:
    """Return windows of two by two, side by side."""
    n, h, w, c = image(rng)
    small, large = (n, h, w, c), (n, 2 * h, 2 * w, c)
    window = WindowAttr((2, 2), (2, 2), (1, 1), (0, 0, 0, 0))
    if name == "max_unpool":
        return made(name, [value(small), value(small)], [tensor(large)], window=window)
    return made(name, [value(large)], [tensor(small)] * 2, window=window)


def of_integers(name: str, rng: Rng) -> Any:
    n, h, w, c = image(rng)
    filters = int(rng.integers(1, 4))
    shapes = [(n, c, h, w), (filters, c, 1, 1), (), (filters,)]
    operands = [value(shape, "", i8) for shape in shapes]
    result = tensor((n, filters, h, w), "", i32)
    return made(name, operands, [result], window=WindowAttr([1, 1]), groups=number(1))


def trees(name: str, rng: Rng) -> Any:
    """Return one tree of three nodes, of which two are leaves."""
    rows, size = (int(v) for v in rng.integers(1, 5, 2))
    kinds = (i32, IntegerType(8, Signedness.UNSIGNED), f32, i32, i32, i32, f32, i32)
    sizes = (3, 3, 3, 3, 3, 2, 2, 1)
    tables = [value((n,), "", kind) for n, kind in zip(sizes, kinds, strict=True)]
    return made(name, [value((rows, size), ""), *tables], [tensor((rows, 1), "")])


def landmarks(name: str, rng: Rng) -> Any:
    names = ("target", "scale_x", "scale_y")
    properties: dict[str, Any] = {key: real(float(rng.uniform(0.5, 1.5))) for key in names}
    properties |= {"height": number(3), "width": number(4), "subset": numbers([0, 1, 2])}
    ends = {"left": number(0), "right": number(int(rng.integers(1, 4)))}
    return made(name, [value((1, 4, 3), "")], [tensor((1, 4, 4), "")], **ends, **properties)


def transformed(name: str, rng: Rng) -> Any:
    shape, matrix = image(rng), value((1, 4, 4), "")
    if name == "transform_landmarks":
        return made(name, [value((1, shape[1], 3), ""), matrix], [tensor((1, shape[1], 3), "")])
    return made(name, [value(shape), matrix], [tensor((1, 3, 2, shape[3]))])


def recurrent_rows(name: str, rng: Rng) -> Any:
    batch, steps, size, units = (int(v) for v in rng.integers(1, 4, 4))
    stored = bool(rng.integers(2))
    shapes = [(units, size), (units, units)]
    weights = [filters(s, "") if stored else value(s, "") for s in shapes]
    operands = [value((batch, steps, size), ""), *weights]
    operands += [value((units,), ""), value((batch, units), "")]
    bent = ActivationAttr.new((StringAttr("tanh"),))
    return made(name, operands, [tensor((batch, steps, units), "")], activation=bent)


def attention(name: str, rng: Rng) -> Any:
    queries, keys, groups, shared = (int(v) for v in rng.integers(1, 5, 4))
    keys += 1  # of one the softmax is 1, whatever it is
    mask = [value((1, queries if rng.random() < 0.7 else 1, keys), "")]
    shapes = (queries, groups * shared * 3), (keys, groups * 3), (keys, groups * 2)
    operands = [value((1, *shape), "") for shape in shapes] + mask * bool(rng.random() < 0.7)
    ways = {"heads": number(groups * shared), "kv_heads": number(groups), "scale": real(0.5)}
    # Of one key alone every query makes the same.
    ways |= {"causal": number(int(rng.integers(1, keys)))} if rng.random() < 0.3 else {}
    result = tensor((1, queries, groups * shared * 2), "")
    return made(name, operands, [result], **ways)


def recurrent_layer(name: str, rng: Rng) -> Any:
    batch, steps, size, units = (int(v) for v in rng.integers(1, (3, 6, 4, 4)))
    major = batch > 1 and rng.random() < 0.5
    lengths = (steps, batch) if major else (batch, steps)
    flags: dict[str, Any] = {"time_major": UnitAttr() if major else None}
    flags["reverse"] = UnitAttr() if rng.random() < 0.3 else None
    flags["clip"] = real(float(rng.uniform(20.0, 30.0))) if rng.random() < 0.5 else None
    gates, vectors, states = {"rnn_layer": (1, 1, 1), "lstm_layer": (4, 2, 2)}.get(name, (3, 2, 1))
    biases = gates
    if name == "rnn_layer":
        flags["activation"] = ActivationAttr(str(rng.choice(["tanh", "relu"])))
    if name == "gru_layer" and rng.random() < 0.5:
        flags["linear_before_reset"], vectors, biases = UnitAttr(), 1, 4
    shapes = [(gates * units, size), (gates * units, units), (biases * units,)]
    operands = [value((*lengths, size), ""), *(value(shape, "") for shape in shapes)]
    operands += [value((batch, states * units), "")] if rng.random() < 0.5 else []
    return made(name, operands, [tensor((*lengths, vectors * units), "")], **flags)


RARE: dict[str, Callable[[str, Rng], Any]] = {
    "scatter_nd": scattered,
    **dict.fromkeys(("scatter_update", "update_variable"), scatter_update),
    "one_hot": one_hot,
    "top_k": top_k,
    "detection_postprocess": detections,
    "cumulative_sum": cumulative,
    "tree_ensemble": trees,
    "conv_integer": of_integers,
    "svdf": over_time,
    "lstm": recurrent,
    "real_lstm": layer_of_reals,
    "sequence_rnn": recurrent_rows,
    **dict.fromkeys(("gru_layer", "lstm_layer", "rnn_layer"), recurrent_layer),
    "dynamic_update_slice": update,
    "attention": attention,
    "segment_sum": segments,
    "non_max_suppression": suppression,
    "local_response_normalization": local_response,
    "group_normalization": group_normalization,
    "group_statistics": group_statistics,
    "layer_normalization": layer_normalization,
    "real_fft_2d": spectrum,
    **dict.fromkeys(("complex_abs", "real_part", "imaginary_part"), complex_part),
    "conv_3d": convolution_3d,
    "landmarks_to_matrix": landmarks,
    **dict.fromkeys(("transform_bilinear", "transform_landmarks"), transformed),
    **dict.fromkeys(("max_pool_places", "max_unpool"), places),
}
