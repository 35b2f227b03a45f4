"""Numbers brought to mean 0 and variance 1."""

from collections.abc import Sequence
from math import prod

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.reductions import over
from memopt.frontends.onnx.scope import FLOAT, INT64, Scope


def centred(s: Scope, name: str, axes: Sequence[int]) -> tuple[str, str, str]:
    """(mean, what is left, variance), the axes kept as 1."""
    mean = over(s, "ReduceMean", name, axes)
    rest = s.add("Sub", name, mean)
    return mean, rest, over(s, "ReduceMean", s.add("Mul", rest, rest), axes)


def inverse(s: Scope, variance: str, epsilon: float) -> str:
    """Return one over the root of a variance."""
    root = s.add("Sqrt", s.add("Add", variance, s.const(epsilon)))
    return s.add("Div", s.const(1.0), root)


@expands("LayerNormalization", "com.microsoft.LayerNormalization")
def layer_normalization(s: Scope) -> bool:
    """Over all dimensions from `axis` on."""
    if not s.is_float or _is_stashed_otherwise(s):
        return False
    axis = s.get("axis", -1) % len(s.shape())
    if not _normalized(s, s.x, axis, s.get("epsilon", 1e-5), (1, 2)):
        return False
    if s.returns(1) or s.returns(2):
        mean, _, variance = centred(s, s.x, range(axis, len(s.shape())))
        factor = inverse(s, variance, s.get("epsilon", 1e-5))
        for index, name in ((1, mean), (2, factor)):
            if s.returns(index):
                s.done("Identity", name, result=index)
    return True


def _is_stashed_otherwise(s: Scope) -> bool:
    """Return whether the operator computes in another type than float32."""
    kind = s.get("stash_type", 1)
    return kind != 1 and not s.lacks(f"stash_type = {kind} (1 has one)")


def _normalized(
    s: Scope, name: str, axis: int, epsilon: float, terms: Sequence[int], around_zero: bool = False
) -> bool:
    """Make the result of the dimensions of one tensor from an axis on, times one operand, plus
    another, where they are given; those that have a number for each element in the same
    operation."""
    shape = s.shape()
    if 0 in shape:
        return s.lacks(f"{shape} elements")
    names = [s.input(k) for k in terms if s.has(k)]
    is_one = all(s.shape_of(each) == shape[axis:] for each in names)
    numbers = {"axis": axis, "epsilon": epsilon, "around_zero": int(around_zero)}
    own = s.own("LayerNormalization", FLOAT, shape, name, *(names if is_one else ()), **numbers)
    kinds = ("Identity",) if is_one else ("Mul", "Add")[: len(names)]
    for kind, operand in zip(kinds[:-1], names, strict=False):
        own = s.add(kind, own, operand)
    return s.done(kinds[-1], own, *(() if is_one else names[-1:]))


@expands("com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization")
def skip_layer_normalization(s: Scope) -> bool:
    """Expand to the normalization of a sum; the sum itself is the last result."""
    simple = s.node.op_type.startswith("SkipSimplified")
    if not s.is_float:
        return False
    if s.returns(1) or s.returns(2):
        return s.lacks("mean or inverse deviation are read")
    total = s.add("Add", s.x, s.input(1))
    bias = 3 if simple else 4
    if s.has(bias):
        total = s.add("Add", total, s.input(bias))
    terms, epsilon = (2,) if simple else (2, 3), s.get("epsilon", 1e-12)
    if not _normalized(s, total, len(s.shape()) - 1, epsilon, terms, simple):
        return False
    return s.done("Identity", total, result=3) if s.returns(3) else True


@expands("RMSNormalization", "SimplifiedLayerNormalization")
def rms_normalization(s: Scope) -> bool:
    """Expand as `layer_normalization`, around zero and not around the mean."""
    if not s.is_float or _is_stashed_otherwise(s):
        return False
    axis = s.get("axis", -1) % len(s.shape())
    return _normalized(s, s.x, axis, s.get("epsilon", 1e-5), (1,), around_zero=True)


def along_channels(s: Scope, index: int, rank: int) -> str:
    """A number for each channel, beside images."""
    return s.reshaped(s.input(index), (-1, *(1,) * (rank - 2)))


@expands("InstanceNormalization", floats=True)
def instance_normalization(s: Scope) -> bool:
    """Expand to the normalization of each channel of each image by itself."""
    rank, shape = len(s.shape()), s.shape()
    if 0 in shape:
        return s.lacks(f"{shape} elements")
    name = s.add("Mul", _of_last(s, s.x, shape, 2), along_channels(s, 1, rank))
    return s.done("Add", name, along_channels(s, 2, rank))


def _of_last(s: Scope, name: str, shape: Sequence[int], axis: int) -> str:
    """Return the normalization of the dimensions of a tensor from an axis on."""
    numbers = {"axis": axis, "epsilon": s.get("epsilon", 1e-5), "around_zero": 0}
    return s.own("LayerNormalization", FLOAT, shape, name, **numbers)


