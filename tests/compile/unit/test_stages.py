"""The stages of compile: each holds the one before, and costs few calls between files."""

import json
import os
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from demo_model import demo_model
from places import ROOT

import memopt
from memopt.cli import main
from memopt.compile.measure import Measured
from memopt.compile.options import PlanOptions
from memopt.compile.plan import Built, Planned
from memopt.compile.read import Imported
from memopt.compile.report import Report
from memopt.compile.request import Request
from memopt.compile.stages import build, estimate, measure, plan, read, report

FILES, HOPS, STACK = 200, 19_750, 25  # of the model below: fewer, or argued


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(demo_model(size="small"))
    return path


@pytest.mark.parametrize("target", ["host", "tflm"])
def test_each_stage_holds_the_one_before(model: Path, target: str) -> None:
    options = PlanOptions(target=target, rows=None if target == "tflm" else "none")
    request = Request(path=model, options=options, is_built=True)
    planned = plan(read(request))
    measured = measure(build(planned))
    answer = report(measured)
    assert answer.measured is measured and measured.planned is planned
    assert measured.built is not None and measured.built.planned is planned
    assert planned.imported.request is request
    assert f"net.{'tflite' if target == 'tflm' else 'c'}" in measured.built.files
    without = report(estimate(planned)).content
    assert without["plan"] == answer.content["plan"]
    for stage in (Request, Imported, Planned, Built, Measured, Report):
        made: Any = stage
        assert made.__dataclass_params__.frozen, stage


@pytest.mark.parametrize("target", ["host", "tflm"])
def test_python_writes_what_the_command_writes(model: Path, target: str, tmp_path: Path) -> None:
    """Compare every file, and the report that is returned with the one that is written."""
    one, other = tmp_path / "python", tmp_path / "command"
    content = memopt.compile(model, target=target, out=one, fuse=False)
    assert main(["compile", str(model), f"--target={target}", "--no-fuse", "-o", str(other)]) == 0
    names = {p.relative_to(one) for p in one.rglob("*") if p.is_file()}
    assert names == {p.relative_to(other) for p in other.rglob("*") if p.is_file()}
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert content == json.loads((one / "report.json").read_text())


def test_python_refuses_what_the_command_refuses(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^ram is one memory, memory says all of them"):
        memopt.compile(model, out=tmp_path / "out", ram=1, memory="a:1K")
    with pytest.raises(ValueError, match=r"layout='mak' .*make"):
        memopt.compile(model, out=tmp_path / "out", layout="mak")
    with pytest.raises(memopt.MemoptError, match="does not fit"):
        memopt.compile(model, out=tmp_path / "out", target="cortex-m4", ram=64)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("")
    with pytest.raises(memopt.MemoptError, match="was not made by memopt"):
        memopt.compile(model, out=tmp_path / "full")
    assert not (tmp_path / "out").exists()


class Trace:
    """Files of the project that calls enter, calls from one file to another, and their depth."""

    def __init__(self) -> None:
        self.files, self.hops, self.depth = set[str](), 0, 0
        self._stack: list[tuple[FrameType, str]] = []
        self._known: dict[CodeType, str] = {}

    def file_of(self, code: CodeType) -> str:
        if code not in self._known:
            path = os.path.realpath(code.co_filename)
            inside = path.startswith(f"{ROOT}/") and "site-packages" not in path
            made = code.co_filename.startswith("<") or code.co_name == "<module>"
            self._known[code] = path if inside and not made else ""
        return self._known[code]

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (path := self.file_of(frame.f_code)):
            self.hops += bool(self._stack) and self._stack[-1][1] != path
            self._stack.append((frame, path))
            self.files.add(path)
            self.depth = max(self.depth, len(self._stack))
        elif event == "return" and self._stack and self._stack[-1][0] is frame:
            self._stack.pop()


@pytest.mark.deep
def test_one_model_takes_few_files_and_calls(tmp_path: Path, shared: Path) -> None:
    """Hold what a reader has to follow: a change may lower these figures."""
    resnet = shared / "models" / "resnet8_int8.tflite"
    arguments = ["compile", str(resnet), "--target=cortex-m4", "--rows=none", "-o"]
    assert main([*arguments, str(tmp_path / "warm")]) == 0  # everything is loaded by now
    trace = Trace()
    sys.setprofile(trace)
    try:
        assert main([*arguments, str(tmp_path / "out")]) == 0
    finally:
        sys.setprofile(None)
    assert trace.files and trace.hops
    assert len(trace.files) <= FILES and trace.hops <= HOPS and trace.depth <= STACK
