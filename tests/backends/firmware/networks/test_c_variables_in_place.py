# pyright: basic
"""Random networks with variables that are read and written in place, as C: each run has the bits of
`evaluate` of the network as it was, which copies."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from quick_options import QUICK
from xdsl.parser import Parser

from memopt.analysis.evaluation import State, evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main
from memopt.compile.driver import new_context
from memopt.dialects.memgraph.functions import body_of, only_function

FULL = 400
RUNS = 6


class Network:
    """A function that grows; `values` are what has the shape of the variables."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        shape = (1, *self.rng.integers(1, 6, 2).tolist())
        self.shape = shape if self.rng.random() < 0.6 else shape[1:]
        self.depth = len(self.shape) - 1
        self.lines: list[str] = []
        self.values = ["%x"]
        self.held: list[str] = []
        piece = "x".join(map(str, (1, *self.shape[self.depth :])))
        self.types = {
            "!t": f"tensor<{'x'.join(map(str, self.shape))}xf32>",
            "!i": f"tensor<1x{self.depth}xi64>",
            "!r": f"tensor<{piece}xf32>",
            "!f": f"tensor<{int(np.prod(self.shape))}xf32>",
            "!j": "tensor<1x1xi64>",
            "!s": "tensor<1xf32>",
        }

    def add(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def some(self) -> str:
        return str(self.rng.choice(self.values))

    def compute(self) -> None:
        """An operation of one or two values, or a view."""
        kind = int(self.rng.integers(4))
        if kind == 0:
            self.values.append(self.add(f"memgraph.reshape {self.some()} : (!t) -> !t"))
        elif kind == 1:
            self.values.append(self.add(f"memgraph.relu {self.some()} : (!t) -> !t"))
        else:
            pair = f"{self.some()}, {self.some()}"
            self.values.append(self.add(f"memgraph.add {pair} : (!t, !t) -> !t"))

    def scatter(self) -> str:
        value = str(self.rng.choice(self.held)) if self.rng.random() < 0.8 else self.some()
        operands = f"{value}, %i, %r"
        if self.rng.random() < 0.3:  # through views
            flat = self.add(f"memgraph.reshape {value} : (!t) -> !f")
            types = "(!f, !j, !s) -> !f"
            flat = self.add(f"memgraph.scatter_update {flat}, %j, %s : {types}")
            self.values.append(self.add(f"memgraph.reshape {flat} : (!f) -> !t"))
            return self.values[-1]
        self.values.append(self.add(f"memgraph.scatter_update {operands} : (!t, !i, !r) -> !t"))
        return self.values[-1]

    def text(self) -> str:
        count = int(self.rng.integers(1, 4))
        variables = [self.add(f'memgraph.variable "s{k}" : !t') for k in range(count)]
        for variable in variables:
            self.held.append(self.add(f"memgraph.read_variable {variable} : (!t) -> !t"))
            self.values.append(self.held[-1])
        waiting = list(variables)
        while waiting:
            for _ in range(int(self.rng.integers(3))):
                self.compute()
            variable = waiting.pop(int(self.rng.integers(len(waiting))))
            chosen = self.scatter() if self.rng.random() < 0.7 else self.some()
            if self.rng.random() < 0.5:
                self.compute()
            self.lines.append(f"memgraph.assign_variable {chosen}, {variable} : !t, !t")
        total = self.values[0]
        for value in self.values[1:]:
            if value not in self.held or self.rng.random() < 0.3:
                total = self.add(f"memgraph.add {total}, {value} : (!t, !t) -> !t")
        aliases = "\n".join(f"{name} = {type_}" for name, type_ in self.types.items())
        body = "\n".join(self.lines)
        head = "func.func @main(%x: !t, %i: !i, %r: !r, %j: !j, %s: !s) -> !t {"
        return f"{aliases}\n{head}\n{body}\nfunc.return {total} : !t\n}}\n"


@pytest.mark.parametrize("rows", deep_but("all", ["none", "all"]))
def test_runs_have_the_bits_of_copies(rows: str, tmp_path: Path, lab: Any, fuzz: float) -> None:
    lab.need_tools("host")
    in_place = 0
    for seed in range(max(6, int(FULL * fuzz))):
        network = Network(seed)
        text = network.text()
        rng, shape = network.rng, network.shape
        rows_of = shape[: network.depth]
        inputs = [
            rng.normal(size=(RUNS, *shape)).astype(np.float32),
            np.stack([rng.integers(0, n, (RUNS, 1)) for n in rows_of], -1),
            rng.normal(size=(RUNS, 1, *shape[network.depth :])).astype(np.float32),
            rng.integers(0, int(np.prod(shape)), (RUNS, 1, 1)),
            rng.normal(size=(RUNS, 1)).astype(np.float32),
        ]
        func = only_function(Parser(new_context(), text).parse_module())
        state, wanted = State(), []
        for step in range(RUNS):
            values = evaluate(func, Weights({}), [a[step] for a in inputs], state)
            wanted.append(values[body_of(func).last_op.operands[0]])  # type: ignore[union-attr]
        path, out = tmp_path / f"{seed}.mlir", tmp_path / f"c{seed}"
        path.write_text(text)
        flags = ["--rewrite=variable-in-place", f"--rows={rows}", "--target=host"]
        if main(["compile", str(path), "-o", str(out), *QUICK, *flags]):
            assert rows == "all"  # of what has none
            continue
        in_place += "in_place" in (out / "plan.mlir").read_text()
        run = lab.run_project(out, inputs, lab.SANITIZE, trace=False)
        assert run.code == 0, run.messages
        assert run.output == np.stack(wanted).tobytes(), seed
    assert in_place > 2
