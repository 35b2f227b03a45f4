"""Networks with a memory whose weights are stored and whose operands are quantized at run time, as
onnxruntime's dynamic quantization writes them."""

from collections.abc import Callable

from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.recurrent import Unrolled, are_few, directions, lstm_in_steps
from memopt.frontends.onnx.scope import FLOAT, Scope


class Quantized(Unrolled):
    """A direction whose products are of integers: of the whole input, and of each state, quantized
    at run time."""

    def __init__(self, s: Scope, *others: object) -> None:
        super().__init__(s, *others)  # type: ignore[arg-type]
        self.hidden = s.shape(2)[1]

    def of_integers(self, weights: int, scale: int) -> Callable[[str], str]:
        """Return a function from a matrix to its products with operand `weights`, whose scales are
        operand `scale` and whose zero points are the next."""
        s = self.s
        stored, own_step = self.part(weights), self.part(scale)
        zeros = [self.part(scale + 1)] if s.has(scale + 1) else []

        def products(real: str) -> str:
            steps, step, zero = s.several("DynamicQuantizeLinear", 3, real)
            total = s.add("MatMulInteger", steps, stored, zero, *zeros)
            return s.add("Mul", s.add("Cast", total, to=FLOAT), s.add("Mul", step, own_step))

        return products

    def input_products(self, rows: str) -> str:
        return self.of_integers(1, 8)(rows)

    def again(self) -> Callable[[str], str]:
        return self.of_integers(2, 10)


@expands("com.microsoft.DynamicQuantizeLSTM")
def dynamic_quantize_lstm(s: Scope) -> bool:
    """Expand DynamicQuantizeLSTM of one sequence: of several, onnxruntime quantizes states by how
    many threads there are."""
    if not (s.has(8) and s.has(10)) or s.shape()[1] != 1:
        return s.lacks("several sequences, or weights without scales (one sequence has one)")
    ways = directions(s, 4, ["Sigmoid", "Tanh", "Tanh"], Quantized)
    return ways is not None and are_few(s, ways) and lstm_in_steps(s, ways)
