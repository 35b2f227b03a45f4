"""Runs what `make demo` made, and compares: the model as it was, planned, and as C.

    python benchmarks/demo_check.py demo

Expects `model.tflite`, `tflm/model.tflite` and the C projects `c` and `cortex-m4` in the folder.
TensorFlow Lite Micro runs the two files on the same random inputs and tells the size of its arena;
the C program is built and run on the same inputs, on the host and, where the cross compiler and
QEMU are installed, as firmware. Exit code 1 if any answer differs by a single bit.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RUNS = 10
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers" / "tflite"))

from tflm_runner import Answer, Job, random_inputs, run  # noqa: E402  (a helper of the tests)


def sizes(count: int) -> str:
    return f"{count:>9,} B {count / 1024:>7.1f} KiB"


def outputs(answer: Answer) -> bytes:
    return b"".join(array.tobytes() for run in answer.outputs for array in run)


def run_project(folder: Path, inputs: bytes) -> bytes:
    """Builds the project, runs it, and gives what it wrote. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as temporary:
        source, target = Path(temporary) / "in.bin", Path(temporary) / "out.bin"
        source.write_bytes(inputs)
        command = ["make", "-s", "-C", str(folder), "run", f"IN={source}", f"OUT={target}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{folder} does not run:\n{done.stdout}{done.stderr}")
        return target.read_bytes()


def main(folder: Path) -> int:
    original = (folder / "model.tflite").read_bytes()
    planned = (folder / "tflm" / "model.tflite").read_bytes()
    report: dict[str, Any] = json.loads((folder / "tflm" / "report.json").read_text())
    inputs = random_inputs(original, RUNS, 0)
    with tempfile.TemporaryDirectory() as temporary:
        jobs = [Job("tflm", original, inputs), Job("tflm", planned, inputs)]
        before, after = run(jobs, Path(temporary))
    for name, answer in (("model.tflite", before), ("tflm/model.tflite", after)):
        if answer.error:
            raise SystemExit(f"TensorFlow Lite Micro cannot run {folder / name}: {answer.error}")
    plan = report["plan"]
    print(f"\n{report['operators']} operators, {len(original):,} bytes of model\n")
    print(f"{'':34}{'before':>22}{'after':>24}")
    for label, old, new in (
        ("peak of live tensors", report["source"]["peak"], plan["peak"]),
        ("arena, as planned", report["source"]["arena"], plan["arena"]),
        ("arena, measured in TFLM", before.head, after.head),
        ("all of TFLM's RAM, measured", before.total, after.total),
    ):
        print(f"{label:34}{sizes(old)}   {sizes(new)}   {100 * (new - old) / old:+.1f} %")
    wrong = 0 if before.outputs and outputs(before) == outputs(after) else 1
    same = "identical" if not wrong else "DIFFERENT"
    verdict = f"proved optimal by {plan['proof']}" if plan["optimal"] else "not proved optimal"
    print(f"\npeak {verdict}: lower bound {plan['lower_bound']:,} B")
    print(f"TFLM, planned file against original, {RUNS} random inputs: {same}")
    stream = b"".join(array.tobytes() for one in inputs for array in one)
    tools = {"c": (), "cortex-m4": ("arm-none-eabi-gcc", "qemu-system-arm")}
    for name, needed in tools.items():
        absent = [tool for tool in needed if shutil.which(tool) is None]
        if absent:
            print(f"C project {name}: not run, {' and '.join(absent)} not installed")
            continue
        equal = run_project(folder / name, stream) == outputs(before)
        wrong += not equal
        print(f"C project {name} against TFLM: {'identical' if equal else 'DIFFERENT'}")
    target = json.loads((folder / "cortex-m4" / "report.json").read_text())["target"]
    if None not in (target["flash"], target["stack"]):
        print(
            f"Cortex-M4, no interpreter: arena {target['arena']:,} B, stack {target['stack']:,} B, "
            f"other RAM {target['static_ram']:,} B, flash {target['flash']:,} B"
        )
    print(f"\npicture: {folder / 'report.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
