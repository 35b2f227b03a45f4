"""A plan whose claims are false is refused by whatever reads it, as `memopt verify` refuses it."""

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_graphs import make, node
from places import FILECHECK
from plan_source import SOURCE

import memopt
from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.fingerprint import fingerprint
from memopt.dialects.memgraph.functions import only_function

CLAIMS = FILECHECK / "memgraph-verify-channels.mlir"
PLANS = {
    "whole": "memgraph-schedule,memgraph-place",
    "rows": "memgraph-expand-rows{rows=all},memgraph-schedule,memgraph-place",
}
FORGERIES = {
    "another value": (r"1 \[11, 11\]", "1 [12, 12]", "channel 1 is in [11, 11], not in [12, 12]"),
    "no claims": (
        r"memgraph.channels = \[[^{}]*unread[^{}]*>\](, )?",
        "",
        "of 1 are left, not [0]",
    ),
}
FORMS = ("c", "json", "svg", "html", "minimalloc-csv")


def signed(text: str) -> str:
    """The text of a plan with the fingerprint of the function as it is now."""
    func = only_function(load_text(new_context(), text, "plan.mlir"))
    return re.sub('fingerprint = "[0-9a-f]*"', f'fingerprint = "{fingerprint(func)}"', text)


def refusals(plan: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return what each command and form says of a plan, all of which end with exit code 1."""
    name, out = str(plan), str(folder / "out")
    runs = {
        "verify": lambda: main(["verify", name]),
        "report": lambda: main(["report", name]),
        "compile": lambda: main(["compile", name, "--target=host", "-o", out]),
        "--verify-plan": lambda: opt([name, "--verify-plan"]),
    }
    for form in FORMS:
        runs[form] = lambda form=form: opt([name, "-t", form])
        runs[f"verified {form}"] = lambda form=form: opt([name, "--verify-plan", "-t", form])
    found: dict[str, str] = {}
    capsys.readouterr()
    for what, run in runs.items():
        code, (text, error) = run(), capsys.readouterr()
        assert (code, text, error.count("\n")) == (1, "", 1), (what, error)
        found[what] = error
    assert not Path(out).exists()
    for what, ask in (("memopt.verify", memopt.verify), ("memopt.plan", memopt.plan)):
        with pytest.raises(MemoptError) as refused:
            ask(name)
        found[what] = str(refused.value)
    return found


@pytest.mark.parametrize("form", PLANS)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_false_and_missing_claims_about_channels(
    form: str, forgery: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, plan = tmp_path / "source.mlir", tmp_path / "plan.mlir"
    source.write_text(CLAIMS.read_text())
    assert (
        opt([str(source), "-p", f"memgraph-model{{target=host}},{PLANS[form]}", "-o", str(plan)])
        == 0
    )
    assert main(["verify", str(plan)]) == 0
    assert "3 were left out, and nobody misses them" in capsys.readouterr().out
    assert opt([str(plan), "-t", "c", "-o", str(tmp_path / "net.c")]) == 0
    old, new, said = FORGERIES[forgery]
    text, count = re.subn(old, new, plan.read_text())
    assert count == 1
    plan.write_text(signed(text))
    for what, error in refusals(plan, tmp_path, capsys).items():
        assert said in error, what


def test_false_claims_about_traffic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, plan = tmp_path / "source.mlir", tmp_path / "plan.mlir"
    source.write_text(SOURCE.replace("memgraph.scratch = [#memgraph.scratch<16>]", ""))
    traffic = "memgraph-schedule,memgraph-place,memgraph-traffic{on-chip=176}"
    assert opt([str(source), "-p", traffic, "-o", str(plan)]) == 0
    plan.write_text(plan.read_text().replace("moved = 0", "moved = 5"))
    for what, error in refusals(plan, tmp_path, capsys).items():
        assert "belady moves 0 B, not 5 B" in error, what


def external_model(folder: Path) -> Path:
    """A model whose weights lie in `weights.bin` beside it, and in another file a node's tensor."""
    nodes = [node("Add", ("x", "w"), "a"), node("Constant", (), "c"), node("Add", ("a", "c"))]
    model = make(nodes, (1, 2000), y=(1, 2000))
    for name, file in (("w", "weights.bin"), ("c", "more.bin")):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[2000])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=file)
        (folder / file).write_bytes(np.arange(2000, dtype=np.float32).tobytes())
        if name == "w":
            model.graph.initializer.append(tensor)
        else:
            model.graph.node[1].attribute.append(helper.make_attribute("value", tensor))
    path = folder / "net.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("name", ["weights.bin", "more.bin"])
def test_weights_in_other_files_are_hashed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One bit of another file is not the model that was imported."""
    plan, file = tmp_path / "plan.mlir", tmp_path / name
    path = external_model(tmp_path)
    steps = ["--model=target=host", "--schedule=auto", "--place=auto"]
    assert opt([str(path), *steps, "-o", str(plan)]) == 0
    written = [str(plan), "-t", "c", "-o", str(tmp_path / "net.c")]
    assert opt(written) == 0
    data = file.read_bytes()
    file.write_bytes(data[:5] + bytes([data[5] ^ 1]) + data[6:])
    capsys.readouterr()
    assert opt(written) == 1
    assert "is not the model that was imported" in capsys.readouterr().err
    file.write_bytes(data)
    assert opt(written) == 0
    file.unlink()
    capsys.readouterr()
    assert opt(written) == 1
    assert f"weights are in '{name}', which is no file beside the model" in capsys.readouterr().err
