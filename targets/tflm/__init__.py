"""TensorFlow Lite Micro: the same .tflite file, with order and plan, for its interpreter.

It runs reshapes, and its kernels ask for scratch; `arena.py` is its own memory planner.
"""

from memopt.targets.core.target import Target

TARGET = Target(
    "tflite",
    interpreter="TensorFlow Lite Micro",
    plan_reader=f"{__name__}.planned",
    model={"alignment": 16, "io": "arena", "views": "off", "inplace": "off", "scratch": "tflm"},
)
