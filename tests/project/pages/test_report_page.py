"""docs/reference/report.md names the keys of report.json, each in its section, and no other."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from demo_model import demo_model
from places import ROOT

from memopt.cli import main

PAGE = (ROOT / "docs/reference/report.md").read_text()
SOMETIMES = {
    "bounds",
    "clock",
    "ms",
    "interpreter",
    "sections",
}  # of a target, where there is something to say


def listed(title: str) -> set[str]:
    """Return the keys of a section: those of its table's first column, or of its text."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {key for text in rows or [section] for key in re.findall(r"`([a-z_0-9]+)`", text)}


def reported(model: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert main(["report", str(model), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def entries(reports: Iterable[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Return what the lists of this key have, in all reports."""
    found: list[dict[str, Any]] = []
    for report in reports:
        found += report[key] or []
    return found


@pytest.mark.deep
def test_the_page_has_every_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(demo_model())
    whole = ("--target=cortex-m4", "--rows=none", "--schedule=source", "--place=auto")
    reports = [
        reported(model, capsys, "--target=tflm"),
        reported(model, capsys, *whole),
        reported(model, capsys, "--target=host", "--memory=dtcm:32K,sram:320K"),
    ]
    for report in reports:
        assert listed("Top level") == set(report)
        assert listed("source") == set(report["source"])
        assert listed("plan") >= set(report["plan"])
        assert listed("target") - SOMETIMES == set(report["target"]) - SOMETIMES
    assert listed("memories") >= set(reports[2]["memories"])
    rewrites, advice = entries(reports, "rewrites"), entries(reports, "advice")
    assert rewrites and listed("rewrites") == set(rewrites[0])
    assert all(set(entry) <= listed("advice") for entry in advice)


def test_a_missing_key_would_be_noticed() -> None:
    assert {"peak", "proof", "arena"} <= listed("plan")
    assert "peak" not in listed("target")
