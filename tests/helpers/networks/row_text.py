"""Functions of one image as text of the dialect, while they are written."""

from typing import Any

import numpy as np

Rng = np.random.Generator
Tensor = tuple[str, tuple[int, ...]]
STORED = "scale = [5.0e-02], zero_point = [3]"


class Text:
    """Lines, and the tensors that later operators may read: all in one quantization."""

    def __init__(self, rng: Rng, quantized: bool) -> None:
        self.rng, self.quantized = rng, quantized
        self.lines: list[str] = []
        self.made: list[Tensor] = []
        self.rounding = " rounding<tflm_double>" if quantized else ""

    @property
    def last(self) -> Tensor:
        return self.made[-1]

    def pick(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def type_of(self, shape: tuple[int, ...], numbers: str = STORED, element: str = "") -> str:
        """Real tensors, and those of an `element` that stands for itself, have no `numbers`."""
        words = ["nhwc"] if len(shape) == 4 else []
        if self.quantized and not element:
            words.append(numbers)
        element = element or ("i8" if self.quantized else "f32")
        encoding = f", #memgraph.encoding<{', '.join(words)}>" if words else ""
        return f"tensor<{''.join(f'{n}x' for n in shape)}{element}{encoding}>"

    def line(self, text: str, types: list[str], results: list[str]) -> list[str]:
        """An operator; the names of its results."""
        names = [f"%v{len(self.lines)}_{k}" for k in range(len(results))]
        made = results[0] if len(results) == 1 else f"({', '.join(results)})"
        self.lines.append(f"{', '.join(names)} = memgraph.{text} : ({', '.join(types)}) -> {made}")
        return names

    def add(self, text: str, operands: list[Tensor], shape: tuple[int, ...]) -> None:
        """An operator whose tensors all have the network's quantization."""
        (name,) = self.line(text, [self.type_of(s) for _, s in operands], [self.type_of(shape)])
        self.made.append((name, shape))

    def constant(
        self, shape: tuple[int, ...], layout: str, element: str, numbers: str = ""
    ) -> tuple[str, str]:
        """A line that makes a constant; its name and its type. Real ones are small, so that long
        chains stay where functions are no constants."""
        name = f"%c{len(self.lines)}"
        if element == "f32":
            values: Any = np.round(0.3 * self.rng.normal(size=shape), 2)
        else:
            values = self.rng.integers(-127, 128, shape) * (1 if element == "i8" else 9)
        words = [w for w in (layout, numbers) if w]
        encoding = f", #memgraph.encoding<{', '.join(words)}>" if words else ""
        type_ = f"tensor<{''.join(f'{n}x' for n in shape)}{element}{encoding}>"
        self.lines.append(f"{name} = memgraph.constant dense<{values.tolist()}> : {type_}")
        return name, type_

    def weights(self, shape: tuple[int, ...], layout: str, out: int) -> tuple[str, str]:
        """Weights and a bias for `out` channels: their names, and their types."""
        if self.quantized:
            w = self.constant(shape, layout, "i8", "scale = [1.0e-02], zero_point = [0]")
            b = self.constant((out,), "", "i32", "scale = [5.0e-04], zero_point = [0]")
        else:
            w, b = self.constant(shape, layout, "f32"), self.constant((out,), "", "f32")
        return f"{w[0]}, {b[0]}", f"{w[1]}, {b[1]}"

    def activation(self) -> str:
        return str(self.pick("", " activation<relu>", " activation<relu6>"))
