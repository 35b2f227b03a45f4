"""A board of its own: this machine, with instructions of which kernels/toy/ makes use."""

from memopt.targets.core.target import Target

TARGET = Target(
    "c",
    model={"alignment": 32, "views": "on", "scratch": "none"},
    isa=("toy", "c"),
    compiler="cc",
    size="size",
    platform=("platform.h", "platform_host.c"),
)
