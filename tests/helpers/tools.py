"""What has to be installed to build and run C for a target."""

import shutil

import pytest

from memopt.targets.core.target import target_named


def has_tools(target: str) -> bool:
    """Whether compiler and emulator for a target are installed."""
    board = target_named(target)
    tools = [tool for tool in (board.compiler, board.qemu) if tool]
    return all(shutil.which(tool) for tool in ("make", *tools))


def need_tools(target: str) -> None:
    """Skip a test for a target whose compiler or emulator is not installed."""
    if not has_tools(target):
        pytest.skip(f"needs make, compiler and emulator for {target}")
