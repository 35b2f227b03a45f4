"""`--clock`: the time of an inference where cycles are estimated."""

import json
from pathlib import Path
from typing import Any

import pytest
from pooled import NETWORK

import memopt
from memopt.cli import main


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK)
    return str(path)


def test_cycles_are_milliseconds(network: str, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    words = ["compile", network, "--target=cortex-m4", "--rows=none", "--clock=84M", "-o", str(out)]
    assert main(words) == 0
    target = json.loads((out / "report.json").read_text())["target"]
    assert target["clock"] == 84_000_000
    assert target["ms"] > 0
    assert target["ms"] == pytest.approx(target["cycles_estimated"] / 84_000, abs=6e-4)
    (speed,) = (s for s in capsys.readouterr().out.splitlines() if s.startswith("speed "))
    assert speed.endswith(f", {target['ms']:.3f} ms at 84,000,000 Hz")


def test_where_cycles_are_not_known_no_time_is(network: str, tmp_path: Path) -> None:
    report = memopt.compile(network, target="host", clock=10**8, out=tmp_path / "out")
    assert (report["target"]["clock"], report["target"]["ms"]) == (10**8, None)
    assert "cycles_estimated" in report["target"]["not_measured"]


def test_what_is_no_clock_is_refused(network: str, tmp_path: Path, capsys: Any) -> None:
    assert main(["compile", network, "--clock=fast", "-o", str(tmp_path / "out")]) == 2
    assert "--clock=fast: Hz, such as 84M" in capsys.readouterr().err
    with pytest.raises(ValueError, match="clock=0: Hz, such as 84M"):
        memopt.compile(network, clock=0, out=tmp_path / "out")
