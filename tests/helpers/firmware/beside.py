"""Programs of several random operators beside each other, and what they compute."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quick_options import QUICK

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function


def beside(operators: Sequence[tuple[str, Sequence[str], str]]) -> str:
    """Return a function of operators (text, types of the arguments, type of the result), of which
    number N makes `%yN` of `%xN_0`, `%xN_1` and so on."""
    arguments = ", ".join(
        f"%x{number}_{k}: {type_}"
        for number, (_, types, _) in enumerate(operators)
        for k, type_ in enumerate(types)
    )
    results = ", ".join(result for _, _, result in operators)
    body = "".join(text for text, _, _ in operators)
    names = ", ".join(f"%y{number}" for number in range(len(operators)))
    head = f"func.func @main({arguments}) -> ({results}) {{\n"
    return f"{head}{body}  func.return {names} : {results}\n}}\n"


def evaluated(module: Any, inputs: Sequence[Any]) -> bytes:
    """Return what is evaluated of the first run's inputs, all results one behind the other."""
    func = only_function(module)
    last = func.get_return_op()
    assert last is not None
    values = evaluate(func, Weights({}), [x[0] for x in inputs])
    return b"".join(values[v].tobytes() for v in last.operands)


def assert_evaluated(
    module: Any, inputs: Sequence[Any], target: str, folder: Path, lab: Any
) -> str:
    """Compare the bytes of a network on the target with what is evaluated; return its C. `inputs`
    are those of one run."""
    runs = [array[None] for array in inputs]
    want = evaluated(module, runs)
    lab.plan(module, schedule="source", target=target)
    project = lab.write(module, folder, "net", target)
    flags = lab.SANITIZE if target == "host" else "-O2"
    run = lab.run_project(project, runs, flags, trace=False)
    assert run.code == 0, run.messages
    assert run.output == want
    return (project / "net.c").read_text()


def assert_compiled(
    text: str, inputs: Sequence[Any], rows: str, target: str, flags: str, folder: Path, lab: Any
) -> None:
    """Compile a function with or without rows into a new folder, and compare the bytes of one run
    with what is evaluated. `flags` are those of the C compiler."""
    module = load_text(new_context(), text, "net.mlir")
    folder.mkdir()
    (folder / "net.mlir").write_text(text)
    options = [f"--target={target}", f"--rows={rows}", *QUICK, "-o", str(folder / "c")]
    assert main(["compile", str(folder / "net.mlir"), *options]) == 0
    run = lab.run_project(folder / "c", inputs, flags, trace=False)
    assert run.code == 0, run.messages
    assert run.output == evaluated(module, inputs), folder


def arenas_whole_and_in_rows(
    lab: Any, path: Path, x: Any, target: str, folder: Path
) -> tuple[int, int]:
    """Return the arenas in bytes of a network planned whole and in rows, which compute the same of
    `x`, channels first."""
    outputs: list[bytes] = []
    arenas: list[int] = []
    for rows in ("none", "auto"):
        options = [f"--rows={rows}", "--rewrite=all", "--nhwc-io", "--optimize=ram"]
        project = folder / rows
        assert main(["compile", str(path), f"--target={target}", *options, "-o", str(project)]) == 0
        arenas.append(json.loads((project / "report.json").read_text())["plan"]["arena"])
        flags = lab.SANITIZE if target == "host" else "-O2"
        run = lab.run_project(project, [x.transpose(0, 2, 3, 1)[None].copy()], flags, trace=False)
        assert run.code == 0, run.messages
        outputs.append(run.output)
    assert outputs[0] == outputs[1]
    return arenas[0], arenas[1]
