"""`python -m benchmarks onnx-nodes`: the ONNX backend's node tests, each as C on this machine.

    for found in outcomes(cases(), tick): found.status     # pass, refused, wrong or broken

The tests come with the `onnx` package: a model of one operator (or of what its definition expands
to), inputs, and the outputs that are expected. Each is read, rewritten and planned as by `memopt
compile --rewrite=all`, built with the strict warnings of every project and with sanitizers, run,
and compared by the test's own tolerances.

A test model has all operands as inputs of the graph, and a device's network has weights, shapes and
axes as constants. So what is refused as it stands is tried again with some inputs as initializers,
with the test's data (`WAYS`); which way it passed is said of each, and one input at least stays.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.context import Context

from benchmarks.tables.table import Table
from memopt.dialects.memgraph.errors import MemoptError

PASS, REFUSED, WRONG, BROKEN = "pass", "refused", "wrong", "broken"
AS_IT_IS, NUMBERS, WEIGHTS = "as it is", "numbers constant", "weights constant"
WAYS = (AS_IT_IS, NUMBERS, WEIGHTS)
"""What of a test becomes an initializer: nothing; scalars and vectors of integers, which are axes,
shapes, limits; every input but the first that is a tensor of numbers."""
FLAGS = (
    *("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)
SECONDS = 60  # for a program, which needs none
MESSAGE = 160  # characters of a reason
HOW = """Made by `make docs/reference/onnx-nodes.md`; `python -m benchmarks onnx-nodes` shows it by
operator. A test model has every operand as an input of the graph, a device's network has weights,
axes and shapes as constants. What is refused as it stands is tried with scalars and vectors of
integers as initializers that hold the test's data (numbers), then with every input but the first
tensor (weights). One input at least stays. Reals of other types than float32 are computed in
float32 ([onnx](onnx.md)), and results may differ by what their type rounds.
"""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a test; `way` is the one of WAYS that passed, or that came furthest."""

    name: str
    operator: str
    status: str
    way: str
    reason: str = ""


