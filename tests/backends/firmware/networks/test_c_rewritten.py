"""Real models with all rules as C: the bits of the C without any, whole operators and in rows."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from quick_options import QUICK

from memopt.cli import main

PEAKS = {
    "resnet8_int8": (33_280, 9_920),
    "streaming_wakeword_int8": (6_144, 3_712),
    "swiftnet_cell_vww_uint8": (203_504, 151_424),
    "mcunet_vww_int8": (88_000, 76_800),
    "resnet8_float": (133_120, 38_912),
    "person_detect_int8": (52_992, 12_288),
    "mobilenet_vww96_int8": (55_296, 28_032),
    "dtln_noise_suppression": (400, 388),
    "keyword_scrambled_int8": (192, 192),
    "tinymaix_mnist_resnet_int8": (3_536, 1_456),
    "dscnn_kws_int8": (16_000, 3_866),
}
"""Least peaks, proven: of whole operators, where what readers make counts with the scratch that it
takes, so that swiftnet needs 2,800 B beside the 200,704 of its plan, and of rows."""
DEFAULT = 2  # of them, with one form each


@pytest.mark.deep
def test_all_rules_keep_every_bit(shared: Path, tmp_path: Path, fuzz: float, lab: Any) -> None:
    lab.need_tools("host")
    for number, name in enumerate(PEAKS if fuzz >= 1 else list(PEAKS)[:DEFAULT]):
        forms = ("none", "auto") if fuzz >= 1 else (("none", "auto")[number % 2],)
        compare(name, forms, max(2, int(20 * fuzz)), shared, tmp_path / name, lab)


def compare(
    name: str, forms: Sequence[str], runs: int, shared: Path, folder: Path, lab: Any
) -> None:
    """A model with all rules, in some forms, and without any."""
    path = shared / "models" / f"{name}.tflite"
    inputs = lab.random_inputs(lab.read_model(path), runs, seed=12)
    command = ["compile", str(path), "--target=host", *QUICK, "-o"]

    def output(made: Path, *options: str) -> bytes:
        assert main([*command, str(made), *options]) == 0
        run = lab.run_project(made, inputs, lab.SANITIZE, trace=False)
        assert run.code == 0, run.messages
        return bytes(run.output)

    want = output(folder / "as-it-is", "--rewrite=none", "--rows=none")
    for rows in forms:
        assert output(folder / rows, "--rewrite=all", f"--rows={rows}") == want
        plan = json.loads((folder / rows / "report.json").read_text())["plan"]
        assert plan["peak"] == PEAKS[name][rows == "auto"] and plan["optimal"]