@expands("GroupNormalization", "com.microsoft.GroupNorm", floats=True)
def group_normalization(s: Scope) -> bool:
    """Expand to the normalization of groups of channels; before opset 21 with a number for each
    group."""
    if s.node.domain == "com.microsoft":
        return _grouped_last(s)
    shape, groups = s.shape(), s.get("num_groups", 1)
    if 0 in shape:
        return s.lacks(f"{shape} elements")
    grouped = (shape[0], groups, prod(shape[1:]) // groups)
    name = _of_last(s, s.reshaped(s.x, grouped), grouped, 2)
    if s.opset < 21:
        name = s.add("Mul", name, along_channels(s, 1, 3))
        name = s.add("Add", name, along_channels(s, 2, 3))
        return s.done("Reshape", name, s.const(list(shape), INT64))
    name = s.add("Mul", s.reshaped(name, shape), along_channels(s, 1, len(shape)))
    return s.done("Add", name, along_channels(s, 2, len(shape)))


def _grouped_last(s: Scope) -> bool:
    """Expand onnxruntime's own of images channels last, perhaps times its logistic function."""
    shape, groups = s.shape(), s.get("groups", 1)
    if not s.get("channels_last", 1):
        return s.lacks("channels_last = 0 (1 has one)")
    parts = s.reshaped(s.x, (shape[0], -1, groups, shape[-1] // groups))
    _, rest, variance = centred(s, parts, [1, 3])
    name = s.add("Mul", rest, inverse(s, variance, s.get("epsilon", 1e-5)))
    name = s.add("Mul", s.reshaped(name, shape), s.input(1))
    name = s.add("Add", name, s.input(2))
    if not s.get("activation", 0):
        return s.done("Identity", name)
    return s.done("Mul", name, s.add("Sigmoid", name))


@expands("MeanVarianceNormalization", floats=True)
def mean_variance_normalization(s: Scope) -> bool:
    """(x - mean) / sqrt(variance), of which the divisor has 1e-9 added."""
    rank = len(s.shape())
    axes = sorted(a % rank for a in s.get("axes", [0, 2, 3]))
    _, rest, variance = centred(s, s.x, axes)
    return s.done("Div", rest, s.add("Add", s.add("Sqrt", variance), s.const(1e-9)))


@expands("BatchNormalization")
def batch_normalization(s: Scope) -> bool:
    """With statistics of its own in training, or with some that only the run time knows."""
    rank, training = len(s.shape()), bool(s.get("training_mode", 0))
    if not s.is_float or rank < 2:
        return False
    if not s.get("spatial", 1) and not training:  # of each element, before opset 9
        factor = inverse(s, s.input(4), s.get("epsilon", 1e-5))
        name = s.add("Mul", s.add("Sub", s.x, s.input(3)), factor)
        return s.done("Add", s.add("Mul", name, s.input(1)), s.input(2))
    if len(s.node.output) > 1 and not training and any(s.node.output[1:]):
        return False
    constant = all(s.is_constant(i) for i in range(1, 5))
    if constant and not training:
        return False
    epsilon = s.get("epsilon", 1e-5)
    if training:
        axes = [d for d in range(rank) if d != 1]
        mean, rest, variance = centred(s, s.x, axes)
        factor = inverse(s, variance, epsilon)
        keep = s.get("momentum", 0.9)
        for index, name in ((1, mean), (2, variance)):
            if s.returns(index):
                now = s.add("Mul", s.reshaped(name, (-1,)), s.const(1 - keep))
                old = s.add("Mul", s.input(index + 2), s.const(keep))
                s.done("Add", old, now, result=index)
    else:
        rest = s.add("Sub", s.x, along_channels(s, 3, rank))
        factor = inverse(s, along_channels(s, 4, rank), epsilon)
    name = s.add("Mul", s.add("Mul", rest, factor), along_channels(s, 1, rank))
    return s.done("Add", name, along_channels(s, 2, rank))


@expands("LRN", floats=True)
def local_response(s: Scope) -> bool:
    """Expand LRN, x / (bias + alpha / size * sum of squares of neighbouring channels) ** beta; an
    odd number of them is one operation, along the last dimension."""
    if len(s.shape()) < 3:
        return s.lacks(f"{len(s.shape())} dimensions (3 and more have one)")
    shape, size = s.shape(), s.get("size", 1)
    rank, count = len(shape), shape[1]
    alpha, bias, beta = s.get("alpha", 1e-4) / size, s.get("bias", 1.0), s.get("beta", 0.75)
    if size % 2:
        order = [0, *range(2, rank), 1]
        x = s.transposed(s.x, order)
        numbers = {"radius": size // 2, "alpha": alpha, "bias": bias, "beta": beta}
        normalized = s.own("LocalResponse", FLOAT, [shape[d] for d in order], x, **numbers)
        return s.done("Transpose", normalized, perm=[order.index(d) for d in range(rank)])
    before, after = (size - 1) // 2, size // 2
    places = np.arange(count)
    near = (places[None] >= places[:, None] - before) & (places[None] <= places[:, None] + after)
    squares = s.reshaped(s.add("Mul", s.x, s.x), (shape[0], count, -1))
    sums = s.reshaped(s.add("MatMul", s.const(near * alpha), squares), shape)
    base = s.add("Add", sums, s.const(bias))
    return s.done("Div", s.x, s.add("Pow", base, s.const(beta)))
