"""`memopt profile`: what each operator takes, whole and in rows, and the hook of the C."""

import csv
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from places import ROOT
from pooled import NETWORK

from memopt.backends.c.project.cycles.blocks import blocks_by
from memopt.cli import main
from memopt.cli.commands import profile
from memopt.compile.target_facts import empty_facts, target_lines, timed
from memopt.text.diagnostics import write_output
from memopt.text.format import hertz
from memopt.text.usage import UsageError


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK)
    return str(path)


def profiled(capsys: Any, *arguments: str) -> dict[str, Any]:
    assert main(["profile", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.deep
@pytest.mark.parametrize(("rows", "calls"), [("none", [1, 1]), ("all", [8, 4])])
def test_operators_take_what_an_inference_takes(
    rows: str, calls: list[int], network: str, tmp_path: Path, capsys: Any
) -> None:
    """All of it but what is around the calls of kernels."""
    options = ["--target=cortex-m4", f"--rows={rows}"]
    content = profiled(capsys, network, *options, "--clock=100M")
    assert [one["kind"] for one in content["operators"]] == ["relu", "max_pool_2d"]
    assert [one["calls"] for one in content["operators"]] == calls
    assert content["clock"] == 100_000_000
    for one in content["operators"]:
        assert 0.7 <= one["cycles"] / one["instructions"] <= 4
        assert one["ms"] == pytest.approx(one["cycles"] / 1e5)
        assert one["bytes"] > 0
        assert one["macs"] == 0
    assert sum(one["share"] for one in content["operators"]) == pytest.approx(1, abs=1e-3)
    assert main(["compile", network, *options, "-o", str(tmp_path / "out")]) == 0
    target = json.loads((tmp_path / "out" / "report.json").read_text())["target"]
    for key, whole in (("instructions", "instructions"), ("cycles", "cycles_estimated")):
        assert 0.3 * target[whole] <= content["total"][key] <= target[whole]


def test_csv_has_a_line_for_each_and_so_has_the_page(
    network: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is written after the lines: one that cannot be costs no measurement."""
    html, printed = tmp_path / "page.html", list[str]()

    def write(path: str, page: str, sources: Any) -> None:
        printed.append(capsys.readouterr().out)
        write_output(path, page, sources)

    monkeypatch.setattr(profile, "write_output", write)
    assert main(["profile", network, "--target=cortex-m3", "--csv", f"--html={html}"]) == 0
    lines = list(csv.DictReader(io.StringIO(*printed)))
    assert [line["kind"] for line in lines] == ["relu", "max_pool_2d"]
    assert all(int(line["instructions"]) > 0 for line in lines)
    page = html.read_text()
    for line in lines:
        assert f'<td class="n">{int(line["instructions"]):,}</td>' in page
        assert f"<span>{100 * float(line['share']):.1f} %</span>" in page
    assert page.count('<td class="bar"><i') == len(lines) and "--html=" in page


def test_a_page_that_cannot_be_written_is_refused_before_the_run(
    network: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile, "read", None)  # is not called
    for page, text in (("-", "expected a file"), (tmp_path / "a/b.html", "its folder does not")):
        assert main(["profile", network, "--target=cortex-m3", f"--html={page}"]) == 2
        out, error = capsys.readouterr()
        assert not out and error.count("\n") == 1 and f"--html={page}: {text}" in error


def test_a_table_for_people(network: str, capsys: Any) -> None:
    assert main(["profile", network, "--target=cortex-m4", "--rows=none"]) == 0
    head, columns, *lines = capsys.readouterr().out.splitlines()
    assert head == "net.mlir for cortex-m4, one inference on zeros"
    assert "ms" not in columns.split()
    assert lines[-1].split()[0] == "all"
    assert lines[-1].endswith("100.0 %")


def test_what_is_not_counted_is_refused(network: str, capsys: Any) -> None:
    for code, *arguments in (
        (1, "--target=host"),
        (2, "--target=tflm"),
        (2, "--target=cortex-m4", "--clock=fast"),
    ):
        assert main(["profile", network, *arguments]) == code, arguments
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "clock"), [("84M", 84_000_000), ("1.5GHz", 1_500_000_000), ("32768", 32_768)]
)
def test_a_clock_is_in_hertz(text: str, clock: int) -> None:
    assert hertz(text) == clock
    for wrong in ("", "0", "0.4", "-1", "84 M", "1m"):
        with pytest.raises(UsageError):
            hertz(wrong)


def test_a_time_of_nothing_is_said() -> None:
    ran = {"instructions": 4, "cycles_estimated": 5, "cycles_range": [5, 6]}
    facts = timed({**empty_facts("cortex-m4"), **ran}, 4_000_000_000)
    (line,) = target_lines(facts)
    assert line.endswith("without wait states, 0.000 ms at 4,000,000,000 Hz")


def test_blocks_are_counted_apart() -> None:
    """Two times between the same blocks, and one that nobody asks for."""
    blocks = [0x10, 0x100, 0x20, 0x106, 0x30, 0x100, 0x24, 0x106, 0x100, 0x28, 0x106]
    lines = [f"Trace 0: 0x7f [00000000/{at:08x}/00000000/00000000]" for at in blocks]
    groups = blocks_by(lines, 0x100, 0x106, lambda n: (2, 5, 0)[n])
    assert groups is not None
    assert {g: set(ran.steps) for g, ran in groups.items()} == {
        2: {(0x100, 0x20), (0x20, 0x106)},
        5: {(0x100, 0x24), (0x24, 0x106)},
    }
    alone = blocks_by(lines, 0x100, 0x106, lambda n: int(n == 1))
    assert alone is not None and set(alone) == {1}
    assert alone[1].steps == groups[5].steps


def test_the_hook_of_the_page_compiles_beside_the_model(network: str, tmp_path: Path) -> None:
    """Without MEMOPT_PROFILE the object code has no trace of it."""
    folder = tmp_path / "out"
    assert main(["compile", network, "--target=cortex-m4", "--rows=all", "-o", str(folder)]) == 0
    page = (ROOT / "docs/guides/profile.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    (folder / "hook.c").write_text(code)
    gcc = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O2", "-Wall", "-Wextra", "-Werror"]
    gcc += ["-std=c99", "-pedantic", "-I.", "-Ikernels", "-c"]
    subprocess.run([*gcc, "hook.c", "-o", "hook.o"], cwd=folder, check=True)
    with_hook = [*gcc, "-DMEMOPT_PROFILE", "net.c", "-o", "net_hook.o"]
    subprocess.run(with_hook, cwd=folder, check=True)
    subprocess.run([*gcc, "net.c", "-o", "net.o"], cwd=folder, check=True)
    names = {
        name: subprocess.run(
            ["arm-none-eabi-nm", name], cwd=folder, check=True, capture_output=True, text=True
        ).stdout
        for name in ("hook.o", "net_hook.o", "net.o")
    }
    assert "T memopt_profile" in names["hook.o"]
    assert "U memopt_profile" in names["net_hook.o"]
    assert "profile" not in names["net.o"]
