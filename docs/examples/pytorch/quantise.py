"""net.onnx -> int8.onnx: bytes between QuantizeLinear and DequantizeLinear, by onnxruntime."""

from typing import Any

import numpy as np
from onnxruntime import quantization as tool


class Images(tool.CalibrationDataReader):
    """Images as the network will see them; for the example of noise."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.left = [rng.normal(size=(1, 3, 32, 32)).astype(np.float32) for _ in range(16)]

    def get_next(self) -> Any:
        return {"image": self.left.pop()} if self.left else None


tool.quantize_static(
    "net.onnx",
    "int8.onnx",
    Images(),
    activation_type=tool.QuantType.QInt8,
    weight_type=tool.QuantType.QInt8,
    per_channel=True,
    reduce_range=True,  # sums of weights of 8 bits saturate in onnxruntime without VNNI
)
