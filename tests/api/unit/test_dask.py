"""`memopt sweep --dask`: workers die and join, the sweep is killed and goes on; nothing is lost.

Only where the package `distributed` is installed (`pip install "memopt[dask]"`).
"""

import csv
import re
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from cells import write_cells

import memopt
from memopt.cli import main

pytest.importorskip("distributed", reason="needs memopt[dask]")
GRAPHS = 2_000  # in full
DASK = str(Path(sys.executable).parent / "dask")
MEMOPT = (sys.executable, "-c", "import sys; from memopt.cli import main; sys.exit(main())")


@contextmanager
def running(log: Path, *command: str) -> "Generator[subprocess.Popen[str]]":
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def wait_for(what: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_workers_die_and_join_and_the_sweep_is_killed(fuzz: float, tmp_path: Path) -> None:
    """Every graph is there once, with what one process finds."""
    count = max(300, int(GRAPHS * fuzz))
    (tmp_path / "cells").mkdir()
    paths = [str(p) for p in write_cells(tmp_path / "cells", count, 0)]
    table, log, at = tmp_path / "rows.csv", tmp_path / "scheduler.log", r"(tcp://127\.0\.0\.1:\d+)"

    def done() -> int:
        return table.read_text().count("\n") if table.exists() else 0

    where = ("--host=127.0.0.1", "--port=0", "--no-dashboard")
    with running(log, DASK, "scheduler", *where):
        wait_for(lambda: bool(re.search(at, log.read_text())))
        (address, *_) = re.findall(at, log.read_text())

        def worker(name: str) -> "AbstractContextManager[subprocess.Popen[str]]":
            alone = ("--nthreads=1", "--no-nanny", "--no-dashboard")
            return running(tmp_path / f"{name}.log", DASK, "worker", address, *alone)

        sweep = (*MEMOPT, "sweep", str(tmp_path / "cells"), "--dask", address, "--csv", str(table))
        with worker("first") as first, worker("second"), worker("third"):
            with running(tmp_path / "sweep.log", *sweep) as process:
                wait_for(lambda: done() > count // 10)
                first.kill()
                with worker("fourth"):
                    wait_for(lambda: done() > count // 3)
                    process.kill()
                    process.wait()
                    assert 1 < done() <= count
                    again = subprocess.run(sweep, capture_output=True, text=True, check=False)
            assert again.returncode == 0, again.stderr
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(r["graph"] for r in rows) == sorted(paths)
    alone = {r.graph: r for r in memopt.sweep(paths, jobs=1)}
    for r in rows:
        one = alone[r["graph"]]
        assert (int(r["peak"]), r["proof"], r["optimal"]) == (one.peak, one.proof, str(one.optimal))


def test_wrong_addresses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = write_cells(tmp_path, 1, 0)
    assert main(["sweep", str(path), "--dask=tcp://127.0.0.1:1"]) == 1
    assert "no Dask scheduler answers" in capsys.readouterr().err
    assert main(["sweep", str(path), "--dask=tcp://127.0.0.1:1", "--jobs=2"]) == 2
    assert "--jobs is of this machine" in capsys.readouterr().err
