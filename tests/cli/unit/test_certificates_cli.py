"""`certificate=FILE` of memgraph-schedule, and `memopt verify PLAN --certificate FILE`."""

import json
from pathlib import Path
from typing import Any

import pytest
from cells import cell

from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.solvers.checker import check
from memopt.solvers.theory import certificates
from memopt.solvers.theory.certificates import NoCertificateError, certificate_text

pytestmark = pytest.mark.quick


def plan(folder: Path, name: str, data: dict[str, Any], options: str = "") -> tuple[Path, Path]:
    """(planned IR, certificate) of a JSON graph; alignment 1."""
    source, ir, proof = (folder / f"{name}.{end}" for end in ("json", "mlir", "cert"))
    source.write_text(json.dumps(data))
    pipeline = f'memgraph-model{{alignment=1}},memgraph-schedule{{certificate="{proof}"{options}}}'
    assert opt([str(source), "-p", pipeline, "-o", str(ir)]) == 0
    return ir, proof


def figure1() -> dict[str, Any]:
    sizes = (1568, 3136, 1568, 512, 512, 256, 256, 512)
    edges = ([0], [1], [2], [1], [3], [4], [5, 6])
    return {
        "tensors": [{"name": f"t{i}", "bytes": s} for i, s in enumerate(sizes)],
        "nodes": [
            {
                "name": f"op{i + 1}",
                "op": "Conv",
                "inputs": [f"t{t}" for t in ins],
                "outputs": [f"t{i + 1}"],
            }
            for i, ins in enumerate(edges)
        ],
        "graph_inputs": ["t0"],
        "graph_outputs": ["t7"],
    }


def test_proven_by_flow_and_by_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ir, proof = plan(tmp_path, "figure1", figure1())
    assert main(["verify", str(ir), "--certificate", str(proof)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "optimality: proven (search) over all orders"
    kinds: set[str] = set()
    for seed in range(30):
        ir, proof = plan(tmp_path, f"cell{seed}", cell(seed))
        assert main(["verify", str(ir), "--certificate", str(proof), "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)
        kinds.add(row["optimality"])
    assert kinds == {"proven (flow)", "proven (search)"}


def test_a_gap_is_called_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ir, proof = plan(tmp_path, "figure1", figure1(), " method=source")
    assert main(["verify", str(ir), "--certificate", str(proof)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "optimality: gap, no order is below 4,704 B (flow)"


def test_in_place_plans_are_certified_as_the_choice_that_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
func.func @main(%x: tensor<10xi8>) -> tensor<10xi8> attributes
    {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %a = memgraph.add %x, %x : (tensor<10xi8>, tensor<10xi8>) -> tensor<10xi8>
  %y = memgraph.add %a, %a : (tensor<10xi8>, tensor<10xi8>) -> tensor<10xi8>
  func.return %y : tensor<10xi8>
}
"""
    source, ir, proof = (tmp_path / f"inplace.{end}" for end in ("mlir", "out.mlir", "cert"))
    source.write_text(text)
    code = opt([str(source), "-p", f'memgraph-schedule{{certificate="{proof}"}}', "-o", str(ir)])
    assert code == 0, capsys.readouterr().err
    assert main(["verify", str(ir), "--certificate", str(proof)]) == 0
    out = capsys.readouterr().out
    assert "peak 10 B" in out
    assert "optimality: proven (flow)" in out


def test_another_graph_order_or_a_forgery_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ir, proof = plan(tmp_path, "figure1", figure1())
    _, other = plan(tmp_path, "cell", cell(1))

    def refused(file: Path) -> str:
        assert main(["verify", str(ir), "--certificate", str(file)]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    assert "another graph" in refused(other)
    data = json.loads(proof.read_text())
    data["order"] = [0, 1, 2, 3, 4, 5, 6][::-1]
    other.write_text(json.dumps(data))
    assert "another order" in refused(other)
    data = json.loads(proof.read_text())
    data["proof"]["states"].pop()
    other.write_text(json.dumps(data))
    assert "rejected: missing state" in refused(other)
    other.write_text("{")
    assert "no JSON" in refused(other)
    other.write_text("[1]")
    assert "object" in refused(other)
    assert "No such file" in refused(tmp_path / "none")


def test_what_is_too_large_is_reported_and_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, proof = plan(tmp_path, "figure1", figure1())
    assert proof.exists()
    data = json.loads(proof.read_text())
    with pytest.raises(NoCertificateError, match="not written"):
        certificate_text(data, 100)
    check(data)
    monkeypatch.setattr(certificates.certificate, "__defaults__", (None, 10))
    _, proof = plan(tmp_path, "figure1", figure1())
    assert not proof.exists()
    error = capsys.readouterr().err
    assert "no certificate written" in error
    assert "would exceed" in error


def test_one_function_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "(%x: tensor<4xi8>) -> tensor<4xi8> {\n  func.return %x : tensor<4xi8>\n}\n"
    source = tmp_path / "two.mlir"
    source.write_text(f"func.func @a{body}func.func @b{body}")
    assert opt([str(source), "-p", 'memgraph-schedule{certificate="c.json"}']) == 1
    assert "one function is needed" in capsys.readouterr().err


IN_PLACE = """func.func @main(%x: tensor<10xi8>) -> tensor<10xi8>
    attributes {{memgraph.model = #memgraph.model<alignment = 1, inplace = on>}} {{
  %y = memgraph.opaque "op"(%x){alias} : (tensor<10xi8>) -> tensor<10xi8>
  func.return %y : tensor<10xi8>
}}
"""


def test_a_written_alias_is_part_of_the_certified_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """10 B, proven; a certificate of the function without the alias, 20 B, speaks of another."""
    written = " {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]}"
    for name, alias in (("with", written), ("without", "")):
        source = tmp_path / f"{name}.src.mlir"
        source.write_text(IN_PLACE.format(alias=alias))
        proof = tmp_path / f"{name}.cert"
        pipeline = f'memgraph-schedule{{certificate="{proof}"}}'
        assert opt([str(source), "-p", pipeline, "-o", str(tmp_path / f"{name}.mlir")]) == 0
    plan = str(tmp_path / "with.mlir")
    assert main(["verify", plan, "--certificate", str(tmp_path / "with.cert")]) == 0
    assert "peak 10 B" in capsys.readouterr().out
    assert main(["verify", plan, "--certificate", str(tmp_path / "without.cert")]) == 1
    assert "another graph" in capsys.readouterr().err
