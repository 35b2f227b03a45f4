"""Random networks of tensors without dimensions, as text of the dialect: reductions to one number,
functions of it, sums and products with it, and what is made of it in other shapes."""

import numpy as np
from row_steps import EXACT, MORE, convolution
from row_text import Rng, Text

FUNCTIONS = ("relu", "relu6", "logistic", "tanh", "elu", "leaky_relu", "abs", "exp", "sqrt")
OF_REALS = ("abs", "exp", "sqrt")
ROUNDED = ("relu", "relu6", "leaky_relu")
SHAPES = ((), (1, 3, 4, 2), (1, 1, 1, 1), (4,), (1,), (1, 3))
OF_ONE = ((), (1,), (1, 1), (1, 1, 1, 1))


def scalar_network(rng: Rng, quantized: bool) -> str:
    """A function @main of two to six steps, of an argument of any of `SHAPES`."""
    net = Text(rng, quantized)
    net.made.append(("%x", net.pick(*SHAPES)))
    first, count = net.made[0], int(rng.integers(2, 7))
    while len(net.made) <= count:
        net.pick(_function, _function, _two, _two, _constant, _reshape, _reduction, _again)(net)
    types = net.type_of(first[1]), net.type_of(net.last[1])
    body = "".join(f"  {line}\n" for line in net.lines)
    return (
        f"func.func @main(%x: {types[0]}) -> {types[1]} {{\n{body}"
        f"  func.return {net.last[0]} : {types[1]}\n}}\n"
    )


def _function(net: Text) -> None:
    name, shape = net.last
    kind = net.pick(*FUNCTIONS)
    if kind in OF_REALS and net.quantized:
        return
    rounding = net.rounding if kind in ROUNDED else ""
    stored = [EXACT[kind]] if kind in EXACT else []
    text = f"{kind} {name}{MORE.get(kind, '')}{rounding}"
    made = net.type_of(shape, *stored)
    (found,) = net.line(text, [net.type_of(shape)], [made])
    if stored and net.quantized:
        (found,) = net.line(f"quantize {found}", [made], [net.type_of(shape)])
    net.made.append((found, shape))


def _two(net: Text) -> None:
    a, b = net.last, net.pick(*net.made)
    try:
        shape = np.broadcast_shapes(a[1], b[1])
    except ValueError:
        return
    if net.rng.random() < 0.5:
        a, b = b, a
    net.add(f"{net.pick('add', 'mul', 'sub')} {a[0]}, {b[0]}{net.rounding}", [a, b], shape)


def _constant(net: Text) -> None:
    name, shape = net.last
    numbers = "scale = [5.0e-02], zero_point = [3]" if net.quantized else ""
    constant, type_ = net.constant((), "", "i8" if net.quantized else "f32", numbers)
    text = f"{net.pick('add', 'mul')} {name}, {constant}{net.rounding}"
    (made,) = net.line(text, [net.type_of(shape), type_], [net.type_of(shape)])
    net.made.append((made, shape))


def _reshape(net: Text) -> None:
    size = int(np.prod(net.last[1]))
    shapes = OF_ONE if size == 1 else ((size,), (1, size), (1, size, 1, 1))
    net.add(f"reshape {net.last[0]}", [net.last], net.pick(*shapes))


def _reduction(net: Text) -> None:
    name, shape = net.last
    axes = list(range(len(shape)))
    mean = f"mean {name} axes {axes}{net.rounding}"
    if axes:
        net.add(net.pick(mean, f"reduce_max {name} axes {axes}"), [net.last], ())


def _again(net: Text) -> None:
    """A tensor that was there before, and a convolution where it is an image."""
    net.made.append(net.pick(*net.made))
    if len(net.last[1]) == 4:
        convolution(net)
