"""The machine at hand: its own compiler, no memories of its own."""

from memopt.targets.core.target import Target

TARGET = Target(
    "c",
    model={"alignment": 16, "views": "on", "scratch": "none"},
    compiler="cc",
    size="size",
    platform=("platform.h", "platform_host.c"),
)
