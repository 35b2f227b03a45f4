"""Networks with a memory: layers of known weights and of the usual activations as one operation
for each direction, others step by step, as ONNX defines them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.annotations import quantization_of
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import FLOAT, Scope

if TYPE_CHECKING:
    from memopt.frontends.onnx.scope import Array

STEPS = 4096  # operators would be some ten times as many


Activation = tuple[str, dict[str, float]]
ACTIVATIONS: Mapping[str, dict[str, float]] = {
    **{kind: {} for kind in ("Relu", "Tanh", "Sigmoid", "Softsign", "Softplus")},
    **{kind: {"alpha": a} for kind, a in (("LeakyRelu", 0.01), ("Elu", 1.0))},
    "ThresholdedRelu": {"alpha": 1.0},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
}
"""Activations, and their numbers where the file has none."""


class Unrolled:
    """One direction of a recurrent operator: x [steps, batch, size] in, hidden states out."""

    def __init__(
        self, s: Scope, gates: int, direction: int, reverse: bool, kinds: Sequence[Activation]
    ):
        self.s, self.d, self.reverse, self.kinds, self.gates = s, direction, reverse, kinds, gates
        layout = s.get("layout", 0)
        self.batch = s.shape()[0 if layout else 1]
        self.steps, self.size = s.shape()[1 if layout else 0], s.shape()[2]
        self.hidden = s.shape(2)[2]
        self.layout = layout

    def part(self, index: int) -> str:
        """Return the part of an operand that is for this direction."""
        s = self.s
        axis = 1 if self.layout and index in (5, 6) else 0
        cut = s.input(index)
        if s.shape(index)[axis] > 1:
            cut = s.cut(cut, self.d, self.d + 1, axis)
        shape = [n for d, n in enumerate(s.shape(index)) if d != axis]
        return s.reshaped(cut, shape)

    def columns(self, name: str, gate: int, count: int = 1, axis: int = 1) -> str:
        """Gates of what stands side by side."""
        first = gate * self.hidden
        return self.s.cut(name, first, first + count * self.hidden, axis)

    def start(self, index: int) -> str:
        """The state before the first step."""
        if self.s.has(index):
            return self.part(index)
        return self.s.const(np.zeros((self.batch, self.hidden)))

    def products(self) -> list[str]:
        """Return the products of each step, in the order in which they are taken: input times
        weights, [batch, all]."""
        s = self.s
        x = s.transposed(s.x, [1, 0, 2]) if self.layout else s.x
        product = self.input_products(s.reshaped(x, (self.steps * self.batch, self.size)))
        steps = [
            s.cut(product, t, t + self.batch, 0)
            for t in range(0, self.steps * self.batch, self.batch)
        ]
        return steps[::-1] if self.reverse else steps

    def input_products(self, rows: str) -> str:
        """Return the products of the input of all steps with the weights."""
        weights = self.s.add("Transpose", self.part(1), perm=[1, 0])
        return self.s.add("MatMul", rows, weights)

    def again(self) -> Callable[[str], str]:
        """Return a function from a hidden state to its products with the recurrent weights."""
        weights = self.s.add("Transpose", self.part(2), perm=[1, 0])
        return lambda hidden: self.s.add("MatMul", hidden, weights)

    def activated(self, which: int, name: str) -> str:
        """The activation of that number, clipped before."""
        s, kind = self.s, self.kinds[which]
        if clip := s.get("clip", 0.0):
            name = s.add("Min", s.add("Max", name, s.const(-clip)), s.const(clip))
        return s.add(kind[0], name, **kind[1])


def _numbered(kind: str, numbers: dict[str, list[float]]) -> Activation:
    """Return an activation with the next of the numbers that it takes."""
    defaults = ACTIVATIONS[kind]
    return kind, {k: numbers[k].pop(0) if numbers[k] else v for k, v in defaults.items()}


def directions(
    s: Scope, gates: int, defaults: Sequence[str], layer: type[Unrolled] = Unrolled
) -> list[Unrolled] | None:
    """Return the directions of the operator; None for lengths of their own, and activations with
    numbers."""
    way = s.get("direction", "forward")
    count = 2 if way == "bidirectional" else 1
    kinds = [str(k) for k in s.get("activations", [*defaults] * count)]
    if len(kinds) != count * len(defaults):
        s.lacks(f"{len(kinds)} activations of {count * len(defaults)}")
        return None
    if not s.is_float:
        return None
    known = {kind.lower(): kind for kind in ACTIVATIONS}
    if unknown := [k for k in kinds if k.lower() not in known]:
        s.lacks(f"activation {unknown[0]} ({', '.join(known)} have one)")
        return None
    numbers = {key: list(s.get(f"activation_{key}", [])) for key in ("alpha", "beta")}
    named = [_numbered(known[k.lower()], numbers) for k in kinds]
    n = len(defaults)
    unrolled = [
        layer(s, gates, d, way == "reverse" or d == 1, named[d * n : (d + 1) * n])
        for d in range(count)
    ]
    if s.has(4):
        lengths = s.ints(4)
        if lengths is None:
            return None
        if any(n != unrolled[0].steps for n in lengths):
            s.lacks(f"sequence_lens = {lengths} (all {unrolled[0].steps} steps have one)")
            return None
    if unrolled[0].steps > 0:
        return unrolled
    s.lacks("no steps (1 has one)")
    return None


def are_few(s: Scope, ways: Sequence[Unrolled]) -> bool:
    """Return whether the steps are so few that each may become operators."""
    steps = ways[0].steps
    return steps <= STEPS or s.lacks(f"{steps} steps (1 to {STEPS} have one)")


def layers(
    s: Scope,
    kind: str,
    ways: Sequence[Unrolled],
    totals: "Callable[[Array, int], Array]",
    vectors: tuple[int, int],
    **attributes: Any,
) -> bool:
    """Return whether weights and bias are known, and make an operation `kind` for each direction
    then: `totals` makes of the bias, and of the number of hidden units, that of the operation. It
    makes so many `vectors` in each step, and begins with so many."""
    bias = reals(s, 3)
    steady = s.is_constant(1) and s.is_constant(2) and (bias is not None or not s.has(3))
    if not steady or (clip := s.get("clip", 0.0)) < 0:
        return False
    first = ways[0]
    batch, steps, units = first.batch, first.steps, first.hidden
    in_order = bool(first.layout) or batch == 1
    lengths = (batch, steps) if in_order else (steps, batch)
    x = s.x if s.shape()[:2] == lengths else s.reshaped(s.x, (*lengths, first.size))
    if bias is None:
        bias = np.zeros((len(ways), 2 * first.gates * units), np.float32)
    sequences: list[str] = []
    for way in ways:
        operands = [x, way.part(1), way.part(2), s.const(totals(bias[way.d], units))]
        if (initial := _initial(s, way, vectors[1])) is not None:
            operands.append(initial)
        shape = (*lengths, vectors[0] * units)
        given = {"clip": clip or None, "reverse": int(way.reverse), **attributes}
        sequences.append(
            s.own(kind, FLOAT, shape, *operands, time_major=int(not in_order), **given)
        )
    _shown(s, ways, sequences, vectors[0], time=int(in_order))
    return True


def reals(s: Scope, index: int) -> "Array | None":
    """Return the elements of an operand that is known, or dequantized from what is."""
    name = s.input(index) if s.has(index) else ""
    if (node := s.known.dequantized.get(name)) is None:
        return s.known.array(name)
    stored, meaning = s.known.array(node.input[0]), quantization_of(s.known, node)
    if stored is None or meaning is None:
        return None
    sizes = [-1 if d == meaning.axis else 1 for d in range(stored.ndim)]
    zeros = np.reshape(meaning.zero_point, sizes)
    steps = (stored.astype(np.int64) - zeros).astype(np.float32)
    real: Array = steps * np.reshape(np.asarray(meaning.scale, np.float32), sizes)
    return real


def _initial(s: Scope, way: Unrolled, vectors: int) -> str | None:
    """Return the states before the first step side by side, None if all are known to be zero."""
    indices = (5, 6)[:vectors]
    arrays = [s.known.array(s.input(k)) if s.has(k) else np.zeros(1) for k in indices]
    if all(a is not None and not a.any() for a in arrays):
        return None
    starts = [way.start(k) for k in indices]
    return starts[0] if vectors == 1 else s.add("Concat", *starts, axis=1)


def _shown(
    s: Scope, ways: Sequence[Unrolled], sequences: Sequence[str], vectors: int, time: int
) -> None:
    """Make the results of the node of what layers make, with steps along the dimension `time`."""
    way = ways[0]
    units, count = way.hidden, len(ways)
    hidden = [s.cut(v, 0, units, 2) if vectors > 1 else v for v in sequences]
    last_of_each: list[list[str]] = [[], []]
    for k, first in ((0, 0), (1, units)):
        if not s.returns(k + 1):
            continue
        for each, sequence in zip(ways, sequences, strict=True):
            step = 0 if each.reverse else way.steps - 1
            at = s.cut(sequence, step, step + 1, time)
            last_of_each[k].append(s.cut(at, first, first + units, 2) if vectors > 1 else at)
    if s.returns(0):
        joined = s.add("Concat", *hidden, axis=2) if count > 1 else hidden[0]
        if way.layout or way.batch == 1:
            shape = (way.batch, way.steps, count, units)
            shape = shape if way.layout else (way.steps, count, way.batch, units)
            s.done("Identity", s.reshaped(joined, shape))
        else:
            split = s.reshaped(joined, (way.steps, way.batch, count, units))
            s.done("Identity", s.add("Transpose", split, perm=[0, 2, 1, 3]))
    for k, names in enumerate(last_of_each):
        if names:
            last(s, ways, names, k + 1)


def _sums(bias: "Array", units: int) -> "Array":
    """Return the sums of the biases of the input and of what is hidden."""
    n = len(bias) // 2
    return bias[:n] + bias[n:]


def _gru_bias(bias: "Array", units: int) -> "Array":
    """Return the sums of the biases of the gates, and both of the new values."""
    n = 2 * units
    both = bias[:n] + bias[3 * units : 3 * units + n]
    return np.concatenate([both, bias[n : n + units], bias[-units:]])


def _are(ways: Sequence[Unrolled], *kinds: str) -> bool:
    return all(tuple(k for k, _ in way.kinds) == kinds for way in ways)


def written(s: Scope, ways: Sequence[Unrolled], states: Sequence[Sequence[str]]) -> None:
    """Y and Y_h, of the hidden states of each direction, step by step as they are taken."""
    first = ways[0]
    each = (1, 1, first.batch, first.hidden)
    if s.returns(0):
        rows: list[str] = []
        for t in range(first.steps):
            parts = [
                s.reshaped(hidden[-1 - t if way.reverse else t], each)
                for way, hidden in zip(ways, states, strict=True)
            ]
            rows.append(s.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0])
        sequence = s.add("Concat", *rows, axis=0)  # [steps, directions, batch, hidden]
        order = [2, 0, 1, 3] if first.layout else [0, 1, 2, 3]
        s.done("Identity", s.transposed(sequence, order))
    if s.returns(1):
        last(s, ways, [hidden[-1] for hidden in states], 1)


def last(s: Scope, ways: Sequence[Unrolled], states: Sequence[str], result: int) -> None:
    """The states after the last step, one direction after the other."""
    first = ways[0]
    parts = [s.reshaped(name, (1, first.batch, first.hidden)) for name in states]
    final = s.add("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]
    s.done("Identity", s.transposed(final, [1, 0, 2] if first.layout else [0, 1, 2]), result=result)


Step = Callable[[str, str], str]


@expands("RNN")
def rnn(s: Scope) -> bool:
    """One gate."""
    ways = directions(s, 1, ["Tanh"])
    if ways is None:
        return False
    alike = {way.kinds[0][0] for way in ways}
    if alike in ({"Tanh"}, {"Relu"}):
        bent = alike.pop().lower()
        if layers(s, "RnnLayer", ways, _sums, (1, 1), activation=bent):
            return True
    if not are_few(s, ways):
        return False
    states: list[list[str]] = []
    for way in ways:
        again = s.add("Transpose", way.part(2), perm=[1, 0])
        h, hidden = way.start(5), list[str]()
        for product in way.products():
            total = s.add("Add", product, s.add("MatMul", h, again))
            if s.has(3):
                bias = way.part(3)
                both = [way.columns(bias, k, 1, 0) for k in (0, 1)]
                total = s.add("Add", total, s.add("Add", *both))
            h = way.activated(0, total)
            hidden.append(h)
        states.append(hidden)
    written(s, ways, states)
    return True


@expands("GRU")
def gru(s: Scope) -> bool:
    """Gates z, r, h."""
    ways = directions(s, 3, ["Sigmoid", "Tanh"])
    if ways is None:
        return False
    after = bool(s.get("linear_before_reset", 0))
    if _are(ways, "Sigmoid", "Tanh"):
        totals, vectors = (_gru_bias, (1, 1)) if after else (_sums, (2, 1))
        if layers(s, "GruLayer", ways, totals, vectors, linear_before_reset=int(after)):
            return True
    if not are_few(s, ways):
        return False
    states: list[list[str]] = []
    for way in ways:
        again = s.add("Transpose", way.part(2), perm=[1, 0])
        gates, third = way.columns(again, 0, 2), way.columns(again, 2)
        bias = way.part(3) if s.has(3) else ""
        h, hidden = way.start(5), list[str]()
        for product in way.products():
            if bias:
                product = s.add("Add", product, way.columns(bias, 0, 3, 0))
            total = s.add("Add", way.columns(product, 0, 2), s.add("MatMul", h, gates))
            if bias:
                total = s.add("Add", total, way.columns(bias, 3, 2, 0))
            z, r = (way.activated(0, way.columns(total, k)) for k in (0, 1))
            part = s.add("MatMul", h if after else s.add("Mul", r, h), third)
            if bias:
                part = s.add("Add", part, way.columns(bias, 5, 1, 0))
            part = s.add("Mul", r, part) if after else part
            new = way.activated(1, s.add("Add", way.columns(product, 2), part))
            carried = s.add("Mul", z, h)
            h = s.add("Add", s.add("Mul", s.add("Sub", s.const(1.0), z), new), carried)
            hidden.append(h)
        states.append(hidden)
    written(s, ways, states)
    return True


@expands("LSTM")
def lstm(s: Scope) -> bool:
    """Gates i, o, f, c; with peepholes."""
    ways = directions(s, 4, ["Sigmoid", "Tanh", "Tanh"])
    if ways is None:
        return False
    is_plain = not s.has(7) and not s.get("input_forget", 0)
    is_plain = is_plain and _are(ways, "Sigmoid", "Tanh", "Tanh")
    if is_plain and layers(s, "LstmLayer", ways, _sums, (2, 2)):
        return True
    return are_few(s, ways) and lstm_in_steps(s, ways)


def lstm_in_steps(s: Scope, ways: Sequence[Unrolled]) -> bool:
    """Make each step of ONNX's other operators."""
    states: list[list[str]] = []
    cells: list[str] = []
    for way in ways:
        again = way.again()
        bias = way.part(3) if s.has(3) else ""
        if bias:
            bias = s.add("Add", way.columns(bias, 0, 4, 0), way.columns(bias, 4, 4, 0))
        holes = [way.columns(way.part(7), k, 1, 0) for k in range(3)] if s.has(7) else []
        h, c, hidden = way.start(5), way.start(6), list[str]()
        for product in way.products():
            total = s.add("Add", product, again(h))
            total = s.add("Add", total, bias) if bias else total
            i, o, f, new = (way.columns(total, k) for k in range(4))
            if holes:
                i = s.add("Add", i, s.add("Mul", holes[0], c))
                f = s.add("Add", f, s.add("Mul", holes[2], c))
            i = way.activated(0, i)
            forget = way.activated(0, f)
            if s.get("input_forget", 0):
                forget = s.add("Sub", s.const(1.0), i)
            new = s.add("Mul", i, way.activated(1, new))
            c = s.add("Add", s.add("Mul", forget, c), new)
            if holes:
                o = s.add("Add", o, s.add("Mul", holes[1], c))
            h = s.add("Mul", way.activated(0, o), s.add(way.kinds[2][0], c, **way.kinds[2][1]))
            hidden.append(h)
        states.append(hidden)
        cells.append(c)
    written(s, ways, states)
    if s.returns(2):
        last(s, ways, cells, 2)
    return True
