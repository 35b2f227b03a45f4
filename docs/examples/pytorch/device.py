"""`device.py in.bin` writes an image as the firmware takes it; `device.py in.bin out.bin` compares
what the firmware made of it with onnxruntime."""

import re
import sys
from pathlib import Path

import numpy as np
import onnxruntime

NUMBERS = re.findall(r"#define INT8_(\w+) \(?([-\d.e]+)", Path("firmware/int8.h").read_text())
SAID = {name: float(value) for name, value in NUMBERS}
SCALE, ZERO = np.float32(SAID["INPUT_0_SCALE"]), SAID["INPUT_0_ZERO_POINT"]
OUT_SCALE, OUT_ZERO = np.float32(SAID["OUTPUT_0_SCALE"]), SAID["OUTPUT_0_ZERO_POINT"]

image = np.random.default_rng(1).normal(size=(1, 3, 32, 32)).astype(np.float32)
stored = np.clip(np.rint(image / SCALE) + ZERO, -128, 127).astype(np.int8)
Path(sys.argv[1]).write_bytes(np.moveaxis(stored, 1, -1).tobytes())  # channels last, as cameras
if len(sys.argv) > 2:
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    (want,) = onnxruntime.InferenceSession("int8.onnx", options).run(None, {"image": image})
    answer = np.frombuffer(Path(sys.argv[2]).read_bytes(), np.int8)
    got = (answer - np.float32(OUT_ZERO)) * OUT_SCALE
    print("every bit" if (got == want[0]).all() else f"off by {abs(got - want[0]).max()}")
