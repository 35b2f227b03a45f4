"""Training steps that `memopt.torch` captured, kept so that nobody needs PyTorch to plan them.

ResNet-18 with 1 and 32 images of 224 x 224, MobileNetV2 with one, and transformers of 4 layers
(width 128) and of 24 (width 256) with 8 sequences of 128 tokens, each with SGD and with Adam.
"""

import gzip
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
NETWORKS = (
    *("resnet18_b1", "resnet18_b32", "mobilenetv2_b1"),
    *("transformer4_b8", "transformer24_b8"),
)
NAMES = tuple(f"{network}_{optimizer}" for network in NETWORKS for optimizer in ("sgd", "adam"))


def capture_text(name: str) -> str:
    """The JSON graph called `name` as text. Raises OSError for one that there is not."""
    return gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()).decode()


def capture_graph(name: str) -> dict[str, Any]:
    """Return the graph of `capture_text`, decoded."""
    return json.loads(capture_text(name))
