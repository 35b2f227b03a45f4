"""`memopt explore`: plans by several options side by side."""

import argparse
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pooled import NETWORK

from memopt.cli import main
from memopt.cli.arguments import request_of
from memopt.cli.commands.compile import add_arguments
from memopt.compile.explore import Point, command_of, distinct, front, trials
from memopt.compile.figures import FIGURES
from memopt.compile.options import PlanOptions
from memopt.compile.request import Reading, Request
from memopt.frontends.core.shapes import BATCH


def pointed(command: str, **figures: int) -> Point:
    return Point(command, {name: figures.get(name) for name in FIGURES})


@pytest.mark.deep
def test_every_command_gives_what_is_said_of_it(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.mlir").write_text(NETWORK)
    arguments = ["explore", "net.mlir", "--target=cortex-m4", "--optimize=speed"]
    assert main([*arguments, "--json", "--plot=net.svg"]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert len(points) >= 2
    assert len({point["arena"] for point in points}) >= 2  # the input in rows
    for number, point in enumerate(points):
        command = point["command"].replace("DIR", str(number))
        assert "--optimize=speed" in command
        assert main(shlex.split(command)[1:]) == 0
        report = json.loads(Path(str(number), "report.json").read_text())
        assert report["plan"]["arena"] == point["arena"]
        assert report["target"]["instructions"] == point["instructions"]
        assert report["target"]["flash"] == point["flash"]
    picture = Path("net.svg").read_text()
    assert picture.count("<circle") == len(points)
    assert ">cycles</text>" in picture


def test_what_is_given_stays_in_all() -> None:
    request = Request(path=Path("net.tflite"), options=PlanOptions(target="cortex-m4"))
    keys = [frozenset(one.items()) for one in trials(request)]
    assert len(keys) == len(set(keys)) == 10
    given = replace(request, options=PlanOptions(target="cortex-m4", rows="all"))
    assert all("rows" not in one for one in trials(given))
    assert len(trials(given)) == 7
    tflm = replace(request, options=PlanOptions(target="tflm"))
    assert all(not {"optimize", "rows"} & one.keys() for one in trials(tflm))


def test_a_command_reads_the_file_as_it_was_read() -> None:
    reading = Reading(
        shapes={"x": (1, 3), BATCH: (2,)},
        fixed={"length": (16,)},
        ranges={"x": (-1, 0.5)},
        custom=Path("own ops.json"),
    )
    request = Request(path=Path("a net.onnx"), options=PlanOptions(ram=4096), reading=reading)
    parser = argparse.ArgumentParser()
    add_arguments(parser.add_subparsers())
    words = shlex.split(command_of(request, request.options))[1:]
    args = parser.parse_args(words)
    assert request_of(args, Path(*args.model)) == request


def test_a_picture_that_cannot_be_written_is_refused_first(tmp_path: Path, capsys: Any) -> None:
    model = tmp_path / "net.mlir"
    model.write_text(NETWORK)
    assert main(["explore", str(model), f"--plot={tmp_path / 'none' / 'net.svg'}"]) == 2
    assert "--plot=" in (error := capsys.readouterr().err) and "folder does not exist" in error
    assert main(["explore", str(model), f"--plot={model}"]) == 1 and model.read_text() == NETWORK


def test_what_is_beaten_is_not_in_front() -> None:
    a = pointed("a", arena=10, ram=20, flash=30, cycles=40)
    worse = pointed("worse", arena=10, ram=20, flash=31, cycles=40)
    faster = pointed("faster", arena=11, ram=21, flash=30, cycles=39)
    unknown = pointed("unknown", arena=9)
    refused = Point("refused", {}, "why")
    points = [worse, a, faster, refused]
    assert front(points) == [a, faster]
    assert front([unknown, pointed("u", arena=9), pointed("v", arena=10)])[:2] == [
        unknown,
        pointed("u", arena=9),
    ]
    assert distinct([a, refused, replace(a, command="same"), faster]) == [a, faster]


def test_a_model_that_no_option_plans_is_refused(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK.replace("memgraph.relu %x", 'memgraph.opaque "Strange"(%x)'))
    assert main(["explore", str(path)]) == 1
    error = capsys.readouterr().err
    assert "Strange" in error
    assert error.count("\n") == 1
