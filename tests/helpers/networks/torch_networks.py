"""The training steps whose captures the project keeps.

python tests/helpers/networks/torch_networks.py   writes the captures that the project keeps, again
"""

import gzip
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.executed.networks import loss_of, mobilenetv2, resnet18, transformer
from benchmarks.tables.captures import FOLDER, NAMES

from memopt.torch import Step, capture, training

torch: Any = import_module("torch")


def _images(batch: int) -> tuple[Any, Any]:
    return torch.zeros(batch, 3, 224, 224), torch.zeros(batch, dtype=torch.long)


def _words(batch: int) -> tuple[Any, Any]:
    return (torch.zeros(batch, 128, dtype=torch.long),) * 2


NETWORKS: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, Any]]]] = {
    "resnet18_b1": (resnet18, lambda: _images(1)),
    "resnet18_b32": (resnet18, lambda: _images(32)),
    "mobilenetv2_b1": (mobilenetv2, lambda: _images(1)),
    "transformer4_b8": (lambda: transformer(4, 128, 4), lambda: _words(8)),
    "transformer24_b8": (lambda: transformer(24, 256, 8), lambda: _words(8)),
}


def step_of(name: str) -> Step:
    """The step of a capture: `resnet18_b1_sgd`."""
    network, optimizer = name.rsplit("_", 1)
    make, data = NETWORKS[network]
    inputs, targets = data()
    return training(make().train(), (inputs,), targets.clone(), loss_of, optimizer)


def captured(name: str) -> dict[str, Any]:
    return capture(step_of(name), name=name)


def main() -> int:
    for name in sys.argv[1:] or NAMES:
        text = json.dumps(captured(name), separators=(",", ":")).encode()
        (FOLDER / f"{name}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
