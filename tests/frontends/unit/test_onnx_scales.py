"""Scales that no type says, and those that are left out."""

import numpy as np
from onnx_graphs import executing, ints, load, make, node, refused


def test_a_scale_of_0_is_refused_by_name() -> None:
    """Nothing can be stored in steps of 0; what is read in such steps is 0."""
    nodes = [
        node("QuantizeLinear", ("x", "s", "z"), "q"),
        node("DequantizeLinear", ("q", "s", "z")),
    ]
    model = make(nodes, constants={"s": np.float32(0), "z": np.int8(3)}, y=(1, 4))
    text = "node 0 '' (QuantizeLinear): error: the scale 's' of its result 'q' is 0"
    assert text in refused(model.SerializeToString())
    nodes = [node("DequantizeLinear", ("w", "ws", "wz"), "wd", axis=0), node("Conv", ("x", "wd"))]
    constants = {
        "w": np.full((2, 4, 1, 1), 3, np.int8),
        "ws": np.array([0.5, 0], np.float32),
        "wz": np.zeros(2, np.int8),
    }
    assert executing(load(make(nodes, (1, 4, 3, 3), constants))) == ["conv_2d"]


def test_empty_regions_and_scales_of_a_resize() -> None:
    """Resize as some exporters write what is left out."""
    nodes = [node("Resize", ("x", "none", "none", "sizes"), mode="linear")]
    constants = {"none": np.zeros(0, np.float32), "sizes": ints(1, 2, 8, 8)}
    found = executing(load(make(nodes, (1, 2, 4, 4), constants)))
    assert found == ["resize_bilinear"]
