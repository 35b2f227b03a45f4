"""`memopt.validate(model, data=...)`: the planned network beside a reference, on your data."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from memopt.api.keywords import in_keywords, with_keywords
from memopt.api.plans import check_words
from memopt.api.sources import Model, Shapes, Source, load, told
from memopt.compile.options import PlanOptions
from memopt.compile.request import Reading, Request
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.core.registry import all_frontends
from memopt.passes.memgraph_input_range import Ranges
from memopt.validate.validation import Validation
from memopt.validate.validation import validate as compared


@dataclass(frozen=True, kw_only=True)
class ValidateKeywords(PlanOptions):
    """The keywords of `memopt.validate`."""

    data: Any
    labels: Any = None
    against: str | None = None
    layers: bool = False
    samples: int | None = None
    port: str | None = None
    shapes: Shapes | None = None
    input_ranges: Ranges | None = None


@with_keywords(ValidateKeywords)
def validate(source: Source, options: ValidateKeywords) -> Validation:
    """Run the planned network beside a reference on your data, as `memopt validate` does by the
    same words, and return how they differ.

    `source` is a model's file, its bytes or an `onnx.ModelProto`. `data` is a path (.npz, .npy,
    .csv or a folder), an array [samples, ...] of a model with one input, or a mapping with an array
    per input. `labels` is a name in the file, a path or an array; `against` the reference, by
    default that of the format; with `layers` the tensors of all operators are compared; of the
    samples the first `samples` are taken, and the board behind `port` runs them, if there is one.
    `shapes` and `input_ranges` are those of `memopt.plan`, and so are the other keywords:

    OPTIONS

    Raises MemoptError for a network that cannot be compiled and for data that do not fit, OSError,
    ValueError for an argument that there is not, and TypeError for a name of an option that there
    is not.

        >>> import numpy as np
        >>> data = np.zeros((2, 96, 96, 3), np.float32)
        >>> checked = memopt.validate("net.tflite", data=data, rows="none")
        >>> checked.against, checked.samples, checked.outputs[0].different
        ('litert-reference', 2, 0)
    """
    check_words(options)
    if options.samples is not None and options.samples < 1:
        raise ValueError(f"samples={options.samples}: at least 1")
    shapes = {name: tuple(shape) for name, shape in (options.shapes or {}).items()}
    reading = Reading(shapes=shapes, ranges=options.input_ranges or {})
    with TemporaryDirectory(prefix="memopt-") as folder:
        model = _file_of(source, Path(folder))
        request = Request(path=model, options=options, reading=reading, is_built=True)
        data = _data_file(options.data, Path(folder, "data"))
        labels = options.labels
        if labels is not None and not isinstance(labels, str):
            labels = str(_data_file(labels, Path(folder, "labels")))
        words = labels, options.against, options.layers, options.samples, options.port
        with told(str(model)), in_keywords():
            return compared(request, data, *words)


def _file_of(source: Source, folder: Path) -> Path:
    """Return the model's file, which is written for what is none: references read files."""
    if isinstance(source, str | os.PathLike):
        return Path(source)
    model: Model = load(source)
    if model.data is None:
        raise TypeError("references read files: a model is a path, its bytes or an onnx.ModelProto")
    path = folder / f"model{all_frontends()[model.kind].suffix}"
    path.write_bytes(model.data)
    return path


def _data_file(data: Any, path: Path) -> Path:
    """Return the file with data, which is written for arrays."""
    if isinstance(data, str | os.PathLike):
        return Path(cast("str | os.PathLike[str]", data))
    if isinstance(data, Mapping):
        arrays = {str(k): np.asarray(v) for k, v in cast("Mapping[Any, Any]", data).items()}
        save: Any = np.savez  # whose stubs take an array for its own option
        save(path.with_suffix(".npz"), **arrays)
        return path.with_suffix(".npz")
    np.save(path.with_suffix(".npy"), np.asarray(data))
    return path.with_suffix(".npy")
