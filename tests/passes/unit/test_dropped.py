"""Passes say on stderr that they take away a plan; a proof that stood is not forgotten."""

from pathlib import Path

import pytest

from memopt.cli.opt import main

# the least peak is 20 B by search; the min-cut bound alone is 16 B
BRANCHES = """
func.func @main(%x: tensor<1xi8>) -> (tensor<5xi8>, tensor<5xi8>)
    attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "wide"(%x) : (tensor<1xi8>) -> tensor<10xi8>
  %b = memgraph.opaque "wide"(%x) : (tensor<1xi8>) -> tensor<10xi8>
  %c = memgraph.opaque "narrow"(%a) : (tensor<10xi8>) -> tensor<5xi8>
  %d = memgraph.opaque "narrow"(%b) : (tensor<10xi8>) -> tensor<5xi8>
  func.return %c, %d : tensor<5xi8>, tensor<5xi8>
}
"""
PLACED = ["--schedule=auto", "--place=auto"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(BRANCHES)
    return path


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        ([], "--schedule=auto", ""),
        ([], "--fuse", ""),
        (["--fuse"], "--schedule=auto", ""),
        (["--schedule=auto"], "--place=auto", ""),
        (["--schedule=auto"], "--schedule=source", ""),
        (PLACED, "--verify-plan", ""),
        (PLACED, "--place=joint", ""),
        (PLACED, "--schedule=source", "memgraph-schedule drops the places"),
        (["--schedule=auto"], "--fuse", "memgraph-fuse drops the plan"),
        (PLACED, "--fuse", "memgraph-fuse drops the plan"),
        (PLACED, "--model=alignment=4", "memgraph-model drops the plan"),
        (PLACED, "--partition=2", "memgraph-partition drops the plan"),
        (PLACED, "--rows=all", ""),  # nothing is cut
        ([*PLACED, "--fuse"], "--schedule=auto", "memgraph-fuse drops the places"),
        ([*PLACED, "--fuse", "--schedule=auto"], "--place=auto", ""),  # there is one again
    ],
)
def test_who_drops_something_says_so(
    first: list[str], then: str, said: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*first, then, str(file)]) == 0
    error = capsys.readouterr().err
    assert error == (f"note: @main: {said}\n" if said else "")


def test_a_plan_that_becomes_addresses_is_not_dropped(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-p", "memgraph-schedule,memgraph-place,memgraph-to-memref", str(file)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("again", ["source", "rpo", "greedy"])
@pytest.mark.parametrize("between", [[], ["--place=auto"]])
def test_a_proof_that_stood_is_kept_by_a_method_that_proves_less(
    again: str, between: list[str], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"--schedule={again}", str(file)]) == 0
    assert "lower_bound = 16, proof = flow" in capsys.readouterr().out
    assert main(["--schedule=auto", *between, f"--schedule={again}", str(file)]) == 0
    assert "lower_bound = 20, proof = search" in capsys.readouterr().out


def test_a_proof_that_was_read_is_a_claim_and_its_loss_is_said(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kept, a forged bound would pass for one that this run has shown."""
    planned = file.with_name("planned.mlir")
    assert main(["--schedule=auto", str(file), "-o", str(planned)]) == 0
    for passes in (["--schedule=source"], ["--place=auto", "--schedule=source"]):
        assert main([*passes, str(planned)]) == 0
        out, err = capsys.readouterr()
        assert "lower_bound = 16, proof = flow" in out
        assert err.startswith(
            "note: @main: memgraph-schedule drops lower_bound = 20, proof = search, which was read"
        )
    assert main(["--schedule=auto", str(planned)]) == 0
    assert capsys.readouterr().err == ""
