"""Random detections at the end of a forged file."""

import importlib
from typing import Any

import numpy as np
from forge_model import FLOAT32, UINT8, Forge

POSTPROCESS = "TFLite_Detection_PostProcess"
flexbuffers: Any = importlib.import_module("flatbuffers.flexbuffers")


def add_detection(forge: Forge, says_shapes: bool = True, **changed: Any) -> None:
    """Add boxes around a few places, with or without a score for nothing; stored ones as uint8."""
    rng, count, classes = forge.rng, int(forge.rng.integers(1, 30)), int(forge.rng.integers(1, 5))
    limit, with_nothing = int(rng.integers(1, 12)), int(rng.integers(2))
    anchors = np.concatenate([rng.integers(0, 4, (count, 2)), rng.uniform(0.5, 3, (count, 2))], 1)
    shapes = (1, count, int(rng.integers(4, 6))), (1, count, classes + with_nothing), (count, 4)
    if forge.quantized:
        inputs = [forge.tensor(s, UINT8, None, [0.03], [120]) for s in shapes[:2]]
        stored = np.clip(anchors / 0.02, 0, 255)
        inputs.append(forge.tensor(shapes[2], UINT8, stored, [0.02], [0]))
    else:
        inputs = [forge.tensor(s, FLOAT32) for s in shapes[:2]]
        inputs.append(forge.tensor(shapes[2], FLOAT32, anchors))
    forge.graph.inputs.extend(inputs[:2])
    result_shapes = (1, limit, 4), (1, limit), (1, limit), (1,)
    results = [forge.tensor(s if says_shapes else (), FLOAT32) for s in result_shapes]
    scales = {
        f"{axis}_scale": scale for axis, scale in zip("yxhw", (10.0, 8.0, 5.0, 4.0), strict=True)
    }
    options = {"max_detections": limit, "max_classes_per_detection": 1, "num_classes": classes}
    options |= {"nms_score_threshold": float(rng.choice([-3.0, 0.1])), "nms_iou_threshold": 0.4}
    options |= scales
    if rng.random() < 0.5:
        options |= {"use_regular_nms": True, "detections_per_class": int(rng.integers(1, 5))}
    forge.custom(POSTPROCESS, inputs, results, bytes(flexbuffers.Dumps(options | changed)))