def cases(operators: Sequence[str] = ()) -> list[Any]:
    """The tests of the `onnx` package, those of these operators alone if any are named, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numpy, about what the tests compute
        from onnx.backend.test.case.node import collect_testcases

        every: list[Any] = collect_testcases(None)
    selected = (c for c in every if not operators or operator_of(c) in operators)
    return sorted(selected, key=lambda case: case.name)


def operator_of(case: Any) -> str:
    """The operator that a test is about: that of its only node, or what the name says."""
    nodes = case.model.graph.node
    return nodes[0].op_type if len(nodes) == 1 else case.name.split("_")[1]


def outcomes(found: Iterable[Any], tick: Callable[[str], None]) -> Iterator[Outcome]:
    """Yield the outcome of each test."""
    with tempfile.TemporaryDirectory(prefix="memopt-") as work:
        builder = Builder(Path(work))
        for case in found:
            tick(case.name)
            yield outcome(case, builder)


def outcome(case: Any, builder: "Builder") -> Outcome:
    """The first way that passes, or is wrong or broken; else the refusal of the last."""
    last = Outcome(case.name, operator_of(case), REFUSED, AS_IT_IS, "it is not of tensors")
    for way in WAYS:
        fixed = constants_of(case, way)
        if fixed is None:
            continue
        status, reason = attempt(case, fixed, builder)
        last = Outcome(case.name, operator_of(case), status, way, reason)
        if status != REFUSED:
            break
    return last


def constants_of(case: Any, way: str) -> list[int] | None:
    """The inputs that become initializers; None if the way is that of another, or leaves none."""
    import numpy as np

    given = case.data_sets[0][0]
    if not all(isinstance(a, np.ndarray | np.generic) for a in given):
        return [] if way == AS_IT_IS else None
    small = [i for i, a in enumerate(given) if a.ndim == 0 or (a.ndim == 1 and a.dtype.kind == "i")]
    first = next((i for i in range(len(given)) if i not in small), 0)
    others = [i for i in range(len(given)) if i != first]
    chosen = {AS_IT_IS: [], NUMBERS: small, WEIGHTS: others}[way]
    is_new = way == AS_IT_IS or (bool(chosen) and (way == NUMBERS or chosen != small))
    return chosen if is_new and len(chosen) < max(len(given), 1) else None


def attempt(case: Any, fixed: Sequence[int], builder: "Builder") -> tuple[str, str]:
    """(status, reason) with these inputs as initializers."""

    given, wanted = case.data_sets[0]
    try:
        program = builder.build(with_constants(case, fixed))
    except MemoptError as error:
        return REFUSED, _short(error.text)
    except BuildError as error:
        return BROKEN, str(error)
    data = b"".join(in_c(a).tobytes() for i, a in enumerate(given) if i not in fixed)
    code, said, output = builder.run(program, data)
    if code:
        return BROKEN, said
    return compared(output, wanted, case.rtol, case.atol)


def with_constants(case: Any, fixed: Sequence[int]) -> bytes:
    """The test's model with these inputs as initializers that hold the test's data."""
    import onnx

    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    if fixed:
        model.ir_version = max(model.ir_version, 4)  # before, initializers are inputs, too
    names = [value.name for value in model.graph.input]
    given = case.data_sets[0][0]
    for index in sorted(fixed, reverse=True):
        tensor = onnx.numpy_helper.from_array(given[index], names[index])
        model.graph.initializer.append(tensor)
        del model.graph.input[index]
    return model.SerializeToString()


def compared(output: bytes, wanted: Sequence[Any], rtol: float, atol: float) -> tuple[str, str]:
    """(status, reason) of what a program wrote: all outputs, one after the other."""
    import numpy as np

    at = 0
    for number, exact in enumerate(map(as_array, wanted)):
        want = in_c(exact)
        if want.dtype != exact.dtype:  # what an operator rounds otherwise
            rtol = max(rtol, ROUNDED.get(exact.dtype.name, 0.0))
            atol = max(atol, ROUNDED.get(exact.dtype.name, 0.0))
        size = want.nbytes
        if at + size > len(output):
            return WRONG, f"output {number} has too few bytes"
        got = np.frombuffer(output, want.dtype, want.size, at).reshape(want.shape)
        at += size
        close = (
            np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
            if want.dtype.kind == "f"
            else np.array_equal(got, want)
        )
        if not close:
            off = float(np.abs(got.astype(np.float64) - want.astype(np.float64)).max())
            return WRONG, f"output {number} is off by {off:g}"
    return (PASS, "") if at == len(output) else (WRONG, "too many bytes")


ROUNDED = {"float16": 2.0**-9, "bfloat16": 2.0**-6, "float64": 2.0**-20}
"""The real types that are computed in float32: by how much a result may then be another."""


def as_array(value: Any) -> Any:
    """Return a value of a test as an array; tests of Cast have it as a TensorProto."""
    import numpy as np
    import onnx.numpy_helper

    is_proto = isinstance(value, onnx.TensorProto)
    return onnx.numpy_helper.to_array(value) if is_proto else np.asarray(value)


def in_c(array: Any) -> Any:
    """Return an input or output as the C has it: of another real type, as float32."""
    array = as_array(array)
    return array.astype("float32") if array.dtype.name in ROUNDED else array


class BuildError(Exception):
    """A compiler refused what was written."""


@dataclass
class Builder:
    """Programs in a folder; object files of the same text are made once."""

    folder: Path
    count: int = 0

    def build(self, model: bytes) -> Path:
        """The program of a model. Raises MemoptError where it is refused, BuildError."""
        from memopt.backends.c.project.write import write_project
        from memopt.compile.driver import import_bytes
        from memopt.compile.pipelines import SettledOptions
        from memopt.compile.run_passes import Seconds, plan_module

        self.count += 1
        path = self.folder / f"{self.count}.onnx"
        path.write_bytes(model)
        project = self.folder / "project"
        shutil.rmtree(project, ignore_errors=True)
        module = import_bytes(model, ".onnx", path.name, path)
        options = SettledOptions(rewrite="all", place="greedy-by-size", time_limit=10.0)
        plan_module(Context(), module, options, Seconds())
        write_project(module, project, "net", "host")
        path.unlink()
        return self._linked(project)

    def _linked(self, project: Path) -> Path:
        sources = sorted(project.rglob("*.c"))
        headers = b"".join(p.read_bytes() for p in sorted(project.glob("kernels/*.h")))
        folders = [f"-I{project / part}" for part in ("", "kernels", "platform")]
        objects: list[str] = []
        for source in sources:
            text = source.read_bytes()
            shared = source.parent.name in ("kernels", "platform")
            key = hashlib.sha256(text + headers).hexdigest() if shared else source.stem
            object_file = self.folder / f"{key}.o"
            if not shared or not object_file.exists():
                _cc(*FLAGS, *folders, "-c", str(source), "-o", str(object_file))
            objects.append(str(object_file))
        program = project / "program"
        _cc(*FLAGS, *objects, "-lm", "-o", str(program))
        return program

    def run(self, program: Path, data: bytes) -> tuple[int, str, bytes]:
        """(exit code, what it said, what it wrote)."""
        given, output = program.with_name("in.bin"), program.with_name("out.bin")
        given.write_bytes(data)
        command = (str(program), str(given), str(output))
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        return done.returncode, _short(done.stderr), output.read_bytes() if output.exists() else b""


def _cc(*arguments: str) -> None:
    done = subprocess.run(("cc", *arguments), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(_short(done.stderr))


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MESSAGE else f"{words[:MESSAGE]} ..."


def tables(found: Sequence[Outcome]) -> list[Table]:
    """The counts, those of each operator, and what did not pass."""
    notes = (
        "Tests of the `onnx` package run as C with sanitizers: wrong is another result, broken does"
        " not compile or stops.",
    )
    counts = Table("counts", "ONNX node tests", ("status", "way", "tests"), notes)
    for (status, way), count in sorted(Counter((o.status, o.way) for o in found).items()):
        counts.add(status, way if status == PASS else "", count)
    by_operator = Table(
        "operators", "By operator", ("operator", "tests", PASS, REFUSED, WRONG, BROKEN)
    )
    for operator in sorted({o.operator for o in found}):
        those = Counter(o.status for o in found if o.operator == operator)
        by_operator.add(operator, those.total(), *(those[s] for s in by_operator.columns[2:]))
    failures = Table("left", "What does not pass", ("test", "status", "reason"))
    for one in found:
        if one.status != PASS:
            failures.add(one.name, one.status, one.reason)
    return [merged(counts), by_operator, failures]


def merged(table: Table) -> Table:
    """Rows that differ in their last number alone as one."""
    sums: Counter[tuple[Any, ...]] = Counter()
    for *key, number in table.rows:
        sums[tuple(key)] += number
    table.rows = [(*key, number) for key, number in sums.items()]
    return table


def page(found: Sequence[Outcome]) -> str:
    """docs/reference/onnx-nodes.md: the counts, and by reason the names of what does not pass."""
    lines = [tables(found)[0].markdown(), HOW, "## What does not pass", ""]
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if one.status != PASS:
            reasons.setdefault((one.status, one.reason), []).append(one.name)
    for (status, reason), names in sorted(reasons.items(), key=lambda r: (-len(r[1]), r[0])):
        lines.append(f"- {status}: {reason or 'no reason'}: {' '.join(names)}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Write the page to a file, with progress on stderr."""
    done = list(outcomes(cases(), lambda name: print(name, file=sys.stderr)))
    Path(arguments[0]).write_text(page(done))


if __name__ == "__main__":
    main(sys.argv[1:])
